"""Trees of R's packages: the predictions of R itself, to the last bit."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import refused

from importance_audit.data.datasets import dataset
from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.trees import READERS, r_trees, routes
from importance_audit.methods.trees.fitted import (
    Trees,
    not_of_trees,
    trees_of,
)
from importance_audit.methods.trees.packing import predict
from importance_audit.models import r_models
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.r_models import RModel

from .small_ensembles import by_predict

pytestmark = [
    pytest.mark.needs_numba,
    pytest.mark.needs_r,
    pytest.mark.usefixtures("shared_r"),
]

CLASSES = {"regression": None, "binary": ("no", "yes"), "multiclass": ("v", "u", "w")}
RANGER = "ranger::ranger(y ~ ., train, num.trees = 7, seed = 1, min.node.size = 3"
OF_SETS = RANGER + ", respect.unordered.factors = 'partition'"
FOREST = "set.seed(1); randomForest::randomForest(y ~ ., train, ntree = 7"
GBM = (
    "set.seed(1); train$is_on <- +train$is_on; gbm::gbm(y ~ ., '{}', train, "
    "n.trees = 9, interaction.depth = 3, n.minobsinnode = 2)"
)
CODES = "train$y <- as.integer(train$y == 'yes'); "
COUNTS = "train$y <- round(abs(train$y)); "
RPART = "rpart::rpart(y ~ ., train, cp = 0, minsplit = 20"
NO_SURROGATES = ", maxsurrogate = 0)"
COLUMNS = "x <- train[names(train) != 'y']; "
NUMBERS = "~ x + whole + tied"
OF_NUMBERS = {
    "ranger": RANGER + ")",
    "ranger of ordered levels": RANGER + ", respect.unordered.factors = 'order')",
    "ranger of sets": OF_SETS + ")",
    "ranger of random sets": OF_SETS + ", splitrule = 'extratrees')",
    "ranger of columns": COLUMNS + "ranger::ranger(x = x, y = train$y, num.trees = 7)",
    "one tree of ranger": "ranger::ranger(y ~ ., train, num.trees = 1)",
    "forest": FOREST + ")",
    "one tree of a forest": FOREST.replace("= 7", "= 1") + ")",
    "gbm": GBM.format("gaussian"),
    "gbm of numbers": GBM.format("gaussian").replace("~ .", NUMBERS),
    "gbm of counts": COUNTS + GBM.format("poisson"),
    "rpart": RPART + NO_SURROGATES,
    "rpart with surrogates": RPART.replace("~ .", NUMBERS) + ", minbucket = 2)",
    "rpart of counts": COUNTS + RPART + ", method = 'poisson'" + NO_SURROGATES,
    "rpart of one leaf": "rpart::rpart(y ~ ., train, minsplit = 1e6)",
}
OF_TWO = {
    "ranger of two classes": RANGER + ", probability = TRUE)",
    "forest of two classes": FOREST + ")",
    "gbm of two classes": CODES + GBM.format("bernoulli"),
    "adaboost": CODES + GBM.format("adaboost"),
    "rpart of two classes": RPART + NO_SURROGATES,
}
OF_THREE = {
    "ranger of classes": OF_SETS + ", probability = TRUE)",
    "forest of classes": FOREST + ", cutoff = c(.2, .3, .5))",
    "forest of columns": COLUMNS
    + "randomForest::randomForest(x, train$y, ntree = 5, maxnodes = 9)",
    "gbm of classes": GBM.format("multinomial"),
    "rpart of classes": RPART + NO_SURROGATES,
}
SCRIPTS = {
    name: (task, script)
    for task, scripts in zip(CLASSES, (OF_NUMBERS, OF_TWO, OF_THREE), strict=True)
    for name, script in scripts.items()
}
FEW = ("ranger of classes", "forest of classes", "gbm of classes", "rpart of classes")
KNOWS_MISSING = (
    "gbm",
    "gbm of numbers",
    "gbm of two classes",
    "gbm of classes",
    "rpart",
)


def rows_of(task="regression", seed=1, n_rows=90, missing=False):
    """Return rows of numbers with ties, whole numbers, levels and levels in order."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 7, n_rows)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows) * 10.0 ** rng.integers(-3, 4),
            "tied": rng.normal(size=n_rows).round(1),
            "whole": rng.integers(-3, 4, n_rows),
            "is_on": rng.random(n_rows) < 0.5,
            "level": pd.Categorical.from_codes(codes, list("cbdaefg")),
            "grade": pd.Categorical.from_codes(
                codes % 3, ["lo", "mid", "hi"], ordered=True
            ),
        }
    )
    score = X["x"] / X["x"].std() * (1 + codes % 4) + X["whole"] * X["is_on"]
    y = score + rng.normal(size=n_rows)
    if missing:
        for name in ("x", "tied", "whole", "level", "grade"):
            X.loc[rng.random(n_rows) < 0.15, name] = np.nan
    if classes := CLASSES[task]:
        edges = np.quantile(y, np.linspace(0, 1, len(classes) + 1)[1:-1])
        y = pd.Categorical.from_codes(np.searchsorted(edges, y), classes)
    return dataset(X, y, task=task, name="rows", split="train", classes=CLASSES[task])


def model_of(script, data, folder):
    (folder / "fit.R").write_text(script)
    return r_models.load(ModelSection(name="m", r_script="fit.R"), data, base=folder)


@pytest.fixture
def made(tmp_path):
    """Return a model of R and the rows that it was fitted on, by the name of both."""

    def fitted(name, seed=1, **options):
        task, script = SCRIPTS[name]
        data = rows_of(task, seed, **options)
        return model_of(script, data, tmp_path), data

    return fitted


def packed_prediction(model, X):
    trees = trees_of(model, X)
    assert isinstance(trees, Trees), trees
    answer = predict(trees.packing, trees.read(X))[:, trees.columns]
    return np.ascontiguousarray(answer)


@pytest.mark.parametrize("name", SCRIPTS)
def test_predictions_are_those_of_r(name, made):
    seed = len(name) % 5
    model, data = made(name, seed)
    for X in (data.X, rows_of(SCRIPTS[name][0], seed + 100, 300).X):
        theirs = model.predict(X)
        assert len(np.unique(theirs)) > 1 or "one leaf" in name
        assert packed_prediction(model, X).tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", FEW)
def test_rows_at_a_threshold_go_where_r_sends_them(name, made):
    model, data = made(name)
    thresholds = trees_of(model, rows_of().X).packing.thresholds
    places = [model.features.index(feature) for feature in ("x", "tied")]
    for j in places:
        values = thresholds[j][np.isfinite(thresholds[j])]
        values = np.concatenate(
            [values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)]
        )
        X = data.X.iloc[np.arange(len(values)) % len(data.X)]
        X = X.assign(**{model.features[j]: values})
        ours, theirs = packed_prediction(model, X), model.predict(X)
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", KNOWS_MISSING)
def test_missing_values_go_where_r_sends_them(name, made):
    task, seed = SCRIPTS[name][0], len(name) % 5
    model, _ = made(name, seed, missing=True)
    X = rows_of(task, seed + 100, 300, missing=True).X
    ours, theirs = packed_prediction(model, X), model.predict(X)
    assert ours.tobytes() == theirs.tobytes()
    assert theirs.tobytes() != model.predict(rows_of(task, seed + 100, 300).X).tobytes()


def many_levels(n_levels, seed=1):
    """Return rows with a category of so many levels, of which each matters."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(40 * n_levels) % n_levels)
    level = pd.Categorical.from_codes(codes, [f"l{k}" for k in range(n_levels)])
    X = pd.DataFrame({"level": level, "x": rng.normal(size=len(codes))})
    y = rng.permutation(n_levels)[codes] % 5 + X["x"].to_numpy()
    return dataset(X, y, task="regression", name="rows", split="train")


@pytest.mark.parametrize("n_levels", [2, 32, 33])
@pytest.mark.parametrize(
    "name",
    ["ranger of random sets", "forest", "gbm", "rpart", "ranger of ordered levels"],
)
def test_sets_of_many_levels(name, n_levels, tmp_path):
    data = many_levels(n_levels)
    script = SCRIPTS[name][1].replace("train$is_on <- +train$is_on; ", "")
    model = model_of(script.replace("minsplit = 20", "minsplit = 400"), data, tmp_path)
    answer = packed_prediction(model, data.X)
    assert answer.tobytes() == model.predict(data.X).tobytes()


def test_a_level_that_cannot_reach_a_split_of_rpart_need_not_be_known_there(tmp_path):
    data = many_levels(9)
    script = RPART.replace("~ .", "~ level") + ", usesurrogate = 0)"
    model = model_of(script, data, tmp_path)
    assert trees_of(model, rows_of().X).packing.depth > 1
    answer = packed_prediction(model, data.X)
    assert answer.tobytes() == model.predict(data.X).tobytes()


@pytest.mark.parametrize("name", [*FEW, "gbm of two classes", "forest"])
def test_permutations_are_those_of_r(name, made, assert_as_by_predict):
    assert_as_by_predict(*made(name), stream="DALEX")


@pytest.mark.parametrize("name", ["ranger of classes", "rpart"])
def test_curves_and_pairs_are_those_of_r(name, made, calls):
    model, data = made(name)
    data = data.with_groups({a + b: (a, b) for a, b in combinations(data.X, 2)})
    slow, given = by_predict(model), []
    with routes.reporting_routes(given.append):
        for feature in data.X:
            _, ours = partial_dependence(model, data, feature, seed=1)
            _, theirs = partial_dependence(slow, data, feature, seed=1)
            atol = 1e-12 * np.abs(theirs).max()
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)
        ours, _ = h_statistic(model, data, seed=1, n_rows=40)
        theirs, _ = h_statistic(slow, data, seed=1, n_rows=40)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert {route.basis for route in given} == {"means", "unread"}  # the other is slow
    assert not calls


def test_each_model_is_read_once(made, monkeypatch):
    model, data = made("ranger")
    packing = trees_of(model, data.X).packing
    monkeypatch.setattr(r_trees, "tree_tables", None)
    assert trees_of(model, data.X).packing is packing


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (FOREST + ", corr.bias = TRUE)", "It corrects its predictions for bias."),
        (
            RPART.replace("~ .", "~ I(x^2) + tied") + ")",
            "Its formula has terms that are not columns.",
        ),
        (
            RPART.replace("= 20", "= 4") + ")",
            "At a split by a factor, some level goes neither left nor right: R looks "
            "at other columns, or goes no further.",
        ),
    ],
)
def test_what_is_not_read_says_why(script, reason, tmp_path):
    model = model_of(script, rows_of(), tmp_path)
    assert not not_of_trees(model)
    assert trees_of(model, rows_of().X) == reason


@pytest.mark.parametrize("name", ["gbm of numbers", "rpart with surrogates"])
def test_missing_values_that_trees_send_nowhere_are_left_to_r(
    name, made, assert_as_by_predict
):
    model, data = made(name)
    missing = replace(data, X=rows_of(missing=True).X)
    assert trees_of(model, rows_of().X).bins(data.X) is not None
    assert trees_of(model, rows_of().X).bins(missing.X) is None
    assert_as_by_predict(model, missing, len(data.groups), n_repeats=1)
    question = model.with_losses(["mse"]), missing
    assert refused(permutation, *question, draws="exact") == (
        "The mean over all permutations of model 'm' is not known. It reads values "
        "that are no numbers, categories above 255, or missing values that its trees "
        'send nowhere. Set draws = "sampled".'
    )


@pytest.mark.parametrize("name", ["ranger of sets", "ranger of ordered levels", "gbm"])
def test_levels_are_known_by_their_names(name, made):
    model, data = made(name)
    level, expected = data.X["level"], model.predict(data.X).tobytes()
    for other in (
        level.cat.reorder_categories(sorted("abcdefg")),
        level.astype(object),
    ):
        X = data.X.assign(level=other)
        assert packed_prediction(model, X).tobytes() == expected


def test_r_that_hands_over_no_trees_is_asked(made, assert_as_by_predict, monkeypatch):
    model, data = made("ranger")
    call = RModel.call

    def refusing(self, function, *arguments, **options):
        if function == "model_trees":
            raise RBridgeError("Not today.")
        return call(self, function, *arguments, **options)

    monkeypatch.setattr(RModel, "call", refusing)
    assert trees_of(model, rows_of().X) == "R does not hand over its trees: Not today."
    assert_as_by_predict(model, data, len(data.groups), n_repeats=1)


def test_a_model_without_trees_is_left_to_r(tmp_path):
    model = model_of("lm(y ~ x + whole, train)", rows_of(), tmp_path)
    assert not_of_trees(model)
    reason = "lm is no ensemble of trees that can be read."
    assert trees_of(model, rows_of().X) == reason


def test_every_reader_is_held_against_its_package():
    packages = {script.split("::")[0].split()[-1] for _, script in SCRIPTS.values()}
    assert {f"R.{name}" for name in packages} == set(r_trees.READERS)
    assert set(r_trees.READERS) <= set(READERS)
