"""The runs of one audit, or the newest of several, as a page of its own.

Not: where they were found (`run_index`), or what a single run says (`view`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.past import PastRun


class HistoryRow(NamedTuple):
    """One line of a history: a run, or an attempt that left no folder.

    Attributes
    ----------
    started : str
        An ISO text in UTC.
    run : PastRun, optional
        None for an attempt that left no folder.
    exit_code : int, optional
        None where nobody knows it: the process was killed.
    note : str
        What is to be said of an attempt: why it left nothing, or that retention
        removed its run.
    changes : tuple of str
        What is not as in the run before, one short sentence each.
    signed : tuple of str
        One sentence for each signature under the run.
    is_baseline : bool
        Whether it is the approved run that others are held against.
    report : str
        The address of its report, relative to the page; empty if it has none.
    """

    started: str
    run: PastRun | None = None
    exit_code: int | None = None
    note: str = ""
    changes: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    is_baseline: bool = False
    report: str = ""


class History(NamedTuple):
    """What a page of history shows.

    Attributes
    ----------
    audit : str
    made : str
        When the page was made: an ISO text in UTC.
    rows : tuple of HistoryRow
        Oldest first.
    gaps : tuple of str
        Where the chain of runs is broken, one sentence each.
    always_show : tuple of str
        Features that the figure shows wherever they rank.
    """

    audit: str
    made: str
    rows: tuple[HistoryRow, ...]
    gaps: tuple[str, ...] = ()
    always_show: tuple[str, ...] = ()


class AuditRow(NamedTuple):
    """The newest run of one audit of several.

    Attributes
    ----------
    audit : str
    exit_code : int, optional
        None where nobody knows it.
    verdict : str
        Empty if there is no run.
    started, run_id : str
        Of the run, empty if there is none.
    report : str
        The address of its report, relative to the page; empty if it has none.
    note : str
        What is to be said besides: the first words of a fault, that it was not run
        again, that another run was under way.
    """

    audit: str
    exit_code: int | None
    verdict: str = ""
    started: str = ""
    run_id: str = ""
    report: str = ""
    note: str = ""


def history_html(history: History) -> str:
    """Return the page of one audit's runs: verdicts, leaders, changes, gaps."""
    raise NotImplementedError


def index_html(
    rows: Sequence[AuditRow], *, folder: str, made: str, exit_code: int
) -> str:
    """Return the page of several audits, one line each, under one exit code."""
    raise NotImplementedError
