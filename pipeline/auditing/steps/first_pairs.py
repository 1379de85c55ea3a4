"""Pairs of the leading features of a model. Not: all pairs (`measure`)."""

import numpy as np

from ...config.load import ImportanceSection
from ...methods.importance import METHODS
from ...records.dataset_and_model import Dataset, FittedModel
from ...records.errors import quote
from ...records.finding import Finding
from ..measure import pairs_of

RANKED_BY = "partial_dependence"


def select_pairs(
    model: FittedModel | None, rows: Dataset, section: ImportanceSection, *, seed: int
) -> tuple[Dataset, tuple[Finding, ...]]:
    """Return the rows with the pairs of a question, and a finding about the others.

    The pairs are those of the first ``section.top`` features by partial-dependence
    importance on these rows, on the scale of the question and averaged over the
    outputs, as chosen by Greenwell, Boehmke and McCarthy (2018) [1]_; all pairs if that
    is 0. They are in the order of the columns. A feature without an importance is not
    considered.

    Raises
    ------
    NotApplicable
        The model has no such scale.

    Warnings
    --------
    Features that act only through an interaction have flat curves, and are left out.

    References
    ----------
    .. [1] Greenwell, Boehmke and McCarthy (2018). A simple and effective model-based
       variable importance measure. arXiv:1805.04755.
       doi:10.48550/arXiv.1805.04755
    """
    if model is None or not 0 < section.top < len(rows.features):
        return rows, ()
    alone = rows.with_groups({name: (name,) for name in rows.features})
    raw, _ = METHODS[RANKED_BY].function(
        model, alone, seed=seed, scale=section.options["scale"]
    )
    importance = raw.mean(axis=(1, 2))
    ranked = np.argsort(-importance, kind="stable")[: section.top]  # NaN comes last
    first = {rows.features[n] for n in ranked if np.isfinite(importance[n])}
    pairs = pairs_of([name for name in rows.features if name in first])
    names = list(dict.fromkeys(name for pair in pairs.values() for name in pair))
    total = len(rows.features) * (len(rows.features) - 1) // 2
    note = Finding(
        check="first_pairs",
        severity="info",
        subject=model.name,
        message=(
            f"{section.method} of pairs is measured for {len(pairs)} of {total} "
            f"pairs of model {quote(model.name)}: those of the {len(names)} features "
            f"with the largest partial-dependence importance: {', '.join(names)}. A "
            "feature that acts through an interaction alone is not among them."
        ),
        remedy="Leave top out to measure all pairs.",
        measure=f"{section.method} of the first {section.top}, {section.name}",
    )
    return rows.with_groups(pairs), (note,)
