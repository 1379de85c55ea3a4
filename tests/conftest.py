"""Where R, vip or a page renderer is missing, say so; in CI that is a failure.

What `make quick` leaves out is marked here where a fixture, a marker or a folder tells
it: tests that ask R (`r`), that make or look at whole pages (`pages`), and that start
other processes (`processes`). A file marks what is not to be seen from outside: tests
that take about a second of the processor or more are `slow`.
"""

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Idle threads of OpenMP spin, here on cores that two workers share.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Each of the many processes that tests start would compile the project for itself.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Nor does pytest need to compile the tests for each worker and run.
sys.dont_write_bytecode = False
# joblib imports distutils; where setuptools stands in for it, each process pays 0.2 s.
if sys.version_info < (3, 12):
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")

# How long an example takes is no claim: the first may load libraries, or read our code.
settings.register_profile(
    "any clock", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("any clock"), max_examples=40)
settings.load_profile("any clock")

R_PACKAGES = {
    "needs_dalex": "DALEX",
    "needs_vip": "vip",
    "needs_pdp": "pdp",
    "needs_hstats": "hstats",
    "needs_iml": "iml",
    "needs_xplainfi": "xplainfi",
    "needs_fastshap": "fastshap",
}
MODULES = {
    f"needs_{name}": name
    for name in ("pyarrow", "openpyxl", "sqlalchemy", "numba", "distributed")
}
PROGRAMS = {
    "needs_chromium": ("chromium", "node"),
    "needs_java": ("java",),
    "needs_pandoc": ("pandoc",),
    "needs_poppler": ("pdftotext",),
    "needs_libreoffice": ("soffice",),
}
PAGE_FOLDERS = {"browser", "pages", "sections", "verify"}
PROCESS_FOLDERS = {"cli", "kill", "operate"}
STARTERS = {"subprocess", "multiprocessing", "ProcessPoolExecutor"}
"""A file that imports one of these starts processes."""
FROM_NPM = {"needs_chromium", "needs_java"}
NODE_MODULES = Path(__file__).parent / "browser" / "node_modules"
LONGEST = (
    "test_cli",
    "test_unattended",
    "test_faults_of_r",
    "test_pages",
    "test_printed",
    "test_models",
    "test_r_models",
    "test_kill",
    "test_papers",
)
"""Files that begin first: a long one left for the end keeps one core waiting."""
REQUIRED = {"needs_r", "needs_dalex", *PROGRAMS} - {"needs_libreoffice"}
REQUIRE_R = os.environ.get("IMPORTANCE_AUDIT_REQUIRE_R") == "1"


@cache
def _r_packages() -> tuple[str | None, frozenset[str]]:
    """Return why R cannot be used (None if it can) and the packages it has."""
    from importance_audit.r_bridge import host

    answer = host.installed()
    return answer.get("reason") or None, frozenset(answer.get("packages", ()))


def _what_is_missing(marker: str) -> str | None:
    """Return what is missing for a marker, or None."""
    if marker in {"needs_r", *R_PACKAGES}:
        reason, packages = _r_packages()
        package = R_PACKAGES.get(marker)
        if reason:
            return reason
        return (
            f"R has no package {package!r}"
            if package not in {None, *packages}
            else None
        )
    if marker in MODULES:
        from importlib.util import find_spec

        name = MODULES[marker]
        return None if find_spec(name) else f"{name} is not installed"
    missing = [name for name in PROGRAMS.get(marker, ()) if not shutil.which(name)]
    if missing:
        return f"{missing[0]} is not on PATH"
    if marker in FROM_NPM and not NODE_MODULES.is_dir():
        return "npm ci was not run in tests/browser; scripts/install test does it"
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the flag that stores what the report says now; see tests/report/golden."""
    words = "Store the views of the made results anew, for the diff to be read."
    parser.addoption("--rewrite-golden", action="store_true", help=words)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep garbage collection off what stays: some 400 000 objects of the imports."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks R, makes pages or starts processes; let long files begin."""
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    for item in items:
        names = {marker.name for marker in item.iter_markers()}
        folders = {*item.path.parent.relative_to(Path(__file__).parent).parts}
        if names & {"needs_r", *R_PACKAGES} or "r_bridge" in folders:
            item.add_marker("r")
        if names & PROGRAMS.keys() or folders & PAGE_FOLDERS:
            item.add_marker("pages")
        if folders & PROCESS_FOLDERS or STARTERS & vars(item.module).keys():
            item.add_marker("processes")


@pytest.fixture(scope="module")
def shared_r() -> Iterator[None]:
    """Keep one R for all tests of a file: to start one takes a second."""
    from importance_audit.r_bridge import host

    with host.session():
        yield


@pytest.fixture
def without_r(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be no R: what it would answer is not looked at."""
    from importance_audit.r_bridge import host

    monkeypatch.setattr(host, "installed", lambda: {"reason": "R is left out."})


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip with the reason; fail where the machine promised R."""
    for marker in item.iter_markers():
        reason = _what_is_missing(marker.name)
        if reason is None:
            continue
        if REQUIRE_R and marker.name in REQUIRED:
            pytest.fail(f"{marker.name}: {reason}", pytrace=False)
        pytest.skip(f"{marker.name}: {reason}")
