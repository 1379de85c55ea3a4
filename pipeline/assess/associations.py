"""The associations between features that a result keeps. Not: what they are.

A picture of who goes with whom needs every pair of the features that it shows; a
result with hundreds of features keeps the pairs that matter only.
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
"""Most features of which every pair is kept: 1770 rows."""
LEADERS = 40
"""Features of the first ranking whose pairs are kept in any case: one figure."""


def association_rows(
    test: Dataset, importances: Sequence[Importance], *, threshold: float
) -> list[dict[str, Any]]:
    """Return one row of the frame `associations` per pair of features.

    Parameters
    ----------
    test : Dataset
        Association is that of its rows. Derived columns are left out: they depend on
        others by definition. Columns that hold the same stay in.
    importances : sequence of Importance
        Their first ranking of single features says who leads.
    threshold : float
        Of more than 60 features the pairs at or above it are kept, and those of the 40
        that lead.

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
