"""The history of an audit, or of several, as the page of `report.history_page`.

Not: how it looks.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pipeline.approvals import baseline_of
from pipeline.config import load_config
from pipeline.errors import AuditError
from pipeline.report.history_page import (
    AuditRow,
    History,
    HistoryRow,
    history_html,
    index_html,
)
from pipeline.timeline import Row, Timeline

GRAVEST = (130, 4, 3, 2, 1, 5, 0)
"""Exit codes, the one that asks most of a person first."""


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
            made=_now(),
            rows=tuple(_row(row, folder, page, baseline) for row in told.rows),
            gaps=told.gaps,
            always_show=always,
        )
    )


def page_of_all(told: Sequence[Timeline], folder: Path, page: Path) -> str:
    """Return the page of several audits, under the gravest of their exit codes."""
    rows = tuple(_newest(audit, folder / audit.audit, page) for audit in told)
    codes = [GRAVEST.index(row.exit_code) for row in rows if row.exit_code in GRAVEST]
    return index_html(
        rows,
        folder=folder.resolve().name,
        made=_now(),
        exit_code=GRAVEST[min(codes, default=-1)],
    )


def _newest(told: Timeline, folder: Path, page: Path) -> AuditRow:
    """Return the last run of an audit, and what came after it."""
    run, last = told.newest, told.rows[-1] if told.rows else None
    note = " ".join((last.note if last else "", *told.gaps)).strip()
    if run is None:
        return AuditRow(told.audit, last.exit_code if last else None, note=note)
    code = run.exit_code if run.exit_code in GRAVEST else None
    report = _report(folder, run.run_id, page)
    return AuditRow(
        told.audit, code, run.verdict, run.started, run.run_id, report, note
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _row(row: Row, folder: Path, page: Path, baseline: str) -> HistoryRow:
    if row.run is None:
        return HistoryRow(row.time, None, row.exit_code, row.note)
    return HistoryRow(
        started=row.time,
        run=row.run,
        exit_code=row.exit_code,
        changes=row.changes,
        is_baseline=row.run.run_id == baseline,
        report=_report(folder, row.run.run_id, page),
    )


def _report(folder: Path, run_id: str, page: Path) -> str:
    """Return the address of the report of a run as seen from a page."""
    report = folder / "runs" / run_id / "report.html"
    if not report.is_file():
        return ""
    return Path(os.path.relpath(report.resolve(), page.resolve().parent)).as_posix()
