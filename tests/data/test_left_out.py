"""Columns of a table that are neither audited nor the target, and why."""

import numpy as np
import pandas as pd
import pytest
from tests.data.reading import read

from importance_audit.data.datasets import (
    dataset,
    draw_rows,
    left_out_frame,
)
from importance_audit.records.dataset_and_model import LeftOut
from importance_audit.records.errors import DataError

COLUMNS = {
    "number": [str(n) for n in range(200)],
    "code": [f"c{n}" for n in range(200)],
    "code twice": [f"c{max(n, 1)}" for n in range(200)],
    "length": [f"{n}.5" for n in range(200)],
    "same": ["7"] * 200,
    "nearly": ["a"] * 199 + ["b"],
    "blank": [""] * 200,
    "zone": ["north", "south"] * 100,
    "x": [str(n % 9) for n in range(200)],
    "y": [str(n % 7) for n in range(200)],
}


def text(**columns):
    return pd.DataFrame(COLUMNS | columns).to_csv(index=False)


def left_out(folder, *, columns=(), **keys):
    """Return what reading a table with these columns leaves out."""
    tables = text(**dict(columns)), {"fraction": 0.25}
    train, test = read(folder, *tables, **{"features": ["x"]} | keys)
    assert train.left_out == ()
    return {column.column: column for column in test.left_out}


@pytest.mark.parametrize(
    ("column", "look", "distinct"),
    [
        ("number", "names_rows", 200),
        ("code", "names_rows", 200),
        ("code twice", "", 199),
        ("length", "", 200),
        ("same", "constant", 1),
        ("nearly", "near_constant", 2),
        ("blank", "empty", 0),
        ("zone", "", 2),
    ],
)
def test_a_column_that_is_not_listed_is_described(column, look, distinct, tmp_path):
    found = left_out(tmp_path)
    assert set(found) == set(COLUMNS) - {"x", "y"}
    assert found[column] == LeftOut(column, "not_listed", look, distinct)


def test_a_column_with_another_role_says_which(tmp_path):
    split = {"column": "zone", "value": "south"}
    found = left_out(tmp_path, weights="length", test=split)
    reasons = {name: column.reason for name, column in found.items()}
    assert reasons.pop("length") == "weights"
    assert reasons.pop("zone") == "split"
    assert set(reasons.values()) == {"not_listed"}


def test_an_excluded_column_says_so_and_all_others_are_features(tmp_path):
    excluded = [name for name in COLUMNS if name not in ("x", "zone", "y")]
    found = left_out(tmp_path, features=[], exclude=excluded)
    assert list(found) == excluded
    assert {column.reason for column in found.values()} == {"excluded"}


def test_a_date_of_which_parts_are_taken_says_so(tmp_path):
    days = {"day": [f"2024-01-{1 + n % 28:02}" for n in range(200)]}
    month = {"name": "week", "kind": "date_part", "of": ["day"], "part": "week"}
    found = left_out(tmp_path, columns=days.items(), derived=[month])
    assert found["day"] == LeftOut("day", "dates", "", 28)


def test_a_column_that_only_one_of_the_tables_has_is_said_to_be_left_out(tmp_path):
    train, test, more = (
        "x,a,y\n1,4,0\n2,5,1\n",
        "b,x,y\n7,1,1\n8,2,1\n",
        "c,x\n1,2\n3,4\n",
    )
    (tmp_path / "more.csv").write_text(more)
    keys = {"features": ["x"], "reference_rows": {"file": "more.csv"}}
    _, rows = read(tmp_path, train, test, **keys)
    assert [(column.column, column.reason) for column in rows.left_out] == [
        ("a", "not_listed"),
        ("b", "not_in_training"),
        ("c", "not_in_training"),
    ]


def test_rows_without_training_rows_say_what_they_leave_out(tmp_path):
    _, rows = read(tmp_path, {}, "x,a,y\n1,4,0\n2,5,1\n", features=["x"])
    assert [column.column for column in rows.left_out] == ["a"]


@pytest.mark.parametrize("zero", ["0", "0.0", "-0"])
@pytest.mark.parametrize("test", [None, {"fraction": 0.25}])
def test_rows_of_weight_0_change_nothing(test, zero, tmp_path):
    rows = pd.DataFrame(COLUMNS)[["x", "zone", "y"]].assign(w=["2", "0.5"] * 100)
    wild = pd.DataFrame({"x": "999", "zone": "west", "y": "-1e9", "w": zero}, range(3))
    keys = {"weights": "w", "segments": ["zone"]}
    splits = []
    for table in (rows, pd.concat([wild, rows[:90], wild, rows[90:]])):
        text = table.to_csv(index=False)
        splits.append(read(tmp_path, text, test or text, **keys))
    for plain, mixed in zip(*splits, strict=True):
        assert mixed.sha256 == plain.sha256
        assert mixed.X["zone"].dtype == plain.X["zone"].dtype
        pd.testing.assert_frame_equal(mixed.segments, plain.segments)
    assert (mixed.row_numbers > plain.row_numbers).all()
    (note, *_) = [note for rows in splits[1] for note in rows.notes]
    assert note.message == (
        "6 of 206 rows of train.csv have weight 0 and were left out."
    )
    assert all(not rows.notes for rows in splits[0])


def test_rows_of_weight_0_given_in_python_change_nothing():
    given = {"task": "regression", "name": "rows"}
    X, y, zones = np.arange(8.0).reshape(4, 2), [1.0, 2.0, 3.0, 4.0], list("abba")
    keys = {"weights": [1, 2, 2, 1], "segments": {"zone": zones}}
    plain = dataset(X, y, **given, **keys)
    keys = {"weights": [0, 1, 2, 2, 1], "segments": {"zone": ["z", *zones]}}
    mixed = dataset(np.vstack([[[99, 99]], X]), [-7, *y], **given, **keys)
    assert mixed.sha256 == plain.sha256
    pd.testing.assert_frame_equal(mixed.segments, plain.segments)
    (note,) = mixed.notes
    assert note.message == "1 of 5 rows of rows have weight 0 and were left out."


def test_rows_that_all_have_weight_0_are_refused_as_before():
    with pytest.raises(DataError, match="gives every row the weight 0"):
        dataset([[1], [2]], [1, 2], task="regression", name="rows", weights=[0, 0])


def test_a_text_that_means_missing_is_no_value(tmp_path):
    cells = {"same": ["7"] * 100 + ["?"] * 100}
    found = left_out(tmp_path, columns=cells.items(), missing_values=["?"])
    assert found["same"].look == "constant"


def test_the_frame_has_a_row_per_column_and_none_of_rows_given_in_python(tmp_path):
    _, test = read(tmp_path, text(), {"fraction": 0.25}, features=["x", "zone"])
    frame = left_out_frame(test)
    assert frame["column"].tolist() == [c.column for c in test.left_out]
    rows = dataset([[1.0], [2.0]], [0.0, 1.0], task="regression", name="two")
    assert left_out_frame(rows).empty
    assert left_out_frame(None).empty
    assert rows.row_numbers.size == 0


def test_rows_know_their_numbers_in_the_table_after_every_draw(tmp_path):
    train, test = read(tmp_path, text(), {"fraction": 0.25}, features=["number"])
    for rows in (train, test, draw_rows(test, 20, seed=1)):
        # Column "number" counts from 0.
        assert (rows.X["number"] + 1).tolist() == rows.row_numbers.tolist()
