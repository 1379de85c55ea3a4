"""Rows: what is read, what their columns mean, which are held out."""

import hashlib
import re
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.data import reading
from tests.data.reading import csv_of, refusal

from importance_audit.data.datasets import (
    dataset,
    datasets_frame,
    describe,
)
from importance_audit.data.splits import drawn_rows
from importance_audit.records.errors import DataError

TRAIN = "x,zone,y\n1,north,10\n2,south,11\n3,north,12.5\n"
TEST = "x,zone,y\n4,south,13\n5,north,14\n"


def read(folder, train=TRAIN, test=TEST, **keys):
    return reading.read(folder, train, test, **keys)


def column(cells, folder, **keys):
    """Return the training column that the cells of a CSV file spell."""
    text = csv_of(("x", "y"), *((cell, 1) for cell in cells))
    return read(folder, text, None, **keys)[0].X["x"]


def test_training_rows_that_are_not_known_are_none(tmp_path):
    test = TEST + "6,north,\n"
    train, rows = read(tmp_path, test=test, train={}, drop_missing_target=True)
    assert train is None
    assert rows.y.tolist() == [13, 14]
    assert rows.row_numbers.tolist() == [1, 2]
    assert [note.evidence["rows"] for note in rows.notes] == [1]


# Columns of a CSV file


LEVELS = {"categories": {"x": ["low", "high", "extreme"]}}
NUMBERS_AS_LEVELS = {"categories": {"x": ["1", "2"]}}
WORDS = {"missing_values": ["NA", "?"]}


@pytest.mark.parametrize(
    ("cells", "keys", "dtype", "values"),
    [
        (["1", "-2", "30"], {}, "int64", [1, -2, 30]),
        (["1", "", "3"], {}, "float64", [1.0, None, 3.0]),
        (["1", "", "NA", "?"], WORDS, "float64", [1.0, None, None, None]),
        (["true", "False", "TRUE"], {}, "bool", [True, False, True]),
        (["b", "a", "ä", "b"], {}, ["a", "b", "ä"], ["b", "a", "ä", "b"]),
        (["a", "NA", "b"], WORDS, ["a", "b"], ["a", None, "b"]),
        (["high", "low"], LEVELS, LEVELS["categories"]["x"], ["high", "low"]),
        (["2", "1", "2"], NUMBERS_AS_LEVELS, ["1", "2"], ["2", "1", "2"]),
        (["01067", "02906"], {}, ["01067", "02906"], ["01067", "02906"]),
    ],
)
def test_a_column_is_of_the_type_that_its_cells_spell(
    cells, keys, dtype, values, tmp_path
):
    series = column(cells, tmp_path, **keys)
    is_category = isinstance(dtype, list)  # of its levels, in order
    assert dtype == (series.cat.categories.tolist() if is_category else series.dtype)
    assert [None if pd.isna(cell) else cell for cell in series] == values


def test_whole_numbers_that_a_float_holds_are_numbers(tmp_path):
    for cell, dtype in {
        "9007199254740992": "int64",
        "-9007199254740994": "int64",
        "-9223372036854775808": "int64",
        "9223372036854775808": "float64",
    }.items():
        series = column([cell, "1"], tmp_path)
        assert series.dtype == dtype
        assert int(series[0]) == int(cell)


@pytest.mark.parametrize(
    "cell", ["-9007199254740993", "9223372036854775807", "18446744073709551615"]
)
def test_whole_numbers_that_no_float_holds_are_levels_or_nothing(cell, tmp_path):
    with pytest.raises(DataError, match="more digits than float64 keeps: "):
        column([cell, ""], tmp_path)
    series = column([cell, "1"], tmp_path, categories={"x": [cell, "1"]})
    assert series.tolist() == [cell, "1"]


def test_a_number_of_any_length_is_read(tmp_path):
    with pytest.raises(DataError, match="column 'x' has 1 infinite cell"):
        column(["1" * 5000, "1"], tmp_path)


MISSING = "NA N/A na NaN nan NULL null None none ? - . missing".split()


@pytest.mark.parametrize("word", MISSING)
def test_a_usual_word_for_missing_beside_numbers_is_asked_about(word, tmp_path):
    with pytest.raises(
        DataError,
        match=rf"'x' holds {re.escape(repr(word))} in 4 of 6 cells, which may mean",
    ):
        column([word, "1", word], tmp_path)
    series = column([word, "1", word], tmp_path, missing_values=[word])
    assert series.isna().tolist() == [True, False, True]


DATES = """31.01.2024|1/2/24|2024/1/2|2024-01-31T10:20:30.5+02:00|05-Jan-2024
5 January 2024|Jan 5, 2024"""


@pytest.mark.parametrize("cell", re.split(r"\||\n", DATES))
def test_dates_are_refused_unless_they_are_declared(cell, tmp_path):
    with pytest.raises(DataError, match="holds dates such as"):
        column([cell, "NA"], tmp_path)
    levels = {"x": [cell, "2024"]}
    assert column([cell, "2024"], tmp_path, categories=levels).tolist() == levels["x"]


MARKED = """1,5|2
-1.234,5|2
1,234.5|2
1 234|2
1'234|2
5%|2
$5.00|$6.25
5.00 €|6,25 €
(2.50)|2.5
0.17-|0.2-|0.3
−0.17|0.2
3 kg|4.5 kg
5EUR|6EUR
5 EUR|€6
12,34,567|1,234
1’234|5’678
36 months|60 months
<0.1|0.2|>= 3
3+|0|1|2"""


@pytest.mark.parametrize("cells", [line.split("|") for line in MARKED.splitlines()])
def test_numbers_with_signs_and_units_are_refused(cells, tmp_path):
    with pytest.raises(DataError) as error:
        column(cells, tmp_path)
    words = f"'x' holds numbers that are not written like 1234.5: {cells[0]!r}"
    assert words in str(error.value)
    assert "missing_values" not in str(error.value)
    rows = column(cells, tmp_path, categories={"x": sorted(cells)})
    assert rows.tolist() == cells


def test_marked_numbers_among_numbers_and_words_are_named_first(tmp_path):
    with pytest.raises(DataError, match=r"not written like 1234\.5: '<0\.1'\. Write"):
        column(["<0.1", "0.2", "0.3", "0.4", "lost"], tmp_path)


CATEGORIES = """<18|18-64|65+
1a|1b|2a
CS 101|CS 102
12 Oak|14 Elm
01.50|02.50
2 door|van
A123456789|B123456789
1x12345678901234567|12345678901234567
A1|12|B
1.2.3|1.2.4
1-3|4-6
10.0.0.1|b
1|2|a|b|c
1|2|inf|a|b|c"""
LIKE_NUMBERS = ["1_000", "0x10", "1,5", "٣", "NA", "1 000", "--1"]


@pytest.mark.parametrize(
    "cells",
    [
        *(line.split("|") for line in CATEGORIES.splitlines()),
        *([cell, "b"] for cell in LIKE_NUMBERS),
    ],
)
def test_bands_codes_and_words_with_digits_are_a_category(cells, tmp_path):
    assert column(cells, tmp_path).tolist() == cells


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, {1}, np.array([1, 2])], ids=type)
@pytest.mark.parametrize("others", [[], ["NA", None]])
def test_a_column_of_lists_or_dicts_is_named(cell, others):
    cells = [cell] * (4 - len(others)) + others
    X = pd.DataFrame({"x": [1.0, 2, 3, 4], "tags": pd.Series(cells, dtype=object)})
    words = r"column 'tags' holds mixed values \(dtype object\), which are not numbers"
    with pytest.raises(DataError, match=words):
        dataset(X, [1, 2, 3, 4], task="regression", name="rows")
    for roles in ({}, {"target": "tags", "drop_missing_target": True}):
        for missing in ([], ["NA"]):
            with pytest.raises(DataError, match=words):
                from_r(X.assign(y=range(4)), missing_values=missing, **roles)


@pytest.mark.parametrize("text", ["a\0b", "\0"])
def test_a_level_with_a_nul_character_is_refused(text, tmp_path):
    words = "has levels with a NUL character, which R cannot hold"
    with pytest.raises(DataError, match=f"column 'x' {words}"):
        column([text, "b"], tmp_path)
    X = pd.DataFrame({"x": [text, "b", "c"]})
    with pytest.raises(DataError, match=f"column 'x' {words}"):
        dataset(X, [1, 2, 3], task="regression", name="rows")
    X = pd.DataFrame({"x": [1, 2, 3]})
    with pytest.raises(DataError, match=f"target 'y' {words}"):
        dataset(X, [text, "b", "b"], task="multiclass", name="rows")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_told_its_encoding(encoding, tmp_path):
    (tmp_path / "a.csv").write_bytes(TRAIN.encode(encoding))
    assert refusal(tmp_path, {"file": "a.csv"}) == (
        f'a.csv is UTF-16, not UTF-8. Set encoding = "{encoding}" beside the file, or '
        "save it as UTF-8."
    )


def test_both_files_decide_what_a_column_means(tmp_path):
    train, test = read(tmp_path, "x,y\n1,1\n2,2\n", "x,y\n1.5,1\n2,2\n")
    assert train.X["x"].dtype == test.X["x"].dtype == np.float64


def test_empty_lines_and_a_byte_order_mark_are_no_rows(tmp_path):
    train, _ = read(tmp_path, "\ufeff\r\nx,y\r\n1,2\r\n\r\n3,4\r\n", "x,y\n1,2\n3,4\n")
    assert train.features == ("x",)
    assert train.X["x"].tolist() == [1, 3]


# Typed tables


def from_r(*sides, **keys):
    """Read R data sets that a function hands over, as R's process does."""
    frames = {"p::a": sides[0], "p::b": sides[-1]}
    usual = {"r_frame": frames.get, "test": {"r": "p::b"}}
    return reading.read(Path(), {"r": "p::a"}, **usual | keys)


def frame(x, y=(1.0, 2.0)):
    return pd.DataFrame({"x": x, "y": list(y)})


def test_a_factor_keeps_its_levels_and_order():
    factor = pd.Categorical(["b", "a"], categories=["c", "b", "a"], ordered=True)
    train, test = from_r(frame(factor))
    for rows in (train, test):
        assert rows.X["x"].dtype == factor.dtype
        assert rows.X["x"].tolist() == ["b", "a"]


def test_the_test_rows_take_the_levels_of_the_training_rows():
    train = pd.Categorical(["b", "a"], categories=["b", "a", "c"])
    test = pd.Categorical(["a", "a"], categories=["a", "z"])
    _, rows = from_r(frame(train), frame(test))
    assert rows.X["x"].cat.categories.tolist() == ["b", "a", "c"]
    assert rows.X["x"].tolist() == ["a", "a"]


def test_a_level_of_a_factor_need_not_be_in_the_training_rows():
    factor = pd.Categorical(["b", "b", "a", "a"], categories=["a", "b"])
    table = frame(factor, y=[1, 2, 3, 4]).assign(s=[0, 0, 1, 1])
    train, test = from_r(table, test={"column": "s", "value": 1})
    assert (train.X["x"].tolist(), test.X["x"].tolist()) == (["b", "b"], ["a", "a"])


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (pd.array([1, 2], dtype="Int64"), "int64"),
        (pd.array([1, None], dtype="Int64"), "float64"),
        (pd.array([True, False], dtype="boolean"), "bool"),
        (pd.array([True, None], dtype="boolean"), "float64"),
        (pd.array(["a", None], dtype="string"), "category"),
        (np.array(["a", None], dtype=object), "category"),
        (np.array([1, 2.5], dtype=object), "float64"),
        (np.array([1, 2], dtype="int8"), "int8"),
        (np.array([1, 2], dtype="float32"), "float32"),
        (np.array([True, False]), "bool"),
    ],
)
def test_typed_columns_stay_what_they_are_on_numpys_types(cells, dtype):
    train, _ = from_r(frame(cells))
    series = train.X["x"]
    assert str(series.dtype) == dtype
    assert series.isna().tolist() == pd.isna(cells).tolist()
    is_same = [(a == b) for a, b in zip(series, cells, strict=True) if not pd.isna(b)]
    assert all(is_same)


def test_row_names_of_a_table_are_no_column_and_its_order_is_kept():
    train, _ = from_r(frame([3, 1]).set_axis(["first", "second"]))
    assert train.X.index.tolist() == [0, 1]
    assert train.X["x"].tolist() == [3, 1]


def test_a_file_may_be_tested_on_a_typed_table(tmp_path):
    table = pd.DataFrame({"x": [1.5, 2], "zone": ["north", "south"], "y": [1, 2]})
    train, test = read(tmp_path, test={"r": "p::b"}, r_frame=lambda _: table)
    assert test.X["zone"].dtype == train.X["zone"].dtype
    assert test.X["x"].tolist() == [1.5, 2]


def test_diabetes_comes_in_its_own_units():
    sides = {"sklearn": "load_diabetes"}, {"fraction": 0.25}
    train, test = reading.read(Path(), *sides, target="target")
    ages = pd.concat([train.X["age"], test.X["age"]])
    assert (len(ages), ages.min(), ages.max()) == (442, 19, 79)


@pytest.mark.needs_pyarrow
def test_parquet_keeps_types(tmp_path):
    zone = pd.Categorical(["b", "a"], categories=["b", "a"])
    table = pd.DataFrame({"n": [1, 2], "zone": zone, "word": ["u", "v"], "y": [1.5, 2]})
    table.to_parquet(tmp_path / "a.parquet")
    train, _ = reading.read(tmp_path, {"file": "a.parquet"})
    assert [str(dtype) for dtype in train.X.dtypes] == ["int64", "category", "category"]
    assert train.X["zone"].cat.categories.tolist() == ["b", "a"]


# Splits


def test_a_fraction_takes_each_row_once_by_its_seed_and_keeps_the_order(tmp_path):
    text, test_rows = csv_of(("x", "y"), *((i, i) for i in range(41))), []
    for seed in (1, 1, 2):
        train, test = read(tmp_path, text, {"fraction": 0.25}, seed=seed)
        test_rows.append(test.X["x"].tolist())
        assert len(test.X) == 10
        assert sorted([*train.X["x"], *test.X["x"]]) == list(range(41))
        for rows in (train, test):
            assert rows.X["x"].is_monotonic_increasing
            assert (rows.X["x"] == rows.y).all()
    assert test_rows[0] == test_rows[1] != test_rows[2]


def test_a_drawn_split_keeps_the_share_of_each_class(tmp_path):
    text = csv_of(("x", "y"), *((i, "abbccc"[i % 6]) for i in range(60)))
    train, test = read(tmp_path, text, {"fraction": 0.3}, task="multiclass")
    assert np.bincount(test.y).tolist() == [3, 6, 9]
    assert np.bincount(train.y).tolist() == [7, 14, 21]


@pytest.mark.parametrize(
    ("counts", "fraction", "held_out"),
    [
        ([7, 3], 0.25, [2, 1]),  # 1.75 and 0.75 of 2.5, rounded to 3
        ([9, 3], 0.25, [2, 1]),  # 2.25 and 0.75 of 3
        ([5, 5, 5], 0.1, [1, 1, 0]),  # 0.5 each of 1.5, rounded to 2
    ],
)
def test_what_rounding_leaves_goes_to_the_classes_that_lost_most(
    counts, fraction, held_out
):
    strata = np.repeat(np.array(["a", "b", "c"][: len(counts)], dtype=object), counts)
    is_test = drawn_rows(fraction, 1, strata=strata)
    test_counts = [int((strata[is_test] == name).sum()) for name in "abc"]
    assert test_counts[: len(counts)] == held_out


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        (("test", "train"), "test"),
        (("1", "0"), 1),
        (("1", "0"), "1"),
        (("true", "false"), True),
    ],
)
def test_a_column_says_which_rows_are_test_rows(cells, value, tmp_path):
    text = csv_of(("x", "s", "y"), *((i, cells[i % 2], i) for i in range(4)))
    train, test = read(tmp_path, text, {"column": "s", "value": value})
    assert train.features == test.features == ("x",)
    assert (train.X["x"].tolist(), test.X["x"].tolist()) == ([1, 3], [0, 2])


# Roles


def test_features_are_all_columns_without_another_role(tmp_path):
    text = "a,w,y,b\n1,1,1,1\n2,2,2,2\n"
    train, _ = read(tmp_path, text, text, weights="w")
    assert train.features == ("a", "b")
    assert train.weights.tolist() == [1, 2]
    assert train.groups == {"a": ("a",), "b": ("b",)}


def test_named_features_are_read_in_their_order_and_no_other_column(tmp_path):
    text = "a,b,junk,y\n1,1,2020-01-01,1\n2,2,3,2\n3,3,4,3\n"
    train, _ = read(tmp_path, text, text, features=["b", "a"])
    assert train.features == ("b", "a")


@pytest.mark.parametrize(
    ("cells", "positive", "classes", "y"),
    [
        ("0 1 1", None, ("0", "1"), [0, 1, 1]),
        ("0 1 1", 0, ("1", "0"), [1, 0, 0]),
        ("2 1 2", None, ("2", "1"), [0, 1, 0]),
        ("true false true", None, ("false", "true"), [1, 0, 1]),
        ("true false true", 0, ("true", "false"), [0, 1, 0]),
        ("no yes no", "yes", ("no", "yes"), [0, 1, 0]),
        ("no yes no", "no", ("yes", "no"), [1, 0, 1]),
        ("0 yes 0", "yes", ("0", "yes"), [0, 1, 0]),
    ],
)
def test_one_is_the_positive_class(cells, positive, classes, y, tmp_path):
    text = csv_of(("x", "y"), *((1, cell) for cell in cells.split()))
    data = {} if positive is None else {"positive_class": positive}
    train, test = read(tmp_path, text, text, task="binary", **data)
    assert train.classes == test.classes == classes
    assert train.y.tolist() == y
    assert train.y.dtype == np.float64


DECLARED = {"y": ["low", "none", "mid", "high"]}


@pytest.mark.parametrize(
    ("cells", "declared", "classes", "y"),
    [
        ("10 9 10 2", {}, ["2", "9", "10"], [2, 1, 2, 0]),
        ("low high mid", DECLARED, ["low", "mid", "high"], [0, 2, 1]),
    ],
)
def test_codes_of_classes_follow_numbers_texts_and_declared_levels_in_use(
    cells, declared, classes, y, tmp_path
):
    text = csv_of(("x", "y"), *((1, cell) for cell in cells.split()))
    train, _ = read(tmp_path, text, None, task="multiclass", categories=declared)
    assert ([*train.classes], train.y.tolist()) == (classes, y)


# The digest


def test_the_digest_is_that_of_the_content_spelt_out():
    rows = dataset(
        pd.DataFrame({"n": [1, 2], "z": pd.Categorical(["b", None], ["a", "b"])}),
        [0.5, 1.5],
        task="regression",
        name="any",
    )
    floats = struct.Struct("<2d").pack
    parts = [b"n", b"integer", struct.pack("<2q", 1, 2)]
    parts += [b"z", b"category", b"a", b"b", struct.pack("<2i", 1, -1)]
    parts += [floats(0.5, 1.5), floats(1, 1), b"regression"]
    spelt = b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    assert rows.sha256 == hashlib.sha256(spelt).hexdigest()


def digest(x=(1.0, np.nan), **changed):
    arguments = {"y": [0, 1], "task": "regression", "name": "a"} | changed
    table = pd.DataFrame({arguments.pop("column", "x"): x})
    return dataset(table, arguments.pop("y"), **arguments).sha256


def test_the_digest_is_blind_to_name_split_width_and_kind_of_nan():
    other_nan = np.array([0x3FF0000000000000, 0xFFF8000000000001], "u8").view("f8")
    assert digest(other_nan) == digest()
    assert digest(np.array([1, np.nan], "f4")) == digest()
    assert digest(name="b", split="train") == digest()


def test_a_file_and_the_same_rows_in_python_have_one_digest(tmp_path):
    train, _ = read(tmp_path)
    table = pd.DataFrame({"x": [1, 2, 3], "zone": ["north", "south", "north"]})
    rows = dataset(table, [10, 11, 12.5], task="regression", name="a")
    assert rows.sha256 == train.sha256


# Rows given in Python


def test_columns_of_an_array_are_numbered_and_its_rows_weigh_one():
    rows = dataset(np.eye(3), [1, 2, 3], task="regression", name="eye")
    assert rows.features == ("x1", "x2", "x3")
    assert (rows.weights.tolist(), rows.is_weighted) == ([1, 1, 1], False)
    assert datasets_frame(None, rows)["name"].tolist() == ["eye"]
    table = describe(None, rows)
    assert table["origin"].tolist() == ["data"] * 3
    assert table["missing_train"].isna().all()


def test_rows_are_matched_by_position_not_by_index():
    X = pd.DataFrame({"x": [1, 2]}, index=[5, 6])
    rows = dataset(
        X, pd.Series([3, 4], [6, 5], name="price"), task="regression", name="a"
    )
    assert rows.y.tolist() == [3, 4]
    assert rows.target == "price"
    assert X.index.tolist() == [5, 6]


def test_classes_are_those_of_the_estimator_in_its_order():
    for task, classes, codes in (
        ("multiclass", np.array(["c", "b", "a"]), [2, 1]),
        ("binary", ("a", "b"), [0, 1]),  # the last is the positive one
        ("binary", ("b", "a"), [1, 0]),
    ):
        facts = {"task": task, "name": "a", "classes": classes}
        rows = dataset(np.eye(2), ["a", "b"], **facts)
        assert rows.classes == tuple(classes)
        assert rows.y.tolist() == codes


def test_what_is_given_is_not_what_is_kept():
    X, y = pd.DataFrame({"x": [1.0, 2.0]}), np.array([1.0, 2.0])
    rows = dataset(X, y, task="regression", name="a", weights=y)
    X.loc[0, "x"], y[0] = 9, 9
    assert (rows.X["x"][0], rows.y[0], rows.weights[0]) == (1, 1, 1)


# Frames


def test_columns_are_described_over_all_rows(tmp_path):
    train, test = "x,w,z,y\n1,9,a,1\n,8,b,2\n", "x,w,z,y\n7,6,a,1\n7,8,,2\n"
    section = reading.configured(tmp_path, train, test).data
    table = describe(*read(tmp_path, train, test), section).set_index("feature")
    kinds = table.loc["x", "kind":"levels"].tolist()
    assert kinds == ["number", "float64", "inferred", ()]
    assert table.loc["x", "minimum":].tolist() == [1, 7, 2, 1, 0, ""]
    assert table.loc["w", "minimum":].tolist() == [6, 9, 3, 0, 0, ""]
    own = table.loc["z", ["kind", "levels", "distinct"]].tolist()
    assert own == ["category", ("a", "b"), 2]
    assert table.loc["z", ["missing_train", "missing_test"]].tolist() == [0, 1]
    assert np.isnan(table.loc["z", "minimum"])
    levels = {"z": ["b", "a"]}
    section = reading.configured(tmp_path, train, test, categories=levels).data
    declared = describe(*read(tmp_path, train, test, categories=levels), section)
    assert declared["origin"].tolist() == ["inferred", "inferred", "declared"]


def test_rows_are_named_after_their_table_and_their_part_of_it(tmp_path):
    split = {"column": "zone", "value": "north"}
    for pair, names in (
        (from_r(frame([1, 2])), [("a", "p::a"), ("b", "p::b")]),
        (read(tmp_path), [("train", "train.csv"), ("test", "test.csv")]),
        (
            read(tmp_path, TRAIN + TEST[9:], split),
            [
                ("train (train)", "train.csv, all other rows"),
                ("train (test)", "train.csv, rows with zone = 'north'"),
            ],
        ),
    ):
        assert [(rows.name, rows.source) for rows in pair] == names


def test_datasets_are_told_training_rows_first(tmp_path):
    text = "x,w,y\n1,1,1\n2,2,2\n,1,3\n4,1,4\n"
    train, test = read(tmp_path, text, {"fraction": 0.5}, weights="w", seed=3)
    table = datasets_frame(train, test)
    assert table["split"].tolist() == ["train", "test"]
    assert table["rows"].tolist() == [2, 2]
    assert table["missing_cells"].sum() == 1
    assert table["sha256"].tolist() == [train.sha256, test.sha256]
    assert table["source"].tolist() == [
        "train.csv, all other rows",
        "train.csv, 0.5 of the rows, drawn with seed 3",
    ]


def test_problems_that_do_not_depend_on_each_other_are_told_together(tmp_path):
    bad = "a,b,c,y\n1,1,inf,1\n2,2,2,2\nx,3,3,3\n4,oops,4,4\n"
    with pytest.raises(DataError) as typing:
        read(tmp_path, bad, bad)
    assert len(str(typing.value).splitlines()) == 2
    bad = "a,c,w,y\n,inf,-1,1\n,2,1,2\n"
    with pytest.raises(DataError) as roles:
        read(tmp_path, bad, "a,c,w,y\n1,2,1,1\n1,2,1,2\n", weights="w")
    assert len(str(roles.value).splitlines()) == 3
