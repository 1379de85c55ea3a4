"""xplainfi is asked for what we replay: losses by repeat, and SAGE by order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.auditing.steps.test_paired_tests import LINEAR, TEST, TRAIN
from tests.auditing.test_measure import audited
from tests.engines import test_xplainfi as recorded
from tests.report.sections.test_results import MARGINAL, audit_of

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.engines.xplainfi import (
    RowTests,
    xplainfi_drop_column,
    xplainfi_permutation,
    xplainfi_sage,
)
from importance_audit.methods.importance.drop_column import drop_column
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.sage import sage
from importance_audit.methods.known_answers import (
    binary_data,
    level_data,
    level_model,
    linear_model,
    logistic_model,
    normal_data,
)
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import host
from importance_audit.records.asker import asked_by
from importance_audit.records.errors import NotApplicable

pytestmark = pytest.mark.needs_xplainfi
GAUSSIAN = {"within": "gaussian"}
NEAR = {"within": "neighbours", "convention": "xplainfi"}
SCHEMES = ({}, GAUSSIAN, NEAR)


@pytest.fixture(scope="module", autouse=True)
def r():
    with host.session() as worker:
        yield worker


def assert_replayed(model, data, *, n_repeats=3, **options):
    """Assert |a - b| <= 1e-9 max(|a|, |b|, |baseline|), in every repeat."""
    asked = {"seed": 7, "n_repeats": n_repeats, **options}
    ours, full = permutation(model, data, stream="xplainfi", **asked)
    theirs, their_full = xplainfi_permutation(model, data, **asked)
    allowed = 1e-9 * np.maximum(np.maximum(abs(ours), abs(theirs)), abs(full))
    assert ours.shape == theirs.shape
    assert (abs(ours - theirs) <= allowed).all(), float(abs(ours - theirs).max())
    np.testing.assert_allclose(full, their_full, rtol=1e-9)


@recorded.matching(r"pfi-(?!groups).*|cfi-.*|cpi-(gauss|knn)-base")
def test_what_is_recorded_is_what_the_package_here_says(case):
    model, data = recorded.model_of(case), recorded.rows_of(case)
    how = recorded.within_of(case)
    options = {"seed": case["seed"], "n_repeats": case["options"]["n_repeats"], **how}
    raw, baseline = xplainfi_permutation(model, data, **options)
    recorded.assert_replayed(case, data, raw, baseline)


def mixed(groups=None):
    """Return 40 rows of every type under odd names, one level absent, and a model."""
    rng = np.random.default_rng(1)
    kinds = pd.CategoricalDtype(["z", "u", "w", "v"])
    grades = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)
    X = pd.DataFrame(
        {
            ".id": rng.normal(size=40),
            "fare (£)": rng.integers(0, 5, 40),
            "kind": pd.Categorical(rng.choice(["u", "v", "z"], 40), dtype=kinds),
            "flag": rng.random(40) < 0.4,
            "if": rng.normal(size=40).astype("float32"),
            "Zebra": rng.normal(size=40),
            "é": rng.normal(size=40),
            "grade": pd.Categorical(rng.choice(["low", "high"], 40), dtype=grades),
        }
    )
    weights = {name: k + 1.0 for k, name in enumerate(X)}

    def predict(X):
        assert dict(X.dtypes) == {name: types[name] for name in X}
        total = np.zeros(len(X))
        for name, column in X.items():
            is_level = column.dtype == "category"
            numbers = column.cat.codes**2.0 if is_level else column.astype(float)
            total = (total + weights[name]) * (1 + 0.3 * numbers.to_numpy())
        return total

    types = X.dtypes
    model = replace(linear_model(1), predict=predict, losses=("rmse", "mae"))
    data = replace(normal_data(), X=X, y=rng.normal(size=40), weights=np.ones(40))
    return model, data.with_groups(groups or {name: (name,) for name in X})


def without(data, *names):
    X = data.X.drop(columns=list(names))
    return replace(data, X=X).with_groups({name: (name,) for name in X})


def test_columns_of_every_type_under_any_name_are_replayed():
    model, data = mixed()
    assert_replayed(model, data)
    assert_replayed(model, without(data, "flag"), **NEAR)
    assert_replayed(model, without(data, "flag", "kind", "grade"), **GAUSSIAN)


def test_what_is_asked_of_some_is_drawn_given_all_others():
    model, data = mixed()
    data = without(data, "flag", "kind", "grade")
    for options in SCHEMES:
        few = data.with_groups({"é": ("é",), "if": ("if",)})
        assert_replayed(model, few, **options)


def test_groups_are_drawn_together_given_the_others():
    model, data = mixed()
    data = without(data, "flag", "kind", "grade")
    data = data.with_groups(
        {"z": ("é", ".id"), "b": ("fare (£)",), "a": ("Zebra", "if")}
    )
    assert_replayed(model, data, **GAUSSIAN)
    assert_replayed(model, data, **NEAR)


def test_more_than_nine_columns_stand_in_the_order_of_their_names():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.integers(0, 9, (30, 12)), columns=[f"x{k}" for k in range(12)])
    model = replace(
        linear_model(1), predict=lambda X: (X**2).sum(axis=1).to_numpy(float)
    )
    data = replace(normal_data(), X=X, y=rng.normal(size=30), weights=np.ones(30))
    for options in SCHEMES:
        assert_replayed(model, data.with_groups({n: (n,) for n in X}), **options)


BINARY = ("log_loss", "one_minus_auc", "brier", "one_minus_accuracy")
OF_CLASSES = ("log_loss", "brier", "one_minus_accuracy", "one_minus_auc_ovo")


@pytest.mark.parametrize("options", [{}, NEAR], ids=["permuted", "near"])
def test_losses_of_classes_are_replayed_and_ties_between_them_draw_nothing(options):
    data = binary_data()
    assert_replayed(logistic_model(1, 2, losses=BINARY), data, **options)
    tied = replace(
        logistic_model(1, 2, losses=("log_loss",)),
        predict=lambda X: np.where(X["x1"] > 0, 0.5, 0.4),
    )
    assert_replayed(tied, data, **options)
    # mlr3 would also draw between classes that are equal to 1e-5 of the likelier one.
    shares = np.array([[0.4, 0.4 + 1e-7, 0.2], [0.4 + 1e-7, 0.4, 0.2], [0.1, 0.1, 0.8]])
    near = replace(
        level_model(losses=OF_CLASSES), predict=lambda X: shares[X["kind"].cat.codes]
    )
    assert_replayed(near, level_data(), **options)
    for share in (0.8, 1 / 3):
        assert_replayed(level_model(share, losses=OF_CLASSES), level_data(), **options)


@pytest.mark.parametrize("options", SCHEMES, ids=str)
def test_one_feature_and_one_repeat_are_replayed(options):
    alone = normal_data(2, 1).with_groups({"x2": ("x2",)})
    assert_replayed(linear_model(2, 1), alone, n_repeats=1, **options)


def test_a_single_column_is_permuted_and_drawn_from_its_normal():
    assert_replayed(linear_model(2), normal_data(2.0))
    assert_replayed(linear_model(2), normal_data(2.0), **GAUSSIAN)


@pytest.mark.parametrize("k", [2, 9, 60])
@pytest.mark.parametrize("has_kind", [False, True])
def test_whole_numbers_have_the_neighbours_that_last_bits_leave_them(k, has_kind):
    def predict(X):
        return (X[[*"abcd"]] ** 2).sum(axis=1).to_numpy(float)

    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({n: rng.integers(0, 7, 60) for n in "dbca"})
        if has_kind:
            X["kind"] = pd.Categorical(rng.choice(["u", "v"], 60))
        data = replace(normal_data(), X=X, y=rng.normal(size=60), weights=np.ones(60))
        model = replace(linear_model(1), predict=predict)
        data = data.with_groups({n: (n,) for n in "dbca"})
        assert_replayed(model, data, n_neighbours=k, **NEAR)


def test_the_columns_of_a_group_are_permuted_one_by_one():
    # y = f = x1 - x2 of two copies: moved together, the error stays 0.
    single = normal_data(1.0)
    X = single.X.assign(x2=single.X["x1"])
    data = replace(single, X=X, y=np.zeros(200), groups={"both": ("x1", "x2")})
    model = linear_model(1, -1)
    theirs, _ = xplainfi_permutation(model, data, seed=1, n_repeats=2)
    ours, _ = permutation(model, data, seed=1, n_repeats=2, stream="xplainfi")
    assert (ours == 0).all()
    assert (theirs > 1).all()


def test_an_audit_draws_beside_it_in_its_order_and_replays_it():
    entries = [MARGINAL, MARGINAL | GAUSSIAN, MARGINAL | NEAR]
    result = audit_of(*entries, engines=["xplainfi"])
    records = [r for r in result.importances if r.model == "one"]
    sides = [(r.engine, r.stream) for r in records]
    assert (
        sides
        == [
            ("python", "numpy"),
            ("xplainfi", "xplainfi"),
            ("python", "xplainfi"),
        ]
        * 3
    )
    assert result.agreement["verdict"].tolist() == ["replayed"] * 6
    refused = audit_of(MARGINAL | {"within": "leaves"}, engines=["xplainfi"])
    assert {r.stream for r in refused.importances} == {"numpy"}
    assert set(refused.agreement["verdict"]) == {"not compared"}


def assert_sage_replayed(model, data, **options):
    """Assert that every order gives what it gives in R; return how many there are."""
    asked = {"seed": 7, **options}
    ours, _ = sage(model, data, stream="xplainfi", **asked)
    theirs, baseline = xplainfi_sage(model, data, **asked)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * abs(ours).max())
    assert not baseline.any()
    return ours.shape[1]


SCHEMES_OF_SAGE = [
    {"tolerance": 0.0, "n_repeats": 4},
    {"tolerance": 0.2, "n_repeats": 40, "n_background": 13},
]


@pytest.mark.parametrize("options", SCHEMES_OF_SAGE, ids=["all orders", "stopping"])
@pytest.mark.parametrize("background", ["rows", "gaussian"])
def test_sage_is_replayed_order_by_order(options, background):
    options = options | {"background": background}
    n = assert_sage_replayed(linear_model(2, 1, 3), normal_data(2, 1, 3), **options)
    assert (n == 4) == (options["tolerance"] == 0)
    logistic = logistic_model(1, 2, losses=("log_loss",))
    assert_sage_replayed(logistic, binary_data(), **options)


def test_sage_of_classes_and_of_columns_of_every_type_is_replayed():
    one_player = level_model(0.8, losses=("log_loss",))
    assert assert_sage_replayed(one_player, level_data()) == 10
    model, data = mixed()
    model = replace(model, features=tuple(data.X))
    both = {"tolerance": 0.0, "n_repeats": 3}
    assert_sage_replayed(model, data, n_background=20, **both)


def test_an_audit_replays_sage():
    entry = {"method": "sage", "losses": ["mse"], "n_repeats": 20, "n_background": 30}
    result = audit_of(entry, engines=["xplainfi"])
    assert result.agreement["verdict"].tolist() == ["replayed"] * 2


def assert_refits_replayed(estimator, train, test, losses, **parameters):
    """Assert that refits without each group measure in R what they measure here."""
    options = {key: parameters.pop(key) for key in ("held_out",) if key in parameters}
    section = ModelSection(
        name="m", estimator=f"sklearn.{estimator}", parameters=parameters
    )
    model = fit(section, train).with_losses(losses)
    asked = {"seed": 3, "n_repeats": 2, **options}
    ours, full = drop_column(model, test, **asked)
    theirs, their_full = xplainfi_drop_column(model, test, **asked)
    np.testing.assert_allclose(theirs, ours, rtol=1e-12)
    np.testing.assert_allclose(their_full, full, rtol=1e-12)
    return ours, full


def halves(data):
    """Return the first half of the rows to fit, and the others to judge."""
    parts = []
    for split, rows in zip(("train", "test"), np.split(np.arange(200), 2), strict=True):
        part = replace(data.part(data.features, rows), split=split)
        parts.append(replace(part, groups=data.groups))
    return parts


def test_refits_without_a_column_or_a_group_are_replayed():
    data = normal_data(2, 1, 0.5)
    ols = "linear_model.LinearRegression"
    ours, full = assert_refits_replayed(ols, *halves(data), ("mse", "mae"))
    assert (ours[:2] > full).all()
    grouped = data.with_groups({"b": ("x3", "x1"), "a": ("x2",), "c": ("x2",)})
    assert_refits_replayed(ols, *halves(grouped), ("rmse",))
    whole = data.with_groups({"all": ("x1", "x2", "x3")})
    assert_refits_replayed(ols, *halves(whole), ("mse",))


def test_refits_that_draw_have_the_random_state_of_their_repeat():
    forest = {"n_estimators": 3, "max_features": 1}
    ours, _ = assert_refits_replayed(
        "ensemble.RandomForestRegressor", *halves(normal_data(2, 1)), ("mse",), **forest
    )
    assert (ours[:, 0] != ours[:, 1]).all()


def test_rows_that_a_refit_holds_out_judge_it_in_r_too():
    train, _ = halves(normal_data(2, 1))
    ols = "linear_model.LinearRegression"
    ours, _ = assert_refits_replayed(ols, train, train, ("mse",), held_out=0.3)
    assert (ours[:, 0] != ours[:, 1]).all()


def test_a_single_row_judges_refits_and_has_values_of_sage():
    data = normal_data(2, 1)
    train = replace(data, split="train")
    one = replace(data, X=data.X[:1] + 7, y=data.y[:1], weights=np.ones(1))
    ols = "linear_model.LinearRegression"
    ours, full = assert_refits_replayed(ols, train, one, ("mse",))
    assert (ours != full).all()
    assert_sage_replayed(linear_model(2, 1), one, tolerance=0.0, n_repeats=3)


def test_refits_of_classes_are_replayed():
    halved = halves(binary_data())
    logistic = "linear_model.LogisticRegression"
    assert_refits_replayed(logistic, *halved, ("log_loss", "one_minus_auc"))
    levels = level_data()
    train, test = (replace(levels, split=split) for split in ("train", "test"))
    tree = "tree.DecisionTreeClassifier"
    assert_refits_replayed(tree, train, test, OF_CLASSES, max_depth=1)


def test_an_audit_replays_refits_without_measuring_ours_again():
    entry = {"method": "drop_column", "losses": ["mse"], "n_repeats": 2}
    _, _, result = audited(entry | {"engines": ["xplainfi"]})
    sides = [(r.engine, r.stream) for r in result.importances]
    assert sides == [("python", "numpy"), ("xplainfi", "numpy")] * 2
    assert result.agreement["verdict"].tolist() == ["replayed"] * 2


# --- its own tests --------------------------------------------------------------------

TESTS = ("t", "wilcoxon", "sign")


@pytest.mark.parametrize("statistic", TESTS)
@recorded.matching("cpi-(gauss|knn)-base")
def test_tables_of_tests_are_those_recorded(case, statistic):
    model, data = recorded.model_of(case), recorded.rows_of(case)
    tests = RowTests(statistic=statistic)
    options = {"seed": case["seed"], "n_repeats": case["options"]["n_repeats"]}
    how = recorded.within_of(case)
    xplainfi_permutation(model, data, row_tests=tests, **options, **how)
    name = {"sign": "binomial"}.get(statistic, statistic)
    test = case["id"].replace("base", f"{name}-greater")
    truth = pd.DataFrame(recorded.CASES[test]["result"]["table"]).set_index("feature")
    truth = truth.loc[list(data.groups), ["statistic", "p.value", "importance", "se"]]
    theirs = tests.tables["mse"]
    np.testing.assert_allclose(theirs, truth.to_numpy(float), rtol=1e-9, atol=1e-13)


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


def assert_permutation_agrees(model, data, losses):
    """Assert the same of permutation of a fitted model."""
    entry = {"method": "permutation", "losses": [*losses], "n_repeats": 3}
    return assert_tests_agree(entry, "cpi", models=(model,), rows=(None, data))


@pytest.mark.parametrize("statistic", ["", *TESTS])
def test_tests_of_permutation_are_ours_in_its_draws(statistic):
    losses = ["rmse", "mae", "one_minus_r2"]
    entry = {"method": "permutation", "losses": losses, "n_repeats": 3, **GAUSSIAN}
    assert assert_tests_agree(entry, "cpi", statistic=statistic) == {*losses}


def test_tests_of_losses_of_classes_are_ours():
    losses = (*BINARY, "log_loss_clipped", "negative_log_likelihood")
    asked = assert_permutation_agrees(logistic_model(1, 2), binary_data(), losses)
    assert asked == {*losses} - {"one_minus_auc"}
    losses = (*OF_CLASSES, "dalex_cross_entropy")
    asked = assert_permutation_agrees(level_model(0.8), level_data(), losses)
    assert asked == {*losses} - {"one_minus_auc_ovo"}


def test_tests_of_counts_and_percentages_are_ours():
    data, line = normal_data(0.3), linear_model(0.3)
    data = replace(data, y=np.round(np.exp(data.y)) + 1)
    model = replace(line, predict=lambda X: np.exp(line.predict(X)) + 1)
    losses = ("poisson_deviance", "gamma_deviance", "mape")
    assert assert_permutation_agrees(model, data, losses) == {*losses}


@pytest.mark.parametrize("statistic", ["", *TESTS])
def test_tests_of_refits_are_ours(statistic):
    losses = ["mae", "mse"]
    entry = {"method": "drop_column", "losses": losses, "n_repeats": 1}
    assert assert_tests_agree(entry, "lei", statistic=statistic) == {*losses}


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


def refusal(data, model=None, **options):
    with pytest.raises(NotApplicable) as refused:
        xplainfi_permutation(model or linear_model(1, 1), data, seed=1, **options)
    return str(refused.value)


def test_what_xplainfi_cannot_draw_as_asked_is_not_asked():
    data = normal_data(1, 1)
    weighted = replace(data, weights=np.linspace(1, 2, 200))
    assert "does not support row weights" in refusal(weighted)
    one = replace(data, X=data.X[:1], y=data.y[:1], weights=np.ones(1))
    assert "cannot permute a single row" in refusal(one)
    assert refusal(data, within="leaves") == (
        "xplainfi permutes within no leaves. Leave within out."
    )
    assert "draws one of the rows 1 to i" in refusal(data, n_neighbours=1, **NEAR)
    assert refusal(data, within="neighbours") == (
        "xplainfi counts a row as the nearest of its own neighbours. Set "
        'convention = "xplainfi" to compare with it.'
    )
    whole = data.with_groups({"all": ("x1", "x2")})
    assert refusal(whole, **NEAR) == (
        "xplainfi draws each column by itself where no other is left, as for 'all'. "
        "Leave it out."
    )
    gaps = replace(data, X=data.X.assign(x2=data.X["x2"].where(data.X["x2"] > 0)))
    for options in (GAUSSIAN, NEAR):
        assert "must have no missing value" in refusal(gaps, **options)


def test_columns_that_its_samplers_do_not_take_are_named():
    model, data = mixed()
    assert refusal(data, model, **GAUSSIAN) == (
        "xplainfi draws from a normal only if all columns are numbers; these are "
        "not: 'kind', 'flag', 'grade'. Set within = \"neighbours\"."
    )
    assert refusal(data, model, **NEAR) == (
        "xplainfi does not count it as alike if two rows are both false in a column; "
        "these hold true and false: 'flag'. Leave them out, or make them categories."
    )


@pytest.mark.parametrize(
    "more", [{"x3": 1.0}, {"x3": lambda X: X["x1"] - X["x2"]}], ids=["constant", "sum"]
)
def test_its_normal_is_not_asked_for_sums_of_columns(more):
    data = normal_data(1, 1)
    other = replace(data, X=data.X.assign(x0=data.X["x1"] ** 2, **more))
    asked = other.with_groups({"x0": ("x0",)})
    assert refusal(asked, **GAUSSIAN) == (
        "The normal of xplainfi breaks on columns that are sums of others or constant, "
        "such as those it draws 'x0' given. Leave one of them out."
    )
    permutation(linear_model(1, 1), asked, seed=1, **GAUSSIAN)  # ours is


def test_sage_that_xplainfi_has_no_equal_of_is_not_asked():
    def refusal(data, model=None, **options):
        with pytest.raises(NotApplicable) as refused:
            xplainfi_sage(model or linear_model(1, 1), data, seed=1, **options)
        return str(refused.value)

    data = normal_data(1, 1)
    weighted = replace(data, weights=np.linspace(1, 2, 200))
    assert "does not support row weights" in refusal(weighted)
    assert refusal(data.with_groups({"both": ("x1", "x2")})) == (
        "xplainfi lets each column join by itself; these groups have several: 'both'. "
        "Leave the engine out, or measure features."
    )
    assert refusal(data, linear_model(1, 1, losses=("mse", "mae"))) == (
        "xplainfi stops by one loss at a time, and several would stop after different "
        "numbers of orders. Give one loss, or set tolerance = 0."
    )
    twice = replace(data, X=data.X.assign(x2=2 * data.X["x1"]))
    assert "draws any of them given" in refusal(twice, background="gaussian")


def test_its_normal_is_not_asked_of_fewer_rows_than_columns():
    data = normal_data(1, 1, 1, 1)
    few = replace(data, X=data.X[:3], y=data.y[:3], weights=np.ones(3))
    assert "breaks on columns that are sums of others" in refusal(few, **GAUSSIAN)


def test_without_gower_neighbours_by_categories_are_not_asked(monkeypatch):
    model, data = mixed()
    here = host.installed()
    packages = {k: v for k, v in here["packages"].items() if k != "gower"}
    monkeypatch.setattr(host, "installed", lambda: here | {"packages": packages})
    assert refusal(without(data, "flag"), model, **NEAR) == (
        "For neighbours by categories xplainfi needs the package gower, which R does "
        "not have. Run: importance-audit install-r xplainfi"
    )
    with asked_by("r"):
        in_r = refusal(without(data, "flag"), model, **NEAR)
    assert in_r.endswith('R does not have. Run: install.packages("xplainfi")')
    assert_replayed(model, without(data, "flag", "kind", "grade"), **NEAR)
