"""The tables of R's vip::vi: order, scale and ranks of scores that we draw alike."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.methods.importance.test_model_specific_reference import ranks
from tests.methods.importance.test_permutation import in_form, recorded, recorded_case

from importance_audit.methods.importance.permutation import permutation

TABLES = recorded("vip_permute", "shown_cases")
RANKED = [p for p in TABLES if p.values[0]["shown"]["rank"]]


def is_old(case):
    """Return whether a case is of the line that ranks by turning the table round."""
    return case["version"].startswith("0.4")


def scores(case):
    """Return our scores of a case, a row per feature and a column per repeat."""
    model, data = recorded_case(case)
    if case.get("target") == "model":
        data = replace(data, y=model.predict(data.X))
    line = "vip-0.4" if is_old(case) else "vip-0.5"
    options = {"seed": case["seed"], "n_repeats": case["n_repeats"]}
    raw, baseline = permutation(model, data, stream=line, **options)
    with np.errstate(invalid="ignore"):
        numbers = in_form(case["form"], raw, baseline)[..., 0]
    return pd.DataFrame(numbers, index=list(data.groups))


def table_of_vi(values, case):
    """Return importances in the order, scale and ranks that a line of vip shows."""
    settings, table = case["shown"], values.dropna()
    if settings["sort"]:
        table = table.sort_values(ascending=not settings["decreasing"], kind="stable")
    if settings["scale"]:
        table = 100 * table / table.max()
    if not settings["rank"]:
        return table
    places = pd.Series(np.arange(1.0, len(table) + 1), table.index)
    if is_old(case):  # the ranks from below, read from the last row to the first
        return pd.Series(table.rank().fillna(places).to_numpy()[::-1], table.index)
    return table.rank(ascending=False).fillna(places)


@for_each(TABLES)
def test_scores_make_the_table_of_vi(case):
    table = table_of_vi(scores(case).mean(axis=1), case)
    assert list(table.index) == list(case["importance"])
    truth = list(case["importance"].values())
    assert table.to_numpy() == pytest.approx(truth, rel=1e-9, abs=1e-12)


@for_each([p for p in TABLES if "spread" in p.values[0]])
def test_the_spread_of_a_table_is_never_scaled_or_ranked(case):
    spread = scores(case).std(axis=1, ddof=1)[list(case["spread"])]
    truth = list(case["spread"].values())
    assert spread.to_numpy() == pytest.approx(truth, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", RANKED)
def test_we_rank_as_vip_05_and_as_vip_04_only_where_it_sorts_without_ties(case):
    means = scores(case).mean(axis=1)
    ours = ranks(means.to_dict(), "difference")
    is_tied = means.duplicated().any()
    is_sorted = case["shown"]["sort"] and case["shown"]["decreasing"]
    has_scale = means.max() > 0 or not case["shown"]["scale"]
    is_right = has_scale and (not is_old(case) or (is_sorted and not is_tied))
    assert (ours == case["importance"]) == is_right
