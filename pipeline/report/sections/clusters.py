"""Which features say nearly the same: a tree beside the ranking, a table, the words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from ...assess.dependence import clusters as linked
from ...records.dataset_and_model import Floats
from ..figures.clusters import ClusterRow, ClusterWords, Join, draw_clusters
from ..figures.parts import MOST_ROWS
from ..text.blocks import (
    Cell,
    Cells,
    Column,
    Figure,
    Group,
    Link,
    Row,
    Sentence,
    Table,
    Value,
    plain,
)
from ..text.number_text import MISSING, count, number
from ..text.wording import (
    alt_text,
    display_name,
    full_name,
    joined,
    say,
    say_count,
    series,
    short_name,
    word,
)
from .facts import Facts, card_link, config_of, tallied
from .models_figure import interval_name, mark_title
from .ranking_tables import DASH, measured_in, table_id, value_of, value_word
from .rankings import Ranking

HEADLINE = 65
MOST = 20
"""Clusters that the body names; the frame has every pair."""
REPEATS = ("n_repeats", "entry")
"""Options that two measures of one thing may differ in."""


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
        _cluster(facts, [names[k] for k in places])
        for places in linked(strength, limit if limit == limit else 2.0)
    )


def tree_of(facts: Facts) -> Tree | None:
    """Return the tree of the first features, at most 40; None of fewer than two.

    A feature whose associations with better ranked ones are not kept has no place.
    """
    frame = facts.result.associations
    strengths: dict[frozenset[str], float] = {
        frozenset((pair.feature_a, pair.feature_b)): float(pair.value)
        for pair in frame.itertuples()
    }
    leaves: list[str] = []
    for name in _ranked(facts, [*frame["feature_a"], *frame["feature_b"]]):
        if all(frozenset((name, other)) in strengths for other in leaves):
            leaves.append(name)
    leaves = leaves[:MOST_ROWS]
    return _linked(leaves, strengths) if len(leaves) > 1 else None


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
    unique = dict.fromkeys(names)
    return [
        *(name for name in order if name in unique),
        *(name for name in unique if name not in set(order)),
    ]


def _linked(names: Sequence[str], strengths: Mapping[frozenset[str], float]) -> Tree:
    """Return the tree of features of which every pair is known."""
    from scipy.cluster.hierarchy import linkage

    distances = [
        1.0 - strengths[frozenset((a, b))]
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


def clusters(facts: Facts) -> tuple[Group, ...]:
    """Return who goes with whom, in words, a figure and a table; nothing if unknown."""
    strongest = strongest_of(facts)
    if strongest is None:
        return ()
    groups, tree = clusters_of(facts), tree_of(facts)
    blocks: list[Any] = []
    if tree is not None and _has_features(facts.lead):
        blocks.append(_figure(facts, facts.lead, tree, groups))  # type: ignore[arg-type]
    if groups:
        blocks += _tables(facts, groups)
    blocks += _readings(facts, groups)
    if not blocks:
        blocks.append(_none(facts, strongest))
    return (Group("firm-clusters", say("clusters.title"), tuple(blocks)),)


def clusters_in_short(facts: Facts) -> Sentence:
    """Return what goes together in one sentence; empty if nothing is known."""
    strongest = strongest_of(facts)
    if strongest is None:
        return ()
    sets = clusters_of(facts)
    if not sets:
        return _none(facts, strongest)
    if len(sets) == 1:
        names = series(short_name(name) for name in sets[0].members[:MOST])
        return say("clusters.lede_one", names=names, value=sets[0].strongest)
    return _several(facts, sets)


def marked(facts: Facts, ranking: Ranking) -> list[Sentence]:
    """Return the note on which features of a ranking say nearly the same as others."""
    if ranking not in facts.leads or ranking.record.of != "features":
        return []
    sets = [_set(cluster) for cluster in clusters_of(facts)[:MOST]]
    if not sets:
        return []
    return [say("clusters.note", sets=joined(sets, "; "), limit=_limit(facts))]


def _has_features(ranking: Ranking | None) -> bool:
    return ranking is not None and ranking.record.of == "features"


def _limit(facts: Facts) -> str:
    return f"{limit_of(facts):g}"


def _none(facts: Facts, strongest: Value) -> Sentence:
    return say("clusters.none", limit=_limit(facts), value=strongest)


def _several(facts: Facts, clusters: Sequence[Cluster]) -> Sentence:
    path = "associations.value"
    features = tallied(path, sum(len(cluster.members) for cluster in clusters))
    return say(
        "clusters.several",
        features=say_count(features, "feature"),
        clusters=say_count(tallied(path, len(clusters)), "cluster"),
        limit=_limit(facts),
    )


def _set(cluster: Cluster) -> Sentence:
    names = series(short_name(name) for name in cluster.members)
    return (*names, " (", cluster.strongest, ")")


def _together(
    facts: Facts, ranking: Ranking, cluster: Cluster
) -> tuple[Ranking | None, int]:
    """Return the ranking and row in which exactly these are asked together."""
    for other in facts.rankings:
        if other.record.of == "groups" and _asks_alike(other, ranking):
            for row, columns in enumerate(other.record.columns):
                if set(columns) == set(cluster.members):
                    return other, row
    return None, -1


def _asks_alike(one: Ranking, other: Ranking) -> bool:
    """Return whether two rankings differ in what is ranked, or in repeats, only."""
    cards = [
        {k: v for k, v in r.record.options.items() if k not in REPEATS}
        for r in (one, other)
    ]
    names = ("model", "method", "loss", "form", "positive_class")
    same = all(getattr(one.record, n) == getattr(other.record, n) for n in names)
    return same and cards[0] == cards[1]


def _value(ranking: Ranking, name: str) -> Value | None:
    """Return the importance of one feature alone, None if it was not asked."""
    features = ranking.record.features
    return value_of(ranking, features.index(name)) if name in features else None


def _sum(ranking: Ranking, cluster: Cluster) -> Value | None:
    """Return the sum of what the members measure alone, where differences add up."""
    alone = [_value(ranking, name) for name in cluster.members]
    values = [value for value in alone if value is not None]
    if ranking.record.form != "difference" or len(values) < len(alone):
        return None
    total = sum(value.raw for value in values)
    path = f"importances[{ranking.index}].mean"
    return Value(path, total, number(total, ranking.places), derived="sum")


def _joint(ranking: Ranking, beside: tuple[Ranking | None, int]) -> Value | None:
    """Return the importance of members together, with the decimals of those alone."""
    other, row = beside
    if other is None:
        return None
    value = value_of(other, row)
    return Value(value.path, value.raw, number(value.raw, ranking.places))


def _tables(facts: Facts, clusters: Sequence[Cluster]) -> tuple[Table, ...]:
    """Return what the lead ranking measures of each cluster, and what all models do."""
    rankings = [r for r in facts.leads if _has_features(r)]
    first = _table(facts, clusters, rankings[:1])
    if len(rankings) < 2:
        return (first,)
    every = replace(
        _table(facts, clusters, rankings),
        id="tab-clusters-models",
        caption=say("clusters.caption_models", limit=_limit(facts)),
        is_single=True,
        notes=(),
    )
    return first, every


def _table(
    facts: Facts, clusters: Sequence[Cluster], rankings: Sequence[Ranking]
) -> Table:
    card: Sentence = ()
    if rankings:
        card = (" ", card_link(facts.card(rankings[0].record)))
    rows = [_row(facts, r, c) for c in clusters for r in rankings] or [
        Row((Cell(_names(c)), DASH, Cell((c.strongest,)), DASH, DASH, DASH))
        for c in clusters
    ]
    measured = measured_in(facts, rankings[0]) if rankings else ()
    key = "caption" if rankings else "caption_alone"
    return Table(
        id="tab-clusters",
        caption=say(f"clusters.{key}", limit=_limit(facts), measured=measured),
        columns=(
            Column(say("clusters.members"), "header"),
            Column(say("clusters.model")),
            Column(say("clusters.strongest"), "number"),
            Column((word("clusters.alone"), *card), "number"),
            Column(say("clusters.sum"), "number"),
            Column(say("clusters.together"), "number"),
        ),
        rows=tuple(rows),
        notes=(say("clusters.table_note"),),
        source="tables/associations.csv",
    )


def _names(cluster: Cluster) -> Sentence:
    return joined(full_name(name) for name in cluster.members)


def _row(facts: Facts, ranking: Ranking, cluster: Cluster) -> Cells:
    alone = [_value(ranking, name) for name in cluster.members]
    values = joined((MISSING if value is None else value for value in alone), "; ")
    both = _joint(ranking, _together(facts, ranking, cluster))
    total = _sum(ranking, cluster)
    return Row(
        (
            Cell(_names(cluster)),
            Cell((full_name(ranking.subject),)),
            Cell((cluster.strongest,)),
            Cell(values),
            Cell((total,)) if total else DASH,
            Cell((both,)) if both else DASH,
        )
    )


def _readings(facts: Facts, clusters: Sequence[Cluster]) -> list[Sentence]:
    """Return what the lead ranking says of each cluster together, or how to ask."""
    lead = facts.lead
    if lead is None:
        return []
    sentences, unmeasured = [], []
    for cluster in clusters:
        both = _joint(lead, _together(facts, lead, cluster))
        total = _sum(lead, cluster)
        names = series(short_name(name) for name in cluster.members[:MOST])
        if both and total:
            model = full_name(lead.subject)
            sentence = say(
                "clusters.reading", names=names, both=both, total=total, model=model
            )
            sentences.append(sentence)
        elif not both:
            unmeasured.append(names)
    if unmeasured:
        sentences.append(say("clusters.unasked", sets=joined(unmeasured[:MOST], "; ")))
    return sentences


def _figure(
    facts: Facts, ranking: Ranking, tree: Tree, clusters: Sequence[Cluster]
) -> Figure:
    rows = tuple(_rows(facts, ranking, tree, clusters))
    has_diamond = any(row.is_together for row in rows)
    return Figure(
        id=table_id(ranking).replace("tab-ranking", "fig-clusters", 1),
        draw=draw_clusters,
        data={
            "rows": rows,
            "joins": tree.joins,
            "limit": limit_of(facts),
            "baseline": ranking.nothing,
            "words": _words(facts, ranking),
        },
        alt=_alt(facts, ranking, tree, clusters),
        headline=_headline(facts, ranking, clusters),
        caption=say(
            "clusters.figure",
            statistics=_statistics(facts),
            together=say("clusters.diamond") if has_diamond else (),
            model=full_name(ranking.subject),
            interval=interval_name(ranking),
            card=card_link(facts.card(ranking.record)),
            table=Link(table_id(ranking)),
        ),
    )


def _rows(
    facts: Facts, ranking: Ranking, tree: Tree, clusters: Sequence[Cluster]
) -> Iterator[ClusterRow]:
    """Yield the leaves, and below the last of each cluster its members together."""
    of = {name: n for n, cluster in enumerate(clusters) for name in cluster.members}
    last = {of[name]: name for name in tree.leaves if name in of}
    for name in tree.leaves:
        cluster = of.get(name, -1)
        place = _place(ranking, name)
        yield _figure_row(ranking, ranking, place, display_name(name), cluster)
        if last.get(cluster) == name:
            other, row = _together(facts, ranking, clusters[cluster])
            if other is not None:
                words = word("clusters.row")
                yield _figure_row(ranking, other, row, words, cluster, together=True)


def _place(ranking: Ranking, name: str) -> int:
    features = ranking.record.features
    return features.index(name) if name in features else -1


def _figure_row(
    ranking: Ranking,
    measured: Ranking,
    row: int,
    name: str,
    cluster: int,
    *,
    together: bool = False,
) -> ClusterRow:
    """Return one row of the figure; without numbers for what was not asked."""
    if row < 0:
        return ClusterRow(name, nan, nan, nan, MISSING, cluster)
    mean = float(measured.mean[row])
    ends = float(measured.low[row]), float(measured.high[row])
    text = number(mean, ranking.places)
    title = mark_title(measured, row, text, ends)
    return ClusterRow(name, mean, *ends, text, cluster, together, title)


def _statistics(facts: Facts) -> Sentence:
    """Return the statistics that are used, in words."""
    used = set(facts.result.associations["statistic"])
    names = ("spearman", "cramers_v", "correlation_ratio")
    return series((word(f"clusters.of.{name}"),) for name in names if name in used)


def _headline(facts: Facts, ranking: Ranking, clusters: Sequence[Cluster]) -> Sentence:
    """Return what to see: the numbers to read as one, or how much goes together."""
    if not clusters:
        return say("clusters.headline_none", limit=_limit(facts))
    cluster = clusters[0]
    both = _joint(ranking, _together(facts, ranking, cluster))
    total = _sum(ranking, cluster)
    if both and total and len(clusters) == 1:
        names = series(short_name(name) for name in cluster.members)
        sentence = say("clusters.headline_one", names=names, both=both, total=total)
        if len(plain(sentence)) <= HEADLINE:
            return sentence
    return _several(facts, clusters)


def _alt(
    facts: Facts, ranking: Ranking, tree: Tree, clusters: Sequence[Cluster]
) -> str:
    strongest = max(tree.joins, key=lambda join: join.strength).strength
    text = say(
        "clusters.alt",
        n=count(len(tree.leaves)),
        total=count(len(ranking.record.features)),
        model=short_name(ranking.subject),
        strongest=number(strongest, 2),
        clusters=count(len(clusters)),
        limit=_limit(facts),
    )
    return alt_text(plain(text))


def _words(facts: Facts, ranking: Ranking) -> ClusterWords:
    """Return what stands on the lines and axes of the figure."""
    as_it_is = word("figures.model_as_it_is") if ranking.starts_at_loss else ""
    return ClusterWords(
        limit=plain(say("clusters.limit", limit=_limit(facts))),
        tree=word("clusters.axis"),
        unit=plain(measured_in(facts, ranking)),
        baseline=as_it_is,
        value=value_word(ranking).lower(),
    )
