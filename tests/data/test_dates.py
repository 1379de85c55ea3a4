"""Dates: their parts, the models that may read them, and what is refused."""

import re
import tomllib
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.data.reading import csv_of, read, workbook
from tests.docs import pages

import importance_audit as ia
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset, describe, read_datasets
from importance_audit.data.dates import PARTS
from importance_audit.data.derived_columns import DerivedSection, with_derived
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.records.errors import ConfigError, DataError, ModelError

LINEAR = {"name": "linear", "estimator": "sklearn.linear_model.LinearRegression"}
WHEN = {"name": "part", "kind": "date_part", "of": ["when"], "part": "month"}


def by_hand(time, part):
    """Return a part of one date, as Python's datetime and ISO 8601 have it."""
    return {
        "year": time.year,
        "quarter": 1 + (time.month - 1) // 3,
        "month": time.month,
        "week": time.isocalendar()[1],
        "day": time.day,
        "dayofyear": time.timetuple().tm_yday,
        "weekday": time.isoweekday(),
        "hour": time.hour,
        "minute": time.minute,
        "days": time.date().toordinal() - 719_163,
    }[part]


def rows_of(folder, cells, *sections, **keys):
    """Return rows of dates that these cells spell, of x and of a target."""
    text = csv_of(("when", "x", "y"), *((cell, i, i) for i, cell in enumerate(cells)))
    return read(folder, text, derived=list(sections), **keys)[0]


# --- parts ----------------------------------------------------------------------------


def test_the_first_and_the_last_year_that_pandas_holds_are_read(tmp_path):
    year = WHEN | {"part": "year"}
    rows = rows_of(tmp_path, ["1678-01-01", "2261-12-31"], year)
    assert rows.X["part"].tolist() == [1678, 2261]
    for cell in ("1677-12-31", "2262-01-01"):
        with pytest.raises(DataError, match="of the years 1678 to 2261"):
            rows_of(tmp_path, [cell, "2024-01-01"], year)


@given(
    times=st.lists(
        st.datetimes(
            pd.Timestamp(1678, 1, 2).to_pydatetime(),
            pd.Timestamp(2261, 12, 30).to_pydatetime(),
        ),
        min_size=2,
    )
)
def test_a_part_is_what_python_says_of_each_date(times):
    times = [time.replace(microsecond=0) for time in times]
    sections = tuple(
        DerivedSection(name=part, kind="date_part", of=("when",), part=part)
        for part in PARTS
    )
    X = pd.DataFrame({"when": pd.Series(times, dtype="datetime64[ns]")})
    rows = dataset(X, np.arange(len(X)), task="regression", name="rows")
    derived = with_derived(rows, sections)
    for part in PARTS:
        assert derived.X[part].tolist() == [by_hand(time, part) for time in times], part


BARE = {key: value for key, value in WHEN.items() if key != "kind"}


@pytest.mark.parametrize(
    ("cells", "section", "data", "months"),
    [
        (["2024-01-31", "2023-12-31"], BARE, {}, [1, 12]),  # the part says the kind
        (["31.01.2024", "01.02.2024"], WHEN | {"format": "%d.%m.%Y"}, {}, [1, 2]),
        (
            ["2024-01-31", "", "NA", "2023-12-31"],
            WHEN,
            {"missing_values": ["NA"]},
            [1, np.nan, np.nan, 12],
        ),
    ],
)
def test_dates_of_a_file_have_their_parts(cells, section, data, months, tmp_path):
    rows = rows_of(tmp_path, cells, section, **data)
    np.testing.assert_array_equal(rows.X["part"], months)


@pytest.mark.needs_openpyxl
@pytest.mark.parametrize("is_sheet_first", [False, True])
def test_texts_of_dates_and_dates_of_a_sheet_are_one_column(is_sheet_first, tmp_path):
    texts = csv_of(("when", "x", "y"), ("31.01.2024", 1, 1), ("01.02.2024", 2, 2))
    days = [(datetime(2023, 11, 28), 3, 3), (None, 4, 4)]
    workbook(tmp_path / "a.xlsx", Data=[("when", "x", "y"), *days])
    tables = [texts, {"file": "a.xlsx"}]
    parts = [[1, 2], [11, np.nan]]
    if is_sheet_first:
        tables, parts = tables[::-1], parts[::-1]
    both = read(tmp_path, *tables, derived=[WHEN | {"format": "%d.%m.%Y"}])
    for rows, months in zip(both, parts, strict=True):
        np.testing.assert_array_equal(rows.X["part"], months)


def test_a_part_is_a_feature_that_others_may_be_made_of_and_its_source_is_none(
    tmp_path,
):
    late = {"name": "late", "expression": "part > 6"}
    rows = rows_of(tmp_path, ["2024-01-31", "2024-07-29T10:20"], WHEN, late)
    assert rows.features == ("x", "part", "late")
    assert rows.inputs == ("x", "part")
    assert rows.X[["part", "late"]].to_numpy().tolist() == [[1, 0], [7, 1]]
    columns = describe(rows, rows, derived=(DerivedSection(**WHEN),))
    own = columns.set_index("feature").loc["part", ["origin", "definition"]]
    assert own.tolist() == ["derived", "month of when"]


def test_the_clock_of_the_column_is_read():
    times = pd.to_datetime(["2024-01-01 00:30", "2024-07-01 23:10"])
    X = pd.DataFrame({"when": times.tz_localize("Europe/Berlin")})
    section = DerivedSection(name="p", kind="date_part", of=("when",), part="hour")
    rows = dataset(X, [0, 1], task="regression", name="rows")
    assert with_derived(rows, (section,)).X["p"].tolist() == [0, 23]


IN_4, IN_2 = "'31.01.2024' in 4 of 6 cells", "'9999-12-31' in 2 of 4 cells"
ZONES = "2024-01-31T10:00+01:00 2024-07-31T10:00+02:00"


@pytest.mark.parametrize(
    ("cells", "keys", "words"),
    [
        ("2024-01-31 31.01.2024 31.01.2024", {}, f"{IN_4}, where dates such as"),
        ("2024-01-31 9999-12-31", {"format": "%Y-%m-%d"}, f"{IN_2}, where dates in"),
        (ZONES, {}, "times with several offsets from UTC: '1:00:00', '2:00:00'. Use a"),
    ],
)
def test_what_is_no_date_is_refused(cells, keys, words, tmp_path):
    with pytest.raises(DataError) as error:
        rows_of(tmp_path, cells.split(), WHEN | keys)
    assert str(error.value).startswith(f"train.csv: column 'when' holds {words}")


OF_A_FORMULA = {"kind": "expression", "expression": "x + 1", "of": None, "part": None}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"part": "moon"}, "part must be one of 'year', .* Did you mean 'month'"),
        ({"part": None}, "part is missing; kind 'date_part' needs it"),
        ({"of": None}, "of is missing; kind 'date_part' needs it"),
        ({"of": ["when", "x"]}, "of must name one column .*; 2 were given"),
        (OF_A_FORMULA | {"format": "%Y"}, "format does not work with kind"),
    ],
)
def test_keys_that_do_not_go_together_are_named(keys, words):
    section = {k: v for k, v in (WHEN | keys).items() if v is not None}
    with pytest.raises(ConfigError, match=words):
        parse_config({"derived": [section]})


# --- who reads dates ------------------------------------------------------------------


def days_since(X):
    """Return days since 2024 and x, of a frame whose dates are dates."""
    days = (X["when"] - pd.Timestamp(2024, 1, 1)) / pd.Timedelta(days=1)
    return np.column_stack([days.fillna(0), X["x"]])


def dated(n=60):
    rng = np.random.default_rng(2)
    when = pd.Timestamp(2024, 1, 1) + pd.to_timedelta(rng.integers(0, 9e5, n), "min")
    X = pd.DataFrame({"when": when, "x": rng.normal(size=n)})
    return X, days_since(X) @ [0.01, 1.0] + rng.normal(scale=0.1, size=n)


@pytest.mark.parametrize("kind", ["datetime64", "missing", "objects"])
def test_a_pipeline_of_dates_is_measured_as_its_predictions_say(kind):
    X, y = dated()
    if kind == "missing":
        X.loc[3, "when"] = pd.NaT
    model = make_pipeline(FunctionTransformer(days_since), LinearRegression()).fit(X, y)
    if kind == "objects":
        X["when"] = np.array(X["when"].dt.to_pydatetime(), dtype=object)
    result = ia.audit(model, X, y, n_repeats=2)
    error = np.sqrt(np.mean((y - model.predict(X)) ** 2))
    assert result.result.importances[0].baseline == pytest.approx(error, rel=1e-12)
    assert result.to_frame().set_index("feature")["mean"]["when"] > 0
    columns = result.result.columns.set_index("feature")
    assert columns.loc["when", "definition"] == "seconds since 1970-01-01"


def test_dates_of_a_typed_table_reach_the_model_as_dates(tmp_path):
    X, y = dated(9)
    frame = X.assign(y=y)
    rows, _ = read(tmp_path, {"r": "a::b"}, r_frame=lambda _: frame)
    assert rows.X["when"].dtype == np.float64
    assert rows.types["when"].dtype == X["when"].dtype


@pytest.mark.needs_openpyxl
def test_a_target_of_dates_of_a_sheet_is_refused(tmp_path):
    days = [(1, datetime(2023, 11, 28)), (2, datetime(2023, 11, 29))]
    workbook(tmp_path / "a.xlsx", Data=[("x", "y"), *days])
    with pytest.raises(DataError, match=r"'y' holds dates .* only features can hold"):
        read(tmp_path, {"file": "a.xlsx"})


def test_a_time_zone_reaches_the_model():
    X, _ = dated()
    X["when"] = X["when"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    seen = []

    def hours(rows):
        seen.append(rows["when"])
        return rows["when"].dt.hour + rows["x"]

    result = ia.audit(hours, X, hours(X), n_repeats=2)
    assert result.to_frame().set_index("feature")["mean"]["when"] > 0
    assert {str(column.dtype) for column in seen} == {str(X["when"].dtype)}
    assert set().union(*seen) == set(X["when"])


def test_dates_that_no_model_reads_are_no_fault():
    X, y = dated()
    model = LinearRegression().fit(X[["x"]], y)
    values = ia.audit(model, X, y, n_repeats=2).to_frame().set_index("feature")["mean"]
    assert values["when"] == 0 < values["x"]


def test_a_model_fitted_by_the_audit_is_not_given_dates():
    X, y = dated()
    rows = dataset(X, y, task="regression", name="rows")
    with pytest.raises(ModelError) as error:
        fit(ModelSection(**LINEAR), rows)
    assert str(error.value) == (
        "Model 'linear' reads 'when', which holds dates, and can be given numbers and "
        "levels only. Take parts of the dates under [[derived]], such as kind = "
        '"date_part", part = "month", and do not list the column itself under [data] '
        "features."
    )


def test_a_target_of_dates_is_refused():
    X, _ = dated()
    with pytest.raises(DataError) as error:
        dataset(X[["x"]], X["when"], task="regression", name="rows")
    assert str(error.value) == (
        "rows: y holds dates (dtype datetime64[ns]), which only features can hold. "
        "Convert them to numbers."
    )


def test_the_page_names_every_part_and_its_block_reads_rows(tmp_path):
    listed = pages.rows_of("docs/tables.md", "part")
    assert {name for row in listed for name in pages.codes(row[0])} == set(PARTS)
    days = ["2024-02-29", "2024-03-31T23:59", ""]
    lines = [(day, i, i) for i, day in enumerate(days * 4)]
    (tmp_path / "visits.csv").write_text(csv_of(("visit", "x", "y"), *lines))
    page = pages.text_of("docs/tables.md").partition("## Dates")[2]
    document = tomllib.loads(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    rows, _ = read_datasets(**parse_config(document, base=tmp_path).data_arguments)
    assert rows.inputs == ("x", "visit_month", "visit_weekday")
    pairs = rows.X[["visit_month", "visit_weekday"]].dropna().to_numpy().tolist()
    assert {tuple(pair) for pair in pairs} == {(2, 4), (3, 7)}
