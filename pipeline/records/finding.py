"""A finding: one sentence of an audit for its reader."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from .frozen import Frozen

Severity = Literal["info", "warning", "failure"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding(Frozen):
    """One sentence for the reader, with the numbers that support it.

    Attributes
    ----------
    check : str
        The check that raised it: "weak_model", "method_failed", "not_applicable", …
    severity : {"info", "warning", "failure"}
    subject : str
        The model, feature, engine or pair.
    message : str
        What was found, one or two sentences.
    remedy : str
        What to do about it, empty if nothing.
    evidence : mapping of str to float
    measure : str
        The measure, where subject and check do not distinguish two findings.
    cause : str
        The cause as a short code that code may rely on, "" if unknown. An audit that
        stopped: one of ``auditing.stopping.CAUSES``. A method that failed: the code,
        the model and the number of the fault, so that questions with the same fault
        share a cause ("r_timeout: m, 1"); "ours" and "r_unavailable" without these. A
        disagreement: the `cause` of its row in ``result.agreement``. Where one cause
        makes several findings: that cause as `cause_of` writes it; `by_cause` groups
        by it.
    engines : tuple of str
        The packages, except ours, that had to run for it to be found: two for a
        disagreement between two of them. A run without them could not find it.
    """

    check: str
    severity: Severity
    subject: str
    message: str
    remedy: str = ""
    evidence: Mapping[str, float] = field(default_factory=dict)
    measure: str = ""
    cause: str = ""
    engines: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """SHA-256 of check, measure and subject: the same in each run.

        The message is left out because its numbers change; `cause` and `engines` are
        left out so that responses to findings of older versions still match.
        """
        identity = "\0".join((self.check, self.measure, self.subject))
        return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def ends_run(self) -> bool:
        """Whether the run ended before all questions because of it.

        A time limit that only reduced the repeats of a model did not end the run.
        """
        is_cut = self.check == "time_limit" and self.subject == "audit"
        return is_cut or self.check in ENDING

    @property
    def leaves_gap(self) -> bool:
        """Whether a result is missing because of it: nothing is established then."""
        return self.ends_run or self.check in ("method_failed", "nothing_measured")


ONE_CAUSE = ("r_unavailable",)
"""Codes that are one cause, however many findings have them."""
ONE_POINT = ("dependent_leader",)
"""Checks whose findings are grouped and answered together."""
ENDING = ("interrupted", "engine_required", "step_failed")
"""Checks whose findings say why a run was stopped."""
SEVERITIES: tuple[Severity, ...] = ("failure", "warning", "info")
"""Most severe first."""


def cause_of(check: str, *of: str) -> str:
    """Return the code of a cause that several findings share.

    Parameters
    ----------
    check : str
        The check that reports it.
    of : str
        Its objects: a column, a model, an expectation.

    Examples
    --------
    >>> cause_of("unseen_levels", "dealer.code")
    'unseen_levels: dealer.code'
    """
    return f"{check}: {', '.join(of)}"


def by_cause(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """Return findings grouped by cause, the group with the most severe finding first.

    In each group the most severe finding is first; of equally severe ones, that of the
    check that reports the cause itself. Otherwise their order is kept.
    """
    by_code: dict[str | int, list[Finding]] = {}
    for place, finding in enumerate(findings):
        is_shared = ": " in finding.cause or finding.cause in ONE_CAUSE
        cause: str | int = finding.cause if is_shared else place
        cause = finding.check if finding.check in ONE_POINT else cause
        by_code.setdefault(cause, []).append(finding)
    groups = (tuple(sorted(group, key=_sort_key)) for group in by_code.values())
    return sorted(groups, key=lambda group: SEVERITIES.index(group[0].severity))


def gravest_by_key(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Return the most severe finding of each key, the most severe first."""
    by_key: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda f: SEVERITIES.index(f.severity)):
        by_key.setdefault(finding.key, finding)
    return by_key


def _sort_key(finding: Finding) -> tuple[int, bool]:
    """Return severity and whether another check than that of the cause reports it."""
    reports_cause = finding.cause.startswith(f"{finding.check}: ")
    return SEVERITIES.index(finding.severity), not reports_cause


def places_apart(share: float, limit: float) -> int:
    """Return the decimals at which a percentage and its limit are printed differently.

    0 if they are equal to 8 decimals.
    """
    decimals = (n for n in range(9) if f"{share:.{n}%}" != f"{limit:.{n}%}")
    return next(decimals, 0)
