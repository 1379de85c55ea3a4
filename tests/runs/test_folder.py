"""Claims about run folders: whole or absent, never rewritten, readable again."""

import csv
import json
import os
import re
import resource
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_effect, made_importance

from importance_audit.engines.agreement import AGREEMENT
from importance_audit.operate.save import save_run
from importance_audit.records.as_json import content_digest, to_dict
from importance_audit.records.errors import AuditError, DataError
from importance_audit.records.finding import Finding
from importance_audit.records.result import AuditResult, RunInfo, run_id
from importance_audit.report.pages.short_views import short_files
from importance_audit.runs.audit_log import read_log
from importance_audit.runs.digests import read_list, sha256
from importance_audit.runs.folder import load_run, write_file

NAME = "20251120T084600Z-3f9a1c2b"
RAW = np.array([[0.1 + 0.2, np.nan], [1e300, np.inf], [1.0, 2.0]])
FACTS = {"subject": "forest", "message": "Weak,\nvery."}
WEAK = Finding(check="weak_model", severity="warning", **FACTS)


def summary(result):
    volatile = {"started": "2026-11-22T08:00:00+00:00", **result.run.volatile}
    run = replace(result.run, volatile=volatile)
    return short_files(replace(result, run=run))["summary.txt"]


def importance(**changes):
    """Return a record of odd names and numbers."""
    record = made_importance("forest", ("größe, m²", 'a "b"', "x"), (0, 0, 0))
    fields = {"raw": RAW, "baseline": np.array([0.1, 0.3]), "options": {}}
    return replace(record, **{**fields, **changes})


def of_features(means):
    """Return a record of features a, b, … with these means of one repeat."""
    names = tuple("abcdef"[: len(means)])
    return importance(
        features=names,
        columns=tuple((name,) for name in names),
        raw=np.array(means, dtype=float)[:, None],
        baseline=np.zeros(1),
    )


def result(name=NAME, **changes):
    run = RunInfo(
        audit="apartments",
        status="complete",
        config={"fail_on": "failure"},
        config_sha256="a" * 64,
        data_sha256="b" * 64,
        versions={"numpy": "1.24"},
        environment={"locale": "C"},
        volatile={"run_id": name},
    )
    sets = pd.DataFrame({"split": ["test"], "name": ["a.csv"], "sha256": ["c" * 64]})
    return AuditResult(**{"run": run, "datasets": sets, **changes})


def save(folder, written=None, files=None, exit_code=0):
    folder.mkdir(parents=True, exist_ok=True)
    return save_run(written or result(), folder, files or {}, exit_code=exit_code)


def listed_in(folder):
    return read_list((folder / "SHA256SUMS").read_bytes())


def line_of(folder):
    """Return the line of a run in the log of its audit."""
    lines = read_log(folder.parents[1]).of("run")
    (line,) = (line for line in lines if line["run"] == folder.name)
    return line


def everything_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def content_of(folder):
    """Return the bytes of every file of a folder, by its path there."""
    paths = (p for p in everything_below(folder) if (folder / p).is_file())
    return {p: (folder / p).read_bytes() for p in paths}


def test_a_run_is_named_by_its_start_in_utc_and_its_question():
    started = datetime(2025, 11, 20, 9, 46, 5, tzinfo=timezone(timedelta(hours=1)))
    name = f"20251120T084605Z-{sha256(b'cd')[:8]}"
    assert run_id(started, "c", "d") == name


def test_a_run_comes_back_as_it_was_saved(tmp_path):
    written = result(importances=(importance(),))
    folder = save(tmp_path, written)
    assert folder == tmp_path / "runs" / NAME
    assert to_dict(load_run(folder)) == to_dict(written)


def test_sha256sum_checks_the_list_of_all_files(tmp_path):
    odd = {"figures/a b.svg": b"1", "figures/a\\b.svg": b"2", "figures/é.svg": b"3"}
    folder = save(tmp_path, files=odd | {"audit.toml": "seed = 1\n"})
    assert {*listed_in(folder)} == {*content_of(folder)} - {"SHA256SUMS"}
    assert {*odd, "audit.toml", "result.json"} <= {*listed_in(folder)}
    command = ["sha256sum", "--strict", "--quiet", "-c", "SHA256SUMS"]
    subprocess.run(command, cwd=folder, check=True)
    (folder / "figures" / "a\\b.svg").write_bytes(b"4")
    assert subprocess.run(command, cwd=folder, capture_output=True).returncode == 1


def test_the_line_of_a_run_says_in_short_what_the_run_says(tmp_path):
    save(tmp_path, result("20251119T084600Z-3f9a1c2b"))
    head = read_log(tmp_path).head
    folder = save(tmp_path, exit_code=4)
    assert json.loads((folder / "log-head.json").read_bytes()) == head
    line = line_of(folder)
    assert {k: v for k, v in line.items() if k not in ("time", "previous")} == {
        "n": 3,
        "kind": "run",
        "run": NAME,
        "list": sha256((folder / "SHA256SUMS").read_bytes()),
        "bytes": sum((folder / path).stat().st_size for path in listed_in(folder)),
        "content_digest": content_digest(result()),
        "exit_code": 4,
        "verdict": "not cross-checked",
        "message": "",
        "r_failed": False,
    }


def test_a_second_run_of_the_same_second_gets_a_name_of_its_own(tmp_path):
    first = save(tmp_path)
    before = content_of(first)
    names = [save(tmp_path).name for _ in range(2)]
    assert names == [f"{NAME}-2", f"{NAME}-3"]
    assert content_of(first) == before
    again = load_run(tmp_path / "runs" / names[1])
    assert again.run.volatile["run_id"] == names[1]


def test_runs_saved_at_once_all_survive(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: save(tmp_path), range(8)))
    assert len(set(folders)) == 8
    names = [load_run(folder).run.volatile["run_id"] for folder in folders]
    assert names == [folder.name for folder in folders]
    assert sorted(os.listdir(tmp_path / "runs")) == sorted(names)


def test_a_reader_never_sees_half_a_run(tmp_path):
    half, done = [], threading.Event()

    def look():
        while not done.is_set():
            for folder in tmp_path.glob("runs/[!.]*"):
                half.extend([folder] if not (folder / "SHA256SUMS").exists() else [])

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(5):
        save(tmp_path, files={f"figures/{n}.svg": b"x" * 1000 for n in range(20)})
    done.set()
    reader.join()
    assert half == []


def test_a_file_is_replaced_whole_or_stays(tmp_path):
    path = tmp_path / "new" / "report.html"
    write_file(path, "old")
    write_file(path, "größer")
    with full_disk(10), pytest.raises(AuditError) as error:
        write_file(path, "x" * 20)
    assert str(error.value) == (
        f"Folder '{path.parent}' cannot take 'report.html': File too large. "
        "Nothing was written."
    )
    assert path.read_bytes() == "größer".encode()
    assert everything_below(tmp_path) == ["new", "new/report.html"]


@contextmanager
def full_disk(n_bytes):
    """Let no file of this process grow beyond `n_bytes`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def read_only(folder):
    """Take from this process the right to write below `folder`, root's too."""
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)


def test_a_full_disk_is_one_sentence_and_leaves_nothing_behind(tmp_path):
    with full_disk(5000), pytest.raises(AuditError) as error:
        save(tmp_path / "new" / "audit", files={"report.pdf": b"x" * 6000})
    assert str(error.value) == (
        f"Folder '{tmp_path}/new/audit/runs' cannot take '{NAME}': File too "
        "large. Nothing was written."
    )
    assert everything_below(tmp_path / "new" / "audit") == ["audit-log.jsonl"]
    assert (tmp_path / "new" / "audit" / "audit-log.jsonl").read_bytes() == b""


def test_a_read_only_folder_is_one_sentence():
    with tempfile.TemporaryDirectory(dir="/tmp") as name, read_only(Path(name)):
        with pytest.raises(AuditError) as error:
            save(Path(name))
        assert os.listdir(name) == []
    assert str(error.value) == (
        f"Folder '{name}' cannot take a line of 'audit-log.jsonl': Permission denied."
    )


def test_a_file_where_the_folder_should_be_is_one_sentence(tmp_path):
    (tmp_path / "runs").write_text("mine")
    with pytest.raises(AuditError, match=r"cannot take '.*': File exists"):
        save(tmp_path)
    assert (tmp_path / "runs").read_text() == "mine"


@pytest.mark.parametrize(
    "path", ["../x", "/x", "a/../../x", "result.json", "SHA256SUMS"]
)
def test_no_file_leaves_the_folder_or_replaces_one_of_its_own(tmp_path, path):
    with pytest.raises(ValueError, match=f"; {re.escape(repr(path))} was given"):
        save(tmp_path, files={path: "x"})
    assert everything_below(tmp_path) == []


def table(path):
    """Return the rows of a CSV file as dicts, and its bytes."""
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file)), path.read_bytes()


def test_importances_are_one_line_per_feature_and_repeat_with_every_digit(tmp_path):
    weak = replace(WEAK, evidence={"loss": np.nan})
    folder = save(tmp_path, result(importances=(importance(),), findings=(weak,)))
    rows, data = table(folder / "tables" / "importances.csv")
    raw = ["0.30000000000000004", "NaN", "1e+300", "Infinity", "1.0", "2.0"]
    assert [row["raw"] for row in rows] == raw
    assert [row["repeat"] for row in rows] == ["1", "2"] * 3
    assert [row["feature"] for row in rows[::2]] == list(importance().features)
    assert rows[0]["value"] == repr(0.1 + 0.2 - 0.1)
    assert b"\r" not in data
    assert "größe".encode() in data
    (row,), _ = table(folder / "tables" / "findings.csv")
    assert (row["message"], row["evidence"]) == (weak.message, '{"loss": "NaN"}')


def test_curves_are_one_line_per_point(tmp_path):
    points = {"grid": np.array(["a", "b"], dtype=object), "kind": "category"}
    values = np.array([0.1, 1 / 3])
    curve = replace(made_effect("forest", "kind"), **points, values=values)
    banded = replace(curve, band_low=np.array([0.0, 0.25]), band_high=np.ones(2))
    folder = save(tmp_path, result(effects=(curve, banded)))
    rows, _ = table(folder / "tables" / "effects.csv")
    assert [(r["feature"], r["point"], r["grid"], r["value"]) for r in rows] == 2 * [
        ("kind", "1", "a", "0.1"),
        ("kind", "2", "b", "0.3333333333333333"),
    ]
    ends = [(r["band_low"], r["band_high"]) for r in rows]
    assert ends == [("NaN", "NaN")] * 2 + [("0.0", "1.0"), ("0.25", "1.0")]


def test_what_is_no_stored_run_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "result.json"
    with pytest.raises(DataError) as error:
        load_run(tmp_path)
    assert str(error.value) == (
        f"{path} cannot be read: No such file or directory. Name a folder below runs/."
    )
    path.write_bytes(b"\xff")
    with pytest.raises(DataError, match="is not UTF-8 text: 'utf-8' codec can't decod"):
        load_run(tmp_path)


def test_the_summary_names_verdict_leaders_pairs_and_findings(tmp_path):
    ours = of_features([1, 4, 3, np.nan, 2])
    twin = replace(ours, stream="vip-0.5", raw=-ours.raw)
    words = ["replayed", "equivalent", "replayed"]
    pairs = pd.DataFrame({"engine_a": "python", "verdict": words})
    pairs = pairs.reindex(columns=AGREEMENT, fill_value="")
    records = replace(twin, engine="DALEX"), ours, twin
    text = summary(result(importances=records, agreement=pairs, findings=(WEAK,)))
    assert text.splitlines() == [
        f"apartments {NAME}: confirmed with exceptions",
        "forest, permutation of features, RMSE: b, c, e",
        "pairs: 2 replayed, 1 equivalent; 0 of 1 rankings recomputed",
        "findings: 1",
        "  warning, Not clearly better than a constant, forest "
        f"(key {WEAK.key[:12]}): Weak, very.",
        "reason: Weak, very.",
    ]
    assert (save(tmp_path) / "summary.txt").read_text("utf8") == summary(result())


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ([0, 0, 0, 0, 0], "5 alike"),
        ([9, 4, 4, 1, 0], "a, b = c"),
        ([9, 4, 4, 4, 0], "a, 3 alike"),
        ([9, np.nan, np.nan, np.nan, np.nan], "a"),
        ([np.nan] * 5, "nothing measured"),
    ],
)
def test_no_order_is_told_of_features_that_share_a_place_or_have_no_number(
    values, first
):
    text = summary(result(importances=(of_features(values),)))
    assert text.splitlines()[1] == f"forest, permutation of features, RMSE: {first}"
    assert "pairs: none\nfindings: none\n" in text
