"""Clusters of correlated features: a tree next to the ranking, a table, sentences."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...assess.dependence import clusters as linked
from ...records.importance_record import Importance
from ...records.ranking import options_text, question_of
from ..figures.clusters import Join, draw_clusters
from ..figures.parts import MOST_ROWS, Row
from ..text.blocks import (
    Column,
    Figure,
    Group,
    Link,
    Part,
    Sentence,
    Table,
    Value,
    plain,
)
from ..text.number_text import MISSING, count, number
from ..text.wording import (
    display_name,
    figure_of,
    full_name,
    joined,
    say,
    say_count,
    series,
    short_name,
    table_of,
    word,
)
from .facts import Facts, card_link, config_of, group, number_in, tallied
from .leading_features import Joint, joint_of, joint_values
from .models_figure import interval_name
from .ranking_figure import estimate_row
from .ranking_tables import (
    measured_in,
    table_id,
    value_of,
    value_word,
)
from .rankings import Ranking

MOST = 20
"""Number of clusters or names that a sentence lists; the frame has every pair."""
MARKS = {"zero": " (–)", "below": " (↓)"}
"""Mark of a joint importance whose interval contains the null value or is below it."""


class Cluster(NamedTuple):
    """Features linked by pairs at or above the limit of the check `dependence`.

    Attributes
    ----------
    members : tuple of str
        In the order of the lead ranking; those that it does not rank come last.
    strongest : Value
        The largest association between two of them.
    """

    members: tuple[str, ...]
    strongest: Value


def clusters(facts: Facts) -> tuple[Group, ...]:
    """Return the clusters in a figure, a table and sentences; nothing without any."""
    found, lead = clusters_of(facts), facts.lead
    tree = None
    if any(len(cluster.members) > 2 for cluster in found):  # the table suffices for 2
        tree = tree_of(facts, [name for cluster in found for name in cluster.members])
    blocks: list[Any] = []
    if tree and lead is not None and lead.record.of == "features":
        blocks.append(_figure(facts, lead, *tree, found))
    if found:
        blocks.append(_table(facts, found))
    return group("firm-clusters", say("clusters.title"), blocks)


def clusters_in_short(facts: Facts) -> Sentence:
    """Return the clusters in one sentence, empty if no associations are known."""
    values = facts.result.associations["value"].astype(float)
    if values.empty:
        return ()
    found = clusters_of(facts)
    if not found:
        strongest = _association(facts, int(values.idxmax()))
        return say("clusters.none", limit=_limit(facts), value=strongest)
    if len(found) == 1:
        names = series(short_name(name) for name in found[0].members[:MOST])
        return say("clusters.lede_one", names=names, value=found[0].strongest)
    return _several(facts, found)


def limit_of(facts: Facts) -> float:
    """Return the association that links two features; NaN if none is configured."""
    return float(config_of(facts, "checks").get("dependence", math.nan))


def clusters_of(facts: Facts) -> tuple[Cluster, ...]:
    """Return every cluster, in the order of the lead ranking."""
    frame, limit = facts.result.associations, limit_of(facts)
    strong = frame[frame["value"].astype(float) >= limit]
    names = facts.in_lead_order([*strong["feature_a"], *strong["feature_b"]])
    place = {name: at for at, name in enumerate(names)}
    strength = np.eye(len(names))
    for pair in strong.itertuples():
        a, b = place[pair.feature_a], place[pair.feature_b]
        strength[a, b] = strength[b, a] = pair.value
    found = []
    for places in linked(strength, limit):
        members = tuple(names[k] for k in places)
        values = strong.loc[strong["feature_a"].isin(members), "value"].astype(float)
        found.append(Cluster(members, _association(facts, int(values.idxmax()))))
    return tuple(found)


def tree_of(
    facts: Facts, members: Collection[str]
) -> tuple[list[str], list[Join]] | None:
    """Return the single linkage of some features: leaves in order, and joins.

    It has at most 40 features; with fewer than three, return None, since a table shows
    a pair as well. Features whose associations with better ranked ones were not stored
    are omitted. Two branches join at the largest association between them, so that
    branches joined at or above the limit are the clusters. Of two branches, the one
    with the better ranked feature comes first.
    """
    from scipy.cluster.hierarchy import dendrogram, linkage

    frame = facts.result.associations
    strengths = {
        frozenset((pair.feature_a, pair.feature_b)): float(pair.value)
        for pair in frame.itertuples()
    }
    names: list[str] = []
    for name in facts.in_lead_order([*members]):
        if all(frozenset((name, other)) in strengths for other in names):
            names.append(name)
    names = names[:MOST_ROWS]
    if len(names) < 3:
        return None
    distances = [1.0 - strengths[frozenset(pair)] for pair in combinations(names, 2)]
    merged = linkage(np.maximum(distances, 0.0), method="single")  # 1 may be 1 + 2e-16
    best = [*range(len(names))]  # the best ranked feature of each branch
    for pair in merged:
        pair[:2] = sorted(pair[:2], key=lambda branch: best[int(branch)])
        best.append(best[int(pair[0])])
    tree = dendrogram(merged, no_plot=True)
    # scipy places the leaves at 5, 15, 25, …
    rows = (np.array(tree["icoord"]) / 10.0 - 0.5).tolist()
    heights = (1.0 - np.array(tree["dcoord"])).tolist()
    leaves = [names[leaf] for leaf in tree["leaves"]]
    return leaves, list(zip(rows, heights, strict=True))


def _association(facts: Facts, place: int) -> Value:
    return number_in("associations", facts.result.associations.iloc[place], "value", 2)


def _together(facts: Facts, ranking: Ranking, members: Sequence[str]) -> Joint | None:
    """Return the joint importance of a cluster by the measure of a ranking, if any.

    It is that of a group of exactly these members, or else of the cluster itself.
    """

    def measure(record: Importance) -> tuple[Any, ...]:
        asked = replace(record, of="groups", entry="")
        return question_of(asked), asked.form, options_text(asked, with_repeats=False)

    for other in facts.rankings:
        record = other.record
        if record.of == "groups" and measure(record) == measure(ranking.record):
            for row, columns in enumerate(record.columns):
                if set(columns) == set(members):
                    return joint_of(other, row)
    own = (
        one
        for cluster, names in facts.clusters.items()
        if ranking in facts.leads and set(names) == set(members)
        for one in joint_values(facts, cluster)
        if one.model == ranking.record.model
    )
    return next(own, None)


def _limit(facts: Facts) -> str:
    return f"{limit_of(facts):g}"


def _several(facts: Facts, found: Sequence[Cluster]) -> Sentence:
    path = "associations.value"
    features = tallied(path, sum(len(cluster.members) for cluster in found))
    return say(
        "clusters.several",
        features=say_count(features, "feature"),
        clusters=say_count(tallied(path, len(found)), "cluster"),
        limit=_limit(facts),
    )


def _table(facts: Facts, found: Sequence[Cluster]) -> Table:
    """Return the table of clusters, with a row for each model."""
    rankings = [r for r in facts.leads if r.record.of == "features"]
    rows: list[Any] = []
    for members, strongest in found:
        names = joined(map(full_name, members))
        if not rankings:
            rows.append((names, MISSING, strongest, *[MISSING] * 3))
        for ranking in rankings:
            record = ranking.record
            total: Value | str = MISSING
            both: Part | Sentence = MISSING
            alone: list[Value | str] = [
                value_of(ranking, record.features.index(name))
                if name in record.features
                else MISSING
                for name in members
            ]
            values = [value.raw for value in alone if isinstance(value, Value)]
            if record.form == "difference" and len(values) == len(members):
                path, raw = f"importances[{ranking.index}].mean", sum(values)
                total = Value(path, raw, number(raw, ranking.places), derived="sum")
            if one := _together(facts, ranking, members):
                both = replace(one.value, text=number(one.value.raw, ranking.places))
                both = (both, MARKS[one.side]) if one.side in MARKS else both
            model = full_name(ranking.subject)
            rows.append((names, model, strongest, joined(alone, "; "), total, both))
    limit, head = _limit(facts), say("clusters.alone")
    caption, source = say("clusters.caption_alone", limit=limit), "associations"
    if rankings:
        # A cluster that is a group of the owner is measured as that group.
        none_joint = facts.result.joint_importances.empty
        source = "importances" if none_joint else "joint_importances"
        first = rankings[0]
        head = (*head, " ", card_link(facts.card(first.record)))
        measured = measured_in(facts, first)
        caption = say("clusters.caption", limit=limit, measured=measured)
    return table_of(
        "clusters",
        "clusters",
        [
            *("members:header", "model", "strongest:number"),
            Column(head, "number"),
            *("sum:number", "together:number"),
        ],
        rows,
        caption=caption,
        notes=(say("clusters.table_note"),),
        source=f"tables/{source}.csv",
    )


def _figure(
    facts: Facts,
    ranking: Ranking,
    leaves: Sequence[str],
    joins: Sequence[Join],
    found: Sequence[Cluster],
) -> Figure:
    """Return the tree next to the ranking."""
    features = ranking.record.features
    cluster_of = {
        name: n for n, cluster in enumerate(found) for name in cluster.members
    }
    rows = []
    for name in leaves:
        row = Row(display_name(name), math.nan, text=MISSING)  # not measured
        if name in features:
            at = features.index(name)
            text = number(ranking.mean[at], ranking.places)
            row = estimate_row(ranking, at, text)
        rows.append(replace(row, cluster=cluster_of.get(name, -1)))
    used = set(facts.result.associations["statistic"])
    statistics = ("spearman", "cramers_v", "correlation_ratio")
    as_it_is = word("figures.model_as_it_is") if ranking.starts_at_loss else ""
    return figure_of(
        f"clusters-{ranking.key}",
        draw_clusters,
        {
            "rows": tuple(rows),
            "joins": tuple(joins),
            "limit": limit_of(facts),
            "baseline": ranking.null_value,
            "limit_label": plain(say("clusters.limit", limit=_limit(facts))),
            "tree_label": word("clusters.axis"),
            "unit_label": plain(measured_in(facts, ranking)),
            "baseline_label": as_it_is,
            "value_label": value_word(ranking).lower(),
        },
        alt=say(
            "clusters.alt",
            n=count(len(leaves)),
            total=count(len(features)),
            model=short_name(ranking.subject),
            strongest=number(max(strengths[1] for _, strengths in joins), 2),
            clusters=count(len(found)),
            limit=_limit(facts),
        ),
        headline=_several(facts, found),
        caption=say(
            "clusters.figure",
            statistics=series(
                word(f"clusters.of.{name}") for name in statistics if name in used
            ),
            model=full_name(ranking.subject),
            interval=interval_name(ranking),
            card=card_link(facts.card(ranking.record)),
            table=Link(table_id(ranking)),
        ),
    )
