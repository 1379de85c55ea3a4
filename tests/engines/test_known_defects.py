"""Each known fault speaks where it touches, and only there."""

import numpy as np
import pytest

from importance_audit.engines.known_defects import (
    DEFECTS,
    Question,
    defects_for,
    defects_of,
    ties_differ,
    version_numbers,
)
from importance_audit.records.importance_record import Effect, Importance

VIP_04 = {"vip": "0.4.5", "pdp": "0.10.0"}
VIP_05 = {"vip": "0.5.0.9000", "pdp": "0.10.0"}
DALEX = {"DALEX": "2.5.4", "ingredients": "2.3.0"}
BY_VIP = Question(engine="vip", method="permutation", loss="rmse")
PROFILE = "accumulated_profile"
BY_DALEX = Question(engine="DALEX", method="permutation", loss="rmse")
BY_IML, IML = BY_DALEX._replace(engine="iml"), {"iml": "0.11.4"}
BY_PDP, PDP = BY_DALEX._replace(engine="pdp"), {"pdp": "0.10.0"}
BY_XPLAINFI, XPLAINFI = BY_DALEX._replace(engine="xplainfi"), {"xplainfi": "1.2.0"}

# id: a question that fires it, and questions or versions that do not
CASES = {
    "VIP-SUBSAMPLE": (
        (BY_VIP._replace(n_rows=100), VIP_04),
        [
            (BY_VIP._replace(n_rows=100), VIP_05),
            (BY_VIP._replace(n_rows=100), {"vip": "0.5"}),
            (BY_VIP, VIP_04),
            (BY_VIP._replace(n_rows=100, method="partial_dependence"), VIP_04),
            (BY_VIP._replace(n_rows=100), {"vip": "0.3.2"}),
        ],
    ),
    "VIP-ONEFEATURE": (
        (BY_VIP._replace(n_features=1, n_repeats=1), VIP_04),
        [
            (BY_VIP._replace(n_features=1, n_repeats=1), VIP_05),
            (BY_VIP._replace(n_features=1, n_repeats=2), VIP_04),
            (BY_VIP._replace(n_features=2, n_repeats=1), VIP_04),
        ],
    ),
    "VIP-ONECOLUMN": (
        (BY_VIP._replace(n_columns=1, n_rows=5), VIP_04),
        [
            (BY_VIP._replace(n_columns=1, n_rows=5), VIP_05),
            (BY_VIP._replace(n_columns=1), VIP_04),
            (BY_VIP._replace(n_columns=2, n_rows=5), VIP_04),
        ],
    ),
    "VIP-WEIGHTS": (
        (BY_VIP._replace(is_weighted=True), VIP_05),
        [(BY_VIP, VIP_05), (BY_DALEX._replace(is_weighted=True), VIP_05 | DALEX)],
    ),
    "DALEX-WEIGHTS": (
        (BY_DALEX._replace(is_weighted=True), DALEX),
        [(BY_DALEX, DALEX), (BY_VIP._replace(is_weighted=True), VIP_05 | DALEX)],
    ),
    "IML-WEIGHTS": (
        (BY_IML._replace(is_weighted=True), IML),
        [(BY_IML, IML), (BY_VIP._replace(is_weighted=True), VIP_05 | IML)],
    ),
    "PDP-WEIGHTS": (
        (BY_PDP._replace(is_weighted=True), PDP),
        [(BY_PDP, PDP), (BY_VIP._replace(is_weighted=True), VIP_05 | PDP)],
    ),
    "XPLAINFI-WEIGHTS": (
        (BY_XPLAINFI._replace(is_weighted=True), XPLAINFI),
        [(BY_XPLAINFI, XPLAINFI), (BY_PDP._replace(is_weighted=True), PDP | XPLAINFI)],
    ),
    "XPLAINFI-ONEROW": (
        (BY_XPLAINFI._replace(n_samples=1), XPLAINFI),
        [
            (BY_XPLAINFI, XPLAINFI),
            (BY_XPLAINFI._replace(n_samples=1, method="drop_column"), XPLAINFI),
            (BY_XPLAINFI._replace(n_samples=1, method="sage"), XPLAINFI),
            (BY_IML._replace(n_samples=1), IML | XPLAINFI),
        ],
    ),
    "XPLAINFI-ONENEIGHBOUR": (
        (BY_XPLAINFI._replace(n_neighbours=1), XPLAINFI),
        [
            (BY_XPLAINFI, XPLAINFI),
            (BY_XPLAINFI._replace(n_neighbours=2), XPLAINFI),
        ],
    ),
    "DALEX-NAN": (
        (BY_DALEX._replace(n_repeats=1, misses=True), DALEX),
        [
            (BY_DALEX._replace(n_repeats=2, misses=True), DALEX),
            (BY_DALEX._replace(n_repeats=1), DALEX),
        ],
    ),
    "DALEX-ONECOL": (
        (BY_DALEX._replace(method=PROFILE, n_columns=1, n_rows=5), DALEX),
        [
            (BY_DALEX._replace(method=PROFILE, n_columns=1), DALEX),
            (BY_DALEX._replace(method=PROFILE, n_columns=2, n_rows=5), DALEX),
            (BY_DALEX._replace(n_columns=1, n_rows=5), DALEX),
        ],
    ),
    "DALEX-TIE": (
        (BY_DALEX._replace(loss="one_minus_auc", ties_differ=True), DALEX),
        [
            (BY_DALEX._replace(loss="one_minus_auc"), DALEX),
            (BY_DALEX._replace(ties_differ=True), DALEX),
            (BY_VIP._replace(loss="one_minus_auc", ties_differ=True), VIP_05 | DALEX),
        ],
    ),
}


def importance(**changes):
    fields = {
        "model": "m",
        "method": "permutation",
        "engine": "DALEX",
        "engine_version": "2.5.4",
        "of": "features",
        "form": "difference",
        "loss": "one_minus_auc",
        "split": "test",
        "unit": "1",
        "options": {"n_repeats": 1, "n_rows": None},
        "n_samples": 4,
        "seed": 1,
        "features": ("x",),
        "columns": (("x",),),
        "raw": np.array([[0.5]]),
        "baseline": np.array([0.4]),
    }
    return Importance(**(fields | changes))


def ids(defects):
    return {defect.id for defect in defects}


def test_every_entry_has_a_case_and_a_name_of_its_own():
    assert [defect.id for defect in DEFECTS] == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_fault_speaks_where_it_touches(name):
    question, versions = CASES[name][0]
    assert name in ids(defects_of(question, versions))


@pytest.mark.parametrize(
    ("name", "question", "versions"),
    [(name, *silent) for name, (_, others) in CASES.items() for silent in others],
)
def test_a_fault_is_silent_where_it_does_not_touch(name, question, versions):
    assert name not in ids(defects_of(question, versions))


@pytest.mark.parametrize("name", CASES)
def test_a_package_that_is_not_there_has_no_faults(name):
    assert defects_of(CASES[name][0][0], {}) == ()


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.id)
def test_a_text_is_whole_sentences_that_name_the_package(defect):
    assert defect.text.startswith(("vip ", "DALEX ", "iml ", "pdp ", "xplainfi "))
    assert defect.text.endswith(".")


def test_a_record_is_asked_what_it_says_of_itself():
    sampled = importance(
        engine="vip",
        options={"n_repeats": 1, "n_rows": 2},
        engine_version="0.4.5",
    )
    defects = defects_for(sampled, VIP_04 | DALEX)
    assert ids(defects) == {"VIP-SUBSAMPLE", "VIP-ONEFEATURE"}


def test_a_number_that_is_missing_from_a_record_is_seen():
    assert defects_for(importance(), DALEX) == ()
    defects = defects_for(importance(raw=np.array([[np.nan]])), DALEX)
    assert ids(defects) == {"DALEX-NAN"}


def test_ties_are_told_from_the_predictions():
    circumstances = {"versions": DALEX, "predictions": np.array([0.3, 0.3 + 1e-13])}
    assert ids(defects_for(importance(), **circumstances)) == {"DALEX-TIE"}
    assert defects_for(importance(loss="brier"), **circumstances) == ()


def test_a_curve_is_not_touched_by_faults_of_permutation():
    curve = Effect(
        model="m",
        method="partial_dependence",
        engine="DALEX",
        engine_version="2.5.4",
        scale="response",
        split="test",
        unit="y",
        options={"grid": "even", "n_grid": 51, "scale": "native"},
        n_samples=4,
        seed=1,
        feature="x",
        kind="number",
        grid=np.array([0.0]),
        values=np.array([np.nan]),
    )
    assert defects_for(curve, DALEX) == ()


@pytest.mark.parametrize(
    ("predictions", "differ"),
    [
        ([0.1, 0.2, 0.2], False),
        ([0.3, 0.1 + 0.2], False),  # one tie, by either rule
        ([1e15, 1e15 + 0.125], False),
        ([1e-20, 2e-20], False),
        ([0.3, 0.3 + 1e-13], True),  # 13 digits are equal, not 15
        ([0.9, 1e-20, 2e-20], False),  # far apart, if next to nothing beside 0.9
        ([1 - 1e-13, 1 - 2e-13], False),  # as far apart as the other class
        ([1 - 5e-13, 1 - 3e-13, 0.1], False),
    ],
)
def test_our_auc_and_dalex_tie_predictions_by_rules_of_their_own(predictions, differ):
    assert ties_differ(np.array(predictions)) is differ


def test_versions_are_ordered_by_number_not_as_text():
    texts = ["0.4.0", "0.4.5", "0.4.10", "0.5", "0.5.0.9000", "2.5.4-1"]
    numbers = [version_numbers(text) for text in texts]
    assert numbers == sorted(numbers)
    assert version_numbers("2.5.4-1") == (2, 5, 4, 1)
