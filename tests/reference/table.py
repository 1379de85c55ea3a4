"""Which recorded cases are compared with our numbers, how, and which are left out.

    .venv/bin/python -m tests.reference.table

Every line is counted from what the tests themselves say: `test_reference_files` says
what is copied, and the test of each package what it leaves out, and why.
"""

import re
from collections import Counter
from typing import NamedTuple

from tests.assess import test_paired_tests_reference
from tests.engines import (
    test_hstats,
    test_iml,
    test_xplainfi,
    test_xplainfi_sage_reference,
)
from tests.methods.effects import test_pdp_reference
from tests.methods.importance import (
    test_filters_reference,
    test_model_specific_reference,
)
from tests.test_reference_files import CASES, COPIES, NOT_COPIED

TESTS = {
    "filters": test_filters_reference,
    "hstats": test_hstats,
    "iml": test_iml,
    "model_specific": test_model_specific_reference,
    "pdp": test_pdp_reference,
    "xplainfi": test_xplainfi,
}
ALSO = {
    "xplainfi": (
        test_xplainfi_sage_reference.is_compared,
        test_paired_tests_reference.is_compared,
    )
}
"""Whether further tests compare a case that the test of its package leaves out."""
THROUGH_R = test_model_specific_reference.THROUGH_R


class Count(NamedTuple):
    """How many cases of one package are compared, and how many each reason leaves out.

    `through_r` are compared where R runs, with a model that R fits in the test.
    """

    package: str
    cases: int
    numerical: int
    statistical: int
    through_r: int
    left_out: Counter[str]


def reason_of(package: str, case: str) -> str | None:
    """Return why a case is left out, None if it is compared."""
    test = TESTS.get(package)
    whole = {**NOT_COPIED.get(package, {}), **getattr(test, "LEFT_OUT", {})}
    match = re.match if package == "filters" else re.fullmatch
    name = test_model_specific_reference.short(case) if "model" in package else case
    reason = next((why for pattern, why in whole.items() if match(pattern, name)), None)
    is_elsewhere = any(is_compared(case) for is_compared in ALSO.get(package, ()))
    return None if is_elsewhere else reason


def count(package: str) -> Count:
    """Return the line of one package."""
    cases = CASES[package]
    reasons = {case: reason_of(package, case) for case in cases}
    is_law = getattr(TESTS.get(package), "BY_LAW", r"(?!)")
    compared = [case for case, reason in reasons.items() if reason is None]
    by_law = [case for case in compared if re.fullmatch(is_law, case)]
    left_out = Counter(reason for reason in reasons.values() if reason)
    through_r = left_out.pop(THROUGH_R, 0)
    n_numerical = len(compared) - len(by_law)
    return Count(package, len(cases), n_numerical, len(by_law), through_r, left_out)


def main() -> None:
    """Print the table, and below it the reasons."""
    counts = [count(package) for package in COPIES]
    lines = [[*row[:-1], row.left_out.total()] for row in counts]
    totals = [sum(column) for column in list(zip(*lines, strict=True))[1:]]
    for line in ([*Count._fields], *lines, ["all", *totals]):
        print(*(f"{cell!s:>14}" for cell in line))
    for row in counts:
        for reason, n in row.left_out.most_common():
            print(f"{row.package}: {n}, {reason}")


if __name__ == "__main__":
    main()
