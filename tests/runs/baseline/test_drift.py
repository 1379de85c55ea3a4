"""How columns moved: closed forms, what leaves the index alone, what is chance."""

from dataclasses import replace
from math import comb, log

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from tests.report.made_variants import result_of

from importance_audit.data.datasets import dataset, datasets_frame, describe
from importance_audit.data.quantiles import quantiles_frame
from importance_audit.data.shifts import stability
from importance_audit.operate.replay import compare
from importance_audit.report.sections.change import section_of
from importance_audit.report.text.blocks import Table, plain
from importance_audit.runs.baseline.change import compare_runs
from importance_audit.runs.baseline.drift import (
    AGAINST_BASELINE,
    _chance_of_none,
    baseline_missing,
    drift_findings,
    shifts,
    with_drift,
)
from importance_audit.runs.summary import Approved

RNG = np.random.default_rng(11)
SMOOTH = RNG.normal(size=2000)


def result(limit=0.2, *, y=None, **columns):
    """Return a result of test rows with these columns."""
    X = pd.DataFrame(columns)
    y = np.arange(len(X)) % 7 if y is None else y
    data = dataset(X, y, task="regression", name="made")
    made = result_of("apartments")
    config = {**made.run.config, "checks": {"shift": limit}}
    return replace(
        made,
        run=replace(made.run, config=config),
        columns=describe(None, data),
        datasets=datasets_frame(None, data),
        quantiles=quantiles_frame([data]),
    )


def one(old, new, **options):
    """Return how the one column of two runs is distributed."""
    return shifts(result(x=old), result(x=new, **options))[0]


def levels(**counts):
    cells = [level for level, n in counts.items() for _ in range(n)]
    return pd.Categorical(cells, categories=list(counts))


def findings(old, new):
    return [f for f in drift_findings(old, new) if f.subject == "x"]


def test_the_index_of_two_levels_is_the_closed_form_with_half_a_row_added():
    shift = one(levels(a=9, b=29), levels(a=29, b=9))
    p, q = 9.5 / 39, 29.5 / 39
    assert shift.statistic == pytest.approx(2 * (q - p) * log(q / p))


def test_deciles_hold_a_tenth_of_the_baseline_each():
    shift = one(np.arange(1000.0), np.arange(100.0))
    p, full, none = 100.5 / 1005, 100.5 / 105, 0.5 / 105
    parts = [(full - p) * log(full / p), *[(none - p) * log(none / p)] * 9]
    assert shift.statistic == pytest.approx(sum(parts))


def test_the_noise_is_the_quantile_of_chi_squared_for_both_sizes():
    old, new = np.array([30.0, 50, 20]), np.array([90.0, 70, 40])
    expected = (1 / 100 + 1 / 200) * (1 + 2 * 3 / 100) * chi2.isf(0.001, 2)
    assert stability(old, new, miss_rate=0.001).noise == pytest.approx(expected)


def test_equal_rows_have_index_zero_in_whatever_order():
    for values in (SMOOTH, np.round(SMOOTH), np.where(SMOOTH < 0, 0, SMOOTH)):
        shift = one(values, values[::-1])
        assert shift.statistic == 0.0
        assert shift.verdict == "within chance"


@pytest.mark.parametrize("grow", [lambda x: 8 * x - 4, np.exp, lambda x: x**3])
def test_a_growing_transformation_leaves_the_index_as_it_is(grow):
    new = RNG.normal(0.3, 1.2, 700)
    assert one(grow(SMOOTH), grow(new)).statistic == one(SMOOTH, new).statistic


@pytest.mark.parametrize("new", [3.0, 7.0])
def test_a_constant_that_is_another_one_has_moved_to_either_side(new):
    assert one(np.full(500, 5.0), np.full(500, new)).verdict == "moved"


@pytest.mark.parametrize("other", [-999.0, 1e-6])
def test_a_value_of_a_tenth_of_the_rows_that_becomes_another_is_seen(other):
    old = np.where(np.arange(2000) < 300, 0.0, 1 + np.abs(SMOOTH))
    assert one(old, np.where(old == 0, other, old)).verdict == "moved"


@pytest.mark.parametrize("towards", [-np.inf, np.inf])
def test_other_last_digits_of_a_computed_column_move_nothing(towards):
    for values in (np.log(np.arange(700) % 3 + 2), SMOOTH):
        digits = np.where(np.arange(len(values)) % 2, values, -values / 7)
        assert one(digits, np.nextafter(digits, towards)).statistic == 0.0


def test_a_column_of_two_last_digits_is_as_that_of_either():
    values = np.log(np.arange(700) % 3 + 2)
    both = np.where(np.arange(700) % 2, values, np.nextafter(values, 9.0))
    assert one(both, values).statistic == one(values, both).statistic == 0.0
    pair = one(both, 2 * both), one(values, 2 * values)
    assert pair[0].statistic == pair[1].statistic > 1.0


def test_infinite_values_are_the_ends_of_the_order():
    data = dataset(pd.DataFrame({"x": SMOOTH}), SMOOTH, task="regression", name="made")
    ends = np.where(np.abs(SMOOTH) > 1.0, np.sign(SMOOTH) * np.inf, SMOOTH)
    infinite = replace(data, X=pd.DataFrame({"x": ends}))
    sides = [result(x=SMOOTH), result(x=SMOOTH)]
    both = [replace(side, quantiles=quantiles_frame([infinite])) for side in sides]
    assert shifts(*both)[0].statistic == 0.0


@pytest.mark.parametrize("grid", [1000.0, 10.0])
def test_the_index_of_sketches_is_that_of_the_rows_within_its_stated_room(grid):
    old, new = (np.round(RNG.normal(m, 1, 3000) * grid) for m in (0, 0.5))
    ends = np.sort(old)[[300 * k - 1 for k in range(1, 10)]]
    cells = [np.bincount(np.searchsorted(ends, x), minlength=10) for x in (old, new)]
    exact = stability(*(c.astype(float) for c in cells), miss_rate=0.01).psi
    shift = one(old, new)
    chance = 2 / 3000 * (1 + 20 / 3000) * chi2.isf(0.01 / 4, 9)
    assert shift.statistic - (shift.noise - chance) <= exact + 1e-12
    assert abs(shift.statistic - exact) < 2 * 10 * 0.01 * 0.5


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(100, 100), (40, 2000), (2000, 150)])
def test_unchanged_columns_exceed_the_noise_no_more_often_than_stated(sizes):
    n, m = sizes
    wide = np.sort(RNG.random((4000, n)), axis=1)
    ends = wide[:, [-(-n * k // 10) - 1 for k in range(1, 10)]]
    edges = np.column_stack([np.zeros(4000), ends, np.ones(4000)])
    new = [RNG.multinomial(m, np.diff(row)) for row in edges]
    old = np.diff([0, *(-(-n * k // 10) for k in range(1, 10)), n]).astype(float)
    indices = [stability(old, row.astype(float), miss_rate=0.02) for row in new]
    alarms = sum(index.psi > index.noise for index in indices)
    assert alarms <= 4000 * 0.02 + 3 * np.sqrt(4000 * 0.02 * 0.98)


def test_more_rows_of_the_same_move_below_the_limit_only():
    cells = {"a": 10_000, "b": 10_000}, {"a": 9_000, "b": 11_000}
    shift = one(*(levels(**counts) for counts in cells))
    assert shift.noise < shift.statistic < shift.limit
    assert shift.verdict == "below the limit"


def test_few_rows_are_within_chance_however_far_apart():
    shift = one(np.arange(4.0), np.arange(4.0) + 9)
    assert shift.statistic > shift.limit
    assert shift.verdict == "within chance"
    sides = result(x=np.arange(4.0)), result(x=np.arange(4.0) + 9)
    row = with_drift(sides[1], sides[0], None).checks.iloc[-2]
    assert (row["verdict"], row["set_by"]) == ("pass", "chance")
    assert row["observed"] <= row["threshold"]


def test_a_column_that_moved_is_told_in_whole_sentences():
    (finding,) = findings(result(x=levels(a=90, b=10)), result(x=levels(a=10, b=90)))
    assert finding.severity == "warning"
    assert finding.message == (
        "Column 'x' differs in distribution from the approved baseline: PSI 3.41 in "
        "the test rows (at most 0.19 is due to chance or approximation). The limit "
        "is 0.2."
    )
    assert finding.remedy == (
        "Check how these rows were collected. If the change is intended, approve a "
        "run that has it."
    )


def test_missing_cells_are_held_against_chance_likewise():
    gaps = np.where(np.arange(2000) % 4 == 0, np.nan, SMOOTH)
    (finding,) = findings(result(x=SMOOTH), result(x=gaps))
    assert finding.check == "missing_share"
    assert "25% of the test rows (was 0%); PSI 1." in finding.message
    assert findings(result(x=gaps), result(x=gaps)) == []


def test_a_new_level_is_a_warning_however_rare_and_another_one_another_finding():
    old = result(x=levels(a=900, b=100))
    news = [result(x=levels(a=900, b=100, **{c: 1})) for c in "cd"]
    (first,), (second,) = (findings(old, new) for new in news)
    assert (first.check, first.severity) == ("category_new", "warning")
    assert first.message == (
        "Column 'x' holds 1 level ('c'; 1 row) that no row of the approved baseline "
        "has."
    )
    assert first.key != second.key


@pytest.mark.parametrize(("rows", "severity"), [(3, "info"), (60, "warning")])
def test_a_level_that_is_gone_is_a_note_where_chance_explains_it(rows, severity):
    old, new = result(x=levels(a=900, b=rows)), result(x=levels(a=900))
    (finding,) = [f for f in findings(old, new) if f.check == "category_gone"]
    assert finding.severity == severity
    is_chance = finding.message.endswith("This can be due to chance.")
    assert is_chance == (severity == "info")


def test_the_chance_of_no_row_is_that_of_drawing_without_replacement():
    exact = comb(13, 6) / comb(16, 6)
    assert _chance_of_none({"a": 7, "b": 3}, {"a": 6}, 3) == pytest.approx(exact)


def test_columns_that_come_go_or_change_their_kind_are_findings():
    old = result(x=SMOOTH, gone=SMOOTH)
    new = result(x=levels(a=1000, b=1000), added=SMOOTH)
    keys = {(f.check, f.subject) for f in drift_findings(old, new)}
    assert keys == {
        ("column_removed", "gone"),
        ("column_added", "added"),
        ("column_kind", "x"),
    }


def test_a_baseline_that_is_gone_is_a_warning():
    run = Approved("20260101T000000Z-1", "d", "m", "A. Reader", "2026-01-02")
    (finding,) = with_drift(result(x=SMOOTH), None, run).findings[-1:]
    assert finding.key == baseline_missing(run).key
    assert finding.message == (
        "Run 20260101T000000Z-1, approved by A. Reader at 2026-01-02, no longer "
        "exists, so nothing was compared with it."
    )


def test_checks_against_a_baseline_are_neither_replayed_nor_compared_with_its_own():
    old, new = result(x=SMOOTH), result(x=SMOOTH + 2)
    with_checks = with_drift(new, old, None)
    assert {f.check for f in with_checks.findings} & set(AGAINST_BASELINE)
    assert not compare(with_checks, new).is_mismatch
    assert compare_runs(old, with_checks).checks == ()


def test_the_table_shows_the_worst_first_and_counts_the_rest():
    n = 3000
    columns = {name: RNG.normal(size=n) for name in "abc"}
    new_columns = {**columns, "b": columns["b"] + 1, "c": columns["c"] + 3}
    blocks = section_of(result(**new_columns), result(**columns)).parts["blocks"]
    (table,) = [b for b in blocks if isinstance(b, Table) and b.id == "tab-shifts"]
    assert [plain(row.cells[0].parts) for row in table.rows] == ["c", "b"]
    assert plain(table.caption).endswith("than chance explains, worst first: 2 of 4")
    assert plain(table.rows[0].cells[-1].parts) == "moved"


def test_many_other_ends_of_columns_are_one_row_of_what_differs():
    columns = {f"x{k}": RNG.normal(size=60) for k in range(11)}
    both = [result(**{k: v + by for k, v in columns.items()}) for by in (0, 1)]
    blocks = section_of(*both).parts["blocks"]
    table = next(b for b in blocks if isinstance(b, Table) and b.id == "tab-differs")
    texts = [plain(row.cells[1].parts) for row in table.rows]
    assert "22 minima and maxima of columns" in texts
    assert not any(text.startswith("column x1") for text in texts)


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (lambda new: new, "missing values of all 2."),  # quiet columns
        (
            lambda new: new[new["role"] == "feature"].assign(column="z"),
            "have no column in common",
        ),
        (lambda new: new[:0], "holds no dist"),
    ],
)
def test_what_is_not_in_a_table_is_one_sentence(cut, words):
    old = result(x=SMOOTH)
    new = replace(old, quantiles=cut(old.quantiles))
    texts = [plain(b) for b in section_of(new, old).parts["blocks"] if type(b) is tuple]
    assert any(words in text for text in texts), texts


def test_a_baseline_without_rows_or_sketches_is_told_of_in_the_thresholds():
    new = result(x=SMOOTH)
    old = replace(new, quantiles=new.quantiles[:0])
    row = with_drift(new, old, None).checks.iloc[-1]
    assert row["verdict"] == "not run"
    assert row["observed"] == "the baseline kept no distributions"
    none = replace(old, datasets=new.datasets[:0], columns=new.columns[:0])
    assert drift_findings(new, none) == drift_findings(none, new) == ()
