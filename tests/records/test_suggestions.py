"""Suggestions of names: how many comparisons they cost, counted and not timed."""

import numpy as np
import pandas as pd
import pytest

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.records import errors
from importance_audit.records.errors import ConfigError, did_you_mean, listed

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


def test_many_unknown_features_of_an_audit_are_named_and_few_of_them_compared(compared):
    frame = pd.DataFrame(np.zeros((2, len(COLUMNS))), columns=COLUMNS)
    rows = dataset(frame, [0.0, 1.0], name="rows", task="regression")
    report = {"always_show": list(UNKNOWN)}
    config = parse_config({"importance": [{"method": "permutation"}], "report": report})
    facts = {"name": "m", "task": "regression", "features": COLUMNS}
    model = wrap(lambda X: np.zeros(len(X)), **facts)
    with pytest.raises(ConfigError) as error:
        audit(None, rows, config, models=(model,))
    assert len(error.value.problems) == len(UNKNOWN)
    assert "Did you mean 'column 0'?" in error.value.problems[0]
    assert sum(compared) <= errors.HINTED * errors.MANY


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
