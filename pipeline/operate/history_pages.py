"""Data for the pages of `pages.history_page` on one audit or several.

Not: the layout.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..config.load import load_config
from ..records.errors import AuditError, DataError
from ..report.pages.history_page import (
    AuditRow,
    history_html,
    index_html,
)
from ..report.text.own_words import own_words
from ..runs.folder import load_run
from ..runs.signoff.approvals import read_signoffs
from ..runs.timeline import Timeline
from .exit_codes import gravest


def audit_page(timeline: Timeline, folder: Path, page: Path) -> str:
    """Return the page of one audit, with links relative to the file `page`."""
    signed: Sequence[Mapping[str, Any]] = ()
    broken: tuple[str, ...] = ()
    try:
        signed = read_signoffs(folder)
    except DataError as error:
        broken = (str(error),)
    always: Sequence[str] = ()
    with suppress(AuditError):  # audit.toml may be broken; the runs are shown anyway
        always = load_config(folder).report.always_show
    approved = [one["run"] for one in signed if one["meaning"] == "approval"]
    by_run: dict[str, list[str]] = {}
    for one in signed:
        text = f"{one['meaning']} by {one['name']}, {one['time'][:10]}"
        by_run.setdefault(one["run"], []).append(text)
    names = [row.run.run_id for row in timeline.rows if row.run]
    words: AbstractContextManager[None] = nullcontext()
    with suppress(AuditError):  # labels, methods and losses of the newest run
        words = own_words(load_run(folder / "runs" / timeline.last_complete))
    with words:
        return history_html(
            timeline.audit,
            timeline.rows,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            baseline="".join(approved[-1:]),
            signed=by_run,
            reports={name: report_address(folder, name, page) for name in names},
            gaps=(*broken, *timeline.gaps),
            n_removed=len(timeline.removed),
            always_show=always,
        )


def index_page(timelines: Sequence[Timeline], folder: Path, page: Path) -> str:
    """Return the page of several audits, with the gravest of their exit codes."""
    rows = tuple(_newest(audit, folder / audit.audit, page) for audit in timelines)
    codes = (row.exit_code for row in rows)
    return index_html(
        rows,
        folder=folder.resolve().name,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        exit_code=gravest(code for code in codes if code is not None),
    )


def _newest(timeline: Timeline, folder: Path, page: Path) -> AuditRow:
    """Return the row of an audit: its last run, and notes on later events."""
    if timeline.fault:
        return AuditRow(timeline.audit, 2, note=timeline.fault)
    run = timeline.newest
    code = next(
        (r.exit_code for r in timeline.rows if r.is_attempt), run and run.exit_code
    )
    others = [row for row in timeline.rows if row.run is None]
    since = [f"{'No run: ' * row.is_attempt}{row.note}" for row in others]
    note = " ".join((*since, *timeline.gaps))
    if run is None:
        return AuditRow(timeline.audit, code, note=note)
    report = report_address(folder, run.run_id, page)
    return AuditRow(
        timeline.audit, code, run.verdict, run.started, run.run_id, report, note
    )


def report_address(folder: Path, run_id: str, page: Path) -> str:
    """Return the link to the report of a run relative to a page, "" if none."""
    report = folder / "runs" / run_id / "report.html"
    if not report.is_file():
        return ""
    path = os.path.relpath(report.resolve(), page.resolve().parent)
    return quote(os.fsencode(path))
