"""The page of the runs of one audit, and the page of the newest runs of several.

Not: the search for runs (`runs.history`), or the report on a single run (`view`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...runs.summary import RunSummary
from ...runs.timeline import Row
from ..figures.history import MARKS
from ..sections.control import moment
from ..sections.facts import tallied
from ..sections.history_figure import history_figure
from ..sections.verdicts import SHAPES, badge
from ..text.blocks import (
    Badge,
    FileLink,
    Section,
    Sentence,
    Styled,
    Table,
    plain,
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
from .html import to_html
from .view import ReportView

NO_RUN = "not established"
DIGITS = 12
ZONE = " UTC"
"""Suffix cut from times in a table, since its caption has it."""


class AuditRow(NamedTuple):
    """The newest run of one audit of several.

    Attributes
    ----------
    audit : str
    exit_code : int, optional
        None if unknown.
    verdict : str
        Empty if there is no run.
    started, run_id : str
        Of the run, empty if there is none.
    report : str
        The address of its report, relative to the page; empty if it has none.
    note : str
        A remark: the first words of an error message, or that the audit was not run
        again, or that another run was in progress.
    """

    audit: str
    exit_code: int | None
    verdict: str = ""
    started: str = ""
    run_id: str = ""
    report: str = ""
    note: str = ""


def history_html(
    audit: str,
    rows: Sequence[Row],
    *,
    made: str,
    baseline: str = "",
    signed: Mapping[str, Sequence[str]] = {},
    reports: Mapping[str, str] = {},
    gaps: Sequence[str] = (),
    always_show: Sequence[str] = (),
    n_removed: int = 0,
) -> str:
    """Return the page of one audit's runs: verdicts, leading features, changes, gaps.

    One self-contained file; the same bytes for the same arguments.

    Parameters
    ----------
    audit : str
    rows : sequence of Row
        Oldest first.
    made : str
        Time at which the page was made: an ISO text in UTC.
    baseline : str
        The approved baseline run, "" if there is none.
    signed : mapping of str to sequence of str
        One sentence for each signature, by run.
    reports : mapping of str to str
        The address of the report of a run, relative to the page; "" if it has none.
    gaps : sequence of str
        One sentence for each break in the chain of runs.
    always_show : sequence of str
        Features that the figure shows whatever their rank.
    n_removed : int
        Number of runs that others refer to and that retention has removed.
    """
    attempts = [row for row in rows if row.is_attempt]
    n_runs = sum(row.run is not None for row in rows)
    n_others = len(attempts) - n_runs
    verdict = replace(badge(NO_RUN), label=word("history.left_no_run"))
    sentence = say("history.no_runs")
    parts: list[tuple[str, Sentence, Sequence[Any]]] = []
    if attempts:
        newest = attempts[-1]
        when = moment(newest.time)
        if newest.run is None:
            note = show_hidden(newest.note)
            sentence = say("history.newest_left_none", moment=when, note=note)
        else:
            verdict = badge(newest.run.verdict)
            key = "newest_changed" if newest.changes else "newest_alike"
            key = "newest_first" if n_runs == 1 else key
            n = say_count(tallied("changes", len(newest.changes)), "change")
            sentence = say(f"history.{key}", moment=when, n=n)
        figure = history_figure(
            [row.run or RunSummary(started=row.time) for row in attempts],
            baseline=baseline,
            always_show=tuple(always_show),
            source=word("history.each_file"),
        )
        parts.append(("leaders", (), (figure,)))
    key = "gaps" if gaps else "no_gaps_but_removed" if n_removed else "no_gaps"
    lede = say(f"history.{key}", n=say_count(tallied("runs", n_removed), "past_run"))
    parts.append(("trail", lede, [(show_hidden(gap),) for gap in gaps]))
    table = [_runs_table(rows, baseline, signed, reports)] if rows else []
    parts.append(("runs", () if rows else say("history.no_runs"), table))
    title = say("history.title", audit=display_name(audit))
    view = ReportView(
        document=display_name(audit),
        created=made,
        title=title,
        subtitle=say(
            "history.counts_attempts" if n_others else "history.counts",
            runs=say_count(tallied("runs", n_runs), "past_run"),
            attempts=say_count(tallied("runs", n_others), "attempt"),
            moment=moment(made),
        ),
        page_title=plain(title),
        verdict=verdict,
        sentence=sentence,
        sections=tuple(
            Section(
                str(n), "history", word(f"history.{name}_title"), lede, {"blocks": b}
            )
            for n, (name, lede, b) in enumerate(parts, start=1)
        ),
    )
    return to_html(view)


def index_html(
    rows: Sequence[AuditRow], *, folder: str, date: str, exit_code: int
) -> str:
    """Return the page of several audits: one row each, and the common exit code."""
    cells = []
    for row in rows:
        name = display_name(row.audit)
        when = moment(row.started).removesuffix(ZONE) if row.started else ""
        cells.append(
            {
                "audit": FileLink(row.report, name) if row.report else name,
                "verdict": _short_badge(row.verdict)
                if row.verdict
                else word("history.left_no_run"),
                "exit_code": _exit_code_text(row.exit_code),
                "run": f"{display_name(row.run_id)} {when}" if row.run_id else "–",
                "note": show_hidden(row.note) or "–",
            }
        )
    table = table_of(
        "audits",
        "history",
        "audit:header verdict exit_code:number run:code note",
        cells,
        caption=say("history.audits"),
        shape="wide",
    )
    section = Section(
        "1",
        "history",
        word("history.audits_title"),
        () if rows else say("history.no_audits"),
        {"blocks": (table,) if rows else ()},
    )
    n_good = sum(row.exit_code == 0 for row in rows)
    is_good = exit_code == 0 and n_good == len(rows)
    shape = "confirmed" if is_good else "not confirmed"  # the verdict with that shape
    label = word(f"history.combined_words.{'good' if is_good else 'bad'}")
    title = say("history.all_title", folder=display_name(folder))
    view = ReportView(
        document=display_name(folder),
        created=date,
        title=title,
        subtitle=say("history.made", moment=moment(date)),
        page_title=plain(title),
        verdict=Badge(shape.replace(" ", "-"), label, SHAPES[shape]),
        sentence=say(
            "history.combined",
            code=str(exit_code),
            good=tallied("audits", n_good),
            n=say_count(tallied("audits", len(rows)), "audit"),
        ),
        sections=(section,),
    )
    return to_html(view)


def _exit_code_text(exit_code: int | None) -> str:
    return "–" if exit_code is None else str(exit_code)


def _short_badge(verdict: str) -> Badge:
    """Return a verdict with a label short enough for a column."""
    words = dict(zip(MARKS, look_up("history.marks"), strict=True))
    return replace(badge(verdict), label=words[verdict])


def _runs_table(
    rows: Sequence[Row],
    baseline: str,
    signed: Mapping[str, Sequence[str]],
    reports: Mapping[str, str],
) -> Table:
    """Return the table of runs and failed attempts, newest first.

    A row has the verdict and the changes since the run before.
    """
    first = next((row for row in rows if row.run), None)
    lines = []
    for row in reversed(rows):
        run: Sentence | str = "–"
        verdict: Sentence = (word("history.left_no_run") if row.is_attempt else "–",)
        remarks = [*filter(None, (row.note,)), *row.changes]
        if row.run:
            run_id = row.run.run_id
            name, report = display_name(run_id), reports.get(run_id, "")
            digest = say("history.digest", digest=row.run.content_digest[:DIGITS])
            run = (FileLink(report, name) if report else name, " ", *digest)
            marked = (" ", word("history.baseline")) if run_id == baseline else ()
            verdict = (_short_badge(row.run.verdict), *marked)
            remarks += signed.get(run_id, ())
        unchanged = word("history.first" if row is first else "history.as_before")
        changes = tuple(Styled("entry", (show_hidden(text),)) for text in remarks)
        lines.append(
            {
                "started": moment(row.time).removesuffix(ZONE) if row.time else "–",
                "verdict": verdict,
                "exit_code": _exit_code_text(row.exit_code),
                "run": run,
                "changes": changes or unchanged,
            }
        )
    return table_of(
        "runs",
        "history",
        "started:header verdict exit_code:number run:code changes",
        lines,
        caption=say("history.runs"),
        notes=(say("history.exit_codes"),),
        shape="wide",
    )
