"""Claims about canaries: what fires each of them, and what does not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from tests.assess.measured import importance_of

from importance_audit.assess import checks
from importance_audit.assess.calibration import calibration_checks
from importance_audit.assess.checks import CHECKS, Limit
from importance_audit.assess.checks.columns import stand_ins
from importance_audit.assess.split_shifts import split_shift_rows
from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.methods.importance.filters import anova, lowess_r2
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.rank_correlation import spearman
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    logistic_model,
    normal_data,
)
from importance_audit.models.diagnostics import diagnostic_rows
from importance_audit.models.fit import fit, wrap
from importance_audit.models.performance import performance as judge
from importance_audit.models.section import ModelSection
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
    return checks.of_model(model, data or normal_data(2, 1), seed=1)


def performance(difference, error, split="test"):
    names = ("model", "loss", "split", "value", "constant", "difference")
    values = ("linear", "mse", split, 5 + difference, 5.0, difference)
    row = dict(zip(names, values, strict=True))
    return pd.DataFrame([row | {"difference_std_error": error}])


STORED = np.arange(200.0)


@pytest.mark.parametrize(
    "predict",
    [lambda _: STORED, lambda _: np.full(200, 3.0), lambda X: STORED[X.index]],
    ids=["stored", "constant", "looked up by the index"],
)
def test_a_predict_that_returns_what_it_stored_ignores_its_rows(predict):
    model = replace(linear_model(2, 1), predict=predict)
    verdict, observed, finding = answer("predict_ignores_x", answers_of(model))
    assert (verdict, observed, finding.severity) == ("fail", "unchanged", "failure")
    assert finding.message == (
        "No prediction changes when the rows are shuffled: predict ignores its "
        "argument, or always returns the same value."
    )


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
    answers = checks.of_predictions(linear_model(2, 1), gap)
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


def test_a_weak_model_is_shown_beside_the_constant():
    answers = checks.of_performance(linear_model(2, 1), performance(-1.0, 1.0))
    assert answer("weak_model", answers)[2].message == (
        "The loss of the model, 4, is 1 standard error below that of the constant "
        "predictor, 5. A model counts as better only if its loss is more than 2 "
        "standard errors below."
    )


def of_importance(importance, data=None):
    data = data or normal_data(*np.ones(len(importance.features)))
    return checks.of_importance(importance, data)


def test_a_feature_without_a_number_is_named():
    holes = measured([[12.0, 13.0], [11.0, np.nan]])
    verdict, observed, finding = answer("unmeasured", of_importance(holes))
    assert (verdict, observed) == ("warn", 1.0)
    assert finding.message == (
        "No importance could be computed for 'x2'. It is shown without a rank."
    )


MIXED = normal_data(1, 1)
MIXED = replace(
    MIXED, X=MIXED.X.assign(x2=pd.Categorical(np.where(MIXED.y > 0, "a", "b")))
)


ONLY = "is defined only for"
PAIR = {"both": ("x1", "x2")}


@pytest.mark.parametrize(
    ("method", "source", "groups", "reason"),
    [
        (spearman, MIXED, None, f"'spearman' {ONLY} numeric columns, not for 'x2'"),
        (lowess_r2, MIXED, None, f"'lowess_r2' {ONLY} numeric columns, not for "),
        (
            anova,
            MIXED,
            None,
            f"'anova' {ONLY} categories with a numeric target, not for ",
        ),
        (
            spearman,
            normal_data(1, 1),
            PAIR | {"turned": ("x2", "x1")},
            f"'spearman' {ONLY} single columns, not for 'both', 'turned'.",
        ),
    ],
)
def test_what_a_method_is_not_defined_for_is_but_a_note(method, source, groups, reason):
    data = replace(source, groups=groups or source.groups)
    raw, baseline = method(None, data, seed=1)
    record = measured(raw[:, :, 0], data=data, method=method.__name__, loss="")
    record = replace(record, baseline=baseline[:, 0], model="")
    verdict, _, finding = answer("unmeasured", of_importance(record, data))
    assert (verdict, finding.severity) == ("note", "info")
    assert f"shown without a rank. {reason}" in finding.message
    assert finding.remedy == "Use another method for them."


def test_a_number_without_an_answer_is_no_matter_of_definition():
    holes = measured([[np.nan], [np.nan]], data=MIXED, method="spearman", loss="")
    verdict, _, finding = answer("unmeasured", of_importance(holes, MIXED))
    assert (verdict, finding.severity) == ("warn", "warning")


@pytest.mark.filterwarnings("error")
def test_infinite_losses_are_unmeasured_and_out_of_bounds_and_nothing_else():
    infinite = measured([[np.inf, np.inf], [10.0, 11.0]], baseline=np.inf)
    fired = [finding.check for _, finding in of_importance(infinite) if finding]
    assert fired == ["unmeasured", "unbounded"]


def flat(data):
    """Return the same rows with a constant x2."""
    return replace(data, X=data.X.assign(x2=1.0))


def test_a_constant_column_that_measures_something_is_a_failure():
    data = flat(normal_data(2, 1))
    wrong = measured([[12.0, 12.0], [10.5, 10.0]], data=data, stream="vip-0.4")
    verdict, observed, finding = answer("constant_feature", of_importance(wrong, data))
    assert (verdict, observed) == ("fail", 0.5)
    assert finding.message == (
        "'x2' is constant, but the permuted loss differs from the baseline by 0.5. "
        "Permuting a constant column changes no loss."
    )


def words(importance, data=None):
    return {row["check"] for row, _ in of_importance(importance, data)}


def test_a_positive_class_mixed_up_lowers_the_loss_of_the_strongest_feature():
    data, model = binary_data(), logistic_model(-2.0, 0.0)
    raw, baseline = permutation(model, data, seed=1, n_repeats=3)
    own = measured(raw[:, :, 0], data=data, loss="one_minus_auc")
    own = replace(own, baseline=baseline[:, 0])
    verdict, observed, finding = answer("event_level", of_importance(own, data))
    assert (verdict, finding.severity) == ("warn", "warning")
    assert observed < -0.3
    assert finding.message == (
        "Permuting 'x1', the strongest feature, does not increase the loss: the loss "
        f"changes by {observed:.3g}."
    )


@pytest.mark.parametrize("engine", ["python", "vip"])
def test_a_ratio_to_a_loss_of_almost_zero_is_out_of_bounds(engine):
    perfect = measured([[2.0, 2.0]], baseline=1e-31, form="ratio", engine=engine)
    findings = [f for _, f in of_importance(perfect) if f and f.check == "unbounded"]
    texts = [(f.severity, f.subject, f.message, f.remedy) for f in findings]
    ours = (
        "warning",
        "linear, permutation, features, mse",
        "The loss of the model before permutation is almost zero (1.0e-31), so ratios "
        "to it mean little.",
        'Use form = "difference".',
    )
    assert texts == ([ours] if engine == "python" else [])


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


def test_an_infinite_loss_is_named_with_the_feature_that_makes_it():
    loss = "log_loss"
    infinite = measured([[0.5, np.inf], [0.4, 0.5]], baseline=0.3, loss=loss)
    verdict, observed, finding = answer("unbounded", of_importance(infinite))
    assert (verdict, observed) == ("warn", np.inf)
    assert finding.message == (
        "The loss for 'x1' is infinite, so its rank means little."
    )


def test_an_infinite_loss_with_nothing_permuted_is_told_before_all_others():
    infinite = measured([[np.inf]], baseline=np.inf, form="ratio", loss="log_loss")
    finding = answer("unbounded", of_importance(infinite))[2]
    assert finding.message == ("The loss of the model before permutation is infinite.")
    assert "event_level" not in words(infinite)


FLAT = flat(normal_data(2, 1))
OFF = 10 + 2**-49
BOTH = {"features": ("both",), "columns": (("x1", "x2"),)}


def permuted_flat():
    """Return what permutation measures of a constant x2."""
    raw, baseline = permutation(linear_model(2, 1), FLAT, seed=1, n_repeats=3)
    return measured(raw[:, :, 0], data=FLAT, baseline=baseline[0, 0])


@pytest.mark.parametrize(
    ("word", "answers", "observed"),
    [
        ("predict_ignores_x", lambda: answers_of(linear_model(2, 1)), "changed"),
        ("not_deterministic", lambda: answers_of(linear_model(2, 1)), 0.0),
        ("unmeasured", lambda: of_importance(measured([[12.0], [11.0]])), 0.0),
        ("constant_feature", lambda: of_importance(permuted_flat(), FLAT), 0.0),
        (
            "constant_feature",  # but for last bits
            lambda: of_importance(measured([[12.0], [OFF]], data=FLAT), FLAT),
            0.0,
        ),
        *(
            (
                "event_level",
                lambda form=form: of_importance(measured([[9.9], [13.0]], form=form)),
                3.0,
            )
            for form in ("difference", "ratio", "raw")
        ),
    ],
)
def test_what_is_in_order_passes_and_is_no_finding(word, answers, observed):
    assert answer(word, answers()) == ("pass", observed, None)


@pytest.mark.parametrize(
    ("word", "importance", "data"),
    [
        ("constant_feature", measured([[12.0], [10.5]]), None),
        ("constant_feature", measured([[12.0]], data=FLAT, **BOTH), FLAT),
        # where the baseline is no loss of the rows that are permuted
        ("constant_feature", measured([[12.0], [10.5]], data=FLAT, loss=""), FLAT),
        (
            "constant_feature",
            measured(
                [[12.0], [10.5]], data=FLAT, stream="vip-0.4", options={"n_rows": 5}
            ),
            FLAT,
        ),
        ("event_level", measured([[9.0]], loss=""), None),
        ("unbounded", measured([[np.inf]], loss=""), None),
    ],
)
def test_there_is_nothing_to_judge(word, importance, data):
    assert word not in words(importance, data)


def table(**columns):
    """Return rows with these columns: texts are categories."""
    frame = pd.DataFrame(columns)
    texts = frame.columns[[isinstance(v, str) for v in frame.iloc[0]]]
    return frame.astype(dict.fromkeys(texts, "category"))


X = np.array([0.1, 0.7, 0.7, -3.0, 12.3])
KIND = ["a", "b", "b", "c", "a"]


@pytest.mark.parametrize(
    ("twin", "same"),
    [
        (X, True),
        (2.54 * X, True),
        (273.15 - 0.1 * X, True),
        (X + 1e-12 * (X == -3), False),
        (X**3, False),
        (np.round(2.54 * X, 1), False),
        (np.where(X == -3, np.nan, X), False),
    ],
)
def test_numbers_say_the_same_if_one_is_an_affine_image_of_the_other(twin, same):
    assert bool(stand_ins([table(x=X, twin=twin)])) == same


def test_digits_that_a_large_offset_costs_hide_no_image():
    # Beside 1.7e9 a cell is rounded to 2e-7.
    assert stand_ins([table(seconds=1.7e9 + X, x=X)]) == [("seconds", "x")]


@pytest.mark.parametrize(
    ("twin", "same"),
    [
        (["z", "y", "y", "x", "z"], True),
        ([3, 1, 1, 2, 3], True),
        (["z", "y", "y", "y", "z"], False),
        (["z", "y", None, "x", "z"], False),
    ],
)
def test_categories_say_the_same_if_they_part_the_rows_alike(twin, same):
    assert bool(stand_ins([table(kind=KIND, twin=twin)])) == same


def test_values_that_differ_in_every_row_go_together_only_if_they_are_the_same():
    keys = list("abcde")
    frame = table(key=keys, name=list("vwxyz"), number=range(5), again=keys)
    assert stand_ins([frame]) == [("key", "again")]


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


def doubled(n=2):
    """Return white rows in which x1 has n - 1 twins."""
    data = normal_data(2, 1)
    twins = {f"twin{k}": -data.X["x1"] for k in range(1, n)}
    frame = data.X.assign(**twins)
    return replace(data, X=frame, groups={name: (name,) for name in frame})


def test_columns_that_say_the_same_are_one_warning_for_all_models():
    verdict, observed, finding = answer(
        "same_columns", checks.of_columns(doubled(), doubled())
    )
    assert (verdict, observed, finding.subject) == ("warn", 2.0, "normal")
    assert finding.message == (
        "These columns carry the same information in all rows, up to unit or labels, "
        "so none of them has an importance of its own: 'x1', 'twin1'."
    )
    assert finding.remedy.startswith("Put each set under [groups], without others, ")


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
    answers = checks.of_columns(None, data, grouped=grouped)
    assert answer("same_columns", answers)[2].severity == severity


def test_a_constant_column_is_one_note_for_all_models():
    answers = checks.of_columns(None, flat(normal_data(2, 1)))
    verdict, observed, finding = answer("constant_column", answers)
    assert (verdict, observed, finding.severity) == ("note", 1.0, "info")
    assert finding.message == (
        "These columns are constant in the evaluation rows, so their importance cannot "
        "be measured: 'x2'."
    )


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
    answers = checks.of_columns(None, data)
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
        _, _, in_r = answer("dependence", checks.of_columns(None, data))
    assert in_r.remedy == "Name each set in groups = list(...) as one."
    with asked_by("python"):
        _, _, in_python = answer("dependence", checks.of_columns(None, data))
    assert in_python.remedy == "Name each set in groups={...} as one."


def with_levels(data, levels):
    kind = pd.Categorical(np.resize(levels, len(data.X)))
    X = data.X.assign(kind=kind)
    return replace(data, X=X, groups={name: (name,) for name in X})


def test_levels_that_usually_mean_missing_are_one_note_with_their_rows():
    data = with_levels(normal_data(2), ["NA", "low", "?", "high", "NA"])
    n_rows = 2 * int(data.X["kind"].isin(["NA", "?"]).sum())
    answers = checks.of_columns(data, data)
    verdict, observed, finding = answer("missing_words", answers)
    assert (verdict, observed, finding.severity) == ("note", 1.0, "info")
    assert finding.message == (
        "These levels usually mean that a value is missing, and are read as levels "
        f"like any other: '?', 'NA' of 'kind' ({n_rows} rows)."
    )


@pytest.mark.parametrize("level", ["none", "None", "NAM", "Naples"])
def test_a_level_that_is_as_often_an_answer_is_no_word_for_missing(level):
    data = with_levels(normal_data(2), ["low", level])
    verdict, observed, finding = answer("missing_words", checks.of_columns(None, data))
    assert (verdict, observed, finding) == ("pass", 0.0, None)


def test_the_limit_decides_who_depends_and_stands_beside_who_set_it():
    limits = {**checks.DEFAULTS, "dependence": Limit(0.5, "a file")}
    answers = checks.of_columns(None, linked(), limits=limits)
    ((row, finding),) = ((r, f) for r, f in answers if r["check"] == "dependence")
    assert (row["threshold"], row["set_by"]) == (0.5, "a file")
    assert "'x1', 'near' (0.9" in finding.message
    assert "'x3', 'kind' (0." in finding.message


def test_a_derived_column_is_not_told_to_depend_on_what_it_is_made_of():
    data = replace(linked(), unread={"near": ("x1", "x2")})
    assert answer("dependence", checks.of_columns(None, data))[2] is None


@pytest.mark.parametrize(
    ("grouped", "start"),
    [
        (("near", "x1"), "Read the importance of their group beside their own."),
        (("near", "x1", "x2"), "Put each set under [groups], without others, "),
    ],
)
def test_dependent_features_that_are_asked_together_are_read_together(grouped, start):
    answers = checks.of_columns(None, linked(), grouped=[grouped])
    assert answer("dependence", answers)[2].remedy.startswith(start)


def test_features_that_hardly_depend_are_no_finding_and_one_alone_is_not_judged():
    verdict, observed, finding = answer(
        "dependence", checks.of_columns(None, normal_data(2, 1))
    )
    assert (verdict, finding) == ("pass", None)
    assert observed < 0.5
    words = [row["check"] for row, _ in checks.of_columns(None, normal_data(2))]
    assert words == ["same_columns", "constant_column"]


def over_rows(*bounds, error=1.0, route="resampled"):
    """Return rows of the frame row_intervals, as far as the check reads them."""
    return [
        {"feature": f"x{j + 1}", "high": high, "std_error": error, "route": route}
        for j, high in enumerate(bounds)
    ]


@pytest.mark.parametrize(
    ("form", "nothing"), [("difference", "0"), ("ratio", "1")], ids=str
)
def test_features_that_the_model_does_better_with_shuffled_are_named_once(
    form, nothing
):
    raw = [[7.9], [7.8], [12.0], [9.9]]
    importance = measured(raw, form=form)
    below, above = float(nothing) - 0.01, float(nothing) + 0.01
    rows = over_rows(below, below, 5.0, above)
    verdict, observed, finding = answer(
        "negative_importance", checks.of_row_intervals(importance, rows)
    )
    assert (verdict, observed, finding.severity) == ("note", 2, "info")
    assert finding.message == (
        "Shuffling 'x1', 'x2' improves the model on these rows: the 95% intervals over "
        f"resampled rows lie entirely below {nothing}."
    )


def test_one_below_zero_of_many_features_may_be_chance_and_far_below_is_not():
    importance = measured([[7.7], *[[12.0]] * 19])  # 2.3 below what nothing measures
    for error, severity in ((1.0, "info"), (0.7, "warning")):
        rows = over_rows(-0.1, *[5.0] * 19, error=error)
        (answered,) = checks.of_row_intervals(importance, rows)
        assert answered[1].severity == severity  # 20 features: 3.02 errors


def test_a_model_that_reads_a_feature_the_wrong_way_round_has_the_finding():
    """With y = 2 x1 - x2 the importance of x2 is 2 b^2 + 2 b cov(y - f, x2) = -2."""
    config = parse_config({"importance": [{"method": "permutation"}]})
    result = audit(None, normal_data(2, -1), config, models=(linear_model(2, 1),))
    (finding,) = (f for f in result.findings if f.check == "negative_importance")
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


def test_a_loss_far_above_that_of_the_training_rows_is_a_note():
    ((row, finding),) = gap(on_both(3.0, 5.0))
    assert row["observed"] == pytest.approx(2 / np.hypot(0.3, 0.3))
    assert finding.severity == "info"
    assert finding.message == (
        "The loss of the model is 5 on the evaluation rows and 3 on its training rows: "
        "a gap of 4.7 standard errors."
    )
    ((row, finding),) = gap(on_both(3.8, 5.0))  # 2.8 standard errors
    assert (row["verdict"], finding) == ("pass", None)
    ((row, finding),) = gap(on_both(5.0, 3.0))
    assert finding is None


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


def test_what_has_no_interval_loss_or_leaves_is_not_judged():
    without, sums = over_rows(float("nan"), route=""), {"loss": "sum_of_squares"}
    assert checks.of_row_intervals(measured([[7.0]]), without) == []
    assert checks.of_row_intervals(measured([[7.0]], form="raw"), over_rows(7.5)) == []
    assert gap(on_both(1.0, 9.0, **sums)) == []  # which grows with the rows
    assert gap(on_both(1.0, 9.0, error=float("nan"))) == []
    of_training = performance(3.0, 0.1, split="train")
    assert checks.of_performance(linear_model(2, 1), of_training) == []
    assert checks.of_leaves(measured([[12.0]]), {}) == []


@pytest.mark.slow
def test_a_line_that_does_not_overfit_is_hardly_ever_noted(monkeypatch):
    """It fits its rows a little better by nature: 40 of them for each column."""
    monkeypatch.setattr("importance_audit.models.performance.N_RESAMPLES", 50)
    ols = ModelSection(name="m", estimator="sklearn.linear_model.LinearRegression")
    draws, noted, n_tables = np.random.default_rng(1), 0, 100
    for _ in range(n_tables):
        X = pd.DataFrame(draws.normal(size=(600, 10)), columns=list("abcdefghij"))
        y = X["a"] + X["b"] / 2 + draws.normal(size=600)
        parts = [
            dataset(X[at], y[at], name="rows", task="regression", split=split)
            for at, split in ((slice(0, 400), "train"), (slice(400, None), "test"))
        ]
        model = fit(ols, parts[0])
        noted += gap(judge(model, *parts, seed=1).losses)[0][1] is not None
    assert noted <= 3  # of 100; one in a hundred gives more in one of 50 such tests


def test_features_that_vary_in_less_than_half_of_their_leaves_are_named_and_counted():
    leaves = {"x1": (40, 80), "x2": (41, 80), "x3": (9, 10)}
    answers = checks.of_leaves(measured([[12.0]]), leaves)
    verdict, observed, finding = answer("silent_leaves", answers)
    assert (verdict, observed, finding.severity) == ("note", 0.9, "info")
    assert finding.message == (
        "In more than 50% of the leaves over all trials the feature has a single "
        "value, so these leaves say nothing about it: 'x2' in 41 of 80, 'x3' in 9 of "
        "10."
    )


def deciles(model):
    data = normal_data(2, 1)
    if model.task == "binary":
        data = binary_data()
    rows = diagnostic_rows(model, data, model.predict(data.X), split="test")
    return calibration_checks(rows["calibration"])


def test_every_check_answers_under_its_own_word():
    data = flat(normal_data(2, 1))
    ols = ModelSection(name="m", estimator="sklearn.linear_model.LinearRegression")
    fields = {"method": "random_subspace", "options": {"n_drawn": None}}
    perf = measured([[1.0, 2.0], [3.0, 4.0]], data=data, **fields)
    trials = {"n_rows": None, "resample": "subsample"}
    over_trials = measured([[12.0, 13.0], [10.0, 10.0]], data=data, options=trials)
    leak = measured([[9.0], [1.0], [1.0]], baseline=1.0)
    answers = [
        *checks.of_columns(None, with_levels(data, ["a", "b"])),
        *checks.of_shifts(data, split_shift_rows(data, data, limit=1.0)),
        *answers_of(linear_model(2, 1), normal_data(2, 1, 0)),
        *checks.of_performance(linear_model(2, 1), on_both(4.0, 5.0)),
        *checks.of_deciles(logistic_model(1, 0), deciles(logistic_model(1, 0))),
        *checks.of_deciles(linear_model(2, 1), deciles(linear_model(2, 1))),
        *checks.of_predictions(linear_model(2, 1), 0.0),
        *checks.of_draws(linear_model(2, 1), 0),
        *of_importance(over_trials, data),
        *checks.of_leak(leak, 10.0),
        *checks.of_row_intervals(perf, over_rows(1.0)),
        *checks.of_ensemble(perf, fit(ols, data), data),
        *checks.of_leaves(over_trials, {"x1": (1, 2)}),
    ]
    assert [row["check"] for row, _ in answers] == list(CHECKS)
    frame = FRAMES["checks"].of(row for row, _ in answers)
    assert tuple(frame.columns) == FRAMES["checks"].columns
    assert (frame["set_by"].isin(["default", "definition"])).all()
    assert tuple(FRAMES["checks"].of([]).columns) == FRAMES["checks"].columns


@pytest.mark.parametrize("severity", ["info", "warning", "failure"])
def test_a_check_that_fires_never_passes(severity, monkeypatch):
    fires = checks.Check("draws", lambda **_: checks.Seen(True, 1.0, "m"), severity)
    monkeypatch.setitem(CHECKS, "c", fires)
    row, fired = checks.of_draws(linear_model(2, 1), 0)[-1]
    assert (row["verdict"] != "pass", fired.severity) == (True, severity)
