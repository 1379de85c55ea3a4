"""The hand-off: what R users get is what was measured, and R can compute it again."""

import csv
import io
import json
import os
import re
import subprocess
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.cli.test_cli import answer_of, sound

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.models.prediction_digest import predictions_sha256
from importance_audit.operate.handoff import handoff
from importance_audit.operate.save import save_run
from importance_audit.r_bridge import host
from importance_audit.r_bridge.installation import library_folder
from importance_audit.records.as_json import content_digest
from importance_audit.records.cells import unescaped

NAMES = ["=cmd|' /C calc'!A0", '../fare (£),\n"x"', "if"]
ASKED = {
    "seed": 7,
    "importance": [
        {"method": "permutation", "n_repeats": 4},
        {"method": "permutation", "form": "ratio", "within": "leaves"},
        {"method": "partial_dependence", "n_grid": 5},
        {"method": "spearman"},
    ],
}


@pytest.fixture(scope="module")
def result():
    random = np.random.default_rng(3)
    X = pd.DataFrame(random.normal(size=(60, 3)), columns=NAMES)
    y = X[NAMES[0]] * 3 - X[NAMES[1]] + random.normal(size=60)
    model = wrap(LinearRegression().fit(X, y), name="../m: £/`x`", task="regression")
    rows = dataset(X, y, name="rows", task="regression")
    return audit(None, rows, parse_config(ASKED), models=(model,))


@pytest.fixture(scope="module")
def files(result):
    with host.session():  # which the tests share
        yield handoff(result)


@pytest.fixture
def folder(files, tmp_path):
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


def in_r(folder, *words, cwd=None, libraries=""):
    """Run R as somebody without vip and DALEX would; return how it ended."""
    return subprocess.run(
        ["Rscript", "--vanilla", *(words or ["read.R"])],
        cwd=cwd or folder,
        env={**os.environ, "R_LIBS": libraries},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.needs_r
def test_r_computes_every_mean_again(folder):
    answer = in_r(folder)
    assert answer.returncode == 0, answer.stderr
    words = r"4 records computed again from \d+ \w+; largest gap (\S+)\n"
    assert float(re.match(words, answer.stdout)[1]) < 1e-15
    assert answer.stdout.splitlines()[1] == (
        "No object is drawn, which the numbers do not need: no installed package draws "
        "these (vip: not installed; DALEX with ingredients: not installed)"
    )


@pytest.mark.needs_dalex
def test_every_page_of_the_plots_says_what_it_shows(folder):
    plain = "grDevices::pdf.options(compress = FALSE, useKerning = FALSE)"
    script = f'{plain}; source("read.R")'
    answer = in_r(folder, "-e", script, libraries=str(library_folder()))
    assert answer.returncode == 0, answer.stderr
    pdf = (folder / "plots.pdf").read_bytes()
    words = (
        r"plots.pdf has a page for each of the (\d+) objects that an installed package "
    )
    n_pages = int(re.search(words, answer.stdout)[1])
    assert n_pages == len(re.findall(rb"/Type /Page\b", pdf)) > 0
    for head in (b"(record 1, ", b"rmse, python)"):
        assert head in pdf


@pytest.mark.needs_r
@pytest.mark.parametrize("expression", [[], ["-e"]])
def test_the_folder_is_read_from_anywhere(folder, tmp_path_factory, expression):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    file = str(folder / "read.R")
    script = [f"source({json.dumps(file)})"] if expression else [file]
    answer = in_r(folder, *expression, *script, cwd=elsewhere)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("4 records computed again")
    assert not list(elsewhere.iterdir())


@pytest.mark.needs_r
@pytest.mark.parametrize("file", ["importances.csv", "rounds.csv", "vi"])
def test_r_stops_at_a_number_that_is_not_met(folder, files, file):
    if file == "vi":  # an object of other numbers
        vi = sorted(name for name in files if re.match(r"vi-0\.5.*\.rds$", name))
        (folder / vi[0]).write_bytes(files[vi[1]])
    else:
        text = (folder / file).read_text("utf8")
        number = re.search(r"\d\.\d{8,}(?=\D)", text)
        other = f"{float(number[0]) * (1 + 1e-6)!r}"
        (folder / file).write_text(text.replace(number[0], other, 1), "utf8")
    answer = in_r(folder)
    assert answer.returncode == 1
    assert "A number is not met, first in record 1" in answer.stderr


@pytest.mark.needs_r
def test_the_tables_keep_every_digit_and_every_name(files, result):
    assert all(re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name, re.A) for name in files)
    assert not any(".." in name for name in files)
    rows = table(files["importances.csv"])
    of_first = [row for row in rows if row["record"] == "1"]
    assert [unescaped(row["feature"]) for row in of_first] == NAMES
    assert of_first[0]["feature"] == f"'{NAMES[0]}"
    means = [float(row["importance"]) for row in of_first]
    assert means == result.importances[0].mean.tolist()
    assert float(of_first[0]["std"]) == result.importances[0].std[0]


@pytest.mark.needs_r
@pytest.mark.usefixtures("files")
def test_the_command_writes_a_folder_of_a_run_once(result, tmp_path):
    run = save_run(result, tmp_path, {}, exit_code=0)
    words = ["handoff", run, "--to", tmp_path / "for R"]
    sound(*words)
    assert (tmp_path / "for R" / "read.R").is_file()
    for call, message in (
        (words, "already exists. Choose another folder."),
        (["handoff", tmp_path], "result.json cannot be read: No such file or di"),
    ):
        code, output = answer_of(*call)
        assert (code, message in output) == (2, True)


def test_only_other_predictions_rows_or_shapes_have_another_digest():
    f = np.array([1.0, 2.0, 3.0, 4.0])
    others = f * (1 + 1e-5), f * 10, f[::-1], f[:3], f.reshape(2, 2), [*f, np.nan]
    digests = {predictions_sha256(np.array(other)) for other in (f, *others)}
    assert len(digests) == 7
    rounded = f * (1 + 1e-15)  # as another machine may
    assert (rounded != f).any()
    assert predictions_sha256(rounded) == predictions_sha256(f)


@pytest.mark.needs_r
def test_what_dalex_does_not_measure_has_no_object_of_dalex(files):
    rows = table(files["objects.csv"])
    of_dalex = [row for row in rows if row["file"].startswith("DALEX")]
    assert {row["method"] for row in of_dalex} == {"permutation", "partial_dependence"}
    assert {row["record"] for row in rows} >= {"1", "2", "3", "4"}


@pytest.mark.needs_r
def test_every_entry_hands_over_the_target_of_its_own_draws(tmp_path):
    random = np.random.default_rng(3)
    X = pd.DataFrame(random.normal(size=(40, 2)), columns=["a", "b"])
    rows = dataset(X, X["a"] + random.normal(size=40), name="rows", task="regression")
    model = wrap(lambda X: X["a"], name="m", task="regression", features=["a", "b"])
    entry = {"method": "permutation", "seed": 1, "n_repeats": 2, "engines": ["DALEX"]}
    one, other = entry | {"name": "one"}, entry | {"name": "other", "features": ["b"]}
    with host.session():
        config = parse_config({"importance": [one, other]})
        audit_result = audit(None, rows, config, models=(model,))
        files = handoff(audit_result)
    (tmp_path / "last.rds").write_bytes(files[max(f for f in files if "DALEX" in f)])
    (tmp_path / "write.R").write_text(files["r/write_importance.R"], "utf-8")
    lines = 'source("write.R"); write_importance(readRDS("last.rds"), "last.csv")'
    subprocess.run(["Rscript", "--vanilla", "-e", lines], cwd=tmp_path, check=True)
    rounds = table((tmp_path / "last.csv").read_text("utf-8"))
    record = audit_result.importances[-1]
    assert record.features == ("b",)
    losses = [float(r["value"]) for r in rounds if r["feature"] == "_baseline_"]
    np.testing.assert_array_equal(losses, record.y_permuted - record.baseline.mean())


@pytest.mark.needs_r
def test_the_readme_says_which_run_it_is(files, result):
    text = files["README.md"]
    assert "`R_LIBS=/path/to/.r-library Rscript read.R`" in text
    for fact in (result.run.volatile["run_id"], content_digest(result)):
        assert f"`{fact}`" in text
    assert "| seed | 7;" in text
    assert "Python" in result.run.versions
    assert all(f"{k} {v}" in text for k, v in result.run.versions.items())
    (row,) = table(files["models.csv"])
    assert row["predictions_sha256"] == result.models["predictions_sha256"][0]
    assert len(row["predictions_sha256"]) == 64


@pytest.mark.parametrize(
    ("predictions", "text"),
    [
        ([1234.5678, -0.25, 1e-9], "predictions 3 1 -3\n1234568\n-250\n0\n"),
        ([1e-305, -2.5e-305], "predictions 2 1 -311\n1000000\n-2500000\n"),
    ],
)
def test_a_digest_is_that_of_seven_digits(predictions, text):
    digest = predictions_sha256(np.array(predictions))
    assert digest == sha256(text.encode()).hexdigest()
    assert digest != predictions_sha256(np.array([5e-324]))
