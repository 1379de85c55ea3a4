"""The engines held against each other: every pair that asks for the same.

Not: what two answers say to each other, which is `agreement`.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pipeline import agreement
from pipeline.config_settings import ChecksSection
from pipeline.journal import Journal
from pipeline.known_defects import defects_for
from pipeline.records import Floats


def keep_agreement(
    journal: Journal,
    limits: ChecksSection,
    *,
    prediction_gap: Mapping[str, float],
    predictions: Mapping[str, Floats],
    versions: Mapping[str, str],
) -> None:
    """Give each pair its verdict, and each verdict that needs one its finding.

    Parameters
    ----------
    journal : Journal
        Holds the answers, and keeps the pairs, their differences and the findings.
    limits : ChecksSection
        What counts as a resolution, a shift of rank, and a lead.
    prediction_gap : mapping of str to float
        By how much, relatively, the predictions of a model differ between two calls or
        between the two sides; 0 where nothing is known.
    predictions : mapping of str to ndarray
        What R was told that a model predicts.
    versions : mapping of str to str
        The packages of R, whose known defects explain differences.
    """
    judged = partial(
        agreement.compare,
        resolution=limits.resolution,
        max_rank_shift=limits.max_rank_shift,
        top_k=limits.top_k,
    )
    both: list[tuple[Any, Any]] = [
        *agreement.pairs(journal.importances),
        *agreement.pairs(journal.effects),
    ]
    for a, b in both:
        told = predictions.get(a.model)
        touched = partial(defects_for, versions=versions, predictions=told)
        defects = (*touched(a), *touched(b))
        gap = prediction_gap.get(a.model, 0.0)
        row, differences = judged(a, b, prediction_gap=gap, touches=defects)
        journal.pairs.append(row)
        journal.differences.extend(differences)
    journal.findings.extend(agreement.findings_of(journal.pairs))
