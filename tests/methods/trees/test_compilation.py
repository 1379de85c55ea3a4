"""What is compiled beforehand is all that audits call."""

import os
from dataclasses import replace
from functools import partial
from importlib import import_module
from pkgutil import iter_modules

import pytest

from importance_audit.methods import trees
from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.trees import READERS, compilation, compiled, routes
from importance_audit.methods.trees.compilation import compile_loops

from .small_ensembles import KINDS, model_of, rows_of

pytestmark = [pytest.mark.needs_numba, pytest.mark.processes]
LOSSES = {"regression": "mse", "binary": "log_loss", "multiclass": "log_loss"}


LOOPS = {
    loop
    for module in iter_modules(trees.__path__)
    for loop in vars(import_module(f"{trees.__name__}.{module.name}")).values()
    if isinstance(loop, compiled.Loop)
}


def ignored(*ends):
    """Take the ends of a band and do nothing."""


def signatures():
    """Return the types of arguments for which each loop is compiled or read."""
    return {loop.__name__: set(loop.dispatcher.signatures) for loop in LOOPS}


def test_no_audit_of_trees_compiles_anything_after_it(monkeypatch):
    for loop in LOOPS:  # what other tests had compiled is forgotten
        monkeypatch.setattr(loop, "_dispatcher", None)
    assert compile_loops()[1] == {}
    known = signatures()
    monkeypatch.setattr(routes, "WORTH", 0)
    for task, loss in LOSSES.items():
        for kind in KINDS:
            data = rows_of(task, missing=kind == "HistGradientBoosting")
            model = model_of(kind, data, encoder="ordinal").with_losses((loss,))
            pair = data.with_groups({"x1:x2": ("x1", "x2")})
            for ask in (
                partial(permutation, model, data, n_repeats=2),
                partial(permutation, model, data, draws="exact"),
                partial(partial_dependence, model, data, "x1"),
                partial(partial_dependence, model, data, "x1", on_band=ignored),
                partial(h_statistic, model, pair),
            ):
                ask(seed=1)
                assert signatures() == known, (task, kind, ask)


def test_completion_is_kept_for_these_sources_and_this_processor(monkeypatch, tmp_path):
    monkeypatch.setenv(compiled.SETTING, str(tmp_path))
    monkeypatch.setattr(compiled, "can_keep", lambda: True)
    assert not compiled.is_complete()
    compiled.note_completion()
    assert compiled.is_complete()
    monkeypatch.setattr(compiled, "_digest_of_sources", lambda: "other")
    assert not compiled.is_complete()
    (folder,) = os.listdir(tmp_path)
    assert len(os.listdir(tmp_path / folder)) == 1


def test_what_is_not_read_stops_no_other_and_says_why(monkeypatch):
    noted, kinds = [], {kind.name: kind for kind in compilation.ENSEMBLES}
    reader = READERS["sklearn.RandomForestRegressor"]
    faults = {
        "HistGradientBoostingRegressor": lambda model: model._nowhere,
        "RandomForestRegressor": lambda model: replace(reader(model), slope=2.0),
    }
    for name, fault in faults.items():
        monkeypatch.setitem(READERS, f"sklearn.{name}", fault)
    monkeypatch.setattr(compilation, "ENSEMBLES", [kinds[name] for name in faults])
    monkeypatch.setattr(compiled, "note_completion", lambda: noted.append(1))
    _, unread = compile_loops()
    assert noted == [1]
    assert unread == {
        "HistGradientBoostingRegressor": "Its trees cannot be read: AttributeError: "
        "'HistGradientBoostingRegressor' object has no attribute '_nowhere'",
        "RandomForestRegressor": "Its trees give other predictions than its predict.",
    }
