"""Fixtures, skips if R, an R package or a page renderer is missing, and markers.

With IMPORTANCE_AUDIT_REQUIRE_R=1, as in CI, a test fails if a requirement in `REQUIRED`
is missing. The markers that `make quick` leaves out follow from the requirements and
the folder of a test: tests that use R (`r`), that make or inspect whole pages
(`pages`), and that start other processes (`processes`). Tests that take about a second
of processor time or more are marked `slow` in their files.
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

# Idle threads of OpenMP would spin on the cores that the test workers share.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Without bytecode files, each process that a test starts would compile the project.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Without them, pytest would also compile the tests for each worker and run.
sys.dont_write_bytecode = False
# joblib imports distutils; the one of setuptools takes each process 0.2 s.
if sys.version_info < (3, 12):
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")

# No deadline: the first example may include the time to import libraries.
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
"""Files that run first: a long file at the end would leave cores idle."""
REQUIRED = {"needs_r", "needs_dalex", *PROGRAMS} - {"needs_libreoffice"}
REQUIRE_R = os.environ.get("IMPORTANCE_AUDIT_REQUIRE_R") == "1"


@cache
def _r_packages() -> tuple[str | None, frozenset[str]]:
    """Return the reason why R cannot be used, None if it can, and its packages."""
    from importance_audit.r_bridge import host

    installed = host.installed()
    return installed.get("reason") or None, frozenset(installed.get("packages", ()))


def _missing_requirement(marker: str) -> str | None:
    """Return the missing requirement of a marker, in words; None if there is none."""
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
    """Add the option that overwrites the expected views in tests/report/golden."""
    text = "Store the views of the made results anew, for the diff to be read."
    parser.addoption("--rewrite-golden", action="store_true", help=text)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exclude the 400 000 or so objects of the imports from garbage collection."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use R, make pages or start processes; run long files first."""
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
    """Share one R process among all tests of a file: its start takes a second."""
    from importance_audit.r_bridge import host

    with host.session():
        yield


@pytest.fixture
def without_r(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make R unavailable, for tests that do not depend on it."""
    from importance_audit.r_bridge import host

    monkeypatch.setattr(host, "installed", lambda: {"reason": "R is left out."})


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests with a missing requirement, or fail them if it is required."""
    for marker in item.iter_markers():
        reason = _missing_requirement(marker.name)
        if reason is None:
            continue
        if REQUIRE_R and marker.name in REQUIRED:
            pytest.fail(f"{marker.name}: {reason}", pytrace=False)
        pytest.skip(f"{marker.name}: {reason}")
