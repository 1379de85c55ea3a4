"""Warnings about leading features that are strongly associated with others.

Not: the associations (`dependence`), nor the note about all columns (`checks`).
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..records.asker import remedy
from ..records.dataset_and_model import Dataset, Floats
from ..records.errors import first_of, listed, quote
from ..records.finding import Finding
from ..records.frames import Row
from ..records.importance_record import Importance
from ..records.losses import loss_label
from ..records.ranking import interval, is_marginal, null_value_of, primary
from .checks.columns import SETS, distinct_columns, is_group
from .clusters import Cluster
from .dependence import associations_of
from .dependence import clusters as linked_sets


def dependent_leaders(
    importances: Sequence[Importance],
    train: Dataset | None,
    test: Dataset,
    *,
    grouped: Collection[tuple[str, ...]],
    threshold: float,
    top_k: int,
    clusters: Collection[Cluster] = (),
    joint: Collection[Row] = (),
) -> list[Finding]:
    """Return a warning for each set of dependent features with a leader among them.

    A leader is among the first `top_k` features of one of our marginal permutation
    rankings, with an interval above the null value. A set that is exactly one of the
    groups in `grouped` has no warning; a part of a larger group has one.

    Parameters
    ----------
    importances : sequence of Importance
        All that the audit measured.
    train, test : Dataset
        Associations are those of the test rows; derived columns and duplicates of
        earlier columns are left out.
    grouped : collection of tuple of str
        Columns that are measured together.
    threshold : float
        The least association that links two features.
    top_k : int
    clusters : collection of Cluster
    joint : collection of dict
        Rows of the frame `joint_importances`: the warning of a set includes its joint
        importance.
    """
    rankings = [r for _, r in primary(importances).values() if is_marginal(r)]
    names = distinct_columns(train, test)
    if not rankings or len(names) < 2:
        return []
    strength = associations_of(test, names)
    findings = []
    for linked in linked_sets(strength, threshold):
        group = [names[k] for k in linked]
        lead = dict(_leaders(rankings, group, top_k))
        if lead and not is_group(group, grouped, names):
            among = strength[np.ix_(linked, linked)] - np.eye(len(linked))
            within = [c for c in clusters if {*group} <= {*c.features}]
            findings.append(_finding(lead, group, among, top_k, within, joint))
    return findings


def _leaders(
    rankings: Sequence[Importance], group: Sequence[str], top_k: int
) -> Iterator[tuple[str, list[str]]]:
    """Yield each leader of a group, with the models in which it is one."""
    for name in group:
        models = []
        for record in rankings:
            if name not in record.features:  # an entry may name only some columns
                continue
            row = record.features.index(name)
            matters = interval(record)[0][row] > null_value_of(record)
            if record.rank[row] <= top_k and matters:
                models.append(record.model)
        if models:
            yield name, list(dict.fromkeys(models))


def _finding(
    lead: dict[str, list[str]],
    group: Sequence[str],
    strength: Floats,
    top_k: int,
    within: Sequence[Cluster],
    joint: Collection[Row],
) -> Finding:
    strongest = float(strength.max())
    numbers = [cluster.number for cluster in within]
    models = list(dict.fromkeys(model for names in lead.values() for model in names))
    is_, belongs = ("is", "belongs") if len(lead) == 1 else ("are", "belong")
    texts = [
        quote(name) + ("" if len(own) == len(models) else f" (of {listed(own)})")
        for name, own in lead.items()
    ]
    leaders = first_of(texts, SETS)
    return Finding(
        check="dependent_leader",
        severity="warning",
        subject=", ".join(models),
        message=(
            f"{leaders} {is_} among the top {top_k} by permutation importance, but "
            f"{belongs} to a set of correlated features (association up to "
            f"{strongest:.2f}) that no measured group consists of: {listed(group)}. "
            "When one of them is permuted, the model may still read the others, so "
            "each may be underestimated, and which of them leads may be an accident of "
            "the fit."
            f"{_describe_together([r for r in joint if r['cluster'] in numbers])}"
        ),
        remedy=remedy(
            "Put them under [groups], without others, add an [[importance]] with "
            'of = "groups", and read that number; or accept this in findings.toml.',
            r="Name them in groups = list(...) as one, and read that number.",
            python="Name them in groups={...} as one, and read that number.",
        ),
        evidence={
            "strongest": strongest,
            "features": len(group),
            **({"cluster": numbers[0]} if numbers else {}),
        },
        measure=", ".join(group),
    )


def _describe_together(rows: Sequence[Row]) -> str:
    """Return a sentence with the joint importance in each model, with its interval.

    It is by the first loss with a value; there is no interval after a single repeat.
    """
    known = [row for row in rows if np.isfinite(row["mean"])]
    first = {row["model"]: row for row in reversed(known)}
    if not known:
        return ""
    texts = []
    for model, row in reversed(first.items()):
        ends = f" ({row['low']:.3g} to {row['high']:.3g})" if row["over"] else ""
        loss = loss_label(row["loss"])
        texts.append(f"{row['mean']:.3g}{ends} by {loss} in {quote(model)}")
    return f" Permuted together, they have an importance of {', '.join(texts)}."
