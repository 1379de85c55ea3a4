"""Reading the columns by which rows are judged apart, features or not."""

import pandas as pd
import pytest
from tests.data.reading import read

from importance_audit.data.datasets import (
    dataset,
    draw_rows,
    left_out_frame,
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


def datasets(folder, table=TABLE, **keys):
    """Return rows of `x` and their segments by region, or what the keys say."""
    usual = {"features": ["x"], "segments": ["region"]}
    tables = table.to_csv(index=False), {"fraction": 0.5}
    return read(folder, *tables, **usual | keys)


def test_a_segment_that_is_no_feature_is_read_and_given_to_no_model(tmp_path):
    train, test = datasets(tmp_path)
    assert test.features == test.inputs == tuple(test.groups) == ("x",)
    for rows in (test, draw_rows(test, 8, seed=1)):
        own = TABLE["region"].iloc[rows.row_numbers - 1]
        assert words_of(rows.segments["region"]) == own.tolist()
    reasons = left_out_frame(test).set_index("column")["reason"]
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


def words_of(segment):
    return segment.astype(object).fillna("").tolist()


@pytest.mark.parametrize("words", [("True", "False"), ("true", "NA"), ("FALSE", "")])
def test_flags_with_missing_cells_keep_their_words(words, tmp_path):
    flags = pd.Series([*words, "", "true"] * 10)
    own = {"segments": ["member"], "missing_values": ["NA"], "features": ["member"]}
    _, test = datasets(tmp_path, TABLE[["x", "y"]].assign(member=flags), **own)
    expected = flags.replace("NA", "").str.lower().iloc[test.row_numbers - 1].tolist()
    assert test.segments["member"].cat.categories.tolist() == ["false", "true"]
    assert words_of(test.segments["member"]) == expected
    assert test.X["member"].dtype == float


@pytest.mark.parametrize("dtype", [object, "boolean"])
def test_flags_of_typed_tables_keep_their_words(dtype, tmp_path):
    flags = pd.Series([True, False, None, True] * 10, dtype=dtype)
    own = TABLE.assign(flag=flags, zero=[0.0, 1.0, None, 1.0] * 10)
    by, words = own[["flag", "zero"]], ["true", "false", "", "true"] * 10
    asked = {"train": {"r": "a::b"}, "segments": ["flag", "zero"]}
    _, test = datasets(tmp_path, **asked, r_frame=lambda _: own)
    given = dataset(own[["x"]], own["y"], task="regression", name="rows", segments=by)
    for rows, numbers in ((test, test.row_numbers), (given, range(1, 41))):
        flag = rows.segments["flag"]
        assert flag.cat.categories.tolist() == ["false", "true"]
        assert words_of(flag) == [words[n - 1] for n in numbers]
        assert rows.segments["zero"].dtype == float


def test_what_can_be_no_segment_is_refused(tmp_path):
    with pytest.raises(DataError) as caught:
        datasets(tmp_path, segments=["regoin"])
    assert str(caught.value) == (
        "Column 'regoin' ([data] segments) is not in train.csv. Did you mean 'region'?"
    )
    with pytest.raises(ConfigError, match="segments must leave out the target; it"):
        datasets(tmp_path, segments=["y"])
