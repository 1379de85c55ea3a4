"""Examination of this machine: requirements that are missing, and remedies."""

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from importance_audit.r_bridge import host, trial
from importance_audit.r_bridge.errors import RBridgeError

from ..engines import ENGINES, availability
from ..methods.trees import compiled
from ..methods.trees.compilation import compile_loops
from ..records.errors import DataError, pip_install
from ..records.r_rng import RStream

FLOORS = {
    "numpy": "1.24",
    "pandas": "1.5",
    "scipy": "1.10",
    "scikit-learn": "1.2",
    "matplotlib": "3.6",
    "jinja2": "3.1.2",
    "weasyprint": "57.2",
    "pikepdf": "6.0",
    "click": "8.1",
    "statsmodels": "0.13",
    "joblib": "1.2",
    "python-bidi": "0.4",
    "arabic-reshaper": "2.1",
}
USES = {
    "openpyxl": ("3.0.9", "reads and writes Excel files"),
    "SQLAlchemy": ("1.4", "reads databases other than SQLite"),
    "numba": ("0.56", "answers faster for permuted trees, forests and boosting"),
    "pyarrow": ("", "reads Parquet and Feather files"),
    "distributed": ("", "gives work to a Dask cluster"),
    "xgboost": ("", "predicts by models of XGBoost"),
    "lightgbm": ("", "predicts by models of LightGBM; its text files need none"),
}
"""Optional packages: the oldest version that works, and the purpose."""


class Row(NamedTuple):
    """One line of the examination.

    Attributes
    ----------
    what : str
    verdict : {"ok", "optional", "missing"}
        "optional": absent, but audits run without it; "missing": they do not.
    state : str
        The version or the problem.
    remedy : str
        What to do, empty if nothing.
    """

    what: str
    verdict: Literal["ok", "optional", "missing"]
    state: str
    remedy: str = ""


def examine() -> tuple[Row, ...]:
    """Return one row for each requirement of audits."""
    needed = (_package(name, floor) for name, floor in FLOORS.items())
    optional = (_package(name, *use) for name, use in USES.items())
    python = Row("Python", "ok", ".".join(map(str, sys.version_info[:3])))
    return (python, *needed, *optional, *_loops(), *_r(), _pdf(), _word())


def _loops() -> tuple[Row, ...]:
    """Return a row on the compilation of loops over trees; none without numba."""
    if not compiled.available():
        return ()
    what = "Loops over trees"
    if not compiled.can_keep():
        state = "not kept: every process compiles them again, for about a minute"
        remedy = f"Set {compiled.SETTING} to a folder that can be written to."
        return (Row(what, "optional", state, remedy),)
    if compiled.is_complete():
        return (Row(what, "ok", f"compiled; kept in {compiled.cache_folder()}"),)
    state = "not all compiled yet: the first audit of trees waits about a minute"
    return (Row(what, "optional", state, "importance-audit compile"),)


def compile_trees(say: Callable[[str], None]) -> bool:
    """Compile the loops over trees once; return whether they can be cached.

    Without numba nothing is compiled, and True is returned. `say` prints messages.
    """
    if not compiled.available():
        say("numba is not installed: there is nothing to compile.")
        return True
    if not compiled.can_keep():  # it logs the reason
        return False
    with compiled.reporting_compilation(
        lambda words: say(f"{words[0].upper()}{words[1:]}.")
    ):
        seconds, unread = compile_loops()
    for name, reason in unread.items():
        say(f"Predict answers for {name}, not its trees: {reason}")
    which = "All other" if unread else "All"
    say(f"{which} loops over trees are compiled, in {seconds:.0f} s.")
    return True


def _package(name: str, floor: str, use: str = "") -> Row:
    """Return a row on the version of a package; one with a `use` is optional."""
    verdict: Literal["optional", "missing"] = "optional" if use else "missing"
    clause = f"; it {use}" if use else ""
    remedy = pip_install(f"{name}>={floor}" if floor else name)
    try:
        installed_version = version(name)
    except PackageNotFoundError:
        return Row(name, verdict, f"not installed{clause}", remedy)
    if availability.is_older(installed_version, floor):
        state = f"{installed_version}, older than {floor}{clause}"
        return Row(name, verdict, state, remedy)
    return Row(name, "ok", f"{installed_version}{clause}")


def _r() -> tuple[Row, ...]:
    """Return rows on R itself, the packages of the engines, and a round trip."""
    r_facts = host.installed()
    if r_facts["reason"]:
        remedy = "Run scripts/install to set up R and rpy2."
        return (Row("R through rpy2", "optional", str(r_facts["reason"]), remedy),)
    rpy2 = " ".join(f"{part} {number}" for part, number in r_facts["rpy2"].items())
    return (
        Row("R through rpy2", "ok", f"R {r_facts['r_version']}, {rpy2}"),
        *(_r_package(name, r_facts) for name in availability.PACKAGES),
        _round_trip(),
    )


def _r_package(name: str, r_facts: Mapping[str, Any]) -> Row:
    """Return a row on the version of an R package."""
    what, remedy = f"R package {name}", availability.remedy_of(name)
    engines = [name] if name in ENGINES else []
    engines += [user for user, used in availability.USES.items() if name in used]
    lacks = f"; engine {' and '.join(engines)} cannot be asked without it"
    version = r_facts["packages"].get(name, "")
    if name in r_facts.get("broken", {}):
        return Row(
            what, "optional", f"does not load: {r_facts['broken'][name]}", remedy
        )
    if not version:
        if name in r_facts.get("not_had", {}):
            remedy = availability.advice_on(name)
        return Row(what, "optional", f"not installed{lacks}", remedy)
    oldest, newest = availability.PACKAGES[name]
    if availability.is_older(version, oldest):
        return Row(what, "optional", f"{version}, older than {oldest}{lacks}", remedy)
    newer = f"; newer than {newest}, the newest tested version"
    return Row(
        what, "ok", version + (newer if availability.is_newer(name, version) else "")
    )


def _round_trip() -> Row:
    """Return a row on a round trip: columns of every type to R and back, and draws."""
    what, remedy = "R round trip", "Install R again, then rpy2: scripts/install."
    try:
        with host.session(r_seconds=60):
            wrong = _wrong_in_trial()
    except RBridgeError as error:
        return Row(what, "missing", str(error), remedy)
    if wrong:
        return Row(what, "missing", f"R returned different {', '.join(wrong)}", remedy)
    state = "columns of every type and a callback came back; sample() replayed"
    return Row(what, "ok", state)


def _wrong_in_trial() -> list[str]:
    """Return the parts of a round trip that differ: data, predictions or draws."""
    sent, seed = trial.frame(), 2026
    predictions = np.array([0.1, -0.0, 1e308, 5e-324, 3.0])
    round_trip = trial.trial(sent, lambda X: predictions[X["if"].to_numpy()], seed=seed)
    as_sent = {name: round_trip.data[name].astype(sent[name].dtype) for name in sent}
    is_right = {
        "data": pd.DataFrame(as_sent).equals(sent),
        "predictions": round_trip.predictions.tobytes() == predictions.tobytes(),
        "draws": np.array_equal(round_trip.sample, RStream(seed).sample(len(sent))),
    }
    return [name for name, right in is_right.items() if not right]


def _pdf() -> Row:
    """Return a row on the PDF report, from a test page that is printed."""
    from ..report.pages.pdf import PdfError, conformity_statement, to_pdf

    page = "<!doctype html><html lang='en'><title>doctor</title><p>1</p></html>"
    epoch = datetime(2026, 1, 1, tzinfo=UTC)
    try:
        to_pdf(page, print_css="", created=epoch, identifier=bytes(16))
    except PdfError as error:
        remedy = pip_install("-U", "weasyprint", "pydyf")
        return Row("PDF report", "missing", str(error), remedy)
    return Row("PDF report", "ok", conformity_statement())


def _word() -> Row:
    """Return a row on the Word report, which needs pandoc."""
    from ..report.pages.docx import REMEDY, pandoc_version

    try:
        return Row("Word report", "ok", f"pandoc {pandoc_version()}")
    except DataError as error:
        state = str(error).removesuffix(f" {REMEDY}")
        return Row("Word report", "optional", state, REMEDY)
