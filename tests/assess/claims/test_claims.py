"""What each kind of claim takes of an importance, and what it does not."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.made_records import made_effect, made_importance

from importance_audit.assess.claims import CLAIMS
from importance_audit.assess.claims.curves import Curves
from importance_audit.assess.expectations import ExpectedSection, judge
from importance_audit.models.performance import Judged
from importance_audit.records.errors import NotApplicable

VALUES = {"a": 4.0, "b": 2.0, "c": 1.0, "d": -1.0}


def record(values=None):
    values = VALUES if values is None else values
    return made_importance("m", tuple(values), tuple(values.values()), sd=0.0)


def answer(kind, *features, of=None, **options):
    return CLAIMS[kind].function(of or record(), features, **options)


@pytest.mark.parametrize(
    ("kind", "features", "options", "ours", "holds"),
    [
        ("leader", "a", {}, 1, True),
        ("leader", "ba", {}, 2, True),
        ("leader", "ac", {}, 3, False),
        ("rank", "c", {"within": 3}, 3, True),
        ("rank", "cd", {"within": 3}, 4, False),
        ("last", "d", {}, 1, True),
        ("last", "c", {}, 2, False),
        ("last", "c", {"within": 2}, 2, True),
        ("order", "acd", {}, 2, True),
        ("order", "bac", {}, -2, False),
        ("sign", "d", {"sign": "negative"}, -1, True),
        ("sign", "d", {"sign": "positive"}, -1, False),
        ("sign", "abcd", {"sign": "positive", "share": 0.75}, 0.75, True),
        ("sign", "abcd", {"sign": "positive"}, 0.75, False),
        ("value", "a", {"expected": 3.9, "tolerance": 0.11}, 4, True),
        ("value", "ab", {"expected": 3.9, "tolerance": 0.11}, 2, False),
        ("ratio", "ab", {"expected": 2, "tolerance": 0}, 2, True),
        ("ratio", "ba", {"expected": 2, "tolerance": 0.1}, 0.5, False),
        ("share", "ab", {"expected": 1, "tolerance": 0}, 1, True),
        ("share", "a", {"expected": 1, "tolerance": 0.1}, 4 / 6, False),
    ],
)
def test_a_claim_holds_or_not_by_these_numbers(kind, features, options, ours, holds):
    comparison = answer(kind, *features, **options)
    assert (comparison.ours, comparison.holds) == (ours, holds)


@pytest.mark.parametrize(("form", "nothing"), [("ratio", 1), ("raw", 2)])
def test_a_claim_on_another_form_is_measured_from_no_effect(form, nothing):
    of = replace(record({"a": 0.0, "b": -0.5, "c": 1.5, "d": 1.0}), form=form)
    of = replace(of, raw=of.raw + 2, baseline=of.baseline + 2)
    kinds = {
        ("sign", "c"): {"sign": "positive"},
        ("sign", "b"): {"sign": "negative"},
        ("sign", "abcd"): {"sign": "positive", "share": 0.5},
        ("ratio", "dc"): {"expected": 2 / 3, "tolerance": 1e-9},
        ("share", "d"): {"expected": 0.5, "tolerance": 1e-9},
    }
    answers = {
        (kind, names): answer(kind, *names, of=of, **options)
        for (kind, names), options in kinds.items()
    }
    assert all(each.holds for each in answers.values())
    unmoved = answer("sign", "a", of=of, sign="positive")
    assert not unmoved.holds
    assert unmoved[:3] == ("value of 'a'", f"above {nothing}", nothing)
    share = answers["sign", "abcd"]
    assert share.quantity.startswith(f"share with a value above {nothing} among 'a', ")
    ends = f", measured from {nothing}"
    assert answers["ratio", "dc"].quantity == f"'d' divided by 'c'{ends}"
    assert answers["share", "d"].quantity == f"share of 'd'{ends}"


@pytest.mark.parametrize(
    ("means", "fields", "is_told"),
    [
        ((9.0, 2.0, 1.5), {}, True),  # the last step may be chance
        ((1.0, 2.0, 9.0), {}, False),  # one step is surely a rise
        ((1.0, 1.5), {}, True),
        ((9.0, 6.0, 3.0), {}, False),
        ((9.0, 2.0, 1.5), {"stream": ""}, False),
        ((9.0, 2.0, 1.5), {"repeats": 1}, False),
    ],
)
def test_an_order_that_repeats_could_decide_otherwise_is_said_to_be_one(
    means, fields, is_told
):
    """Drops between two features have a spread of root 2, over ten repeats of 0.45."""
    of = made_importance("m", "abc"[: len(means)], means, sd=1.0, **fields)
    comparison = answer("order", *of.features, of=of)
    ends = comparison.quantity.endswith(" (within the 95% intervals over the repeats)")
    assert ends == is_told


def test_ties_lead_nothing_but_together():
    tied = record({"a": 2.0, "b": 2.0, "c": 0.0})
    assert not answer("leader", "a", of=tied).holds
    assert answer("leader", "a", "b", of=tied).holds
    assert not answer("order", "a", "b", of=tied).holds


def test_a_pair_is_found_by_either_order_of_its_names():
    values = {"a:b": 3.0, "b:c": 1.0}
    pairs = replace(record(values), of="pairs", columns=(("a", "b"), ("b", "c")))
    for name in ("a:b", "b:a"):
        assert answer("leader", name, of=pairs)[2:] == (1, True)
    with pytest.raises(NotApplicable, match="There is no 'c:a' among the pairs"):
        answer("leader", "c:a", of=pairs)


def test_ties_drop_by_zero_not_by_minus_zero():
    drop = answer("order", "a", "b", of=record({"a": 2.0, "b": 2.0})).ours
    assert f"{drop:g}" == "0"


def test_of_ties_the_rank_counts_that_is_farthest_from_the_claim():
    """Whoever breaks the tie, a claim that holds must still hold."""
    tied = record({"z": 3.0, "a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0})
    for name in "abc":
        assert answer("rank", name, of=tied, within=4)[2:] == (4, True)
        assert answer("rank", name, of=tied, within=3)[2:] == (4, False)
        assert answer("last", name, of=tied, within=4)[2:] == (4, True)
        assert answer("last", name, of=tied, within=3)[2:] == (4, False)
    assert not answer("leader", "z", "a", "b", of=tied).holds
    assert answer("leader", "z", "a", "b", "c", of=tied).holds
    assert not answer("last", "b", "c", "d", of=tied).holds
    expected = ExpectedSection(features=("z", "a", "b"), place="top", reason="r")
    rows, _ = judge([expected], [tied], resolution=0.05)
    assert rows[0]["verdict"] == "not as expected"


def test_a_curve_is_a_line_within_its_largest_distance():
    points = {"grid": np.array([0.0, 1, 2]), "values": np.array([1.0, 3, 6])}
    line = replace(made_effect("m", "x"), **points)
    line_claim = {"of": line, "intercept": 1.0, "slope": 2.0}
    assert answer("line", "x", **line_claim, tolerance=1).holds
    assert answer("line", "x", **line_claim, tolerance=0.5) == (
        "largest distance of the curve of 'x' from 1 + 2 x",
        "at most 0.5",
        1.0,
        False,
    )


def test_a_loss_is_compared_on_the_rows_that_are_named():
    of = Judged(value=282.95, constant=900.0)
    comparison = answer("performance", of=of, expected=282.9519, tolerance=0.01)
    texts = "loss on the test rows", "282.952 ± 0.01"
    assert (comparison.quantity, comparison.requirement, comparison.holds) == (
        *texts,
        True,
    )


def test_the_share_of_squared_errors_that_a_model_saves_is_r_squared():
    of = Judged(value=2.0, constant=8.0)
    comparison = answer(
        "explained", of=of, expected=0.76, tolerance=0.02, split="train"
    )
    assert (comparison.ours, comparison.holds) == (0.75, True)
    assert comparison.quantity == (
        "relative loss reduction against the constant predictor on the training rows"
    )


@pytest.mark.parametrize(
    ("features", "within", "expected", "ours", "holds"),
    [
        ("a", 1, 0.5, 0.5, True),
        ("a", 2, 1.0, 1.0, True),
        ("ab", 1, 0.0, 0.0, True),
        ("ab", 2, 0.5, 1.0, False),
    ],
)
def test_a_frequency_counts_the_models_that_rank_all_of_them_first(
    features, within, expected, ours, holds
):
    other = record({**VALUES, "b": 9.0})
    options = {"within": within, "expected": expected, "tolerance": 0.01}
    comparison = answer("frequency", *features, of=(record(), other), **options)
    assert (comparison.ours, comparison.holds) == (ours, holds)
    assert comparison.quantity.startswith("share of 2 models with 'a'")


CURVES = Curves(own=np.array([3.0, 2.0, 3.0]), best=np.array([2.0, 2.0, 1.0]))


@pytest.mark.parametrize(
    ("k", "factor", "side", "ours", "holds"),
    [
        (1, 1.5, "at most", 1.5, True),
        (2, 1.4, "at most", 1.5, False),
        (3, 2.0, "at least", 3, True),
        (2, 2.0, "at least", 1.5, False),
    ],
)
def test_a_curve_is_held_against_the_best_where_it_is_worst(
    k, factor, side, ours, holds
):
    options = {"k": k, "judge": "m", "factor": factor, "side": side}
    comparison = answer("top_k", of=CURVES, **options)
    assert (comparison.ours, comparison.holds) == (ours, holds)


@pytest.mark.parametrize(
    ("k", "factor", "side", "ours"),
    [(1, 1.5, "at most", 0.75), (2, 1.5, "at most", 0.5), (2, 2.0, "at least", 0.25)],
)
def test_a_curve_is_among_the_best_in_a_share_of_the_rounds(k, factor, side, ours):
    of_rounds = np.array([[1.0, 1], [1.5, 1], [1, 1.6], [2, 1]])
    best = np.ones((4, 2))
    curves = CURVES._replace(own_of_rounds=of_rounds, best_of_rounds=best)
    options = {"k": k, "judge": "m", "factor": factor, "side": side, "share": 0.5}
    comparison = answer("top_k", of=curves._replace(own=np.ones(2)), **options)
    assert (comparison.ours, comparison.holds) == (ours, ours >= 0.5)
    assert comparison.requirement == "at least 0.5"


# One swap of three neighbours: two of three pairs agree, rho = 1 - 6 * 2 / (3 * 8).
@pytest.mark.parametrize(
    ("features", "statistic", "ours"),
    [
        ("", "kendall", 1 / 3),
        ("", "spearman", 1 / 2),
        ("", "pearson", 0.5),
        ("ac", "kendall", 1),
        ("ab", "kendall", -1),
    ],
)
def test_rankings_are_alike_by_their_correlation(features, statistic, ours):
    sides = record({"a": 3.0, "b": 2.0, "c": 1.0}), record({"a": 2.0, "b": 3, "c": 1})
    options = {"of": sides, "other": "m", "statistic": statistic, "bound": 0.3}
    comparison = answer("likeness", *features, **options)
    assert comparison.ours == pytest.approx(ours)
    assert comparison.holds == (ours >= 0.3)
    assert answer("likeness", *features, **options, side="at most").holds == (
        ours <= 0.3
    )


LOST = record({"a": float("nan"), "b": 2.0})
BY = {"expected": 1, "tolerance": 0}
ZERO = {"of": record({"a": 1.0, "b": 0.0}), **BY}
LEVEL = {"of": record({"a": 1.0, "b": -1.0}), **BY}
LINE = {"intercept": 0, "slope": 1, "tolerance": 0}
FIRST = {"of": CURVES, "judge": "m", "factor": 1.0}


@pytest.mark.parametrize(
    ("kind", "features", "options", "message"),
    [
        ("leader", "a", {"of": LOST}, "There is no number for 'a'."),
        ("share", "b", {"of": LOST, **BY}, "There is no number for 'a'."),
        (
            "share",
            "a",
            LEVEL,
            "The values of all features sum to 0, so there is no share.",
        ),
        (
            "ratio",
            "ab",
            ZERO,
            "The value of 'b' is 0, no effect, so there is no ratio.",
        ),
        (
            "leader",
            ["a "],
            {},
            "There is no 'a ' among the features. Did you mean 'a'?",
        ),
        (
            "explained",
            "",
            {"of": Judged(0.0, 0.0), **BY},
            "The loss of the constant predictor is 0, so nothing can reduce it.",
        ),
        (
            "line",
            ["district"],
            {"of": made_effect("m", "district"), **LINE},
            "'district' is a category, so its curve is not a line.",
        ),
        ("top_k", "", FIRST | {"k": 4}, "The curve has 3 points, not 4."),
        (
            "top_k",
            "",
            FIRST | {"of": Curves(np.ones(1), np.zeros(1)), "k": 1},
            "The best ranking has no loss above 0, so there is no ratio.",
        ),
        (
            "likeness",
            "",
            {"of": (record(), record({"a": 1.0, "b": 1})), "bound": 0.5, "other": "m"},
            "One of the rankings is constant, so there is no correlation.",
        ),
    ],
)
def test_what_has_no_number_says_so(kind, features, options, message):
    with pytest.raises(NotApplicable) as refused:
        answer(kind, *features, **options)
    assert str(refused.value) == message


FULL, TARGET = "_full_model_", "_baseline_"


def printed(name, number, *, decimals=4, **fields):
    """Return the answer to one number of a table on losses 14, 12, 11, 9 over 10."""
    of = replace(record(), **{"y_permuted": np.array([19.0, 21.0]), **fields})
    return answer("printed", of=of, numbers={name: number}, decimals=decimals)


def test_a_printed_number_is_met_within_half_of_its_last_decimal():
    assert printed("a", 4.00004).holds
    assert not printed("a", 4.00006).holds
    assert not printed("a", 3.99994).holds
    assert printed("a", 3.6, decimals=0).holds
    assert printed("a", 1095.4724)[:2] == (
        "value of 'a' by Python",
        "1095.4724, to 4 decimals",
    )


@pytest.mark.parametrize(
    ("form", "value", "full", "target"),
    [("raw", 14, 10, 20), ("difference", 4, 0, 10), ("ratio", 1.4, 1, 2)],
)
def test_the_rows_of_a_table_have_the_form_of_its_importance(form, value, full, target):
    losses = np.full(10, 10.0)
    raw = losses + np.array(list(VALUES.values()))[:, None]
    fields = {"form": form, "raw": raw, "baseline": losses}
    values = [printed(name, 0.0, **fields).ours for name in ("a", FULL, TARGET)]
    assert values == pytest.approx([value, full, target], rel=1e-12)
    if form != "ratio":  # also of a full model without an error
        assert printed(TARGET, 0.0, form=form, baseline=np.zeros(10)).ours == 20


def test_an_engine_that_permuted_no_target_has_no_number_for_it():
    with pytest.raises(NotApplicable, match=r"^DALEX did not permute the target\.$"):
        printed(TARGET, 20.0, y_permuted=np.empty(0), engine="DALEX")
