"""Reading the columns by which rows are judged apart, features or not."""

import pandas as pd
import pytest

from importance_audit.config.load import parse_config
from importance_audit.data.datasets import (
    dataset,
    draw_rows,
    left_out_frame,
    read_datasets,
)
from importance_audit.records.errors import ConfigError, DataError

TABLE = pd.DataFrame(
    {
        "x": range(40),
        "region": ["north", "south", "", "east"] * 10,
        "day": [f"20{10 + n % 3}-0{1 + n % 9}-15" for n in range(40)],
        "y": [n % 7 for n in range(40)],
    }
)


def datasets(folder, *, r_frame=None, derived=(), **data):
    TABLE.to_csv(folder / "a.csv", index=False)
    usual = {"train": {"file": "a.csv"}, "test": {"fraction": 0.5}, "target": "y"}
    usual |= {"task": "regression", "features": ["x"], "segments": ["region"]}
    config = parse_config({"data": usual | data, "derived": derived}, base=folder)
    return read_datasets(**config.data_arguments, r_frame=r_frame)


def test_a_segment_that_is_no_feature_is_read_and_given_to_no_model(tmp_path):
    train, test = datasets(tmp_path)
    assert test.features == test.inputs == tuple(test.groups) == ("x",)
    own = TABLE["region"].iloc[test.row_numbers - 1]
    assert test.segments["region"].astype(object).fillna("").tolist() == own.tolist()
    reasons = left_out_frame(train).set_index("column")["reason"]
    assert reasons["region"] == "segments"
    assert train.segments.empty


def test_a_segment_may_be_a_feature_and_a_derived_column(tmp_path):
    year = {"name": "year", "of": ["day"], "part": "year"}
    _, test = datasets(
        tmp_path, derived=[year], features=["x", "region"], segments=["region", "year"]
    )
    assert test.segments["region"].equals(test.X["region"])
    assert test.segments["year"].equals(test.X["year"])


def test_dates_of_a_typed_table_go_by_their_year(tmp_path):
    typed = TABLE.assign(day=pd.to_datetime(TABLE["day"]))
    _, test = datasets(
        tmp_path, train={"r": "a::b"}, segments=["day"], r_frame=lambda _: typed
    )
    own = typed["day"].iloc[test.row_numbers - 1].dt.year
    assert test.segments["day"].tolist() == own.tolist()


def levels_of(segment):
    return list(segment.cat.categories), segment.astype(object).fillna("").tolist()


@pytest.mark.parametrize("words", [("True", "False"), ("true", "NA"), ("FALSE", "")])
def test_flags_with_missing_cells_keep_their_words(words, tmp_path):
    flags = pd.Series([*words, "", "true"] * 10)
    flags.rename("member").to_frame().join(TABLE[["x", "y"]]).to_csv(tmp_path / "b.csv")
    train = {"file": "b.csv", "index_column": ""}
    own = {"segments": ["member"], "missing_values": ["NA"], "features": ["member"]}
    _, test = datasets(tmp_path, train=train, **own)
    expected = flags.replace("NA", "").str.lower().iloc[test.row_numbers - 1].tolist()
    assert levels_of(test.segments["member"]) == (["false", "true"], expected)
    assert test.X["member"].dtype == float


@pytest.mark.parametrize("dtype", [object, "boolean"])
def test_flags_of_typed_tables_keep_their_words(dtype, tmp_path):
    flags = pd.Series([True, False, None, True] * 10, dtype=dtype)
    own = TABLE.assign(flag=flags, zero=[0.0, 1.0, None, 1.0] * 10)
    asked = {"train": {"r": "a::b"}, "segments": ["flag", "zero"]}
    _, test = datasets(tmp_path, **asked, r_frame=lambda _: own)
    words = ["true", "false", "", "true"] * 10
    expected = [words[n - 1] for n in test.row_numbers]
    assert levels_of(test.segments["flag"]) == (["false", "true"], expected)
    assert test.segments["zero"].dtype == float
    by = own[["flag", "zero"]]
    given = dataset(own[["x"]], own["y"], task="regression", name="rows", segments=by)
    assert levels_of(given.segments["flag"])[1] == words
    assert given.segments["zero"].dtype == float


def test_rows_that_are_drawn_keep_their_segments(tmp_path):
    _, test = datasets(tmp_path)
    cut = draw_rows(test, 8, seed=1)
    by_x = dict(
        zip(test.X["x"], test.segments["region"].astype(object).fillna(""), strict=True)
    )
    assert [by_x[x] for x in cut.X["x"]] == cut.segments["region"].astype(
        object
    ).fillna("").tolist()


def test_what_is_no_column_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(DataError) as caught:
        datasets(tmp_path, segments=["regoin"])
    assert str(caught.value) == (
        "Column 'regoin' ([data] segments) is not in a.csv. Did you mean 'region'?"
    )


def test_the_target_tells_no_segments(tmp_path):
    with pytest.raises(ConfigError) as caught:
        datasets(tmp_path, segments=["y"])
    rule = "[data] segments must leave out the target; it holds 'y'."
    assert rule in str(caught.value)
