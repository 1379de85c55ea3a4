"""Pairs of answers as rows of the table of thresholds: outside the band, rank shift."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from ...assess.checks.answers import VERDICTS
from ...config.section_settings import ChecksSection
from ...engines import agreement

JUDGED = ("replayed", "equivalent", "disagrees")
"""The words of pairs of which each difference was held against a band."""


def pair_rows(
    pairs: Iterable[dict[str, Any]], limits: ChecksSection
) -> Iterator[dict[str, Any]]:
    """Yield what was checked of each pair, as rows of ``AuditResult.checks``.

    Parameters
    ----------
    pairs : iterable of dict
        Rows of ``AuditResult.agreement``.
    limits : ChecksSection
        Says who set the limit of a rank shift.

    Yields
    ------
    dict
        "disagreement": how many values lie outside the band, of which none may; "not
        run" where no difference was judged. "rank_shift": the largest one, of pairs
        that have ranks to compare.
    """
    is_default = limits.max_rank_shift == ChecksSection().max_rank_shift
    set_by = "default" if is_default else "[checks] max_rank_shift"
    for row in pairs:
        found = {f.check: VERDICTS[f.severity] for f in agreement.findings_of([row])}
        judged = row["verdict"] in JUDGED
        yield {
            "check": "disagreement",
            "subject": agreement.subject_of(row),
            "observed": float(row["n_outside"]) if judged else row["verdict"],
            "threshold": 0.0,
            "set_by": "definition",
            "verdict": found.get("disagreement", "pass") if judged else "not run",
        }
        if not math.isnan(row["max_rank_shift"]):
            yield {
                "check": "rank_shift",
                "subject": agreement.subject_of(row),
                "observed": float(row["max_rank_shift"]),
                "threshold": float(row["rank_shift_limit"]),
                "set_by": set_by,
                "verdict": found.get("rank_shift", "pass"),
            }
