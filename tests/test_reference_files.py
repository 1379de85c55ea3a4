"""Every case recorded from R is copied for a test, or left out for a reason."""

import json
import re
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parent / "reference"
CASES = json.loads((REFERENCE / "cases.json").read_text(encoding="utf8"))
COPIES = {
    "dalex": ("dalex_parts", "dalex_profiles"),
    "fastshap": ("fastshap",),
    "filters": ("filters",),
    "hstats": ("hstats",),
    "iml": ("iml",),
    "model_specific": ("model_specific",),
    "pdp": ("pdp", "pdp_surfaces"),
    "r_rng": ("r_rng",),
    "stratimpact": ("stratimpact",),
    "vip": ("vip_permute", "vip_firm", "vip_adapter", "fastshap"),
    "xplainfi": ("xplainfi",),
}
REFUSAL = "R's own refusal"
NOT_COPIED = {
    "dalex": {
        "(parts-bin|loss-loss)[-_]acc.*": (
            "labels equal to probabilities, which is 0 of all; no loss has that name"
        ),
        "loss-rmse-na": "a missing target, which no audit has",
        "parts-(bin-xent-vector|reg-groups-wrong)": REFUSAL,
        "profile-k": (
            "clusters of curves that are equal but for 9e-16, so rounding parts them"
        ),
        "residuals-.*": "residuals row by row, which nothing here reports",
    },
    "r_rng": {
        "rounding-.*|seed.+-state": (
            "R's indexes before 3.6, and the value of .Random.seed, which nothing here "
            "replays"
        ),
        ".*(rexp|prob).*": (
            "exponentials and draws by probability, which no method here makes"
        ),
        "walker-.*": (
            "Walker's aliases, R's way above 200 probabilities, which no method here "
            "replays"
        ),
    },
    "vip": {
        ".*-firm-varfun": REFUSAL,
        ".*-permute-(name-.*|one-feature-.*|unknown-metric|fun-no-direction)": REFUSAL,
        ".*-permute-(size-frac-both|size-too-big|subset-colname)": REFUSAL,
    },
}


def copied(file):
    """Return the names of the cases that a copy holds."""
    content = json.loads((REFERENCE / f"{file}.json").read_text(encoding="utf8"))
    lists = [v for k, v in content.items() if k == "cases" or k.endswith("_cases")]
    return {case.get("id") or case["name"] for cases in lists for case in cases}


@pytest.mark.parametrize("package", COPIES)
def test_every_recorded_case_is_copied_or_left_out_for_a_reason(package):
    here = set().union(*map(copied, COPIES[package])) & set(CASES[package])
    patterns = NOT_COPIED.get(package, {})
    rest = set(CASES[package]) - here
    matches = {case: [p for p in patterns if re.fullmatch(p, case)] for case in rest}
    assert {case: p for case, p in matches.items() if len(p) != 1} == {}
    assert {p for of_case in matches.values() for p in of_case} == set(patterns)


def test_the_list_of_cases_is_whole():
    numbers = {package: len(CASES[package]) for package in COPIES}
    assert sum(numbers.values()) == 1262 + numbers["stratimpact"]


def test_the_table_counts_every_case_once():
    from tests.reference.table import count

    for package in COPIES:
        row = count(package)
        compared = row.numerical + row.statistical + row.through_r
        assert compared + row.left_out.total() == row.cases == len(CASES[package])
