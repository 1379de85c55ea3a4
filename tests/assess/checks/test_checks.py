"""Claims about canaries: what fires each of them, and what does not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.assess.measured import (
    audited,
    checked_columns,
    checked_importance,
    checked_model,
    finding_of,
    importance_of,
)
from tests.cases import for_each
from tests.known_answers import logistic_model
from tests.methods.importance.toys import of_line

from importance_audit.assess import checks
from importance_audit.assess.calibration import calibration_checks
from importance_audit.assess.checks import CHECKS, Limit, models
from importance_audit.assess.checks.columns import stand_ins
from importance_audit.assess.split_shifts import split_shift_rows
from importance_audit.data.datasets import dataset
from importance_audit.methods.importance.filters import anova, lowess_r2
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.rank_correlation import spearman
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.models.diagnostics import diagnostic_rows
from importance_audit.models.fit import wrap
from importance_audit.models.performance import performance as judge
from importance_audit.records.asker import asked_by
from importance_audit.records.frames import FRAMES


def measured(raw, baseline=10.0, **changes):
    """Return a permutation importance of the columns of `data`."""
    return importance_of(raw, baseline, unit="y^2", **changes)


def answer(word, answers):
    """Return verdict, observed and finding of one check."""
    (match,) = ((row, f) for row, f in answers if row["check"] == word)
    row, finding = match
    return row["verdict"], row["observed"], finding


def answers_of(model, data=None):
    return checked_model(model, data or normal_data(2, 1))


def performance(difference, error, split="test"):
    names = ("model", "loss", "split", "value", "constant", "difference")
    values = ("linear", "mse", split, 5 + difference, 5.0, difference)
    row = dict(zip(names, values, strict=True))
    return pd.DataFrame([row | {"difference_std_error": error}])


def drifting(step):
    """Return a model whose every answer is larger than the one before by `step`."""
    steady, calls = linear_model(2, 1), []

    def predict(X):
        calls.append(X)
        return steady.predict(X) * (1 + step * len(calls))

    return replace(steady, predict=predict)


@pytest.mark.parametrize(
    ("step", "verdict", "severity"),
    [(5e-13, "warn", "warning"), (1e-11, "fail", "failure")],
)
def test_a_model_that_answers_twice_in_two_ways_is_not_deterministic(
    step, verdict, severity
):
    outcome, observed, finding = answer("not_deterministic", answers_of(drifting(step)))
    assert (outcome, finding.severity) == (verdict, severity)
    assert observed == pytest.approx(step, rel=0.01)


def test_threads_may_round_small_predictions_as_they_round_large_ones():
    steady, calls = linear_model(2, 1), []

    def predict(X):
        calls.append(X)
        return np.append(1e-6 + 1e-15 * len(calls), np.full(len(X) - 1, 5.0))

    model = replace(steady, predict=predict)
    outcome, observed, finding = answer("not_deterministic", answers_of(model))
    assert (outcome, finding.severity) == ("warn", "warning")
    assert observed == pytest.approx(1e-15 / 5, rel=0.01)


@pytest.mark.parametrize(("step", "verdict"), [(0, "pass"), (1e-6, "fail")])
def test_of_trees_five_hundred_rows_are_asked_again(monkeypatch, step, verdict):
    data, asked = normal_data(2, 1, n_samples=3000), []
    forest = RandomForestRegressor(5, random_state=1).fit(data.X, data.y)
    honest = RandomForestRegressor.predict

    def predict(self, X):
        asked.append(X)
        return honest(self, X) + step * len(asked)

    monkeypatch.setattr(RandomForestRegressor, "predict", predict)
    answers = answers_of(wrap(forest, name="m"), data)
    assert answer("not_deterministic", answers)[0] == verdict
    again = next(X.index for X in asked if len(X) == 500)
    assert (again[0], again[-1], np.diff(again).max()) == (0, 2999, 7)


@pytest.mark.parametrize(
    ("train", "test", "split", "verdict", "observed"),
    [
        ("aa", "aa", "test", "warn", "training rows"),
        ("", "bb", "train", "warn", "training rows"),
        ("aa", "bb", "test", "pass", "other rows"),
        ("", "bb", "test", "not run", "training rows unknown"),
        ("aa", "", "test", "not run", "training rows unknown"),
    ],
)
def test_training_rows_are_known_by_their_digest(train, test, split, verdict, observed):
    model = replace(linear_model(2, 1), train_sha256=train)
    data = replace(normal_data(2, 1), sha256=test, split=split)
    outcome = answer("scored_on_training_rows", answers_of(model, data))
    assert outcome[:2] == (verdict, observed)
    assert (outcome[2] is not None) == (verdict == "warn")


def rows_of(table, y):
    return dataset(table, y, task="regression", name="rows")


def shared_rows(train, data):
    """Return what the check saw of rows of which some may be of the fit, and how."""
    model = replace(linear_model(2, 1), train_sha256=train.sha256)
    seen = models.scored_on_training_rows(model, data, train)
    return seen, (seen.severity or "warning") if seen.fires else ""


def test_rows_that_are_equal_by_chance_are_no_training_rows():
    """Of columns of few values; a third of the rows are of the fit, or none."""
    verdicts = []
    for seed in range(300):
        random = np.random.default_rng(seed)
        table = pd.DataFrame(random.integers(30, size=(300, 2)), columns=["x1", "x2"])
        y = random.integers(2, size=300).astype(float)
        train = rows_of(table[:200], y[:200])
        mixed = rows_of(table[166:266], y[166:266])
        for data in (rows_of(table[200:], y[200:]), mixed):
            verdicts.append(shared_rows(train, data)[1])
    assert 300 - verdicts[::2].count("") <= 3
    assert verdicts[1::2].count("warning") >= 270


@pytest.mark.parametrize(
    ("n_shared", "severity", "equal"),
    [(0, "", "0 of the 200 evaluation rows are equal")]
    + [(1, "info", "1 of the 200 evaluation rows is equal")]
    + [(n, "info", f"{n} of the 200 evaluation rows are equal") for n in (7, 20)]
    + [(21, "warning", "21 of the 200 evaluation rows are equal")],
)
def test_of_a_few_rows_of_the_fit_a_note_tells(n_shared, severity, equal):
    random = np.random.default_rng(1)
    table = pd.DataFrame(random.normal(size=(600, 2)), columns=["x1", "x2"])
    train, rest = rows_of(table[:400], table["x1"][:400]), table[400 - n_shared :]
    rest = rest[:200]
    seen, found = shared_rows(train, rows_of(rest, rest["x1"]))
    assert (seen.observed, seen.limit, found) == (n_shared, (0, "chance"), severity)
    assert seen.message == f"{equal} to rows that the model was fitted on."


@pytest.mark.parametrize(("source", "verdict"), [("file", "warn"), ("fitted", "pass")])
def test_rows_that_a_model_of_a_file_keeps_are_counted_whatever_was_declared(
    source, verdict
):
    facts = {"source": source, "count_fitted": lambda _: (90, 3.0)}
    model = replace(linear_model(2, 1), train_sha256="aa", **facts)
    data = replace(normal_data(2, 1), sha256="bb", split="test")
    assert answer("scored_on_training_rows", answers_of(model, data))[0] == verdict


@pytest.mark.parametrize(
    ("gap", "verdict"),
    [
        (0.0, "pass"),
        (1e-12, "warn"),
        (1.1e-12, "fail"),
        (np.inf, "fail"),
        (np.nan, "fail"),
    ],
)
def test_r_must_be_told_what_python_predicts(gap, verdict):
    answers = checks.run("predictions", "m", gap=gap)
    outcome, _, finding = answer("prediction_mismatch", answers)
    assert (outcome, finding is None) == (verdict, gap == 0)


@pytest.mark.parametrize(
    ("difference", "error", "verdict"),
    [
        (-2.1, 1.0, "pass"),
        (-2.0, 1.0, "warn"),
        (1.0, 0.1, "warn"),
        (-1.0, 0.0, "pass"),
        (0.0, 0.0, "warn"),
        (-1e-15, 1e-17, "warn"),  # rounding is no gain
        (-9.0, np.nan, "not run"),
        (np.inf, np.nan, "warn"),
    ],
)
def test_a_model_must_beat_the_constant_by_two_standard_errors(
    difference, error, verdict
):
    answers = checks.of_performance(linear_model(2, 1), performance(difference, error))
    outcome, _, finding = answer("weak_model", answers)
    assert (outcome, finding is None) == (verdict, verdict != "warn")


def test_a_gain_or_loss_of_rounding_is_said_to_be_none():
    for difference in (-1e-15, 1e-15):
        frame = performance(difference, 1e-17)
        _, _, finding = answer(
            "weak_model", checks.of_performance(linear_model(2, 1), frame)
        )
        assert finding.message == (
            "The loss of the model, 5, is not below that of the constant predictor, 5. "
            "A model counts as better only if its loss is more than 2 standard errors "
            "below."
        )


def test_a_model_is_not_held_against_a_constant_whose_loss_is_not_defined():
    frame = performance(np.nan, np.nan)
    frame["constant"] = np.nan
    outcome, observed, finding = answer(
        "weak_model", checks.of_performance(linear_model(2, 1), frame)
    )
    assert (outcome, finding) == ("not run", None)
    assert observed == "the loss of the constant predictor is not defined"


def of_importance(importance, data=None, error=1.0):
    data = data or normal_data(*np.ones(len(importance.features)))
    return checked_importance(importance, data, error)


MIXED = normal_data(1, 1)
MIXED = replace(
    MIXED, X=MIXED.X.assign(x2=pd.Categorical(np.where(MIXED.y > 0, "a", "b")))
)


ONLY = "is defined only for"


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (spearman, f"'spearman' {ONLY} numeric columns, not for 'x2'"),
        (lowess_r2, f"'lowess_r2' {ONLY} numeric columns, not for "),
        (
            anova,
            f"'anova' {ONLY} categories with a numeric target, not for ",
        ),
    ],
)
def test_what_a_method_is_not_defined_for_is_but_a_note(method, reason):
    data = MIXED
    raw, baseline = method(None, data, seed=1)
    record = measured(raw[:, :, 0], data=data, method=method.__name__, loss="")
    record = replace(record, baseline=baseline[:, 0], model="")
    verdict, _, finding = answer("unmeasured", of_importance(record, data))
    assert (verdict, finding.severity) == ("note", "info")
    assert f"shown without a rank. {reason}" in finding.message
    assert finding.remedy == "Use another method for them."


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (
            {"method": "gradient_sensitivity"},
            "numbers, not true and false, that vary and lack no "
            "value, not for 'flag', 'hole', 'level'.",
        ),
        (
            {"method": "firm", "estimator": "linear"},
            "numbers that lack no value, not for 'hole', 'level'.",
        ),
        ({"method": "mrmr"}, "columns that vary and lack no value, not for 'hole'."),
        ({"method": "relieff"}, "columns that vary and lack no value, not for 'hole'."),
    ],
    ids=lambda value: value.get("method", "") if isinstance(value, dict) else "",
)
def test_a_feature_without_a_number_has_a_reason(entry, reason):
    x = np.sin(np.arange(60.0))
    X = pd.DataFrame({"x": x, "flag": x > 0.3, "hole": np.cos(5 * x)})
    X.loc[::7, "hole"] = np.nan
    X["level"] = pd.Categorical(np.array(list("pqr"))[np.arange(60) % 3])
    y = x + np.cos(np.arange(60.0)) ** 2
    rows = dataset(X, y, name="rows", task="regression")
    model = wrap(
        lambda rows: rows["x"] + rows["hole"].fillna(0.0),
        **{"name": "m", "task": "regression", "features": list(X)},
    )
    finding = finding_of(audited(model.for_rows(rows), rows, entry), "unmeasured")
    assert finding.severity == "info"
    assert finding.message.endswith(f"{entry['method']!r} {ONLY} {reason}")


def test_a_feature_of_an_interaction_has_no_t_for_a_reason():
    formulas = pytest.importorskip("statsmodels.formula.api")
    X = normal_data(1, 1, 1).X
    rows = dataset(X, X["x1"] + X["x3"] ** 2, name="rows", task="regression")
    model = wrap(formulas.ols("y ~ x1 * x2 + x3", X.assign(y=rows.y)).fit(), name="m")
    finding = finding_of(audited(model, rows, {"method": "t_statistic"}), "unmeasured")
    assert finding.message.endswith(
        f"'t_statistic' {ONLY} features of the model without an interaction with "
        "others, whose coefficients the training rows decide, not for 'x1', 'x2'."
    )


@pytest.mark.filterwarnings("error")
def test_infinite_losses_are_unmeasured_and_out_of_bounds_and_nothing_else():
    infinite = measured([[np.inf, np.inf], [10.0, 11.0]], baseline=np.inf)
    fired = [finding.check for _, finding in of_importance(infinite) if finding]
    assert fired == ["unmeasured", "unbounded"]


def flat(data):
    """Return the same rows with a constant x2."""
    return replace(data, X=data.X.assign(x2=1.0))


def words(importance, data=None):
    return {row["check"] for row, _ in of_importance(importance, data)}


def test_a_positive_class_mixed_up_lowers_the_loss_of_the_strongest_feature():
    data, model = binary_data(), logistic_model(-2.0, 0.0)
    raw, baseline = permutation(model, data, seed=1, n_repeats=3)
    own = measured(raw[:, :, 0], data=data, loss="one_minus_auc")
    own = replace(own, baseline=baseline[:, 0])
    answers = of_importance(own, data, 0.02)
    verdict, observed, finding = answer("event_level", answers)
    assert (verdict, finding.severity) == ("warn", "warning")
    assert observed < -0.3
    assert finding.message == (
        f"Permuting 'x1' changes the loss most, and lowers it, by {-observed:.3g}: "
        "more than 2 standard errors of the loss, 0.04."
    )


@pytest.mark.parametrize(
    ("fall", "error", "n_rows", "verdict"),
    [
        (2.1, 1.0, None, "warn"),
        (1.9, 1.0, None, "pass"),
        (1.9, 0.0, None, "warn"),
        (0.0, 0.0, None, "pass"),
        (9.0, np.nan, None, "not run"),
        (3.9, 1.0, 50, "pass"),  # a quarter of the rows: twice the error
        (4.1, 1.0, 50, "warn"),
    ],
)
def test_classes_are_mixed_up_only_beyond_what_other_rows_explain(
    fall, error, n_rows, verdict
):
    importance = measured([[10.0 - fall]], options={"n_rows": n_rows}, n_samples=200)
    assert answer("event_level", of_importance(importance, error=error))[0] == verdict


@pytest.mark.slow
def test_a_model_of_nothing_is_hardly_ever_said_to_have_its_classes_mixed_up():
    """Half of these models have an AUC below 1/2, all by chance."""
    observed, verdicts = [], []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        X = pd.DataFrame(draw.normal(size=(80, 3)), columns=["x1", "x2", "x3"])
        rows = dataset(X, np.arange(80) % 2, task="binary", name="rows")
        seen = audited(logistic_model(1.0, -0.5, 0.2), rows).checks
        seen = seen[seen["check"] == "event_level"]
        observed += seen["observed"].tolist()
        verdicts += seen["verdict"].tolist()
    assert 20 < sum(rise < 0 for rise in observed) < 40
    assert 54 <= verdicts.count("pass") <= 60


@pytest.mark.parametrize(
    ("form", "baseline", "verdict"),
    [
        ("ratio", 0.0, "warn"),
        ("ratio", 1.9e-9, "warn"),
        ("ratio", 2.1e-9, "pass"),
        ("difference", 0.0, "pass"),
    ],
)
def test_ratios_are_bounded_by_what_two_implementations_must_agree_to(
    form, baseline, verdict
):
    perfect = measured([[2.0], [baseline]], baseline=baseline, form=form)
    assert answer("unbounded", of_importance(perfect))[0] == verdict


def permuted_flat():
    """Return what permutation measures of a constant x2."""
    raw, baseline = permutation(linear_model(2, 1), FLAT, seed=1, n_repeats=3)
    return measured(raw[:, :, 0], data=FLAT, baseline=baseline[0, 0])


def table(**columns):
    """Return rows with these columns: texts are categories."""
    frame = pd.DataFrame(columns)
    texts = frame.columns[[isinstance(v, str) for v in frame.iloc[0]]]
    return frame.astype(dict.fromkeys(texts, "category"))


X = np.array([0.1, 0.7, 0.7, -3.0, 12.3])
KIND = ["a", "b", "b", "c", "a"]


@pytest.mark.parametrize(
    ("column", "twin", "same"),
    [
        (X, X, True),
        (X, 273.15 - 0.1 * X, True),
        (1.7e9 + X, X, True),  # where a cell is rounded to 2e-7
        (X, X + 1e-12 * (X == -3), False),
        (X, X**3, False),
        (X, np.round(2.54 * X, 1), False),
        (X, np.where(X == -3, np.nan, X), False),
        (KIND, ["z", "y", "y", "x", "z"], True),
        (KIND, [3, 1, 1, 2, 3], True),
        (KIND, ["z", "y", "y", "y", "z"], False),
        (KIND, ["z", "y", None, "x", "z"], False),
        # what differs in every row goes together only if it is the same
        (list("abcde"), list("abcde"), True),
        (list("abcde"), list("vwxyz"), False),
        (list("abcde"), range(5), False),
    ],
)
def test_columns_say_the_same_if_they_are_affine_images_or_part_rows_alike(
    column, twin, same
):
    assert bool(stand_ins([table(column=column, twin=twin)])) == same


def test_sets_are_named_in_the_order_of_the_columns_and_constants_left_out():
    frame = table(one=1.0, b=X, kind=KIND, c=-X, no=0.0, k=KIND, d=X + 1)
    frame = frame.assign(void=np.nan, empty=np.nan)
    assert stand_ins([frame]) == [("b", "c", "d"), ("kind", "k")]


def test_images_are_found_among_hundreds_of_columns_and_near_images_are_not():
    rng = np.random.default_rng(1)
    columns, sets = {}, []
    for k in range(100):
        own = rng.normal(size=50) * 10.0 ** rng.integers(-6, 7)
        images = {f"x{k}": own}
        for n in range(k % 3):
            slope = rng.choice([-1, 1]) * 10.0 ** rng.integers(-6, 7)
            images[f"image{n} of x{k}"] = rng.normal() + slope * own
        columns |= images
        sets += [tuple(images)] if len(images) > 1 else []
        almost = own.copy()
        almost[40] *= 1 + 1e-6  # a row that is no probe
        columns[f"almost x{k}"] = almost
    assert stand_ins([table(**columns)]) == sets


def test_columns_that_differ_in_the_training_rows_say_different_things():
    train, test = table(a=X, b=-X, kind=KIND), table(a=X[:2], b=X[:2], kind=KIND[:2])
    assert stand_ins([test]) == [("a", "b")]
    assert stand_ins([train, test]) == []


def leaking(**unread):
    """Return white rows in which two columns hold the target."""
    data = normal_data(2, 1)
    frame = data.X.assign(paid=data.y, cents=100 * data.y)
    return replace(
        dataset(frame, data.y, task="regression", name="leaking rows"), unread=unread
    )


def test_a_column_that_no_model_is_given_may_hold_the_target():
    data = leaking(paid=("x1", "x2"), cents=())
    assert answer("target_copy", checked_columns(None, data))[0] == "pass"


def doubled(n=2):
    """Return white rows in which x1 has n - 1 twins."""
    data = normal_data(2, 1)
    twins = {f"twin{k}": -data.X["x1"] for k in range(1, n)}
    frame = data.X.assign(**twins)
    return replace(data, X=frame, groups={name: (name,) for name in frame})


@pytest.mark.parametrize(
    ("grouped", "severity"),
    [
        ([("twin1", "x1", "twin2")], "info"),
        ([("x1", "twin1"), ("twin2", "x2")], "warning"),
        ([("twin1", "x1", "twin2", "x2")], "warning"),
    ],
)
def test_columns_that_are_asked_together_are_but_a_note(grouped, severity):
    data = doubled(3)
    answers = checked_columns(None, data, grouped=grouped)
    assert answer("same_columns", answers)[2].severity == severity


def linked(share=0.1):
    """Return white rows; near is x1 and a share of x2, copy -x1, kind cuts x3 at 1."""
    data = normal_data(1, 1, 1)
    near = data.X["x1"] + share * data.X["x2"]
    kind = pd.Categorical(np.where(data.X["x3"] > 1, "high", "low"))
    frame = data.X.assign(near=near, kind=kind, copy=-data.X["x1"])
    return replace(data, X=frame, groups={name: (name,) for name in frame})


def test_features_that_depend_on_each_other_are_one_note_of_who_and_how_much():
    data = linked()
    rho = data.X[["x1", "near"]].corr(method="spearman").iloc[0, 1]
    answers = checked_columns(None, data)
    verdict, observed, finding = answer("dependence", answers)
    assert (verdict, finding.severity) == ("note", "info")
    assert observed == pytest.approx(rho, rel=1e-12)
    assert finding.message == (
        "These features are correlated, so their importances should not be read one "
        f"by one: 'x1', 'near' ({rho:.2f})."
    )
    assert finding.remedy == (
        "Put each set under [groups], without others, and add an [[importance]] with "
        'of = "groups", or use "permutation" with within = "leaves".'
    )
    with asked_by("r"):
        _, _, in_r = answer("dependence", checked_columns(None, data))
    assert in_r.remedy == "Name each set in groups = list(...) as one."
    with asked_by("python"):
        _, _, in_python = answer("dependence", checked_columns(None, data))
    assert in_python.remedy == "Name each set in groups={...} as one."


def with_levels(data, levels):
    kind = pd.Categorical(np.resize(levels, len(data.X)))
    X = data.X.assign(kind=kind)
    return replace(data, X=X, groups={name: (name,) for name in X})


def test_the_limit_decides_who_depends_and_stands_beside_who_set_it():
    limits = {**checks.DEFAULTS, "dependence": Limit(0.5, "a file")}
    answers = checked_columns(None, linked(), limits=limits)
    ((row, finding),) = ((r, f) for r, f in answers if r["check"] == "dependence")
    assert (row["threshold"], row["set_by"]) == (0.5, "a file")
    assert "'x1', 'near' (0.9" in finding.message
    assert "'x3', 'kind' (0." in finding.message


def test_a_derived_column_is_not_told_to_depend_on_what_it_is_made_of():
    data = replace(linked(), unread={"near": ("x1", "x2")})
    assert answer("dependence", checked_columns(None, data))[2] is None


@pytest.mark.parametrize(
    ("grouped", "start"),
    [
        (("near", "x1"), "Read the importance of their group beside their own."),
        (("near", "x1", "x2"), "Put each set under [groups], without others, "),
    ],
)
def test_dependent_features_that_are_asked_together_are_read_together(grouped, start):
    answers = checked_columns(None, linked(), grouped=[grouped])
    assert answer("dependence", answers)[2].remedy.startswith(start)


def test_features_that_hardly_depend_are_no_finding_and_one_alone_is_not_judged():
    verdict, observed, finding = answer(
        "dependence", checked_columns(None, normal_data(2, 1))
    )
    assert (verdict, finding) == ("pass", None)
    assert observed < 0.5
    words = [row["check"] for row, _ in checked_columns(None, normal_data(2))]
    assert words == ["same_columns", "target_copy", "constant_column"]


def over_rows(*bounds, error=1.0, route="resampled"):
    """Return rows of the frame row_intervals, as far as the check reads them."""
    return [
        {"feature": f"x{j + 1}", "high": high, "std_error": error, "route": route}
        for j, high in enumerate(bounds)
    ]


def test_one_below_zero_of_many_features_may_be_chance_and_far_below_is_not():
    importance = measured([[7.7], *[[12.0]] * 19])  # 2.3 below what nothing measures
    for error, severity in ((1.0, "info"), (0.7, "warning")):
        rows = over_rows(-0.1, *[5.0] * 19, error=error)
        (answered,) = checks.run("row_intervals", "m", importance=importance, rows=rows)
        assert answered[1].severity == severity  # 20 features: 3.02 errors


def test_a_model_that_reads_a_feature_the_wrong_way_round_has_the_finding():
    """With y = 2 x1 - x2 the importance of x2 is 2 b^2 + 2 b cov(y - f, x2) = -2."""
    result = audited(linear_model(2, 1), normal_data(2, -1))
    finding = finding_of(result, "negative_importance")
    assert finding.severity == "warning"
    assert finding.message.startswith("Shuffling 'x2' improves the model")


def on_both(train, test, *, loss="mse", split="train", error=0.3):
    """Return a loss on the training rows and on others, each known to `error`."""
    rows = [
        {"loss": loss, "split": name, "value": value, "std_error": error}
        for name, value in ((split, train), ("test", test))
    ]
    against = {"constant": 10.0, "difference": -5.0, "difference_std_error": 0.1}
    return pd.DataFrame(rows).assign(model="linear", **against)


def gap(frame, **limits):
    limits = checks.DEFAULTS | limits
    answers = checks.of_performance(linear_model(2, 1), frame, limits=limits)
    return [(row, f) for row, f in answers if row["check"] == "train_test_gap"]


def test_it_is_a_warning_beyond_the_share_that_the_configuration_allows():
    for limit, severity in ((0.19, "warning"), (0.21, "info")):
        share = Limit(limit, "[checks] train_test_gap")
        ((row, finding),) = gap(on_both(3.0, 5.0), train_test_gap=share)
        assert finding.severity == severity
        assert (row["observed"], row["threshold"]) == (pytest.approx(0.2), limit)
    ((_, finding),) = gap(on_both(3.8, 5.0), train_test_gap=Limit(0.05))
    assert finding is None  # chance explains it


def test_a_forest_is_held_against_its_predictions_out_of_bag():
    frame = pd.concat([on_both(0.1, 5.0), on_both(3.0, 5.0, split="out_of_bag")[:1]])
    ((_, finding),) = gap(frame)
    assert "and 3 on its training rows, predicted out of bag: a gap of" in (
        finding.message
    )


def test_a_forest_that_was_not_judged_out_of_bag_is_not_said_to_overfit():
    """In a pipeline, whose steps it cannot look through, or anywhere else."""
    for estimator in (
        BaggingRegressor(),
        make_pipeline(StandardScaler(), make_pipeline(RandomForestRegressor())),
    ):
        model = replace(linear_model(2, 1), estimator=estimator)
        answers = checks.of_performance(model, on_both(0.1, 5.0))
        ((row, finding),) = [a for a in answers if a[0]["check"] == "train_test_gap"]
        assert (row["verdict"], finding) == ("not run", None)
    boosted = make_pipeline(StandardScaler(), GradientBoostingRegressor())
    model = replace(linear_model(2, 1), estimator=boosted)
    answers = checks.of_performance(model, on_both(0.1, 5.0))
    assert answer("train_test_gap", answers)[2] is not None


def test_an_interval_that_is_not_known_is_not_judged():
    without = over_rows(float("nan"), route="")
    assert (
        checks.run("row_intervals", "m", importance=measured([[7.0]]), rows=without)
        == []
    )


@pytest.mark.slow
def test_a_line_that_does_not_overfit_is_hardly_ever_noted():
    """It fits its rows a little better by nature: 40 of them for each column."""
    draws, noted, n_tables = np.random.default_rng(1), 0, 100
    for _ in range(n_tables):
        X = pd.DataFrame(draws.normal(size=(600, 10)), columns=list("abcdefghij"))
        y = X["a"] + X["b"] / 2 + draws.normal(size=600)
        parts = [
            dataset(X[at], y[at], name="rows", task="regression", split=split)
            for at, split in ((slice(0, 400), "train"), (slice(400, None), "test"))
        ]
        model = of_line(parts[0], None)
        noted += gap(judge(model, *parts, seed=1).losses)[0][1] is not None
    assert noted <= 3  # of 100; one in a hundred gives more in one of 50 such tests


def perf_of(data):
    """Return an importance by a random subspace ensemble, and its model."""
    fields = {"method": "random_subspace", "options": {"n_drawn": None}}
    return measured([[1.0, 2.0], [3.0, 4.0]], data=data, **fields), of_line(data)


def of_deciles(model, data):
    rows = diagnostic_rows(model, data, model.predict(data.X), split="test")
    deciles = calibration_checks(rows["calibration"])
    return [
        answered
        for row in deciles
        for answered in checks.run("deciles", model.name, model=model, row=row)
    ]


STEADY, WHITE = linear_model(2, 1), normal_data(2, 1)
STORED = np.arange(200.0)
FLAT = flat(WHITE)
OFF = 10 + 2**-49
MISSING = with_levels(normal_data(2), ["NA", "low", "?", "high", "NA"])
LEVELS = {
    level: with_levels(normal_data(2), ["low", level]) for level in ("NAM", "none")
}
PREDICTS = (lambda _: STORED, lambda _: np.full(200, 3.0), lambda X: STORED[X.index])
TIMES = {"stream": "vip-0.4", "options": {"n_rows": 5}}
BOTH = {"features": ("both",), "columns": (("x1", "x2"),)}


def ended(*rows, **fields):
    """Return the answers on an importance with these losses over a loss of 10."""
    data = fields.get("data")
    return of_importance(measured(rows, **fields), data)


def shuffled(form, *highs):
    """Return the answers on intervals that end here below, or above, nothing."""
    rows = over_rows(*(high + (form == "ratio") for high in highs))
    losses = [[7.9], [7.8], [12.0], [9.9]][: len(highs)]
    return checks.run(
        "row_intervals", "m", importance=measured(losses, form=form), rows=rows
    )


FIRES = [
    *(
        (
            "predict_ignores_x",
            lambda f=f: answers_of(replace(STEADY, predict=f)),
            ("fail", "unchanged"),
            "No prediction changes when the rows are shuffled: predict ignores its "
            "argument, or always returns the same value.",
        )
        for f in PREDICTS
    ),
    (
        "weak_model",
        lambda: checks.of_performance(STEADY, performance(-1.0, 1.0)),
        ("warn", pytest.approx(1.0)),
        "The loss of the model, 4, is 1 standard error below that of the constant "
        "predictor, 5. A model counts as better only if its loss is more than 2 "
        "standard errors below.",
    ),
    (
        "unmeasured",
        lambda: ended([12.0, 13.0], [11.0, np.nan]),
        ("warn", 1.0),
        "No importance could be computed for 'x2'. It is shown without a rank.",
    ),
    (
        "constant_feature",
        lambda: ended([12.0, 12.0], [10.5, 10.0], data=FLAT, stream="vip-0.4"),
        ("fail", 0.5),
        "'x2' is constant, but the permuted loss differs from the baseline by 0.5. "
        "Permuting a constant column changes no loss.",
    ),
    (
        "unbounded",
        lambda: ended([0.5, np.inf], [0.4, 0.5], baseline=0.3, loss="log_loss"),
        ("warn", np.inf),
        "The loss for 'x1' is infinite, so its rank means little.",
    ),
    (
        "unbounded",  # told before all others
        lambda: ended([np.inf], baseline=np.inf, form="ratio", loss="log_loss"),
        ("warn", 0.0),
        "The loss of the model before permutation is infinite.",
    ),
    (
        "unbounded",
        lambda: ended([2.0, 2.0], baseline=1e-31, form="ratio"),
        ("warn", pytest.approx(2e31)),
        "The loss of the model before permutation is almost zero (1.0e-31), so ratios "
        "to it mean little.",
    ),
    (
        "same_columns",
        lambda: checked_columns(doubled(), doubled()),
        ("warn", 2.0),
        "These columns carry the same information in all rows, up to unit or labels, "
        "so none of them has an importance of its own: 'x1', 'twin1'.",
    ),
    (
        "target_copy",
        lambda: checked_columns(leaking(), leaking()),
        ("warn", 2.0),
        "These columns hold the target, up to unit or labels, in nearly all rows: "
        "'paid', 'cents'.",
    ),
    (
        "constant_column",
        lambda: checked_columns(None, FLAT),
        ("note", 1.0),
        "These columns are constant in the evaluation rows, so their importance cannot "
        "be measured: 'x2'.",
    ),
    (
        "missing_words",
        lambda: checked_columns(MISSING, MISSING),
        ("note", 1.0),
        "These levels usually mean that a value is missing, and are read as levels "
        "like any other: '?', 'NA' of 'kind' (240 rows).",
    ),
    *(
        (
            "negative_importance",
            lambda form=form: shuffled(form, -0.01, -0.01, 4.0, 0.01),
            ("note", 2),
            "Shuffling 'x1', 'x2' improves the model on these rows: the 95% intervals "
            f"over resampled rows lie entirely below {nothing}.",
        )
        for form, nothing in (("difference", "0"), ("ratio", "1"))
    ),
    (
        "train_test_gap",
        lambda: checks.of_performance(STEADY, on_both(3.0, 5.0)),
        ("note", pytest.approx(2 / np.hypot(0.3, 0.3))),
        "The loss of the model is 5 on the evaluation rows and 3 on its training rows: "
        "a gap of 4.7 standard errors.",
    ),
    (
        "silent_leaves",
        lambda: checks.run(
            "leaves",
            "m",
            importance=measured([[12.0]]),
            leaves={"x1": (40, 80), "x2": (41, 80), "x3": (9, 10)},
        ),
        ("note", 0.9),
        "In more than 50% of the leaves over all trials the feature has a single "
        "value, so these leaves say nothing about it: 'x2' in 41 of 80, 'x3' in 9 of "
        "10.",
    ),
]
SEVERITIES = {"note": "info", "warn": "warning", "fail": "failure"}


@for_each(FIRES, lambda case: f"{case[0]}: {case[3]}")
def test_a_check_that_fires_says_what_it_saw(case):
    word, answers, outcome, message = case
    verdict, observed, finding = answer(word, answers())
    assert (verdict, observed) == outcome
    assert (finding.severity, finding.message) == (SEVERITIES[verdict], message)


PASSES = [
    ("predict_ignores_x", lambda: answers_of(STEADY), "changed"),
    ("not_deterministic", lambda: answers_of(STEADY), 0.0),
    ("unmeasured", lambda: ended([12.0], [11.0]), 0.0),
    ("constant_feature", lambda: of_importance(permuted_flat(), FLAT), 0.0),
    ("constant_feature", lambda: ended([12.0], [OFF], data=FLAT), 0.0),  # last bits
    *(
        ("event_level", lambda form=form: ended([9.9], [13.0], form=form), 3.0)
        for form in ("difference", "ratio", "raw")
    ),
    # a level that is as often an answer is no word for missing
    *(
        ("missing_words", lambda data=data: checked_columns(None, data), 0.0)
        for data in LEVELS.values()
    ),
    (
        "train_test_gap",
        lambda: checks.of_performance(STEADY, on_both(3.8, 5.0)),
        pytest.approx(1.2 / np.hypot(0.3, 0.3)),
    ),
    (
        "train_test_gap",
        lambda: checks.of_performance(STEADY, on_both(5.0, 3.0)),
        pytest.approx(-2 / np.hypot(0.3, 0.3)),
    ),
]


@for_each(PASSES, lambda case: case[0])
def test_what_is_in_order_passes_and_is_no_finding(case):
    word, answers, observed = case
    assert answer(word, answers()) == ("pass", observed, None)


@for_each(
    [
        ("constant_feature", lambda: ended([12.0], [10.5])),
        ("constant_feature", lambda: ended([12.0], data=FLAT, **BOTH)),
        # where the baseline is no loss of the rows that are permuted
        ("constant_feature", lambda: ended([12.0], [10.5], data=FLAT, loss="")),
        ("constant_feature", lambda: ended([12.0], [10.5], data=FLAT, **TIMES)),
        ("event_level", lambda: ended([9.0], loss="")),
        ("event_level", lambda: ended([np.inf], baseline=np.inf, form="ratio")),
        ("unbounded", lambda: ended([np.inf], loss="")),
        (
            "unbounded",
            lambda: ended([2.0], baseline=1e-31, form="ratio", engine="vip"),
        ),
        ("negative_importance", lambda: shuffled("raw", 0.5)),
        (
            "silent_leaves",
            lambda: checks.run("leaves", "m", importance=measured([[12.0]]), leaves={}),
        ),
        # of what grows with the rows, and without an error
        *(
            (
                "train_test_gap",
                lambda fields=fields: checks.of_performance(
                    STEADY, on_both(1.0, 9.0, **fields)
                ),
            )
            for fields in ({"loss": "sum_of_squares"}, {"error": np.nan})
        ),
        (
            "weak_model",
            lambda: checks.of_performance(STEADY, performance(3, 0.1, "train")),
        ),
    ],
    lambda case: case[0],
)
def test_there_is_nothing_to_judge(case):
    word, answers = case
    assert word not in [row["check"] for row, _ in answers()]


def test_every_check_answers_under_its_own_word():
    perf, ols = perf_of(FLAT)
    trials = {"n_rows": None, "resample": "subsample"}
    over_trials = measured([[12.0, 13.0], [10.0, 10.0]], data=FLAT, options=trials)
    leak = measured([[9.0], [1.0], [1.0]], baseline=1.0)
    answers = [
        *checked_columns(None, with_levels(FLAT, ["a", "b"])),
        *checks.run("shifts", "m", rows=split_shift_rows(FLAT, FLAT, limit=1.0)),
        *answers_of(STEADY, normal_data(2, 1, 0)),
        *checks.of_performance(STEADY, on_both(4.0, 5.0)),
        *of_deciles(logistic_model(1, 0), binary_data()),
        *of_deciles(STEADY, WHITE),
        *checks.run("predictions", "m", gap=0.0),
        *checks.run("draws", "m", draws=0),
        *of_importance(over_trials, FLAT),
        *checks.run("leak", "m", importance=leak, constant=10.0),
        *checks.run("row_intervals", "m", importance=perf, rows=over_rows(1.0)),
        *checks.run("ensemble", "m", importance=perf, model=ols, data=FLAT),
        *checks.run("leaves", "m", importance=over_trials, leaves={"x1": (1, 2)}),
    ]
    assert [row["check"] for row, _ in answers] == list(CHECKS)
    frame = FRAMES["checks"].of(row for row, _ in answers)
    assert tuple(frame.columns) == FRAMES["checks"].columns
    assert (frame["set_by"].isin(["default", "definition"])).all()


@pytest.mark.parametrize("severity", ["info", "warning", "failure"])
def test_a_check_that_fires_never_passes(severity, monkeypatch):
    fires = checks.Check("draws", lambda **_: checks.Seen(True, 1.0, "m"), severity)
    monkeypatch.setitem(CHECKS, "c", fires)
    row, fired = checks.run("draws", "m", draws=0)[-1]
    assert (row["verdict"] != "pass", fired.severity) == (True, severity)
