"""What install-r is asked for, where a package came from, and what is too old."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from importance_audit.engines.availability import PACKAGES
from importance_audit.r_bridge import install, probe

ROOT = Path(__file__).parents[2]
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


def install_outcome(*words, path):
    """Return what a programme called Rscript is told, and how install-r ends."""
    rscript = path / "Rscript"
    rscript.write_text('#!/bin/sh\nshift 2\necho "$@"\n')
    rscript.chmod(0o755)
    command = [sys.executable, "-m", "importance_audit", "install-r", *words]
    environment = {"PATH": f"{path}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    return ran.returncode, ran.stdout.strip(), ran.stderr


@pytest.mark.parametrize(
    ("words", "packages"),
    [
        ((), "DALEX pdp vip fastshap"),
        (("hstats", "vip"), "hstats vip pdp"),
        (("xplainfi",), "checkmate gower xplainfi"),
        (("models",), "randomForest ranger gbm rpart nnet e1071 earth"),
    ],
)
def test_engines_and_sets_are_installed_with_what_they_need(words, packages, tmp_path):
    assert install_outcome(*words, path=tmp_path)[:2] == (0, packages)


def test_an_unknown_name_is_a_usage_error_that_lists_the_known(tmp_path):
    code, output, error = install_outcome("hstat", path=tmp_path)
    assert (code, output) == (2, "")
    assert (
        "WHAT must be one of DALEX, vip, pdp, fastshap, hstats, iml, xplainfi, "
        "nanoparquet, models; 'hstat' was given." in " ".join(error.split())
    )


def test_what_is_too_old_to_be_asked_is_installed_anew():
    text = re.search(r"oldest <- c\((.*?)\n\)", SCRIPT.read_text(), re.DOTALL)[1]
    floors = dict(re.findall(r'(\w+) = "([\d.]+)"', text))
    needed = {"checkmate": "2.3.0"}  # by mlr3measures, which does not say so
    assert floors == needed | {
        name: PACKAGES[name].oldest for name in install.SETS if name in PACKAGES
    }


@pytest.mark.needs_r
def test_an_installed_package_keeps_where_it_came_from(tmp_path):
    (tmp_path / "hstats").mkdir()
    (tmp_path / "hstats" / "DESCRIPTION").write_text(DESCRIPTION)
    (tmp_path / "hstats" / "NAMESPACE").touch()
    contrib = tmp_path / "repository" / "src" / "contrib"
    make = ["Rscript", "-e", MAKE_REPOSITORY, str(contrib)]
    subprocess.run(make, cwd=tmp_path, check=True, capture_output=True)
    profile = tmp_path / "profile.R"
    profile.write_text(f"options(repos = c(CRAN = 'file://{tmp_path}/repository'))\n")
    command = ["Rscript", str(SCRIPT), str(tmp_path / "library"), "hstats"]
    environment = {"PATH": "/usr/bin:/bin", "R_PROFILE_USER": str(profile)}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    origin = probe.origin_of(tmp_path / "library" / "hstats")
    assert origin == f"the repositories of this R (file://{contrib})"
    assert ran.stdout.strip() == f"hstats 1.2.2 from {origin}"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("Package: hstats\nRepository: CRAN\n", "CRAN"),
        ("Package: hstats\n", "a source it does not name"),
    ],
)
def test_a_package_that_we_did_not_install_says_its_repository(tmp_path, text, origin):
    (tmp_path / "DESCRIPTION").write_text(text)
    assert probe.origin_of(Path(tmp_path)) == origin
