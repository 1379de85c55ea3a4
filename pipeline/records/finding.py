"""What an audit tells its reader in one sentence."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from .frozen import Frozen

Severity = Literal["info", "warning", "failure"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding(Frozen):
    """One sentence for the reader, with the numbers it rests on.

    Attributes
    ----------
    check : str
        Which check speaks: "weak_model", "method_failed", "not_applicable", …
    severity : {"info", "warning", "failure"}
    subject : str
        The model, feature, engine or pair it is about.
    message : str
        What was found, one or two sentences.
    remedy : str
        What to do about it, empty if nothing.
    evidence : mapping of str to float
    measure : str
        What was asked, where subject and check do not tell two findings apart.
    cause : str
        Why, as a short code that code may rely on, "" if nothing is known. Of an audit
        that stopped, one of ``auditing.stopping.CAUSES``; of a method that failed, with
        what failed after it, the same for each question that one fault is met in
        ("r_timeout: m, 1"); "ours" and "r_unavailable" alone. Of a disagreement, the
        `cause` of its row in ``result.agreement``. Where one thing makes several
        findings, that thing, as `cause_of` writes it: `by_cause` puts them together.
    engines : tuple of str
        The packages that had to answer for it to be found, ours left out: two of a
        disagreement between two of them. A run without one of them did not look.
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
        """SHA-256 of check, measure and subject: the same from run to run.

        The message is not in it, since its numbers change; nor are `cause` and
        `engines`, so that answers to findings of older versions still find them.
        """
        identity = "\0".join((self.check, self.measure, self.subject))
        return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def ends_run(self) -> bool:
        """Whether it says that a run ended before every question was put.

        A time limit that only left a model fewer repeats did not end it.
        """
        is_cut = self.check == "time_limit" and self.subject == "audit"
        return is_cut or self.check in ENDING

    @property
    def leaves_gap(self) -> bool:
        """Whether an answer lacks because of it, so that nothing is established."""
        return self.ends_run or self.check in ("method_failed", "nothing_measured")


ONE_CAUSE = ("r_unavailable",)
"""Codes that are one thing, however many findings have them."""
ONE_POINT = ("dependent_leader",)
"""Checks whose findings are read and answered together."""
ENDING = ("interrupted", "engine_required", "step_failed")
"""Checks that say why a run was stopped."""
SEVERITIES: tuple[Severity, ...] = ("failure", "warning", "info")
"""Gravest first."""


def cause_of(check: str, *of: str) -> str:
    """Return the cause of findings that come of one thing.

    Parameters
    ----------
    check : str
        The check that tells of it, or would.
    of : str
        What it is about: a column, a model, an expectation.

    Examples
    --------
    >>> cause_of("unseen_levels", "dealer.code")
    'unseen_levels: dealer.code'
    """
    return f"{check}: {', '.join(of)}"


def by_cause(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """Return findings that come of one thing together, the gravest things first.

    The first of each is the gravest, and of equals the one that tells of the cause
    itself; otherwise they stay in the order in which they were made.
    """
    together: dict[str | int, list[Finding]] = {}
    for place, finding in enumerate(findings):
        is_shared = ": " in finding.cause or finding.cause in ONE_CAUSE
        cause: str | int = finding.cause if is_shared else place
        cause = finding.check if finding.check in ONE_POINT else cause
        together.setdefault(cause, []).append(finding)
    groups = (tuple(sorted(group, key=_weight)) for group in together.values())
    return sorted(groups, key=lambda group: SEVERITIES.index(group[0].severity))


def gravest_by_key(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Return the gravest finding of each key, the gravest first."""
    by_key: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda f: SEVERITIES.index(f.severity)):
        by_key.setdefault(finding.key, finding)
    return by_key


def _weight(finding: Finding) -> tuple[int, bool]:
    """Return what sorts the findings of one cause: severity, then who tells of it."""
    tells = finding.cause.startswith(f"{finding.check}: ")
    return SEVERITIES.index(finding.severity), not tells


def places_apart(share: float, limit: float) -> int:
    """Return the decimals of a percentage that show that it is not its limit."""
    decimals = (n for n in range(9) if f"{share:.{n}%}" != f"{limit:.{n}%}")
    return next(decimals, 0)
