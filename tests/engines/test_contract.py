"""What every row of METHODS must obey, whatever it measures."""

from dataclasses import replace
from functools import cache
from inspect import cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from tests.engines.replaying import rows_of

from importance_audit.methods.importance import METHODS, options_of
from importance_audit.methods.known_answers import linear_model
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import host
from importance_audit.r_bridge.r_models import read_model

LINEAR = ("sklearn.linear_model.LinearRegression", {})
TREE = ("sklearn.tree.DecisionTreeRegressor", {"max_depth": 3, "random_state": 0})
FOREST = (
    "sklearn.ensemble.RandomForestRegressor",
    {"n_estimators": 5, "random_state": 0},
)
NET = (
    "sklearn.neural_network.MLPRegressor",
    {"hidden_layer_sizes": [3], "solver": "lbfgs", "random_state": 0},
)
ESTIMATORS = {
    "impurity": TREE,
    "impurity_oob": FOREST,
    "oob_permutation": FOREST,
    "oob_permutation_scaled": FOREST,
    "garson": NET,
    "olden": NET,
}
PARTS = ("Parameters", "Returns", "Raises", "Warnings", "References")
NAMES = ("x1", "x2", "x3")
OF_CLASSES = {"anova", "auc"}
PARTNER = {"vint": {"x1": "x2", "x2": "x3", "x3": "x1"}}


def rows(split, seed, names=NAMES, *, method=""):
    """Return 80 rows of three normal columns, and y = 2 x1 - x2 + noise or its sign."""
    numbers = np.random.default_rng(seed).normal(size=(80, 4))
    X = pd.DataFrame(numbers[:, :3], columns=NAMES)
    y = 2 * X["x1"].to_numpy() - X["x2"].to_numpy() + numbers[:, 3]
    partner = PARTNER.get(method, {})
    data = rows_of(X, y).with_groups(
        {n: (n, partner[n]) if partner else (n,) for n in names}
    )
    if method in OF_CLASSES:
        classes = {"task": "binary", "classes": ("low", "high")}
        data = replace(data, y=(y > 0).astype(int), **classes)
    return replace(data, name=split, split=split)


def answer_of(method, *, names=NAMES, **options):
    """Return what a row of METHODS answers, and the rows it was shown."""
    row = METHODS[method]
    train = rows("train", 1, names, method=method)
    test = rows("test", 2, names, method=method)
    if row.asks == "data":
        return row.function(None, train, seed=1, **options), train
    if method == "model_specific":
        return row.function(of_r(train), test, seed=1, **options), test
    path, parameters = ESTIMATORS.get(method, LINEAR)
    section = ModelSection(name="model", estimator=path, parameters=parameters)
    return row.function(fit(section, train), test, seed=1, **options), test


@cache
def usual_answer(method):
    """Return what a row of METHODS answers when nothing else is asked of it."""
    return answer_of(method)


def of_r(train):
    """Return a linear model that R fitted."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.rds"
        arguments = {"d": train.X.assign(y=train.y), "code": "lm(y ~ ., d)"}
        host.current().call("fit_and_save", arguments | {"file": str(file)})
        model = read_model("model.rds", file.read_bytes())
    return replace(linear_model(1), features=NAMES, losses=(), estimator=model)


OF_R = pytest.param("model_specific", marks=pytest.mark.needs_r)
OF_MEMBERS = ("random_subspace", "random_subspace_permutation")
"""Methods that fit a model on each of hundreds of sets of features."""
ALL = [
    OF_R,
    *(pytest.param(name, marks=pytest.mark.slow) for name in OF_MEMBERS),
    *(name for name in METHODS if name not in ("model_specific", *OF_MEMBERS)),
]


@pytest.fixture(params=ALL)
def method(request):
    return request.param


@pytest.fixture(scope="module", autouse=True)
def r():
    """Keep one R for all; it starts with the first question to it."""
    file = Path(__file__).with_name("fit_in_r.R")
    with host.session(extra_r_files=[file]) as worker:
        yield worker


def test_one_row_per_feature_and_one_column_per_repeat(method):
    (raw, baseline), _ = usual_answer(method)
    assert raw.dtype == baseline.dtype == np.float64
    assert raw.shape == (3, *baseline.shape)
    assert baseline.shape[1] == 1  # one number, one loss or one output


def test_what_is_given_is_not_changed(method):
    _, data = usual_answer(method)
    fresh = rows(data.split, {"train": 1, "test": 2}[data.split], method=method)
    pd.testing.assert_frame_equal(data.X, fresh.X)
    assert data.y.tolist() == fresh.y.tolist()


def test_a_number_depends_on_its_own_feature_only(method):
    (whole, _), _ = usual_answer(method)
    (alone, _), _ = answer_of(method, names=("x2",))
    assert alone[0].tobytes() == whole[1].tobytes()


def test_the_same_seed_gives_the_same_numbers_also_where_defaults_are_given(method):
    (usual, base), _ = usual_answer(method)
    (explicit, again), _ = answer_of(method, **options_of(METHODS[method].function))
    assert explicit.tobytes() == usual.tobytes()
    assert again.tobytes() == base.tobytes()


def test_its_documentation_has_definition_shapes_weakness_and_source(method):
    text = "\n" + cleandoc(METHODS[method].function.__doc__)
    assert [part for part in PARTS if f"\n{part}\n-" not in text] == []
    assert "doi:" in text
