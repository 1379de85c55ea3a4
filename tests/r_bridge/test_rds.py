"""Data sets of R packages as DataFrames."""

import pandas as pd
import pytest
from tests.cases import for_each

from importance_audit.r_bridge.errors import RBridgeError, RUnavailable
from importance_audit.r_bridge.rds import read_data_set

pytestmark = pytest.mark.needs_r


def test_a_data_frame_has_its_types(r):
    iris = read_data_set(r, "datasets::iris")
    assert iris.shape == (150, 5)
    assert iris["Sepal.Length"].sum() == pytest.approx(876.5)
    species = pd.CategoricalDtype(["setosa", "versicolor", "virginica"])
    assert iris["Species"].dtype == species


def test_a_table_has_one_row_per_cell(r):
    titanic = read_data_set(r, "datasets::Titanic")
    assert titanic.columns.tolist() == ["Class", "Sex", "Age", "Survived", "count"]
    assert (len(titanic), titanic["count"].sum()) == (32, 2201)


@for_each([("mtcars", (32, 11)), ("volcano", (87, 61)), ("beaver1", (114, 4))])
def test_row_names_stay_behind_and_matrices_and_parts_of_a_file_are_found(case, r):
    name, shape = case
    data = read_data_set(r, f"datasets::{name}")
    assert data.shape == shape
    assert data.index.equals(pd.RangeIndex(shape[0]))


@pytest.mark.needs_dalex
def test_the_apartments_are_those_of_dalex(r):
    apartments = read_data_set(r, "DALEX::apartments")
    assert apartments.shape == (1000, 6)
    assert apartments["m2.price"].mean() == pytest.approx(3487.019)
    assert apartments["district"].cat.categories[0] == "Bemowo"


NAMES = "An R data set must be named like 'DALEX::apartments'; 'iris' was given."
NO_PACKAGE = (
    "R package 'no.such.package' of data set 'no.such.package::x' is not installed. In "
    'R: install.packages("no.such.package")'
)


@for_each(
    [
        ("iris", NAMES),
        ("datasets::irs", "has no data set 'irs'. Did you mean 'iris'?"),
        ("datasets::xyz123", "R package 'datasets' has no data set 'xyz123'."),
        ("datasets::AirPassengers", "a data.frame, matrix or table, but it is a ts."),
        ("no.such.package::x", NO_PACKAGE),
    ]
)
def test_what_is_no_data_set_is_refused(case, r):
    name, words = case
    kind = RUnavailable if words == NO_PACKAGE else RBridgeError
    with pytest.raises(kind) as refusal:
        read_data_set(r, name)
    assert type(refusal.value) is kind
    assert str(refusal.value).endswith(words)
