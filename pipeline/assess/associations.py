"""The associations between features that a result stores. Not: their computation.

A figure needs every pair of the features that it shows. A result with hundreds of
features stores only strong associations and those of leading features.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..data.column_types import is_category
from ..records.dataset_and_model import Dataset
from ..records.frames import FRAMES
from ..records.importance_record import Importance
from ..records.ranking import lead_of
from .dependence import associations_of

EVERY_PAIR = 60
"""Most features of which every pair is stored: 1770 rows."""
LEADERS = 40
"""Leading features whose pairs are always stored: as many as one figure shows."""


def association_rows(
    test: Dataset, importances: Sequence[Importance], *, threshold: float
) -> list[dict[str, Any]]:
    """Return one row of the frame `associations` per pair of features.

    Parameters
    ----------
    test : Dataset
        Associations are those of its rows. Derived columns are left out: they depend on
        others by definition. Duplicate columns are included.
    importances : sequence of Importance
        The first ranking of single features among them defines the leading ones.
    threshold : float
        Of more than 60 features only the pairs with at least this association are
        stored, and those of the 40 leading features.

    Returns
    -------
    list of dict
        feature_a, feature_b, statistic ("spearman", "cramers_v" or
        "correlation_ratio") and value, its size between 0 and 1, as in `dependence`.
    """
    names = [name for name in test.features if not test.unread.get(name)]
    strength = associations_of(test, names)
    is_leader = np.full(len(names), len(names) <= EVERY_PAIR)
    lead = lead_of(record for record in importances if record.of == "features")
    if lead and not is_leader.any():
        first = pd.Series(lead.rank, index=lead.features).dropna().nsmallest(LEADERS)
        is_leader = np.isin(names, first.index)
    is_kept = (strength >= threshold) | np.outer(is_leader, is_leader)
    rows = []
    for a, b in np.argwhere(np.triu(is_kept, 1)):
        pair = names[a], names[b]
        n_categories = sum(is_category(test.X[name]) for name in pair)
        statistic = ("spearman", "correlation_ratio", "cramers_v")[n_categories]
        cells = (*pair, statistic, float(strength[a, b]))
        rows.append(dict(zip(FRAMES["associations"].columns, cells, strict=True)))
    return rows
