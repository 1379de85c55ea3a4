"""xplainfi is asked for what we replay: losses by repeat, and SAGE by order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.auditing.steps.test_paired_tests import LINEAR, TEST, TRAIN
from tests.auditing.test_measure import audited
from tests.cases import for_each
from tests.engines.replaying import assert_replayed, both, mixed, rows_of
from tests.known_answers import level_data, level_model, logistic_model
from tests.report.sections.test_results import MARGINAL, audit_of

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.engines.xplainfi import (
    xplainfi_drop_column,
    xplainfi_permutation,
    xplainfi_sage,
)
from importance_audit.methods.importance.drop_column import drop_column
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import host
from importance_audit.records.asker import asked_by
from importance_audit.records.errors import NotApplicable

pytestmark = [pytest.mark.needs_xplainfi, pytest.mark.usefixtures("shared_r")]
GAUSSIAN = {"within": "gaussian"}
NEAR = {"within": "neighbours", "convention": "xplainfi"}
SCHEMES = ({}, GAUSSIAN, NEAR)
BINARY = ("log_loss", "one_minus_auc", "brier", "one_minus_accuracy")
OF_CLASSES = ("log_loss", "brier", "one_minus_accuracy", "one_minus_auc_ovo")


def assert_permutation_replayed(model, data, **options):
    options = {"n_repeats": 3, **options}
    (ours, full), (theirs, their_full) = both(
        "xplainfi", "permutation", model.with_losses(model.losses[:4]), data, **options
    )
    assert_replayed(ours, theirs, full)
    assert_replayed(full, their_full)


def squares(names, X):
    """Return rows of numbers, of which some are asked, and a model of their squares."""

    def predict(X):
        return (X[[*names]].astype(float) ** 2).sum(axis=1).to_numpy()

    y = np.random.default_rng(2).normal(size=len(X))
    data = rows_of(X, y).with_groups({name: (name,) for name in names})
    return replace(linear_model(1), predict=predict), data


def whole_numbers(n_rows, names, high):
    numbers = np.random.default_rng(2).integers(0, high, (n_rows, len(names)))
    return pd.DataFrame(numbers, columns=[*names])


NUMBERS = (".id", "fare (£)", "if", "Zebra", "é")
NO_FLAGS = (*NUMBERS, "kind", "grade")
SOME = {"é": ("é",), "if": ("if",)}
TOGETHER = {"z": ("é", ".id"), "b": ("fare (£)",), "a": ("Zebra", "if")}
TWELVE = [f"x{k}" for k in range(12)]
# mlr3 would also draw between classes that are equal to 1e-5 of the likelier one.
SHARES = np.array([[0.4, 0.4 + 1e-7, 0.2], [0.4 + 1e-7, 0.4, 0.2], [0.1, 0.1, 0.8]])
LEVELS = level_model(losses=OF_CLASSES)
QUESTIONS = {
    "columns of levels": (mixed(*NO_FLAGS), (NEAR,)),
    "columns of numbers": (mixed(*NUMBERS), (GAUSSIAN, NEAR)),
    "some given all others": (mixed(*NUMBERS, groups=SOME), SCHEMES),
    "groups given the others": (mixed(*NUMBERS, groups=TOGETHER), (GAUSSIAN, NEAR)),
    "in the order of names": (squares(TWELVE, whole_numbers(30, TWELVE, 9)), SCHEMES),
    "a single column": ((linear_model(2), normal_data(2.0)), ({}, GAUSSIAN)),
    "one feature and repeat": (
        (linear_model(2, 1), normal_data(2, 1).with_groups({"x2": ("x2",)})),
        [{"n_repeats": 1, **scheme} for scheme in SCHEMES],
    ),
    "two classes": ((logistic_model(1, 2, losses=BINARY), binary_data()), (NEAR,)),
    "tied classes": (
        (
            replace(
                logistic_model(1, 2, losses=("log_loss",)),
                predict=lambda X: np.where(X["x1"] > 0, 0.5, 0.4),
            ),
            binary_data(),
        ),
        ({}, NEAR),
    ),
    "three classes": (
        (level_model(1 / 3, losses=OF_CLASSES), level_data()),
        ({}, NEAR),
    ),
    "almost tied classes": (
        (
            replace(LEVELS, predict=lambda X: SHARES[X["kind"].cat.codes]),
            level_data(),
        ),
        ({}, NEAR),
    ),
}


@for_each(QUESTIONS)
def test_every_repeat_is_replayed_given_nothing_a_normal_or_neighbours(question):
    (model, data), schemes = QUESTIONS[question]
    for options in schemes:
        assert_permutation_replayed(model, data, **options)


@for_each([2, 9, 60])
def test_whole_numbers_have_the_neighbours_that_last_bits_leave_them(k):
    X = whole_numbers(60, "dbca", 7)
    kinds = np.random.default_rng(k).choice(["u", "v"], 60)
    for table in (X, X.assign(kind=pd.Categorical(kinds))):
        model, data = squares("dbca", table)
        assert_permutation_replayed(model, data, n_neighbours=k, **NEAR)


def test_an_audit_draws_beside_it_in_its_order_and_replays_it():
    entries = [MARGINAL, MARGINAL | GAUSSIAN, MARGINAL | NEAR]
    entries.append({"method": "sage", "losses": ["mse"], "n_repeats": 20})
    result = audit_of(*entries, engines=["xplainfi"])
    sides = [(r.engine, r.stream) for r in result.importances if r.model == "one"]
    ours, theirs, again = (
        ("python", "numpy"),
        ("xplainfi", "xplainfi"),
        ("python", "xplainfi"),
    )
    assert sides == [ours, theirs, again] * 4
    assert result.agreement["verdict"].tolist() == ["replayed"] * 8
    refused = audit_of(MARGINAL | {"within": "leaves"}, engines=["xplainfi"])
    assert {r.stream for r in refused.importances} == {"numpy"}
    assert set(refused.agreement["verdict"]) == {"not compared"}


def assert_sage_replayed(model, data, **options):
    """Assert that every order gives what it gives in R; return how many there are."""
    (ours, _), (theirs, baseline) = both("xplainfi", "sage", model, data, **options)
    assert_replayed(ours, theirs, abs(ours).max())
    assert not baseline.any()
    return ours.shape[1]


ALL_ORDERS = {"tolerance": 0.0, "n_repeats": 4}
STOPPING = {"tolerance": 0.2, "n_repeats": 40, "n_background": 13}


@for_each(["rows", "gaussian"])
def test_sage_is_replayed_order_by_order(background):
    logistic = logistic_model(1, 2, losses=("log_loss",)), binary_data()
    linear = linear_model(2, 1, 3), normal_data(2, 1, 3)
    for options in (ALL_ORDERS, STOPPING):
        options = {"background": background, **options}
        n = assert_sage_replayed(*linear, **options)
        assert (n == 4) == (options["tolerance"] == 0)
        assert_sage_replayed(*logistic, **options)


def test_sage_of_classes_and_of_columns_of_every_type_is_replayed():
    one_player = level_model(0.8, losses=("log_loss",))
    assert assert_sage_replayed(one_player, level_data()) == 10
    model, data = mixed()
    model = model.with_losses(("rmse", "mae"))
    assert_sage_replayed(model, data, n_background=20, **ALL_ORDERS)


def halves(data):
    """Return the first half of the rows to fit, and the others to judge."""
    return [
        replace(data.part(data.features, rows), split=split, groups=data.groups)
        for split, rows in zip(
            ("train", "test"), np.split(np.arange(200), 2), strict=True
        )
    ]


OLS = ("linear_model.LinearRegression", {})
FOREST = ("ensemble.RandomForestRegressor", {"n_estimators": 3, "max_features": 1})
LOGISTIC = ("linear_model.LogisticRegression", {})
TREE = ("tree.DecisionTreeClassifier", {"max_depth": 1})
THREE, PAIR = normal_data(2, 1, 0.5), normal_data(2, 1)
AS_GROUPS = THREE.with_groups({"b": ("x3", "x1"), "a": ("x2",), "c": ("x2",)})
AS_ONE = THREE.with_groups({"all": ("x1", "x2", "x3")})
FITTED = replace(PAIR, split="train")
OF_LEVELS = [replace(level_data(), split=split) for split in ("train", "test")]
SINGLE = replace(PAIR, X=PAIR.X[:1] + 7, y=PAIR.y[:1], weights=np.ones(1))
REFITS = {
    "features": (OLS, halves(THREE), ("mse", "mae"), {}),
    "groups": (OLS, halves(AS_GROUPS), ("rmse",), {}),
    "all columns": (OLS, halves(AS_ONE), ("mse",), {}),
    "draws of the repeat": (FOREST, halves(PAIR), ("mse",), {}),
    "rows held out": (OLS, halves(PAIR)[:1] * 2, ("mse",), {"held_out": 0.3}),
    "a single row": (OLS, (FITTED, SINGLE), ("mse",), {}),
    "two classes": (LOGISTIC, halves(binary_data()), ("log_loss", "one_minus_auc"), {}),
    "three classes": (TREE, OF_LEVELS, OF_CLASSES, {}),
}


@for_each(REFITS)
def test_losses_of_refits_are_replayed(name):
    (estimator, parameters), (train, test), losses, options = REFITS[name]
    section = ModelSection(
        name="m", estimator=f"sklearn.{estimator}", parameters=parameters
    )
    model = fit(section, train).with_losses(losses)
    options = {"seed": 3, "n_repeats": 2, **options}
    ours, full = drop_column(model, test, **options)
    theirs, their_full = xplainfi_drop_column(model, test, **options)
    np.testing.assert_allclose(theirs, ours, rtol=1e-12)
    np.testing.assert_allclose(their_full, full, rtol=1e-12)
    assert name == "three classes" or (ours != full).any()
    if name in ("draws of the repeat", "rows held out"):
        assert (ours[:, 0] != ours[:, 1]).all()


def test_a_single_row_has_values_of_sage():
    assert_sage_replayed(linear_model(2, 1), SINGLE, **ALL_ORDERS)


def test_an_audit_replays_refits_without_measuring_ours_again():
    entry = {"method": "drop_column", "losses": ["mse"], "n_repeats": 2}
    _, _, result = audited(entry | {"engines": ["xplainfi"]})
    sides = [(r.engine, r.stream) for r in result.importances]
    assert sides == [("python", "numpy"), ("xplainfi", "numpy")] * 2
    assert result.agreement["verdict"].tolist() == ["replayed"] * 2


# --- its own tests --------------------------------------------------------------------

TESTS = ("t", "wilcoxon", "sign")


def assert_tests_agree(entry, test, *, statistic="", models=None, rows=(TRAIN, TEST)):
    """Assert that what xplainfi tests is what we do, in its draws; return the losses.

    The statistic and p-value of each feature, to 1e-9.
    """
    config = {"importance": [{"engines": ["xplainfi"], **entry}]}
    config["significance"] = {"tests": [test], "statistic": statistic}
    config |= {} if models else {"models": [LINEAR]}
    result = audit(*rows, parse_config(config), models=models or ())
    frame = result.significance
    theirs = frame[frame["engine"] == "xplainfi"].reset_index(drop=True)
    stream = frame["stream"].isin(theirs["stream"])
    ours = frame[stream & (frame["engine"] == "python")].reset_index(drop=True)
    keys = ["model", "method", "of", "loss", "feature", "test", "statistic", "n"]
    pd.testing.assert_frame_equal(ours[keys], theirs[keys])
    numbers = ["value", "p_value", "p_adjusted", "estimate", "std_error"]
    np.testing.assert_allclose(ours[numbers], theirs[numbers], rtol=1e-9, atol=1e-13)
    records = [result.importances[place] for place in theirs["record"]]
    assert {(r.engine, r.stream) for r in records} == {
        *theirs[["engine", "stream"]].itertuples(index=False, name=None)
    }
    return set(theirs["loss"])


BY_PERMUTATION = {"method": "permutation", "n_repeats": 3}
OF_ROWS = {
    "cpi": BY_PERMUTATION | {"losses": ["rmse", "mae", "one_minus_r2"], **GAUSSIAN},
    "lei": {"method": "drop_column", "losses": ["mae", "mse"], "n_repeats": 1},
}


@for_each([(test, how) for test in OF_ROWS for how in ("", *TESTS)])
def test_tests_of_permutation_and_of_refits_are_ours_in_its_draws(case):
    test, statistic = case
    entry = OF_ROWS[test]
    assert assert_tests_agree(entry, test, statistic=statistic) == {*entry["losses"]}


LINE = linear_model(0.3)
COUNTS = replace(normal_data(0.3), y=np.round(np.exp(normal_data(0.3).y)) + 1)
OF_COUNTS = replace(LINE, predict=lambda X: np.exp(LINE.predict(X)) + 1)
MORE = ("log_loss_clipped", "negative_log_likelihood")
TESTED = [
    (logistic_model(1, 2), binary_data(), (*BINARY, *MORE)),
    (level_model(0.8), level_data(), (*OF_CLASSES, "dalex_cross_entropy")),
    (OF_COUNTS, COUNTS, ("poisson_deviance", "gamma_deviance", "mape")),
]


@for_each(TESTED, lambda case: case[2])
def test_tests_of_losses_of_classes_and_of_counts_are_ours(case):
    model, data, losses = case
    entry = BY_PERMUTATION | {"losses": [*losses]}
    asked = assert_tests_agree(entry, "cpi", models=(model,), rows=(None, data))
    assert asked == {*losses} - {"one_minus_auc", "one_minus_auc_ovo"}


def reason_for(entry, test, data=TEST, **significance):
    """Return why xplainfi makes no test of an entry, which is a finding of its own."""
    config = {"importance": [{"engines": ["xplainfi"], **entry}], "models": [LINEAR]}
    config["significance"] = {"tests": [test], **significance}
    config["groups"] = {"both": ["x1", "x2"]}
    result = audit(TRAIN, data, parse_config(config))
    assert set(result.significance["engine"]) == {"python"}
    assert set(result.significance["stream"]) == {"numpy"}
    (note,) = (f for f in result.findings if "by xplainfi" in f.message)
    assert (note.check, note.severity) == ("not_applicable", "info")
    return note.message.split("by xplainfi: ")[1]


def test_why_xplainfi_makes_no_test_of_the_same_differences_is_said():
    ask = {"method": "permutation", "n_repeats": 2}
    assert reason_for(ask, "cpi", statistic="fisher") == (
        "xplainfi changes signs at random by draws of its own, so its p-values differ "
        "from ours by chance. Take another statistic to compare them."
    )
    assert reason_for(ask | {"of": "groups"}, "cpi") == (
        "xplainfi permutes the columns of a group one by one, so it would test other "
        "differences. Draw given the other columns, or test features."
    )
    twice = {"method": "drop_column", "losses": ["mae"], "n_repeats": 2}
    assert reason_for(twice, "lei") == (
        "xplainfi is asked for each repeat by itself, so that it cannot test their "
        "mean. Set n_repeats = 1."
    )


# --- refusals -------------------------------------------------------------------------


def weighted(data):
    return replace(data, weights=np.linspace(1, 2, 200))


def first(n, data):
    return replace(data, X=data.X[:n], y=data.y[:n], weights=np.ones(n))


def with_columns(data, **columns):
    return replace(data, X=data.X.assign(**columns))


TWO, MIXED = normal_data(1, 1), mixed()[1]
GAPS = with_columns(TWO, x2=TWO.X["x2"].where(TWO.X["x2"] > 0))
WHOLE = TWO.with_groups({"all": ("x1", "x2")})
GIVEN_SUM = with_columns(TWO, x0=TWO.X["x1"] ** 2, x3=TWO.X["x1"] - TWO.X["x2"])
GIVEN_CONSTANT = with_columns(TWO, x0=TWO.X["x1"] ** 2, x3=1.0)
OF_X0 = {"x0": ("x0",)}
BREAKS = (
    "The normal of xplainfi breaks on columns that are sums of others or constant, "
    "such as those it draws {} given. Leave one of them out."
)


PERMUTE, SAGE = xplainfi_permutation, xplainfi_sage
FEW = first(3, normal_data(1, 1, 1, 1))
DOUBLED = with_columns(TWO, x2=2 * TWO.X["x1"])
JOINED = TWO.with_groups({"both": ("x1", "x2")})
OF_NORMAL = {"background": "gaussian", "tolerance": 0.0}
SUMS, SUMS_OF_ANY = BREAKS.format("'x0'"), BREAKS.format("any of them")
FLAGS = "both false in a column; these hold true and false: 'flag'. Leave them out, or"
REFUSED = [
    (PERMUTE, first(1, TWO), {}, "xplainfi cannot permute a single row. Give at least"),
    (PERMUTE, TWO, {"within": "leaves"}, "within no leaves. Leave within out."),
    (PERMUTE, TWO, NEAR | {"n_neighbours": 1}, "draws one of the rows 1 to i"),
    (PERMUTE, TWO, {"within": "neighbours"}, 'Set convention = "xplainfi" to compare'),
    (PERMUTE, WHOLE, NEAR, "where no other is left, as for 'all'. Leave it out."),
    (PERMUTE, GAPS, GAUSSIAN, "must have no missing value"),
    (PERMUTE, GAPS, NEAR, "must have no missing value"),
    (PERMUTE, MIXED, GAUSSIAN, "these are not: 'kind', 'flag', 'grade'. Set within = "),
    (PERMUTE, MIXED, NEAR, FLAGS),
    (PERMUTE, GIVEN_SUM.with_groups(OF_X0), GAUSSIAN, SUMS),
    (PERMUTE, GIVEN_CONSTANT.with_groups(OF_X0), GAUSSIAN, SUMS),
    (PERMUTE, replace(TWO, unread={"x2": ()}), NEAR, "no model is given: 'x2'. Leave"),
    (PERMUTE, FEW, GAUSSIAN, BREAKS.format("'x1'")),
    (SAGE, weighted(TWO), {}, "xplainfi does not support row weights"),
    (
        SAGE,
        JOINED,
        {},
        "by itself; these groups have several: 'both'. Leave the engine",
    ),
    (SAGE, TWO, {"tolerance": 0.1}, "stops by one loss at a time, and several would"),
    (SAGE, DOUBLED, OF_NORMAL, SUMS_OF_ANY),
]


def refusal(ask, data, **options):
    model = linear_model(1, 1, losses=("mse", "mae"))
    model = replace(model, features=data.features)
    with pytest.raises(NotApplicable) as refused:
        ask(model, data, seed=1, **options)
    return str(refused.value)


@for_each(REFUSED, lambda case: case[3])
def test_what_xplainfi_cannot_draw_as_asked_is_not_asked(case):
    ask, data, options, words = case
    assert words in refusal(ask, data, **options)


def test_our_normal_is_asked_for_sums_of_columns():
    asked = GIVEN_SUM.with_groups(OF_X0)
    raw, _ = permutation(linear_model(1, 1), asked, seed=1, **GAUSSIAN)
    assert np.isfinite(raw).all()


def test_without_gower_neighbours_by_categories_are_not_asked(monkeypatch):
    here = host.installed()
    packages = {k: v for k, v in here["packages"].items() if k != "gower"}
    monkeypatch.setattr(host, "installed", lambda: here | {"packages": packages})
    _, data = mixed(*NO_FLAGS)
    assert refusal(xplainfi_permutation, data, **NEAR) == (
        "For neighbours by categories xplainfi needs the package gower, which R does "
        "not have. Run: importance-audit install-r xplainfi"
    )
    with asked_by("r"):
        in_r = refusal(xplainfi_permutation, data, **NEAR)
    assert in_r.endswith('R does not have. Run: install.packages("xplainfi")')
    assert_permutation_replayed(*mixed(*NUMBERS), **NEAR)
