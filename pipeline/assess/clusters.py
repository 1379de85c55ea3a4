"""Sets of correlated features, and the groups that measure them together.

Not: the association of two features (`dependence`), nor joint importances
(`auditing.steps.joint_importance`).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..records.dataset_and_model import Dataset
from .dependence import associations_of, clusters


class Cluster(NamedTuple):
    """Features that are linked by associations at or above the limit.

    Attributes
    ----------
    number : int
        From 1, in the order of their first features.
    features : tuple of str
        At least two. Duplicate columns are included, derived ones are not.
    strongest : tuple of float
        The strongest association of each feature with another.
    group : str
        The measured group with exactly these columns; empty if there is none.
    """

    number: int
    features: tuple[str, ...]
    strongest: tuple[float, ...]
    group: str


def find_clusters(
    test: Dataset, groups: Mapping[str, tuple[str, ...]], *, threshold: float
) -> list[Cluster]:
    """Return the sets of correlated features of the evaluation rows.

    Parameters
    ----------
    test : Dataset
    groups : mapping of str to tuple of str
        The groups that the audit measures.
    threshold : float
        The least association that links two features.
    """
    names = [name for name in test.groups if name in test.features]
    names = [name for name in names if not test.unread.get(name)]
    if len(names) < 2:
        return []
    strength = associations_of(test, names)
    found = []
    for number, places in enumerate(clusters(strength, threshold), start=1):
        features = tuple(names[k] for k in places)
        among = strength[np.ix_(places, places)] - np.eye(len(places))
        same = (name for name, own in groups.items() if set(own) == set(features))
        strongest = tuple(map(float, among.max(axis=1)))
        found.append(Cluster(number, features, strongest, next(same, "")))
    return found


def cluster_rows(found: list[Cluster]) -> list[dict[str, object]]:
    """Return one row of the frame `clusters` per feature."""
    return [
        {
            "cluster": cluster.number,
            "feature": feature,
            "strongest": strongest,
            "group": cluster.group,
        }
        for cluster in found
        for feature, strongest in zip(cluster.features, cluster.strongest, strict=True)
    ]
