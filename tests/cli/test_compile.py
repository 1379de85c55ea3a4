"""The command that compiles loops over trees beforehand."""

from tests.cli.test_cli import runner

from importance_audit.cli.main import main
from importance_audit.methods.trees import compiled
from importance_audit.operate import doctor


def test_without_numba_there_is_nothing_to_compile(monkeypatch):
    monkeypatch.setattr(compiled, "available", lambda: False)
    answer = runner().invoke(main, ["compile"])
    assert answer.exit_code == 0
    assert answer.stderr == "numba is not installed: there is nothing to compile.\n"


def test_what_takes_long_is_said_before_it_is_done(monkeypatch):
    def compile_loops():
        compiled._reports.pop()("compiling loops, about a minute; kept in /cache")
        return 19.6, {}

    monkeypatch.setattr(compiled, "available", lambda: True)
    monkeypatch.setattr(compiled, "can_keep", lambda: True)
    monkeypatch.setattr(doctor, "compile_loops", compile_loops)
    answer = runner().invoke(main, ["compile"])
    assert answer.exit_code == 0
    assert answer.stderr.splitlines() == [
        "Compiling loops, about a minute; kept in /cache.",
        "All loops over trees are compiled, in 20 s.",
    ]


def test_what_cannot_be_read_is_said_and_the_rest_compiled(monkeypatch):
    unread = {"XGBRegressor": "It predicts several targets."}
    monkeypatch.setattr(compiled, "available", lambda: True)
    monkeypatch.setattr(compiled, "can_keep", lambda: True)
    monkeypatch.setattr(doctor, "compile_loops", lambda: (3.2, unread))
    answer = runner().invoke(main, ["compile"])
    assert answer.exit_code == 0
    assert answer.stderr.splitlines() == [
        "Predict answers for XGBRegressor, not its trees: It predicts several targets.",
        "All other loops over trees are compiled, in 3 s.",
    ]


def test_what_cannot_be_kept_is_not_compiled(monkeypatch):
    monkeypatch.setattr(compiled, "available", lambda: True)
    monkeypatch.setattr(compiled, "can_keep", lambda: False)
    assert runner().invoke(main, ["compile"]).exit_code == 1
