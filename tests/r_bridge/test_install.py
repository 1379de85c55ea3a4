"""What install-r is asked for, where a package came from, and what is too old."""

import re
import shutil
import subprocess
import sys

import pytest
from tests.cases import for_each
from tests.docs.pages import ROOT, blocks

from importance_audit.engines.availability import PACKAGES
from importance_audit.r_bridge import install, probe

SCRIPT = ROOT / "r_bridge" / "install.R"
DESCRIPTION = (
    "Package: hstats\nVersion: 1.2.2\nTitle: Empty\nDescription: Empty.\n"
    "Author: Nobody\nMaintainer: Nobody <nobody@example.org>\nLicense: GPL-3\n"
)
MAKE_REPOSITORY = """
contrib <- commandArgs(TRUE)[1]
dir.create(contrib, recursive = TRUE)
tar(file.path(contrib, "hstats_1.2.2.tar.gz"), "hstats", compression = "gzip")
tools::write_PACKAGES(contrib, type = "source")
"""
# What every R has, be it as small as Debian's r-base-core.
BASE = {
    *"base compiler datasets graphics grDevices grid methods parallel".split(),
    *"splines stats stats4 tools utils".split(),
}
NOT_SET_UP = {
    "digest": "a script of the hand-off takes it where it is there",
    "importanceaudit": "our own, which a reader installs",
    "ingredients": "DALEX imports it",
    "lgr": "of xplainfi",
    "lightgbm": "made stored files; Debian has none",
    "mlr3": "of xplainfi",
    "nanoparquet": "install-r brings it on demand",
    "parsnip": "of workflows",
    "R6": "of xplainfi",
    "workflows": "Debian 12 has none: its models are tested where somebody has it",
    "xgboost": "an example of a model that is not supported",
    "xplainfi": "install-r brings it on demand, in minutes",
    "yardstick": "Debian 12 has none: its defects are shown where somebody has it",
}
"""R packages that set-up leaves out, and why."""
CALL = r"(?<![\\\w.])([A-Za-z][\w.]*):::?"
LOAD = (
    r"\blibrary\(([\w.]+)\)"
    r"|\b(?:requireNamespace|loadNamespace|skip_\w+)\([\"']([\w.]+)[\"']"
)
USES = {
    ".R": re.compile(rf"{LOAD}|{CALL}[\w`.]"),
    ".py": re.compile(rf"{LOAD}|{CALL}\w+\("),  # C++ and paths have such colons too
    ".toml": re.compile(rf"\br = \"{CALL}\w"),
}


def r_packages_in_use():
    """Return the R packages that code, tests, audits and pages name."""
    texts = [("." + block.language.upper(), block.text) for block in blocks("r")]
    texts += [("." + block.language, block.text) for block in blocks("toml")]
    for pattern in ("r_bridge/**/*", "templates/**/*", "tests/**/*", "reports/*/*"):
        paths = (
            path for path in ROOT.glob(pattern) if "node_modules" not in path.parts
        )
        texts += [(p.suffix, p.read_text("utf-8")) for p in paths if p.suffix in USES]
    found = set()
    for suffix, text in texts:
        code = re.sub(r"^\s*#.*", "", text, flags=re.MULTILINE)
        for match in USES[suffix].finditer(code):
            found |= set(filter(None, match.groups()))
    description = (ROOT / "r_bridge/importanceaudit/DESCRIPTION").read_text("utf-8")
    for line in re.findall(r"^(?:Imports|Suggests): (.*)", description, re.MULTILINE):
        found |= set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", line)))
    return found - {"package"}  # a variable, and a word of a message


def test_set_up_installs_every_r_package_that_is_named_anywhere():
    text = (ROOT / "scripts" / "install").read_text("utf-8")
    named = set(re.findall(r"r-cran-([\w.]+)", text))
    for words in re.findall(r"packages\+?=\((.*?)\)|\.r-library (.*?)\|\|", text):
        named |= set(re.findall(r"\w+", " ".join(words).lower()))
    missing = {each for each in r_packages_in_use() - BASE if each.lower() not in named}
    assert missing == set(NOT_SET_UP)


@pytest.fixture
def install_outcome(tmp_path):
    """Return what a programme called Rscript is told, and how install-r ends."""
    rscript = tmp_path / "Rscript"
    rscript.write_text('#!/bin/sh\nshift 2\necho "$@"\n')
    rscript.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}

    def outcome(*words):
        command = [sys.executable, "-m", "importance_audit", "install-r", *words]
        ran = subprocess.run(command, capture_output=True, text=True, env=environment)
        return ran.returncode, ran.stdout.strip(), " ".join(ran.stderr.split())

    return outcome


@for_each(
    [
        ("", "DALEX pdp vip fastshap"),
        ("hstats vip", "hstats vip pdp"),
        ("xplainfi", "checkmate gower xplainfi"),
        ("models", "randomForest ranger gbm rpart nnet e1071 earth"),
    ]
)
def test_engines_and_sets_are_installed_with_what_they_need(case, install_outcome):
    words, packages = case
    assert install_outcome(*words.split())[:2] == (0, packages)


def test_an_unknown_name_is_a_usage_error_that_lists_the_known(install_outcome):
    code, output, error = install_outcome("hstat")
    assert (code, output) == (2, "")
    assert error.endswith(
        "WHAT must be one of DALEX, vip, pdp, fastshap, hstats, iml, xplainfi, "
        "nanoparquet, models; 'hstat' was given."
    )


def test_what_is_too_old_to_be_asked_is_installed_anew():
    text = re.search(r"oldest <- c\((.*?)\n\)", SCRIPT.read_text(), re.DOTALL)[1]
    floors = dict(re.findall(r'(\w+) = "([\d.]+)"', text))
    needed = {"checkmate": "2.3.0"}  # by mlr3measures, which does not say so
    assert floors == needed | {
        name: PACKAGES[name].oldest for name in install.SETS if name in PACKAGES
    }


@pytest.fixture
def run_script(tmp_path):
    """Run install.R on a library, with no repository but one in a folder, if there."""
    profile = tmp_path / "profile.R"
    profile.write_text(f"options(repos = c(CRAN = 'file://{tmp_path}/repository'))\n")
    environment = {"PATH": "/usr/bin:/bin", "R_PROFILE_USER": str(profile)}

    def run(*packages):
        command = ["Rscript", str(SCRIPT), str(tmp_path / "library"), *packages]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    return run


@pytest.fixture
def make_repository(tmp_path):
    """Make the repository of one package, hstats, and return its folder."""

    def make():
        (tmp_path / "hstats").mkdir()
        (tmp_path / "hstats" / "DESCRIPTION").write_text(DESCRIPTION)
        (tmp_path / "hstats" / "NAMESPACE").touch()
        contrib = tmp_path / "repository" / "src" / "contrib"
        command = ["Rscript", "-e", MAKE_REPOSITORY, str(contrib)]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        return contrib

    return make


@pytest.mark.needs_r
def test_a_library_keeps_what_it_could_not_have_until_it_has_it(
    tmp_path, run_script, make_repository
):
    library = tmp_path / "library"
    ran = run_script("hstats", "no.such")
    assert ran.returncode == 1
    assert "hstats could not be had: no repository answered." in ran.stdout
    assert probe.not_had_in([tmp_path, library]) == {}  # it may answer tomorrow
    contrib = make_repository()
    tar = contrib / "hstats_1.2.2.tar.gz"
    whole = tar.read_bytes()
    tar.write_bytes(b"")
    assert run_script("hstats", "no.such").returncode == 1
    kept = probe.not_had_in([tmp_path, library])
    assert kept.pop("hstats").startswith("it could not be installed from ")
    assert kept == {"no.such": "no repository offers it"}
    tar.write_bytes(whole)
    assert run_script("hstats").returncode == 0
    assert probe.not_had_in([library]) == kept


@pytest.mark.needs_r
def test_where_a_package_came_from_is_printed_whether_it_builds_or_not(
    tmp_path, run_script, make_repository
):
    contrib, library = make_repository(), tmp_path / "library"
    ran = run_script("hstats")
    assert ran.returncode == 0, ran.stderr
    origin = f"the repositories of this R (file://{contrib})"
    assert ran.stdout.strip() == f"hstats 1.2.2 from {origin}"
    shutil.rmtree(library)
    (tmp_path / "hstats" / "NAMESPACE").write_text("export(nothing)\n")
    tar = ["tar", "-czf", contrib / "hstats_1.2.2.tar.gz", "hstats"]
    subprocess.run(tar, cwd=tmp_path, check=True)
    assert run_script("hstats").returncode == 1
    why = f"it could not be installed from {origin}"
    assert probe.not_had_in([library]) == {"hstats": why}
