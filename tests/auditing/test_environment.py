"""What a run says it stood on."""

import platform
from datetime import UTC, datetime

import numpy as np

from importance_audit.auditing import environment
from importance_audit.config.load import parse_config

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
        times={"seconds_by_step": {"fit": 1.5}},
        r=r,
    )


def test_versions_are_those_of_the_running_packages():
    versions = run_info({}).versions
    assert versions["Python"] == platform.python_version()
    assert versions["numpy"] == np.__version__


def test_an_audit_that_asked_r_names_r_its_packages_and_its_generators():
    run = run_info(R)
    assert run.versions["R"] == "4.2.2"
    assert run.versions["DALEX (R)"] == "2.5.4"
    assert run.environment["RNGkind()"] == "Mersenne-Twister, Inversion, Rejection"


def test_an_audit_that_asked_no_r_does_not_speak_of_it():
    assert not {"R", "RNGkind()"} & {*run_info({}).versions, *run_info({}).environment}


def test_what_changes_from_run_to_run_is_volatile():
    volatile = run_info({}).volatile
    assert volatile["started"] == "2026-01-02T03:04:05+00:00"
    assert {"ended", "seconds", "host", "pid", "seconds_by_step"} < set(volatile)
