"""What is compiled beforehand is all that audits call."""

import os
from functools import partial

import pytest
from tests.methods.importance.test_permuted_predictions import (
    BOOSTING,
    FOREST,
    HISTOGRAM,
    model_of,
    rows_of,
)

from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.importance.interaction import h_statistic
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.trees import compiled, routes
from importance_audit.methods.trees.compilation import compile_loops

pytestmark = [pytest.mark.needs_numba, pytest.mark.processes]
LOSSES = {"regression": "mse", "binary": "log_loss", "multiclass": "log_loss"}


def ignored(*ends):
    """Take the ends of a band and do nothing."""


def test_no_audit_of_trees_compiles_anything_after_it(monkeypatch):
    compile_loops()
    monkeypatch.setattr(routes, "WORTH", 0)
    said = []
    for task, loss in LOSSES.items():
        for kind in (FOREST, BOOSTING, HISTOGRAM):
            data = rows_of(task, missing=kind == HISTOGRAM)
            data = data.with_groups({name: (name,) for name in data.X})
            model = model_of(kind, data, "ordinal").with_losses((loss,))
            pair = data.with_groups({"x1:x2": ("x1", "x2")})
            for ask in (
                partial(permutation, model, data, n_repeats=2),
                partial(permutation, model, data, draws="exact"),
                partial(partial_dependence, model, data, "x1"),
                partial(partial_dependence, model, data, "x1", on_band=ignored),
                partial(h_statistic, model, pair),
            ):
                report = partial(said.append, (task, kind, ask.func.__name__))
                with compiled.reporting_compilation(lambda _, say=report: say()):
                    ask(seed=1)
    assert said == []


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
