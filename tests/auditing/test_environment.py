"""What a run says it stood on."""

import json
from datetime import UTC, datetime

import pandas as pd

from importance_audit.auditing import environment
from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.records.as_json import dumps

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
R = {
    "reason": "",
    "r_version": "4.2.2",
    "packages": {"DALEX": "2.5.4"},
    "platform": "x86_64-pc-linux-gnu",
    "rng_kind": ["Mersenne-Twister", "Inversion", "Rejection"],
}


def run_info(r):
    return environment.run_info(
        parse_config({"seed": 7}),
        status="complete",
        data_sha256="d" * 64,
        started=STARTED,
        run_id="20260102T030405Z-dddddddd",
        course={"seconds_by_step": {"fit": 1.5}},
        r=r,
    )


def test_an_audit_that_asked_r_names_r_its_packages_and_its_generators():
    run, without = run_info(R), run_info({})
    assert run.versions["R"] == "4.2.2"
    assert run.versions["DALEX (R)"] == "2.5.4"
    assert run.environment["RNGkind()"] == "Mersenne-Twister, Inversion, Rejection"
    assert not {"R", "RNGkind()"} & {*without.versions, *without.environment}
    assert run.volatile["started"] == "2026-01-02T03:04:05+00:00"
    assert {"ended", "seconds", "seconds_by_step"} < set(run.volatile)


def test_a_result_names_neither_the_machine_nor_the_process(monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "ward7.example")
    monkeypatch.setattr("socket.gethostname", lambda: "ward7.example")
    monkeypatch.setattr("os.getpid", lambda: 987654321)
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    rows = dataset(X, X["a"], name="rows", task="regression")
    given = wrap(lambda X: X["a"], name="m", task="regression", features=("a",))
    text = dumps(audit(None, rows, parse_config({}), models=(given,)))
    assert "ward7" not in text
    assert "987654321" not in text
    assert not {"host", "pid"} & json.loads(text)["run"]["volatile"].keys()
