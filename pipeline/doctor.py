"""What this machine has and lacks, and what to do about it."""

import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal, NamedTuple

from r_bridge import host

FLOORS = {
    "numpy": "1.24",
    "pandas": "1.5",
    "scipy": "1.10",
    "scikit-learn": "1.2",
    "matplotlib": "3.6",
    "jinja2": "3.1.2",
    "weasyprint": "57.2",
    "click": "8.1",
    "rich": "13.3",
}


class Row(NamedTuple):
    """One line of the examination.

    Attributes
    ----------
    what : str
    verdict : {"ok", "optional", "missing"}
        "optional": absent, and audits run without it; "missing": they do not.
    state : str
        What was found.
    remedy : str
        What to do, empty if nothing.
    """

    what: str
    verdict: Literal["ok", "optional", "missing"]
    state: str
    remedy: str = ""


def examine() -> tuple[Row, ...]:
    """Return one row per thing an audit may need."""
    return (_python(), *map(_package, FLOORS), _parquet(), *_r(), _pdf())


def _python() -> Row:
    found = ".".join(map(str, sys.version_info[:3]))
    return Row("Python", "ok", found)


def _package(name: str) -> Row:
    floor = FLOORS[name]
    try:
        found = version(name)
    except PackageNotFoundError:
        return Row(name, "missing", "not installed", f"pip install '{name}>={floor}'")
    if _numbers(found) >= _numbers(floor):
        return Row(name, "ok", found)
    return Row(
        name,
        "missing",
        f"{found}, older than {floor}",
        f"pip install '{name}>={floor}'",
    )


def _numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, as integers."""
    parts = text.replace("-", ".").split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def _parquet() -> Row:
    if find_spec("pyarrow"):
        return Row("Parquet files", "ok", f"pyarrow {version('pyarrow')}")
    return Row(
        "Parquet files", "optional", "pyarrow is not installed", "pip install pyarrow"
    )


def _r() -> tuple[Row, ...]:
    """Return R itself, then the packages that answer the same questions."""
    found = host.installed()
    if found["reason"]:
        remedy = "scripts/install sets R and rpy2 up."
        return (Row("R through rpy2", "optional", str(found["reason"]), remedy),)
    packages = found["packages"]
    remedy = "importance-audit install-r"
    rpy2 = " ".join(f"{part} {number}" for part, number in found["rpy2"].items())
    rows = [Row("R through rpy2", "ok", f"R {found['r_version']}, {rpy2}")]
    for name in ("DALEX", "vip", "pdp"):
        if name in packages:
            rows.append(Row(f"R package {name}", "ok", str(packages[name])))
        else:
            rows.append(Row(f"R package {name}", "optional", "not installed", remedy))
    return tuple(rows)


def _pdf() -> Row:
    """Return whether a page can be printed here, by printing one."""
    from pipeline.report.pdf import PdfError, conformity_statement, to_pdf

    page = "<!doctype html><html lang='en'><title>doctor</title><p>1</p></html>"
    epoch = datetime(2026, 1, 1, tzinfo=UTC)
    try:
        to_pdf(page, print_css="", created=epoch, identifier=bytes(16))
    except PdfError as error:
        remedy = "pip install -U weasyprint pydyf"
        return Row("PDF report", "missing", str(error), remedy)
    return Row("PDF report", "ok", conformity_statement())
