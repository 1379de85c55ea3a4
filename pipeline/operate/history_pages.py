"""The history of an audit, or of several, as the page of `report.history_page`.

Not: how it looks.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from ..config.load import load_config
from ..records.errors import AuditError, DataError
from ..report.pages.history_page import (
    AuditRow,
    HistoryRow,
    history_html,
    index_html,
)
from ..report.text.own_words import own_words
from ..runs.folder import load_run
from ..runs.signoff.approvals import Signoff, read_signoffs
from ..runs.timeline import Row, Timeline
from .exit_codes import GRAVEST, gravest

NO_RUN = "No run: "


def audit_page(timeline: Timeline, folder: Path, page: Path) -> str:
    """Return the page of one audit; its links are relative to where it is written."""
    signed: Sequence[Signoff] = ()
    broken: tuple[str, ...] = ()
    try:
        signed = read_signoffs(folder)
    except DataError as error:
        broken = (str(error),)
    always: Sequence[str] = ()
    with suppress(AuditError):  # its runs are shown whatever became of audit.toml
        always = load_config(folder).report.always_show
    with ExitStack() as words:
        with suppress(AuditError):  # labels, methods and losses of the newest run
            newest = load_run(folder / "runs" / timeline.last_complete)
            words.enter_context(own_words(newest))
        text = history_html(
            timeline.audit,
            [_row(row, folder, page, signed) for row in timeline.rows],
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            gaps=(*broken, *timeline.gaps),
            n_removed=len(timeline.removed),
            always_show=always,
        )
    return text


def index_page(timelines: Sequence[Timeline], folder: Path, page: Path) -> str:
    """Return the page of several audits, under the gravest of their exit codes."""
    rows = tuple(_newest(audit, folder / audit.audit, page) for audit in timelines)
    codes = (row.exit_code for row in rows)
    return index_html(
        rows,
        folder=folder.resolve().name,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        exit_code=gravest(code for code in codes if code is not None),
    )


def _newest(timeline: Timeline, folder: Path, page: Path) -> AuditRow:
    """Return the last run of an audit, and what came after it."""
    if timeline.fault:
        return AuditRow(timeline.audit, 2, note=timeline.fault)
    run = timeline.newest
    code = next(
        (r.exit_code for r in timeline.rows if r.is_attempt), run and run.exit_code
    )
    code = code if code in GRAVEST else None
    since = [f"{NO_RUN * r.is_attempt}{r.note}" for r in timeline.rows if r.run is None]
    note = " ".join((*since, *timeline.gaps))
    if run is None:
        return AuditRow(timeline.audit, code, note=note)
    report = report_address(folder, run.run_id, page)
    return AuditRow(
        timeline.audit, code, run.verdict, run.started, run.run_id, report, note
    )


def _row(row: Row, folder: Path, page: Path, signed: Sequence[Signoff]) -> HistoryRow:
    if row.run is None:
        return HistoryRow(
            row.time, None, row.exit_code, row.note, is_attempt=row.is_attempt
        )
    approved = [one.run_id for one in signed if one.meaning == "approval"]
    own = (one for one in signed if one.run_id == row.run.run_id)
    return HistoryRow(
        started=row.time,
        run=row.run,
        exit_code=row.exit_code,
        changes=row.changes,
        signed=tuple(
            f"{one.meaning} by {one.name}, {one.signed_at:%Y-%m-%d}" for one in own
        ),
        is_baseline=approved[-1:] == [row.run.run_id],
        report=report_address(folder, row.run.run_id, page),
    )


def report_address(folder: Path, run_id: str, page: Path) -> str:
    """Return the address of the report of a run as seen from a page, "" if none."""
    report = folder / "runs" / run_id / "report.html"
    if not report.is_file():
        return ""
    path = os.path.relpath(report.resolve(), page.resolve().parent)
    return quote(os.fsencode(path))
