"""The R package that starts audits from R: installed, and tested by its own tests."""

import os
import re
import shlex
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.test_cli import runner
from tests.report.made_variants import RESULTS, result_of

from importance_audit.cli.main import main
from importance_audit.methods.importance import METHODS, options_of
from importance_audit.r_bridge import host
from importance_audit.records.as_csv import rows_of

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


POINTS_AND_SEEN = {
    *("grid", "first", "second", "place", "observed", "threshold", "lowest", "highest")
}
"""Columns that hold texts in some rows or tables and numbers in others."""


def test_r_reads_the_columns_of_texts_as_texts(package):
    code = (package / "R" / "read_audit.R").read_text(encoding="utf-8")
    (names,) = re.findall(r"^of_texts <- c\((.*?)\)$", code, re.DOTALL | re.MULTILINE)
    in_r = set(re.findall(r'"(\w+)"', names))
    texts, others = set(), set()
    for name in RESULTS:
        for head, *rows in map(list, rows_of(result_of(name)).values()):
            for column, *cells in zip(head, *rows, strict=True):
                is_text = any(isinstance(cell, str) for cell in cells)
                (texts if is_text else others).add(column)
    assert not texts - in_r - POINTS_AND_SEEN
    numbers = {"value", "raw", "baseline", "repeat", "n_samples", "record", "std_error"}
    assert numbers < others
    assert not numbers & in_r


BY_THE_COMMAND = """
library(importanceaudit)
fit <- lm(mpg ~ wt + hp, mtcars)
command <- Sys.getenv("IMPORTANCE_AUDIT")
audit <- importance_audit(fit, mtcars[c("wt", "hp")], mtcars$mpg, n_repeats = 2,
                          engines = character(), command = command)
stopifnot(setequal(audit$importances$feature, c("wt", "hp")), file.exists(audit$report))
"""
CALL = """
import os, sys
from multiprocessing.connection import Client
with Client({address!r}) as call:
    call.send((sys.argv[1:], os.environ["R_LIBS"]))
    code, printed, errors = call.recv()
print(printed, end="")
print(errors, end="", file=sys.stderr)
sys.exit(code)
"""


@contextmanager
def answered(folder):
    """Return a command that this process answers, and who answers until R ends.

    To start Python, load everything and look up what R has takes seconds.
    """
    command, script = folder / "importance-audit", folder / "call.py"
    address = str(folder / "calls")
    script.write_text(CALL.format(address=address))
    words = shlex.join((sys.executable, "-S", str(script)))
    command.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    command.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as calls, pytest.MonkeyPatch.context() as patch:
        calls.bind(address)
        calls.listen()
        calls.settimeout(0.1)

        def answer(r):
            while r.poll() is None:
                with suppress(TimeoutError):
                    call = Connection(calls.accept()[0].detach())
                    words, libraries = call.recv()
                    patch.setenv("R_LIBS", libraries)
                    ended = runner().invoke(main, words)
                    call.send((ended.exit_code, ended.stdout, ended.stderr))

        yield command, answer


def test_the_package_installs_and_passes_its_own_tests(package, tmp_path):
    libraries = [str(tmp_path), str(host.library_folder())]
    environment = os.environ | {
        "R_LIBS": os.pathsep.join(libraries),
        "IMPORTANCE_AUDIT": str(Path(sys.executable).with_name("importance-audit")),
        "NOT_CRAN": "true",
    }

    def run(*words, answer=subprocess.Popen.wait, **more):
        with (tmp_path / "printed").open("w+") as printed:
            r = subprocess.Popen(
                words, env=environment | more, stdout=printed, stderr=subprocess.STDOUT
            )
            answer(r)
            printed.seek(0)
            text = printed.read()
        assert r.returncode == 0, text
        return text

    library = f"--library={tmp_path}"
    run("R", "CMD", "INSTALL", "--no-docs", library, str(package))
    missing = run(
        *("Rscript", "-e"),
        "for (p in c('jsonlite', 'testthat')) if (!nzchar(system.file(package = p))) "
        "cat(p, '')",
    )
    if missing:
        pytest.skip(f"not installed in R: {missing}")

    run("Rscript", "-e", BY_THE_COMMAND)
    tests = package / "tests" / "testthat"
    with answered(tmp_path) as (command, answer):
        summary = run(
            *("Rscript", "-e"),
            f"library(importanceaudit); testthat::test_dir('{tests}', "
            "stop_on_failure = TRUE, reporter = 'summary')",
            IMPORTANCE_AUDIT=str(command),
            answer=answer,
        )
    assert "Failed" not in summary
