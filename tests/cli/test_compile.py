"""The command that compiles loops over trees beforehand."""

import pytest
from tests.cli.test_cli import invoke

from importance_audit.methods.trees import compiled
from importance_audit.operate import doctor


@pytest.fixture
def compiles(monkeypatch):
    """Return a function that says how the command ends where loops compile so."""

    def compiles(compile_loops=None, *, available=True, can_keep=True):
        monkeypatch.setattr(compiled, "available", lambda: available)
        monkeypatch.setattr(compiled, "can_keep", lambda: can_keep)
        monkeypatch.setattr(doctor, "compile_loops", compile_loops)
        answer = invoke("compile")
        return answer.exit_code, answer.stderr.splitlines()

    return compiles


def test_without_numba_there_is_nothing_to_compile(compiles):
    words = "numba is not installed: there is nothing to compile."
    assert compiles(available=False) == (0, [words])


def test_what_takes_long_is_said_before_it_is_done(compiles):
    def compile_loops():
        compiled._reports.pop()("compiling loops, about a minute; kept in /cache")
        return 19.6, {}

    assert compiles(compile_loops) == (
        0,
        [
            "Compiling loops, about a minute; kept in /cache.",
            "All loops over trees are compiled, in 20 s.",
        ],
    )


def test_what_cannot_be_read_is_said_and_the_rest_compiled(compiles):
    unread = {"XGBRegressor": "It predicts several targets."}
    assert compiles(lambda: (3.2, unread)) == (
        0,
        [
            "Predict answers for XGBRegressor, not its trees: It predicts several "
            "targets.",
            "All other loops over trees are compiled, in 3 s.",
        ],
    )


def test_what_cannot_be_kept_is_not_compiled(compiles):
    assert compiles(can_keep=False)[0] == 1
