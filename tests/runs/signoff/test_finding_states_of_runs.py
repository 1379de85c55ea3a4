"""Claims about the register over stored runs: it says what made records say."""

from dataclasses import replace

import pytest
from tests.runs.signoff.test_finding_states import APART, run_of

from importance_audit.operate.save import save_run
from importance_audit.runs.history import load_history
from importance_audit.runs.signoff.finding_states import standings
from importance_audit.runs.summary import history_json


@pytest.mark.parametrize(
    ("letters", "state"), [("F-F", "reopened"), ("FmF", "open"), ("Fi-", "closed")]
)
def test_where_a_finding_stands_after_these_stored_runs(tmp_path, letters, state):
    for n, letter in enumerate(letters[:-1]):
        result = run_of(letter)
        volatile = {**result.run.volatile, "run_id": f"2026112{n}T000000Z-00000000"}
        result = replace(result, run=replace(result.run, volatile=volatile))
        history = {"history.json": history_json(load_history(tmp_path), result)}
        save_run(result, tmp_path, history, exit_code=0)
    rows = standings(run_of(letters[-1]), load_history(tmp_path))
    assert next(s.state for s in rows if s.key == APART.key) == state
