"""What conditional importance says beside the marginal one, in a sentence per model.

Shuffled among rows alike in all other columns, a feature has only what the others do
not tell (Strobl 2008): what it loses against shuffling among all rows, it shares.
"""

from collections.abc import Sequence

import numpy as np

from ...records.importance_record import Importance
from ..text.blocks import Sentence, Value
from ..text.number_text import percent
from ..text.wording import joined, named, say
from .facts import Facts
from .rankings import Ranking

MUCH_LOWER = 0.5
"""Share of the marginal importance from which down the conditional one is told of."""
EXCHANGE = ("within", "min_samples_leaf")
"""The options in which the two differ."""


def shared_information(facts: Facts, ranked: Sequence[Ranking]) -> list[Sentence]:
    """Return a sentence per conditional ranking that has its marginal one beside it."""
    found = []
    for ranking in ranked:
        for beside in facts.rankings:
            if _is_marginal_of(beside.record, ranking.record):
                found.append(_reading(beside, ranking))
                break
    return found


def _is_marginal_of(record: Importance, conditional: Importance) -> bool:
    """Return whether a record asks what the other does, but among all rows."""
    within = (record.options.get("within"), conditional.options.get("within"))
    if within != ("none", "leaves"):
        return False
    cards = [
        {k: v for k, v in r.estimand.items() if k not in EXCHANGE}
        for r in (record, conditional)
    ]
    return record.model == conditional.model and cards[0] == cards[1]


def much_lower(marginal: Ranking, conditional: Ranking) -> list[int]:
    """Return the rows whose conditional importance is beyond doubt the lower one.

    At most half the marginal one in distance from nothing, with intervals apart, of
    features whose marginal importance is told from nothing.
    """
    nothing = marginal.nothing
    matters = marginal.low > nothing
    apart = conditional.high < marginal.low
    halved = conditional.mean - nothing <= MUCH_LOWER * (marginal.mean - nothing)
    rows = set(np.flatnonzero(matters & apart & halved).tolist())
    return [row for row in marginal.order if row in rows]


def _reading(marginal: Ranking, conditional: Ranking) -> Sentence:
    rows = much_lower(marginal, conditional)
    model = named(conditional.subject)
    if not rows:
        return say("conditional.none", model=model)
    nothing = marginal.nothing
    told = []
    for row in rows:
        left = conditional.mean[row] - nothing
        part = float(left / (marginal.mean[row] - nothing))
        path = f"importances[{conditional.index}].mean[{row}]"
        share = Value(path, part, percent(part), derived="ratio")
        told.append((named(conditional.record.features[row]), " (", share, ")"))
    return say("conditional.shared", model=model, features=joined(told))
