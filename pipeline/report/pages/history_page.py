"""The runs of one audit, or the newest of several, as a page of its own.

Not: where they were found (`runs.index`), or what a single run says (`view`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...runs.summary import RunSummary
from ..figures.history import MARKS
from ..sections.control import moment
from ..sections.history_figure import HistoryPoint, history_figure, point_of
from ..sections.verdicts import SHAPES, badge
from ..text.blocks import (
    Badge,
    Cells,
    FileLink,
    Part,
    Section,
    Sentence,
    Styled,
    Value,
)
from ..text.wording import (
    display_name,
    look_up,
    say,
    say_count,
    show_hidden,
    table_of,
    word,
)
from .html import Loose, loose_html

NO_RUN = "not established"
DIGITS = 12
ZONE = " UTC"
"""What the caption of a table says of all its times."""
SHOWN = 40
"""Lines of a history that stand open; the others are behind them."""


class HistoryRow(NamedTuple):
    """One line of a history: a run, or an attempt that left no folder.

    Attributes
    ----------
    started : str
        An ISO text in UTC.
    run : RunSummary, optional
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
    is_attempt : bool
        Whether it is a run or an attempt at one, and no other event.
    """

    started: str
    run: RunSummary | None = None
    exit_code: int | None = None
    note: str = ""
    changes: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    is_baseline: bool = False
    report: str = ""
    is_attempt: bool = True


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
    n_removed : int
        Runs that others name and that retention removed.
    """

    audit: str
    made: str
    rows: tuple[HistoryRow, ...]
    gaps: tuple[str, ...] = ()
    always_show: tuple[str, ...] = ()
    n_removed: int = 0

    @property
    def attempts(self) -> tuple[HistoryRow, ...]:
        """The runs and what was to be one, without other events."""
        return tuple(row for row in self.rows if row.is_attempt)


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
    """Return the page of one audit's runs: verdicts, leaders, changes, gaps.

    One self-contained file; the same bytes for the same history.
    """
    blocks = (*_leaders(history), _trail(history), _runs(history))
    sections = tuple(replace(one, letter=str(n)) for n, one in enumerate(blocks, 1))
    title = say("history.title", audit=display_name(history.audit))
    return loose_html(
        Loose(
            name=display_name(history.audit),
            made=history.made,
            title=title,
            subtitle=_counts(history),
            verdict=_newest(history),
            sentence=_standing(history),
            sections=sections,
        )
    )


def index_html(
    rows: Sequence[AuditRow], *, folder: str, date: str, exit_code: int
) -> str:
    """Return the page of several audits, one line each, under one exit code."""
    n = Value("audits", len(rows), str(len(rows)), derived="count")
    ended = sum(row.exit_code == 0 for row in rows)
    good = Value("audits", ended, str(ended), derived="count")
    table = table_of(
        "audits",
        "history",
        "audit:header verdict exit_code:number run:code note",
        map(_audit, rows),
        caption=say("history.audits"),
        shape="wide",
    )
    blocks = (table,) if rows else ()
    lede = () if rows else say("history.no_audits")
    section = Section(
        "1", "history", word("history.audits_title"), lede, {"blocks": blocks}
    )
    return loose_html(
        Loose(
            name=display_name(folder),
            made=date,
            title=say("history.all_title", folder=display_name(folder)),
            subtitle=say("history.made", moment=moment(date)),
            verdict=_combined(is_good=exit_code == 0 and ended == len(rows)),
            sentence=say(
                "history.combined",
                code=str(exit_code),
                good=good,
                n=say_count(n, "audit"),
            ),
            sections=(section,),
        )
    )


def _newest(history: History) -> Badge:
    """Return the verdict of the newest line, or that it has none."""
    run = history.attempts[-1].run if history.attempts else None
    if run is not None:
        return badge(run.verdict)
    return replace(badge(NO_RUN), label=word("history.left_no_run"))


def _combined(*, is_good: bool) -> Badge:
    """Return whether all audits ended with 0, with the shape of a verdict."""
    key = "confirmed" if is_good else "not confirmed"
    words = look_up("history.combined_words")
    label = words["good" if is_good else "bad"]
    return Badge(key.replace(" ", "-"), label, SHAPES[key])


def _point_of(row: HistoryRow) -> HistoryPoint:
    """Return a line of a history as a point of its figure."""
    return point_of(row.run) if row.run else HistoryPoint(row.started, "")


def _runs(history: History) -> Section:
    """Return every line, newest first: on a long history the last are asked for."""
    first = next((row for row in history.rows if row.run), None)
    rows = tuple(_row(row, row is first) for row in reversed(history.rows))
    table = table_of(
        "runs",
        "history",
        "started:header verdict exit_code:number run:code changes",
        rows,
        caption=say("history.runs"),
        notes=(say("history.exit_codes"),),
        shape="wide",
    )
    if len(rows) > SHOWN:
        whole = replace(table, id="tab-runs-all", notes=())
        table = replace(table, rows=rows[:SHOWN], everything=whole)
    blocks = (table,) if rows else ()
    lede = () if rows else say("history.no_runs")
    return Section("", "history", word("history.runs_title"), lede, {"blocks": blocks})


def _row(row: HistoryRow, is_first: bool) -> Cells:
    code = "–" if row.exit_code is None else str(row.exit_code)
    return (
        moment(row.started).removesuffix(ZONE) if row.started else "–",
        _verdict(row),
        code,
        _run(row),
        _happened(row, is_first),
    )


def _verdict(row: HistoryRow) -> Sentence:
    """Return the verdict of a run, and what people have said of it."""
    if row.run is None:
        return (word("history.left_no_run") if row.is_attempt else "–",)
    marked = (" ", word("history.baseline")) if row.is_baseline else ()
    return (_short(row.run.verdict), *marked)


def _short(verdict: str) -> Badge:
    """Return a verdict in the words that fit into a column."""
    words = dict(zip(MARKS, look_up("history.marks"), strict=True))
    return replace(badge(verdict), label=words[verdict])


def _happened(row: HistoryRow, is_first: bool) -> Sentence:
    """Return what is not as in the run before, one line each."""
    remarks = [*filter(None, (row.note,)), *row.changes, *row.signed]
    lines = tuple(Styled("entry", (show_hidden(text),)) for text in remarks)
    return lines or (word("history.first" if is_first else "history.as_before"),)


def _run(row: HistoryRow) -> Sentence:
    """Return the name of a run, as a link to its report if there is one, and digest."""
    if row.run is None:
        return ("–",)
    name = display_name(row.run.run_id)
    linked: Part = FileLink(row.report, name) if row.report else name
    digest = say("history.digest", digest=row.run.content_digest[:DIGITS])
    return (linked, " ", *digest)


def _leaders(history: History) -> tuple[Section, ...]:
    if not history.attempts:
        return ()
    approved = [row.run.run_id for row in history.rows if row.is_baseline and row.run]
    figure = history_figure(
        [*map(_point_of, history.attempts)],
        baseline=approved[-1] if approved else "",
        always_show=history.always_show,
        source=word("history.each_file"),
    )
    title = word("history.leaders_title")
    return (Section("", "history", title, (), {"blocks": (figure,)}),)


def _trail(history: History) -> Section:
    """Return where the chain of runs is broken, or that it is not."""
    gaps = tuple((show_hidden(gap),) for gap in history.gaps)
    n = Value("runs", history.n_removed, str(history.n_removed), derived="count")
    key = "no_gaps_but_removed" if history.n_removed else "no_gaps"
    lede = say("history.gaps" if gaps else f"history.{key}", n=say_count(n, "past_run"))
    return Section("", "history", word("history.trail_title"), lede, {"blocks": gaps})


def _counts(history: History) -> Sentence:
    runs = sum(row.run is not None for row in history.rows)
    others = len(history.attempts) - runs
    n = Value("runs", runs, str(runs), derived="count")
    m = Value("runs", others, str(others), derived="count")
    key = "counts_attempts" if others else "counts"
    return say(
        f"history.{key}",
        runs=say_count(n, "past_run"),
        attempts=say_count(m, "attempt"),
        moment=moment(history.made),
    )


def _standing(history: History) -> Sentence:
    """Return how the newest line came out, in one sentence."""
    if not history.attempts:
        return say("history.no_runs")
    newest = history.attempts[-1]
    if newest.run is None:
        return say(
            "history.newest_left_none",
            moment=moment(newest.started),
            note=show_hidden(newest.note),
        )
    n = Value("changes", len(newest.changes), str(len(newest.changes)), derived="count")
    key = "newest_changed" if newest.changes else "newest_alike"
    if sum(row.run is not None for row in history.rows) == 1:
        key = "newest_first"
    return say(
        f"history.{key}", moment=moment(newest.started), n=say_count(n, "change")
    )


def _audit(row: AuditRow) -> Cells:
    name = display_name(row.audit)
    linked: Part = FileLink(row.report, name) if row.report else name
    code = "–" if row.exit_code is None else str(row.exit_code)
    text: Part = _short(row.verdict) if row.verdict else word("history.left_no_run")
    when = moment(row.started).removesuffix(ZONE) if row.started else ""
    run: Sentence = ("–",)
    if row.run_id:
        run = (f"{display_name(row.run_id)} {when}",)
    return (linked, text, code, run, show_hidden(row.note) or "–")
