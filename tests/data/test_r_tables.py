"""Rows from R: an .rds file with its digest, and what an R script makes."""

import hashlib
import subprocess
from functools import partial

import pandas as pd
import pytest
from tests.data import reading

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.records.errors import DataError

pytestmark = [pytest.mark.needs_r, pytest.mark.usefixtures("shared_r")]

SPLIT = """
rows <- datasets::iris
drawn <- sample(nrow(rows), 100)
list(train = rows[drawn, ], test = rows[-drawn, ])
"""


@pytest.fixture
def read(tmp_path):
    """Read iris from sources beside the audit."""
    roles = {"target": "Species", "task": "multiclass"}
    return partial(reading.read, tmp_path, **roles)


@pytest.fixture
def saved(tmp_path):
    """Save an R value and return it as a source."""

    def save(expression):
        code = f"saveRDS({expression}, '{tmp_path / 'd.rds'}')"
        subprocess.run(["Rscript", "--vanilla", "-e", code], check=True)
        digest = hashlib.sha256((tmp_path / "d.rds").read_bytes()).hexdigest()
        return {"rds": "d.rds", "sha256": digest}

    return save


def test_a_saved_data_frame_is_that_of_the_package(read, saved):
    half = {"fraction": 0.5}
    rows, _ = read(saved("datasets::iris"), half)
    expected, _ = read({"r": "datasets::iris"}, half)
    pd.testing.assert_frame_equal(rows.X, expected.X)
    assert rows.sha256 == expected.sha256
    assert rows.classes == expected.classes == ("setosa", "versicolor", "virginica")


def test_a_file_of_another_digest_is_never_read(read, saved):
    source = saved("datasets::iris") | {"sha256": "0" * 64}
    with pytest.raises(
        DataError, match=r"^The sha256 of 'd\.rds' is '\w{64}', and .* '0{64}'\."
    ):
        read(source, {"fraction": 0.5})


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("lm(speed ~ dist, cars)", "matrix or table, but it is a lm."),
        ("AirPassengers", "matrix or table, but it is a ts."),
    ],
)
def test_what_is_no_table_is_refused_by_name(read, saved, expression, message):
    with pytest.raises(RBridgeError) as refusal:
        read(saved(expression), {"fraction": 0.5})
    assert str(refusal.value) == f"d.rds must be a data.frame, {message}"


def test_a_script_splits_the_rows_once_and_for_all(read, tmp_path):
    (tmp_path / "split.R").write_text(SPLIT)
    source = {"r_script": "split.R"}
    train, test = read(source, source)
    assert (train.n_samples, test.n_samples) == (100, 50)
    both = pd.concat([train.X, test.X]).sort_values(list(train.features))
    iris, _ = read({"r": "datasets::iris"}, {"r": "datasets::iris"})
    expected = iris.X.sort_values(list(train.features))
    pd.testing.assert_frame_equal(
        both.reset_index(drop=True), expected.reset_index(drop=True)
    )
    assert read(source, source)[0].sha256 == train.sha256
    assert train.script == test.script == SPLIT
    assert train.script_sha256 == hashlib.sha256(SPLIT.encode()).hexdigest()


def test_a_column_with_the_name_of_a_part_is_a_column(read, tmp_path):
    (tmp_path / "split.R").write_text("data.frame(datasets::iris, train = 1:150)")
    rows, _ = read({"r_script": "split.R"}, {"fraction": 0.5})
    assert "train" in rows.features


def test_a_script_that_makes_no_rows_is_told_in_the_words_of_r(read, tmp_path):
    source = {"r_script": "split.R"}
    for script, message in {
        "stop('no rows')": "split.R did not make the rows. R says: no rows",
        "list(a = 1)": "The value of split.R, or its element 'train', must be a "
        "data.frame, matrix or table, but it is a list.",
    }.items():
        (tmp_path / "split.R").write_text(script)
        with pytest.raises(RBridgeError) as refusal:
            read(source, source)
        assert str(refusal.value) == message
