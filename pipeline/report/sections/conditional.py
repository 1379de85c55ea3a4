"""The information that features share, from marginal and conditional importances.

A feature that loses most of its importance when it is drawn given the others contains
information that they contain too. The ways of drawing are in `methods.importance`.
"""

from collections.abc import Sequence

import numpy as np

from ...records.importance_record import Importance
from ..text.blocks import Sentence, Value
from ..text.number_text import percent
from ..text.wording import full_name, joined, say
from .facts import Facts
from .rankings import Ranking

MUCH_LOWER = 0.5
"""Largest share of the marginal importance at which the conditional is much lower."""
EXCHANGE = ("within", "min_samples_leaf", "n_neighbours", "convention")
"""Options in which marginal and conditional importances may differ."""


def shared_information(facts: Facts, ranked: Sequence[Ranking]) -> list[Sentence]:
    """Return a sentence per conditional ranking whose marginal one was measured too.

    It names the features with a much lower importance, and the share that is left.
    """
    sentences = []
    for ranking in ranked:
        record = ranking.record
        every = (r for r in facts.rankings if is_marginal_of(r.record, record))
        marginal = next(every, None)
        if marginal is None:
            continue
        nothing, features = marginal.null_value, []
        for of_marginal, row in much_lower(marginal, ranking):
            left = ranking.mean[row] - nothing
            part = float(left / (marginal.mean[of_marginal] - nothing))
            path = f"importances[{ranking.index}].mean[{row}]"
            share = Value(path, part, percent(part), derived="ratio")
            features.append((full_name(record.features[row]), " (", share, ")"))
        text = say(
            "conditional.shared" if features else "conditional.none",
            model=full_name(ranking.subject),
            drawn=say(f"conditional.drawn.{record.options['within']}"),
            features=joined(features),
        )
        sentences.append(text)
    return sentences


def is_marginal_of(record: Importance, conditional: Importance) -> bool:
    """Return whether a record has all marginal importances of a conditional one."""
    within = (record.options.get("within"), conditional.options.get("within"))
    if within[0] != "none" or within[1] in (None, "none"):
        return False
    cards = [
        {k: v for k, v in r.estimand.items() if k not in EXCHANGE}
        for r in (record, conditional)
    ]
    is_one_question = record.model == conditional.model and cards[0] == cards[1]
    return is_one_question and set(conditional.features) <= set(record.features)


def much_lower(marginal: Ranking, conditional: Ranking) -> list[tuple[int, int]]:
    """Return the features whose conditional importance is clearly lower.

    Each is given by its row in the marginal and in the conditional ranking, in the
    order of the former. The interval of its marginal importance is above the null value
    and above the interval of the conditional one, and the conditional importance is at
    most half the marginal one, both as differences from the null value.
    """
    names = marginal.record.features
    at = [names.index(name) for name in conditional.record.features]
    nothing, low = marginal.null_value, marginal.low[at]
    is_below = conditional.high < low
    halved = conditional.mean - nothing <= MUCH_LOWER * (marginal.mean[at] - nothing)
    rows = {at[row]: row for row in np.flatnonzero((low > nothing) & is_below & halved)}
    return [(row, int(rows[row])) for row in marginal.order if row in rows]
