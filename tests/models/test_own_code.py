"""Classes that lie beside an audit: loaded, asked, named on the card, kept apart."""

import hashlib
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from tests.data.reading import configured
from tests.models.saved import saved

import importance_audit as ia
from importance_audit.data.datasets import read_datasets
from importance_audit.models.fit import fit_models
from importance_audit.models.model_table import models_frame
from importance_audit.models.own_code import code_of, forget_modules, modules_of

CODE = """
from sklearn.linear_model import LinearRegression
FACTOR = {factor}

class Own(LinearRegression):
    def predict(self, X):
        import {name}_helper  # only now, when the model is asked
        return {name}_helper.scale * FACTOR * super().predict(X)
"""


def audit_to_fit(folder, name, *, factor=1):
    """Write an audit that fits a class that lies beside it."""
    folder.mkdir()
    (folder / f"{name}.py").write_text(CODE.format(name=name, factor=factor))
    (folder / f"{name}_helper.py").write_text("scale = 1")
    return folder, {"name": "m", "estimator": f"{name}.Own"}


def audit_of_file(folder, name, *, factor=1):
    """Write an audit of a model whose class lies beside it, saved elsewhere."""
    audit_to_fit(folder, name, factor=factor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.syspath_prepend(folder)
        model = importlib.import_module(name).Own()
        model.fit(*load_diabetes(return_X_y=True, as_frame=True, scaled=False))
        section = saved(folder, model)
        del sys.modules[name]
    return folder, section


either = pytest.mark.parametrize("write", [audit_of_file, audit_to_fit])


def loaded(audit):
    folder, section = audit
    sides = {"sklearn": "load_diabetes"}, {"fraction": 0.33}
    config = configured(folder, *sides, target="target", models=[section])
    train, test = read_datasets(**config.data_arguments)
    (model,) = fit_models(config.models, train, base=config.base)
    return model, test


def test_a_class_beside_the_audit_loads_and_is_asked(tmp_path):
    audit = audit_of_file(tmp_path / "audit", "beside_one")
    path, files = list(sys.path), sorted(audit[0].iterdir())
    model, rows = loaded(audit)
    assert model.predict(rows.X).shape == (rows.n_samples,)
    assert sys.path == path
    assert sorted(audit[0].iterdir()) == files  # no __pycache__ either


@either
def test_the_card_names_the_code_and_its_digest(tmp_path, write):
    name = f"beside_{write.__name__}"
    audit = write(tmp_path / "audit", name)
    model, _ = loaded(audit)
    folder, _ = audit
    digest = hashlib.sha256((folder / f"{name}.py").read_bytes()).hexdigest()
    (parameters,) = models_frame([model])["parameters"]
    assert json.loads(parameters)["code_in_the_folder_of_the_audit"] == [
        f"{name}.py, SHA-256 {digest}"
    ]


@either
def test_two_audits_may_have_modules_of_one_name(tmp_path, write):
    name = f"beside_both_{write.__name__}"
    one, rows = loaded(write(tmp_path / "first", name, factor=1))
    ten, _ = loaded(write(tmp_path / "second", name, factor=10))
    assert ten.predict(rows.X) == pytest.approx(10 * one.predict(rows.X))


def test_two_audits_may_have_packages_of_one_name(tmp_path):
    for value in (1, 10):
        package = tmp_path / str(value) / "beside_package"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "part.py").write_text(f"x = {value}")
        with modules_of(package.parent):
            assert importlib.import_module("beside_package.part").x == value


def test_a_module_of_the_folder_never_stands_in_for_an_installed_one(tmp_path):
    audit = audit_of_file(tmp_path / "audit", "beside_three")
    (audit[0] / "sklearn.py").write_text("1 / 0")
    (audit[0] / "joblib.py").write_text("1 / 0")
    model, rows = loaded(audit)
    assert len(model.predict(rows.X)) == rows.n_samples


def test_a_class_that_is_nowhere_is_named_with_a_remedy(tmp_path):
    audit = audit_of_file(tmp_path / "audit", "beside_four")
    (audit[0] / "beside_four.py").unlink()
    with pytest.raises(ia.ModelError) as refusal:
        loaded(audit)
    assert str(refusal.value) == (
        "Model 'm' cannot be loaded from 'm.joblib'. joblib says: No module named "
        "'beside_four'. Install it, or put it into the folder of the audit."
    )


def test_a_class_beside_the_audit_is_fitted_asked_and_fitted_again(tmp_path):
    path = list(sys.path)
    model, rows = loaded(audit_to_fit(tmp_path / "audit", "beside_fitted", factor=3))
    plain = LinearRegression().fit(model.train.X, model.train.y).predict(rows.X)
    assert model.predict(rows.X) == pytest.approx(3 * plain)
    again = model.fit_on(model.train, None)
    assert again.predict(rows.X) == pytest.approx(3 * plain)
    assert sys.path == path


def test_one_of_two_that_are_inside_may_leave_before_the_other(tmp_path):
    (tmp_path / "beside_threads.py").write_text("x = 1")
    path = list(sys.path)
    one, other = modules_of(tmp_path), modules_of(tmp_path)
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert importlib.import_module("beside_threads").x == 1
    assert sys.dont_write_bytecode
    other.__exit__(None, None, None)
    assert sys.path == path
    assert not (tmp_path / "__pycache__").exists()


def test_a_folder_is_forgotten_by_any_of_its_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in ("1", "22"):
        (tmp_path / "beside_again.py").write_text(f"x = {value}")
        with modules_of(tmp_path):
            assert importlib.import_module("beside_again").x == int(value)
        forget_modules(Path())


def test_a_part_of_an_installed_package_is_no_code_of_the_folder(tmp_path, monkeypatch):
    """As where the audit lies in a checkout of the package itself."""
    (tmp_path / "beside_part.py").write_text("x = 1")
    package = ModuleType("beside_outer")
    package.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, "beside_outer", package)
    with modules_of(tmp_path):
        importlib.import_module("beside_outer.beside_part")
    assert code_of(tmp_path) == []
    del sys.modules["beside_outer.beside_part"]
