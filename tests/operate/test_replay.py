"""Claims about replay: every number is measured again, and what differs is named."""

import json
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cli.test_cli import answer_of, rows, written
from tests.report.made_records import made_effect
from tests.report.made_variants import plain_result
from tests.run_folders import below, small_result

from importance_audit.auditing.audit import audit
from importance_audit.config.load import load_config
from importance_audit.data.datasets import read_datasets
from importance_audit.operate.replay import compare
from importance_audit.operate.save import save_run
from importance_audit.r_bridge import host
from importance_audit.records.stacks import OTHER_STACK, SAME_STACK, changes
from importance_audit.runs.attempts import clock_finding
from importance_audit.runs.folder import load_run
from importance_audit.runs.signoff.answers import Answer, with_answers


def run_of(folder, more=""):
    """Measure a small audit and keep it; return the folder of the run."""
    config = load_config(written(folder, more=more))
    with host.session():
        result = audit(*read_datasets(**config.data_arguments), config)
    return save_run(result, folder, {"audit.toml": config.text}, exit_code=0)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return an audit that ran; nobody changes it."""
    return run_of(tmp_path_factory.mktemp("measured"))


@pytest.fixture
def folder(measured, tmp_path):
    audit = shutil.copytree(measured.parents[1], tmp_path / "audit")
    return audit / "runs" / measured.name


def replay_output(folder):
    """Return the exit code of the command, and every line it prints."""
    code, output = answer_of("verify", "--replay", folder)
    return code, output.splitlines()


def edit(folder, change):
    """Change the stored result, as a fault or a forger would."""
    path = folder / "result.json"
    document = json.loads(path.read_text("utf8"))
    change(document)
    path.write_text(json.dumps(document), "utf8")


def nudge(factor):
    def change(document):
        document["importances"][0]["raw"][0][1] *= factor

    return change


def test_a_run_measured_again_matches_in_every_number_and_writes_nothing(folder):
    before = {path: (folder / path).read_bytes() for path in below(folder)}
    code, lines = replay_output(folder)
    assert (code, lines[-4]) == (0, "same stack")
    assert lines[-2].startswith("match: ")
    assert lines[-2].endswith(" numbers, all equal")
    assert lines[-1] == (
        "not checked: the files and sign-offs of the run (verify without --replay), "
        "what the pages of its report show, and who signed"
    )
    assert {path: (folder / path).read_bytes() for path in below(folder)} == before
    assert list(folder.parent.iterdir()) == [folder]


def test_an_altered_number_is_named_with_its_path(folder):
    edit(folder, nudge(1 + 1e-6))
    code, lines = replay_output(folder)
    (line,) = [line for line in lines if line.startswith("importances[0].raw[0][1]: ")]
    old, new = (float(part.split()[1]) for part in line.split(": ")[1].split(", "))
    assert code == 1
    assert old == pytest.approx(new * (1 + 1e-6), rel=1e-12)
    assert lines[-2].startswith("mismatch: 1 of ")


def test_rows_that_were_overwritten_are_told_before_anything_is_measured(folder):
    rows(seed=7).to_csv(folder.parents[1] / "test.csv", index=False)
    (old,) = load_run(folder).datasets.query("split == 'test'")["sha256"]
    code, lines = replay_output(folder)
    assert code == 1
    told = re.fullmatch(r"SHA-256 of the test rows: stored (\w+), now (\w+)", lines[0])
    assert told[1] == old != told[2]
    assert lines[1] == (
        "mismatch: the rows are not those of the run, so nothing was measured again"
    )


def test_a_run_of_some_of_its_rows_matches_and_rows_drawn_of_others_do_not(tmp_path):
    folder = run_of(tmp_path, more="[limits]\nmax_rows = 30\n")
    assert replay_output(folder)[0] == 0
    rows(seed=7).to_csv(tmp_path / "test.csv", index=False)
    code, lines = replay_output(folder)
    assert code == 1
    assert lines[-2].endswith("so nothing was measured again")


def test_of_many_values_that_differ_the_first_five_are_shown(folder):
    def change(document):
        raw = document["importances"][0]["raw"]
        raw[0] = [2 * value for value in raw[0]]
        raw[1] = [2 * value for value in raw[1]]

    edit(folder, change)
    code, lines = replay_output(folder)
    assert code == 1
    assert len([line for line in lines if ": stored " in line]) == 5
    assert lines[-3].startswith("and ")


def test_on_another_stack_the_wider_tolerance_is_used_and_printed(folder):
    def change(document):
        nudge(1 + 1e-7)(document)
        document["run"]["versions"]["numpy"] = "0.1"

    edit(folder, change)
    code, lines = replay_output(folder)
    assert code == 0
    assert lines[-4].startswith("other stack: numpy 0.1 → ")
    assert lines[-3].startswith("tolerance: 1e-06 relative")
    assert lines[-2].startswith("within tolerance: 1 of ")


@pytest.mark.needs_r
def test_a_run_that_had_a_package_which_is_gone_cannot_be_replayed(folder):
    versions = {"R": "4.2.2", "nosuch (R)": "1.0"}
    edit(folder, lambda document: document["run"]["versions"].update(versions))
    code, lines = replay_output(folder)
    assert code == 3
    words = "R package 'nosuch', which the run had, is not installed in R"
    assert words in " ".join(lines)


@pytest.mark.needs_dalex
def test_pairs_with_r_are_measured_again(tmp_path):
    code, lines = replay_output(run_of(tmp_path, 'engines = ["DALEX"]\n'))
    assert (code, lines[-4]) == (0, "same stack")
    assert lines[-2].endswith(" numbers, all equal")


def altered(factor):
    """Return one result, and the same with its largest number multiplied."""
    old = small_result()
    (record,) = old.importances
    raw = record.raw.copy()
    raw[1, 0] *= factor
    return old, replace(old, importances=(replace(record, raw=raw),))


@pytest.mark.parametrize(("factor", "is_mismatch"), [(0.5, False), (2.0, True)])
def test_the_tolerance_of_the_same_stack_is_relative_to_the_number(factor, is_mismatch):
    comparison = compare(*altered(1 + factor * SAME_STACK))
    assert comparison.tolerance == SAME_STACK < OTHER_STACK
    assert comparison.is_mismatch == is_mismatch
    assert comparison.n_numbers - comparison.n_equal == 1


def test_nan_equals_nan_and_infinity_only_itself():
    old, new = altered(1.0)
    assert compare(old, new).n_equal == compare(old, new).n_numbers > 0
    raw = old.importances[0].raw.copy()
    raw[1, 1] = -raw[1, 1]
    new = replace(old, importances=(replace(old.importances[0], raw=raw),))
    (only,) = compare(old, new).differences
    assert only == ("importances[0].raw[1][1]", "Infinity", "-Infinity")


def test_what_is_left_of_equal_losses_is_held_against_the_largest_of_its_array():
    old, new = altered(1.0)
    raw = old.importances[0].raw.copy()
    raw[2, 0] = raw[1, 0] * 1e-13  # instead of 1.0, beside 1e300
    other = replace(new, importances=(replace(new.importances[0], raw=raw),))
    assert not compare(other, old).is_mismatch


def test_the_band_of_a_curve_is_compared():
    points = {"grid": np.array([1.0, 2.0]), "values": np.array([4.0, 5.0])}
    band = {"band_low": np.array([3.0, 4.0]), "band_high": np.array([5.0, 7.0])}
    now = replace(made_effect("forest", "floor"), **points, **band)
    then = replace(now, band_high=np.array([5.0, 7.5]))
    pair = (replace(small_result(), effects=(curve,)) for curve in (then, now))
    (difference,) = compare(*pair).differences
    assert difference == ("effects[0].band_high[1]", "7.5", "7.0")


def test_what_people_answered_and_a_clock_that_went_back_are_no_outcome():
    now = plain_result(("a",))
    stored_result = with_answers(now, (Answer("f" * 12, owner="M. Kim"),))
    clock = clock_finding("It went back.")
    for stored in (stored_result, now.with_findings((clock,))):
        assert compare(stored, now).differences == ()


def test_a_run_that_its_time_limit_cut_is_not_replayed(tmp_path):
    run = run_of(tmp_path, more="[limits]\nminutes = 1e-9\n")
    code, (line,) = replay_output(run)
    assert code == 2
    assert line == (
        f"{run.resolve()} cannot be replayed: it reached its time limit, which stops "
        "every run at a different point. Replay a run with a longer limit."
    )


def test_a_package_that_is_new_or_gone_changes_the_stack_and_a_renderer_does_not():
    old = {"numpy": "1.24", "numba": "0.56", "jinja2": "3.0"}
    runs = [
        SimpleNamespace(versions=versions, environment={"BLAS": blas})
        for versions, blas in ((old, "a"), ({"numpy": "1.24", "rpy2": "3.5"}, "b"))
    ]
    assert list(changes(*runs)) == [
        "BLAS a → b",
        "numba 0.56 → not there",
        "rpy2 not there → 3.5",
    ]
