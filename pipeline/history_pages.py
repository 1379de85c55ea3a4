"""The history of an audit, or of several, as the page of `report.history_page`.

Not: how it looks.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pipeline.approvals import baseline_of
from pipeline.config import load_config
from pipeline.errors import AuditError
from pipeline.report.history_page import (
    History,
    HistoryRow,
    history_html,
)
from pipeline.timeline import Row, Timeline

GRAVEST = (130, 4, 3, 2, 1, 5, 0)


def page_of(told: Timeline, folder: Path, page: Path) -> str:
    """Return the page of one audit; its links are relative to where it is written."""
    approved = baseline_of(folder)
    baseline = approved.run_id if approved else ""
    always: tuple[str, ...] = ()
    with suppress(AuditError):  # its runs are shown whatever became of audit.toml
        always = tuple(load_config(folder).report.always_show)
    return history_html(
        History(
            audit=told.audit,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            rows=tuple(_row(row, folder, page, baseline) for row in told.rows),
            gaps=(*told.gaps, *told.notes),
            always_show=always,
        )
    )


def _row(row: Row, folder: Path, page: Path, baseline: str) -> HistoryRow:
    if row.run is None:
        return HistoryRow(row.time, None, row.exit_code, row.note)
    return HistoryRow(
        started=row.time,
        run=row.run,
        exit_code=row.exit_code,
        changes=row.changes,
        signed=(),
        is_baseline=row.run.run_id == baseline,
        report=_report(folder, row.run.run_id, page),
    )


def _report(folder: Path, run_id: str, page: Path) -> str:
    """Return the address of the report of a run as seen from a page."""
    report = folder / "runs" / run_id / "report.html"
    if not report.is_file():
        return ""
    return Path(os.path.relpath(report.resolve(), page.resolve().parent)).as_posix()
