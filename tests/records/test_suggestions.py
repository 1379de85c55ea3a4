"""Suggestions of names: how many comparisons they cost, counted and not timed."""

import numpy as np
import pandas as pd
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data import derived_columns
from importance_audit.data.datasets import dataset
from importance_audit.data.read import group_problems
from importance_audit.models.fit import wrap
from importance_audit.records import errors
from importance_audit.records.errors import ConfigError, DataError, did_you_mean, listed

COLUMNS = tuple(f"column {n}" for n in range(2_000))
UNKNOWN = tuple(f"colunm {n}" for n in range(2_000))


@pytest.fixture
def compared(monkeypatch):
    """Return a list that holds how many names each word is compared with."""
    counts = []
    find = errors.get_close_matches

    def count(word, names, n):
        counts.append(len(names))
        return find(word, names, n=n)

    monkeypatch.setattr(errors, "get_close_matches", count)
    return counts


def test_of_very_many_names_those_with_the_first_letter_are_compared():
    names = [*(f"a{n}" for n in range(errors.MANY)), "weight"]
    assert did_you_mean("wieght", names) == " Did you mean 'weight'?"


def check(counts, problems):
    """Fail if a name is not named, or too many were compared."""
    assert len(problems) == len(UNKNOWN)
    assert "Did you mean 'column 0'?" in problems[0]
    assert sum(counts) <= errors.HINTED * errors.MANY


def test_unknown_names_of_groups(compared):
    groups = {f"g{n}": (name,) for n, name in enumerate(UNKNOWN)}
    check(compared, list(group_problems(groups, COLUMNS)))


def test_unknown_columns_held_out(compared):
    frame = pd.DataFrame(np.zeros((2, len(COLUMNS))), columns=COLUMNS)
    with pytest.raises(DataError) as error:
        dataset(frame, [0.0, 1.0], name="rows", task="regression", held_out=UNKNOWN)
    lines = str(error.value).splitlines()
    check(compared, [line for line in lines if "held_out" in line])


def test_unknown_columns_to_derive_from(compared):
    columns = {name: pd.Series([0.0, 1.0]) for name in COLUMNS}
    sections = [
        derived_columns.DerivedSection(
            name=f"d{n}", expression=f"`{name}` * `{COLUMNS[0]}`"
        )
        for n, name in enumerate(UNKNOWN)
    ]
    with pytest.raises(DataError) as error:
        derived_columns.derive(columns, sections, where="rows")
    check(compared, list(dict.fromkeys(str(error.value).splitlines())))


@pytest.mark.parametrize("section", ["report", "expected"])
def test_unknown_features_of_an_audit(section, compared):
    frame = pd.DataFrame(np.zeros((2, len(COLUMNS))), columns=COLUMNS)
    rows = dataset(frame, [0.0, 1.0], name="rows", task="regression")
    entry = {"features": list(UNKNOWN), "place": "zero", "reason": "none"}
    named = {"report": {"always_show": list(UNKNOWN)}, "expected": [entry]}
    document = {"importance": [{"method": "permutation"}], section: named[section]}
    facts = {"name": "m", "task": "regression", "features": COLUMNS}
    model = wrap(lambda X: np.zeros(len(X)), **facts)
    with pytest.raises(ConfigError) as error:
        audit(None, rows, parse_config(document), models=(model,))
    check(compared, error.value.problems)


def test_of_few_names_every_one_is_compared():
    assert did_you_mean("xolumn 7", COLUMNS[:900]) == " Did you mean 'column 7'?"


def test_a_list_that_is_cut_writes_no_more_names_than_it_prints():
    class Name:
        written = 0

        def __repr__(self):
            Name.written += 1
            return "x"

    assert listed([Name()] * 20_000) == "x, x, x, x, x and 19995 more"
    assert Name.written == 5
