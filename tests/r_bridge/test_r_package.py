"""The R package that starts audits from R: installed, and tested by its own tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from importance_audit.cli.main import main
from importance_audit.methods.importance import METHODS, options_of
from importance_audit.r_bridge import host

pytestmark = [pytest.mark.needs_r, pytest.mark.processes]


@pytest.fixture(scope="module")
def package():
    """The folder that the command names."""
    answer = CliRunner().invoke(main, ["r-package"])
    assert answer.exit_code == 0
    return Path(answer.output.splitlines()[0])


def test_the_command_names_the_package(package):
    description = (package / "DESCRIPTION").read_text(encoding="utf-8")
    assert description.startswith("Package: importanceaudit\n")


def test_r_knows_what_methods_take_and_are_of_as_python_does(package):
    code = (package / "R" / "audit_toml.R").read_text(encoding="utf-8")
    in_r = {
        name: set(re.findall(r'"(\w+)"', values))
        for name, values in re.findall(
            r'^(takes_\w+|of_\w+) <- (c\(.*?\)|"\w+")$', code, re.DOTALL | re.MULTILINE
        )
    }
    assert in_r == {
        "takes_repeats": {
            n for n, row in METHODS.items() if "n_repeats" in options_of(row.function)
        },
        "takes_losses": {n for n, row in METHODS.items() if row.unit == "loss"},
        "of_pairs": {n for n, row in METHODS.items() if "features" not in row.of},
        "of_features_alone": {n for n, r in METHODS.items() if r.of == ("features",)},
    }


def test_the_package_installs_and_passes_its_own_tests(package, tmp_path):
    command = Path(sys.executable).with_name("importance-audit")
    libraries = [str(tmp_path), str(host.library_folder())]
    environment = os.environ | {
        "R_LIBS": os.pathsep.join(libraries),
        "IMPORTANCE_AUDIT": str(command),
        "NOT_CRAN": "true",
    }

    def run(*arguments):
        ended = subprocess.run(
            arguments, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    library = f"--library={tmp_path}"
    run("R", "CMD", "INSTALL", "--no-docs", library, str(package))
    missing = run(
        *("Rscript", "-e"),
        "for (p in c('jsonlite', 'testthat')) if (!nzchar(system.file(package = p))) "
        "cat(p, '')",
    )
    if missing:
        pytest.skip(f"not installed in R: {missing}")
    tests = package / "tests" / "testthat"
    summary = run(
        *("Rscript", "-e"),
        "library(importanceaudit); "
        f"testthat::test_dir('{tests}', stop_on_failure = TRUE, reporter = 'summary')",
    )
    assert "Failed" not in summary
