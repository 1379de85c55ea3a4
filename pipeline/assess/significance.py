"""p-values of a ranking by shuffled targets, and the rows that all tests share.

Not: the measurements on shuffled targets (`shuffled_targets`), nor tests of
differences per row (`paired_tests`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from ..engines.agreement.numbers import ROUNDING
from ..records.dataset_and_model import Floats
from ..records.frames import FRAMES, Row
from ..records.importance_record import Importance

BY_SHUFFLES = "shuffled_targets"
"""The test of shuffled targets without refits, by its name in the frame."""
Adjustment = Literal["benjamini_hochberg", "holm", "bonferroni"]
Columns: TypeAlias = Mapping[str, Sequence[Any] | Floats]
"""Columns of the frame `significance` by name, one value per feature of a ranking."""


def shuffle_columns(importance: Importance, shuffled: Sequence[Importance]) -> Columns:
    """Return the p-values of a ranking by the same question on shuffled targets.

    `shuffles` is the number of shuffles in which the feature was measured.
    """
    null = np.array([one.mean for one in shuffled], dtype=float)
    null = null.reshape(len(shuffled), len(importance.features))
    shuffles = (~np.isnan(null)).sum(axis=0).tolist()
    p_value = p_values(importance.mean, null)
    return {"p_value": p_value, "shuffles": shuffles, "n": shuffles}


def rows_of_test(
    importance: Importance,
    columns: Columns,
    *,
    test: str,
    record: int,
    adjustment: Adjustment,
) -> list[Row]:
    """Return one row of the frame `significance` per feature.

    Parameters
    ----------
    importance : Importance
        The ranking that is judged.
    columns : mapping of str to sequence
        `p_value` and `n`, and those of `shuffles`, `statistic`, `value`, `estimate`,
        `std_error`, `low` and `high` that the test has.
    test : str
    record : int
        The place of `importance` in ``result.importances``.
    adjustment : {"benjamini_hochberg", "holm", "bonferroni"}
        As in `adjusted`.

    Returns
    -------
    list of dict
        In the order of ``importance.features``.
    """
    keys = ("model", "method", "of", "loss", "positive_class", "engine", "stream")
    fixed = {name: getattr(importance, name) for name in keys}
    fixed |= {"test": test, "record": record, "adjustment": adjustment}
    fixed |= {"statistic": "", "shuffles": 0}
    p_value = np.asarray(columns["p_value"], dtype=np.float64)
    p_adjusted = adjusted(p_value, adjustment)
    values: Columns = {
        **columns,
        "feature": importance.features,
        "p_adjusted": p_adjusted,
    }
    return [
        {
            name: values[name][row] if name in values else fixed.get(name, np.nan)
            for name in FRAMES["significance"].columns
        }
        for row in range(len(importance.features))
    ]


def p_values(observed: Floats, null: Floats) -> Floats:
    r"""Return the p-values of the importances by a permutation test.

    With *m* shuffles, of which *r* have at least the observed importance [1]_,

    .. math:: p = (r + 1) / (m + 1).

    The null hypothesis is that the target is independent of all features together. The
    true target is then one of *m* + 1 exchangeable ones, so that p is at most
    k/(m + 1) with at most that probability.

    Parameters
    ----------
    observed : ndarray of shape (n_features,)
    null : ndarray of shape (n_shuffles, n_features)
        NaN if a feature has no value in a shuffle, which is then left out; p is NaN if
        more than half of the shuffles are. Values that are smaller than the observed
        one by at most 1e-9 of it count as equal, because of rounding.

    Returns
    -------
    ndarray of shape (n_features,)
        From 1/(m + 1) to 1; NaN for features without an observed value or shuffles.

    References
    ----------
    .. [1] Phipson and Smyth (2010). Permutation P-values Should Never Be Zero.
       Statistical Applications in Genetics and Molecular Biology 9(1), 39.
       doi:10.2202/1544-6115.1585
    """
    measured = (~np.isnan(null)).sum(axis=0)
    size = np.where(np.isinf(observed), 0.0, np.abs(observed))
    as_much = (null >= observed - ROUNDING * size).sum(axis=0)
    is_known = ~np.isnan(observed) & (measured > 0) & (2 * measured >= len(null))
    return np.where(is_known, (as_much + 1) / (measured + 1), np.nan)


def adjusted(p_value: Floats, adjustment: Adjustment = "benjamini_hochberg") -> Floats:
    """Return p-values adjusted for the number of features; NaN for NaN.

    Parameters
    ----------
    p_value : ndarray of shape (n_features,)
    adjustment : {"benjamini_hochberg", "holm", "bonferroni"}
        "benjamini_hochberg" [1]_ controls the false discovery rate: of the features
        with adjusted p-values of at most *q*, an expected share of at most *q* has no
        effect. This holds if importances are positively dependent, and if those without
        effect are distributed as under the null hypothesis although others have one.
        "holm" [2]_ and "bonferroni" control the probability of any false discovery
        under any dependence; Holm's p-values are at most Bonferroni's. With shuffled
        targets, they need about as many shuffles as features divided by the level to
        reach it.

    References
    ----------
    .. [1] Benjamini and Hochberg (1995). Controlling the False Discovery Rate. Journal
       of the Royal Statistical Society B 57(1), 289-300.
       doi:10.1111/j.2517-6161.1995.tb02031.x
    .. [2] Holm (1979). A Simple Sequentially Rejective Multiple Test Procedure.
       Scandinavian Journal of Statistics 6(2), 65-70.
    """
    from statsmodels.stats.multitest import multipletests

    p_adjusted, is_measured = np.full(p_value.shape, np.nan), ~np.isnan(p_value)
    if is_measured.any():
        name = {"benjamini_hochberg": "fdr_bh"}.get(adjustment, adjustment)
        tests = multipletests(p_value[is_measured], method=name)
        p_adjusted[is_measured] = tests[1]
    return p_adjusted
