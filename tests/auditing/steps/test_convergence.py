"""A ranking after its first repeats alone."""

from dataclasses import replace

import pytest

from importance_audit.auditing.audit import audit
from importance_audit.auditing.steps.convergence import halvings
from importance_audit.config.load import parse_config
from importance_audit.methods.importance.random_subspace import PERF, TWIN
from importance_audit.methods.known_answers import normal_data
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

GROUPS = {"ab": ["x6", "x1"], "c": ["x3"]}
OLS = {"name": "m", "estimator": "sklearn.linear_model.LinearRegression"}


def audited(method, n_repeats, groups=None, data=None):
    """Return the result of one question about least squares."""
    data = data or replace(normal_data(3, 2, 1, 0, 0, 0), split="train")
    entry = {"method": method, "n_repeats": n_repeats, "losses": ["mse"]}
    config = {"models": [OLS], "importance": [entry]}
    if groups:
        config |= {"groups": groups}
        entry["of"] = "groups"
    return audit(data, data, parse_config(config))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "groups"),
    [("permutation", GROUPS), ("permutation", {}), (PERF, {}), (TWIN, GROUPS)],
)
def test_the_first_repeats_tell_what_a_run_of_so_many_would(method, groups):
    many = audited(method, 40, groups).convergence
    assert sorted(set(many["n_repeats"])) == [10, 20, 40]
    for n, part in many.groupby("n_repeats"):
        (alone,) = audited(method, int(n), groups).importances
        for name in ("value", "std_error", "rank"):
            truth = getattr(alone, "mean" if name == "value" else name)
            values = part[name].to_numpy()
            assert values == pytest.approx(truth, rel=1e-9, nan_ok=True), (n, name)


def test_a_column_no_model_is_given_has_no_number_after_any_repeats():
    data = replace(normal_data(3, 1, 0), split="train", unread={"x2": ()})
    convergence = audited(PERF, 40, data=data).convergence
    assert set(convergence.loc[convergence["value"].isna(), "feature"]) == {"x2"}


def test_few_repeats_and_what_is_not_drawn_have_no_halves():
    assert audited("permutation", 19).convergence.empty
    (record,) = audited("permutation", 40).importances
    assert halvings(replace(record, stream="")) == ()


def test_the_report_shows_ranks_after_fewer_repeats():
    view = build_view(audited(PERF, 40))
    (table,) = (t for t in view.tables if t.id.startswith("tab-convergence"))
    assert [plain(column.label) for column in table.columns[1:]] == ["10", "20", "40"]
    assert [plain(row.cells[3].parts) for row in table.rows] == list("123456")
