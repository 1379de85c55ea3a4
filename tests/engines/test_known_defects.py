"""Each known fault speaks where it touches, and only there."""

import numpy as np
from tests.cases import for_each
from tests.engines.agreement.sides import curve, peer_importance

from importance_audit.engines.known_defects import (
    DEFECTS,
    Question,
    defects_for,
    defects_of,
    ties_differ,
    version_numbers,
)

VERSIONS = {"DALEX": "2.5.4", "ingredients": "2.3.0", "iml": "0.11.4"}
VERSIONS |= {"pdp": "0.10.0", "xplainfi": "1.2.0", "vip": "0.5.0.9000"}
VIP_04 = VERSIONS | {"vip": "0.4.5"}
DRAWN, ONCE = {"n_rows": 5}, {"n_repeats": 1}
PROFILE = {"method": "accumulated_profile"}
UNWEIGHTED = ("VIP", "DALEX", "IML", "PDP", "XPLAINFI")
# By fault what a question needs beside its engine, each of which is needed.
TOUCHED = {
    "VIP-SUBSAMPLE": DRAWN,
    "VIP-ONEFEATURE": {"n_features": 1, **ONCE},
    "VIP-ONECOLUMN": {"n_columns": 1, **DRAWN},
    **{f"{name}-WEIGHTS": {"is_weighted": True} for name in UNWEIGHTED},
    "XPLAINFI-ONEROW": {"n_samples": 1},
    "XPLAINFI-ONENEIGHBOUR": {"n_neighbours": 1},
    "DALEX-NAN": {"misses": True, **ONCE},
    "DALEX-ONECOL": {"n_columns": 1, **DRAWN, **PROFILE},
    "DALEX-TIE": {"loss": "one_minus_auc", "ties_differ": True},
}
BEFORE_05 = {"VIP-SUBSAMPLE", "VIP-ONEFEATURE", "VIP-ONECOLUMN"}
OF_PERMUTATION = {*BEFORE_05, "XPLAINFI-ONEROW", "DALEX-NAN"}
ENGINES = {"VIP": "vip", "IML": "iml", "PDP": "pdp", "XPLAINFI": "xplainfi"}


def answer(raw=((0.5,),), **changes):
    fields = {"loss": "one_minus_auc", "baseline": 0.4, "engine_version": "2.5.4"}
    fields["options"] = {"n_repeats": 1, "n_rows": None}
    return peer_importance(raw, **{**fields, **changes})


def ids(defects):
    return {defect.id for defect in defects}


def faults_of(engine, versions, **question):
    question = {"engine": engine, "method": "permutation", "loss": "rmse"} | question
    return ids(defects_of(Question(**question), versions))


def test_every_fault_has_a_case_of_its_own():
    assert [defect.id for defect in DEFECTS] == list(TOUCHED)


@for_each(TOUCHED)
def test_a_fault_speaks_where_it_touches_and_nowhere_else(name):
    touched, engine = TOUCHED[name], ENGINES.get(name.split("-")[0], "DALEX")
    versions = VIP_04 if name in BEFORE_05 else VERSIONS
    assert name in faults_of(engine, versions, **touched)
    for one in touched:
        less = {key: value for key, value in touched.items() if key != one}
        assert name not in faults_of(engine, versions, **less)
    for other in {*ENGINES.values(), "DALEX"} - {engine}:
        assert name not in faults_of(other, versions, **touched)
    assert faults_of(engine, {}, **touched) == set()
    for method in ("drop_column", "sage"):
        is_silent = name not in faults_of(
            engine, versions, **touched | {"method": method}
        )
        assert is_silent == (name in OF_PERMUTATION or "method" in touched)


@for_each(sorted(BEFORE_05))
def test_a_fault_that_was_mended_is_in_its_versions_only(name):
    since = (("0.3.2", name != "VIP-SUBSAMPLE"),)
    for version, has_it in (*since, ("0.4.0", True), ("0.5", False)):
        faults = faults_of("vip", {"vip": version, "pdp": "0.10.0"}, **TOUCHED[name])
        assert (name in faults) == has_it


def test_a_record_is_asked_what_it_says_of_itself():
    sampled = answer(
        engine="vip",
        options={"n_repeats": 1, "n_rows": 2},
        engine_version="0.4.5",
    )
    defects = defects_for(sampled, VIP_04)
    assert ids(defects) == {"VIP-SUBSAMPLE", "VIP-ONEFEATURE"}


def test_a_number_that_is_missing_from_a_record_is_seen():
    assert defects_for(answer(), VERSIONS) == ()
    defects = defects_for(answer([[np.nan]]), VERSIONS)
    assert ids(defects) == {"DALEX-NAN"}


def test_ties_are_told_from_the_predictions():
    circumstances = {"versions": VERSIONS, "predictions": np.array([0.3, 0.3 + 1e-13])}
    assert ids(defects_for(answer(), **circumstances)) == {"DALEX-TIE"}
    assert defects_for(answer(loss="brier"), **circumstances) == ()


def test_a_curve_is_not_touched_by_faults_of_permutation():
    gap = curve([np.nan], engine="DALEX", engine_version="2.5.4")
    assert defects_for(gap, VERSIONS) == ()


@for_each(
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
def test_our_auc_and_dalex_tie_predictions_by_rules_of_their_own(case):
    predictions, differ = case
    assert ties_differ(np.array(predictions)) is differ


def test_versions_are_ordered_by_number_not_as_text():
    texts = ["0.4.0", "0.4.5", "0.4.10", "0.5", "0.5.0.9000", "2.5.4-1"]
    numbers = [version_numbers(text) for text in texts]
    assert numbers == sorted(numbers)
    assert version_numbers("2.5.4-1") == (2, 5, 4, 1)
