"""Reports as they are printed, each made once and shared by all tests."""

import subprocess
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import NamedTuple

from tests.report.made_records import (
    HOSTILE,
    made_frame,
    made_pair,
    models_frame,
    performance_frame,
)
from tests.report.made_variants import many_findings, plain_result, result_of
from tests.report.reading import page_files

from importance_audit.records.result import AuditResult
from importance_audit.report.pages.view import ReportView, build_view
from importance_audit.runs.signoff.answers import Accepted, Answer, with_answers


def full_result() -> AuditResult:
    """Return all that the executive page shows: three pairs with three long reasons,
    findings that are overdue, and some that are accepted.
    """
    reasons = "; ".join(
        f"STREAM: the draws of {side} are independent of those of the audit and were "
        "made with a seed that nobody stated beside its numbers"
        for side in ("DALEX", "iml", "vip")
    )
    suppliers = ("vip 0.4.5", "vip 0.5.0.9000", "fastshap 0.1.1")
    pairs = [
        made_pair(model, "comparable", reasons, engine_b=f"{engine} (supplied)")
        for engine in suppliers
        for model in ("forest", "linear")
    ]
    of_file = {"file": "n.csv", "sha256": "a" * 64, "model": "", "method": "", "of": ""}
    supplied = [
        {"package": package, "version": version, **of_file}
        for package, version in map(str.split, suppliers)
    ]
    features = [f"feature.{n:03}" for n in range(220)]
    record = plain_result(features).importances[0]
    names = ("forest", "linear", "svm")
    run = plain_result(features).run
    result = plain_result(
        features,
        run=replace(run, config={**run.config, "supplied": supplied}),
        importances=tuple(replace(record, model=name) for name in names),
        models=models_frame(names),
        performance=performance_frame(names),
        agreement=made_frame("agreement", pairs),
        findings=many_findings(40),
    )
    exception = Accepted(date(2026, 12, 31), "why", "what stands in", "who")
    late = [Answer(f.key, due=date(2026, 11, 1)) for f in result.findings[10:]]
    accepted = [Answer(f.key, exception=exception) for f in result.findings[:10]]
    return with_answers(result, (*late, *accepted))


PRINTED = {
    "1 feature": lambda: plain_result(("surface",)),
    "20 features": lambda: plain_result(
        (*HOSTILE, *(f"feature.{n}" for n in range(7))), findings=many_findings(3)
    ),
    "220 features": full_result,
    "disagreeing": lambda: result_of("disagreeing"),
}


FOLDER = TemporaryDirectory(prefix="printed-")
"""Removed when the process ends."""


class Report(NamedTuple):
    """One printed report: result, view, file, and the text of each page."""

    result: AuditResult
    view: ReportView
    path: Path
    pages: tuple[str, ...]


@cache
def report(name: str) -> Report:
    """Return one of `PRINTED`."""
    result = PRINTED[name]()
    path = Path(mkdtemp(dir=FOLDER.name), "report.pdf")
    path.write_bytes(page_files(result)["report.pdf"])
    command = ["pdftotext", "-raw", "-enc", "UTF-8", str(path), "-"]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    pages = tuple(output.decode().split("\f")[:-1])
    return Report(result, build_view(result), path, pages)


def page_of(pages: tuple[str, ...], heading: str) -> int:
    """Return the first page, from 1, on which a line says this and no more."""
    return next(n for n, page in enumerate(pages, 1) if heading in page.splitlines())
