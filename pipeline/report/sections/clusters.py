"""Which features say nearly the same: sets of them, and the tree they hang in.

Not: words, tables and the figure (`cluster_views`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...assess.dependence import clusters as linked
from ...records.dataset_and_model import Floats
from ..figures.clusters import Join
from ..figures.parts import MOST_ROWS
from ..text.blocks import Value
from ..text.number_text import number
from .facts import Facts, config_of


@dataclass(frozen=True)
class Cluster:
    """Features linked by pairs at the limit or above, as the check `dependence` does.

    Attributes
    ----------
    members : tuple of str
        In the order of the lead ranking, those it does not rank behind.
    strongest : Value
        The largest association between two of them.
    """

    members: tuple[str, ...]
    strongest: Value


@dataclass(frozen=True)
class Tree:
    """Single linkage of features.

    Two branches meet at the largest association between them, so that what meets at
    the limit or above are the clusters.

    Attributes
    ----------
    leaves : tuple of str
        At each join the branch with the better ranked feature comes first.
    joins : tuple of Join
    """

    leaves: tuple[str, ...]
    joins: tuple[Join, ...]


def limit_of(facts: Facts) -> float:
    """Return the association that links two features; NaN if none is configured."""
    return float(config_of(facts, "checks").get("dependence", np.nan))


def strongest_of(facts: Facts) -> Value | None:
    """Return the largest association of all, None if no two features were asked."""
    values = facts.result.associations["value"].astype(float)
    return None if values.empty else _association(facts, int(values.idxmax()))


def clusters_of(facts: Facts) -> tuple[Cluster, ...]:
    """Return every cluster, in the order of the lead ranking."""
    frame, limit = facts.result.associations, limit_of(facts)
    strong = frame[frame["value"].astype(float) >= limit]
    names = _ranked(facts, [*strong["feature_a"], *strong["feature_b"]])
    place = {name: at for at, name in enumerate(names)}
    strength = np.eye(len(names))
    for pair in strong.itertuples():
        a, b = place[pair.feature_a], place[pair.feature_b]
        strength[a, b] = strength[b, a] = pair.value
    return tuple(
        _cluster(facts, [names[k] for k in found])
        for found in linked(strength, limit if limit == limit else 2.0)
    )


def tree_of(facts: Facts) -> Tree | None:
    """Return the tree of the first features, at most 40; None of fewer than two.

    A feature whose associations with better ranked ones are not kept has no place.
    """
    frame = facts.result.associations
    known: dict[frozenset[str], float] = {
        frozenset((pair.feature_a, pair.feature_b)): float(pair.value)
        for pair in frame.itertuples()
    }
    chosen: list[str] = []
    for name in _ranked(facts, [*frame["feature_a"], *frame["feature_b"]]):
        if all(frozenset((name, other)) in known for other in chosen):
            chosen.append(name)
    chosen = chosen[:MOST_ROWS]
    return _linked(chosen, known) if len(chosen) > 1 else None


def _association(facts: Facts, place: int) -> Value:
    value = float(facts.result.associations["value"].iloc[place])
    return Value(f"associations[{place}].value", value, number(value, 2))


def _cluster(facts: Facts, members: Sequence[str]) -> Cluster:
    frame = facts.result.associations
    inside = frame[frame["feature_a"].isin(members) & frame["feature_b"].isin(members)]
    place = int(inside["value"].astype(float).idxmax())
    return Cluster(tuple(members), _association(facts, place))


def _ranked(facts: Facts, names: Sequence[str]) -> list[str]:
    """Return names once each, in the order of the lead ranking, others behind."""
    lead = facts.lead
    order = [] if lead is None else [lead.record.features[row] for row in lead.order]
    asked = dict.fromkeys(names)
    return [
        *(name for name in order if name in asked),
        *(name for name in asked if name not in set(order)),
    ]


def _linked(names: Sequence[str], known: Mapping[frozenset[str], float]) -> Tree:
    """Return the tree of features of which every pair is known."""
    from scipy.cluster.hierarchy import linkage

    distances = [
        1.0 - known[frozenset((a, b))]
        for n, a in enumerate(names)
        for b in names[n + 1 :]
    ]
    merged = linkage(np.maximum(distances, 0.0), method="single")  # 1 may be 1 + 2e-16
    leaves = list(_in_order(merged, len(names), 2 * len(names) - 2))
    place: dict[int, float] = {leaf: float(at) for at, leaf in enumerate(leaves)}
    height = dict.fromkeys(leaves, 1.0)
    joins = []
    for n, (a, b, distance, _) in enumerate(merged, start=len(names)):
        first, second = sorted((int(a), int(b)), key=place.__getitem__)
        ends = place[first], place[second]
        strength = 1.0 - float(distance)
        joins.append(Join(ends, (height[first], height[second]), strength))
        place[n], height[n] = sum(ends) / 2, strength
    return Tree(tuple(names[leaf] for leaf in leaves), tuple(joins))


def _in_order(merged: Floats, n: int, node: int) -> Iterator[int]:
    """Yield the leaves below a node, the branch with the better ranked one first."""
    if node < n:
        yield node
        return
    branches = [list(_in_order(merged, n, int(merged[node - n, k]))) for k in (0, 1)]
    for branch in sorted(branches, key=min):
        yield from branch
