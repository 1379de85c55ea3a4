"""Sensitivity of a ranking to the loss: rankings that differ in their loss only.

"There is no single, absolute measure" (Biecek and Burzykowski 2021, section 16.5).
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..engines.agreement.numbers import association, top_k_overlap
from ..records.errors import listed
from ..records.finding import Finding, Severity
from ..records.importance_record import Importance
from ..records.losses import loss_label
from ..records.ranking import interval, options_text, primary

NOT_COMPARED = ("loss", "form", "aggregator")
"""Parts of the estimand in which two compared records may differ."""
Row = dict[str, Any]


def compare_losses(
    importances: Sequence[Importance], *, top_k: int
) -> tuple[list[Row], list[Finding]]:
    """Compare the rankings of each two losses: one row each, and their findings.

    Parameters
    ----------
    importances : sequence of Importance
        All that the audit measured; only our own are compared.
    top_k : int
        Number of leading features for ``top_k_overlap``.

    Returns
    -------
    rows : list of dict
        Of frame `losses`. ``kendall`` is tau-b of the ranks, NaN if all are tied;
        ``leader_a`` and ``leader_b`` are the features with the first rank.
    findings : list of Finding
        One per pair of losses without a leader in common: a warning if the intervals
        over the repeats settle the leader under both losses, else a note.
    """
    rows: list[Row] = []
    findings: list[Finding] = []
    for (i, a), (j, b) in _pairs(importances):
        both = np.isfinite(a.rank) & np.isfinite(b.rank)
        means = pd.DataFrame({"a": a.mean[both], "b": b.mean[both]})
        ranks_a, ranks_b = means.rank(ascending=False).to_numpy().T
        n = len(means)
        row = {
            "record_a": i,
            "record_b": j,
            **{name: getattr(a, name) for name in ("model", "method", "of")},
            "positive_class": a.positive_class,
            "loss_a": a.loss,
            "loss_b": b.loss,
            "n_features": n,
            "kendall": association(ranks_a, ranks_b)["kendall"] if n > 1 else np.nan,
            "top_k": min(top_k, n),
            "top_k_overlap": top_k_overlap(ranks_a, ranks_b, top_k) if n else np.nan,
            "leader_a": listed(_leaders(a)),
            "leader_b": listed(_leaders(b)),
        }
        rows.append(row)
        findings += _findings(a, b, row)
    return rows, findings


def _pairs(
    importances: Sequence[Importance],
) -> Iterator[tuple[tuple[int, Importance], tuple[int, Importance]]]:
    """Yield every two records that differ in their loss only, and their places.

    Of several records with one loss, the first is used.
    """
    by_estimand: dict[tuple[Any, ...], dict[str, tuple[int, Importance]]] = {}
    for index, record in primary(importances).values():
        card = {k: v for k, v in record.estimand.items() if k not in NOT_COMPARED}
        key = (record.model, record.features, repr(sorted(card.items())))
        if record.loss:
            by_estimand.setdefault(key, {}).setdefault(record.loss, (index, record))
    for by_loss in by_estimand.values():
        yield from combinations(by_loss.values(), 2)


def _leaders(record: Importance) -> list[str]:
    """Return the features with the first rank: one, or several that are tied."""
    rank = record.rank
    is_ranked = np.isfinite(rank)
    if not is_ranked.any():
        return []
    return [record.features[k] for k in np.flatnonzero(rank == rank[is_ranked].min())]


def _findings(a: Importance, b: Importance, row: Row) -> Iterator[Finding]:
    """Yield a finding if the losses have no leader in common."""
    one, other = _leaders(a), _leaders(b)
    if not one or not other or set(one) & set(other):
        return
    options = options_text(a, with_repeats=False)
    settled = _leads(a, one[0], other[0]) and _leads(b, other[0], one[0])
    severity: Severity = "warning" if settled else "info"
    chance = "" if settled else " The intervals over the repeats do not settle it."
    leads = ["leads" if len(names) == 1 else "lead" for names in (one, other)]
    yield Finding(
        check="loss_decides",
        severity=severity,
        subject=a.model,
        message=(
            "The choice of loss changes the leading feature: by "
            f"{a.method.replace('_', ' ')} of {a.of}, {row['leader_a']} {leads[0]} "
            f"under {loss_label(a.loss)} and {row['leader_b']} {leads[1]} under "
            f"{loss_label(b.loss)}.{chance}"
        ),
        remedy=(
            "State the loss with every ranking, and choose it by what a prediction "
            "error costs. No loss gives absolute importances."
        ),
        evidence={name: row[name] for name in ("kendall", "top_k_overlap")},
        measure=f"{a.method} of {a.of}, {a.loss} and {b.loss}, {options}",
    )


def _leads(record: Importance, leader: str, other: str) -> bool:
    """Return whether the interval of `leader` over the repeats is above `other`'s."""
    low, high = interval(record)
    first, second = (record.features.index(name) for name in (leader, other))
    return bool(low[first] > high[second])
