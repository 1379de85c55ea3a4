"""Data sets of R packages as DataFrames."""

import pandas as pd
import pytest

from importance_audit.r_bridge.errors import RBridgeError, RUnavailable
from importance_audit.r_bridge.rds import read_data_set

pytestmark = pytest.mark.needs_r


def test_a_data_frame_has_its_types(r):
    iris = read_data_set(r, "datasets::iris")
    assert iris.shape == (150, 5)
    assert iris["Sepal.Length"].sum() == pytest.approx(876.5)
    species = pd.CategoricalDtype(["setosa", "versicolor", "virginica"])
    assert iris["Species"].dtype == species


def test_row_names_stay_behind(r):
    assert read_data_set(r, "datasets::mtcars").index.equals(pd.RangeIndex(32))


def test_a_table_has_one_row_per_cell(r):
    titanic = read_data_set(r, "datasets::Titanic")
    assert titanic.columns.tolist() == ["Class", "Sex", "Age", "Survived", "count"]
    assert (len(titanic), titanic["count"].sum()) == (32, 2201)


def test_a_matrix_has_its_columns(r):
    assert read_data_set(r, "datasets::volcano").shape == (87, 61)


def test_an_object_is_found_in_the_file_that_holds_it(r):
    assert read_data_set(r, "datasets::beaver1").shape == (114, 4)


@pytest.mark.needs_dalex
def test_the_apartments_are_those_of_dalex(r):
    apartments = read_data_set(r, "DALEX::apartments")
    assert apartments.shape == (1000, 6)
    assert apartments["m2.price"].mean() == pytest.approx(3487.019)
    assert apartments["district"].cat.categories[0] == "Bemowo"


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "iris",
            RBridgeError,
            "An R data set must be named like 'DALEX::apartments'; 'iris' was given.",
        ),
        (
            "datasets::irs",
            RBridgeError,
            "R package 'datasets' has no data set 'irs'. Did you mean 'iris'?",
        ),
        (
            "datasets::xyz123",
            RBridgeError,
            "R package 'datasets' has no data set 'xyz123'.",
        ),
        (
            "datasets::AirPassengers",
            RBridgeError,
            "R data set 'datasets::AirPassengers' must be a data.frame, matrix or "
            "table, but it is a ts.",
        ),
        (
            "no.such.package::x",
            RUnavailable,
            "R package 'no.such.package' of data set 'no.such.package::x' is not "
            'installed. In R: install.packages("no.such.package")',
        ),
    ],
)
def test_what_is_no_data_set_is_refused(r, name, kind, message):
    with pytest.raises(RBridgeError) as refusal:
        read_data_set(r, name)
    assert type(refusal.value) is kind
    assert str(refusal.value) == message
