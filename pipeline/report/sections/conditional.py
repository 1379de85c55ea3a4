"""Marginal and conditional importances, and the information that features share.

A feature that loses most of its importance when it is drawn given the others contains
information that they contain too. The ways of drawing are in `methods.importance`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...records.importance_record import Importance
from ..figures.models import draw_models
from ..text.blocks import Figure, Sentence, Value, plain
from ..text.number_text import count, loss_label, percent
from ..text.wording import (
    alt_text,
    full_name,
    joined,
    key_of,
    say,
    short_name,
    word,
)
from .facts import Facts, card_link, cards_of
from .models_figure import MOST_EACH, PANEL_ROWS, PANELS, losses_data, panel_of
from .rankings import Ranking

MUCH_LOWER = 0.5
"""Largest share of the marginal importance at which the conditional is much lower."""
EXCHANGE = ("within", "min_samples_leaf", "n_neighbours", "convention")
"""Options in which marginal and conditional importances may differ."""


def conditional_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return a figure per model with marginal and conditional importances.

    It has the first loss. Features and groups have a figure each.
    """
    figures: dict[tuple[str, str], Figure] = {}
    for marginal in facts.rankings:
        key = marginal.record.model, marginal.record.of
        given = [r for r in facts.rankings if is_marginal_of(marginal.record, r.record)]
        given = given[: PANELS - 1]
        if not given or not marginal.starts_at_loss or key in figures:
            continue
        in_all = set(marginal.in_order).intersection(*(r.in_order for r in given))
        most = min(max(PANEL_ROWS // (1 + len(given)), 3), MOST_EACH)
        names = [name for name in marginal.in_order if name in in_all][:most]
        if not names:
            continue
        record, model = marginal.record, full_name(marginal.subject)
        panels = []
        for ranking in (marginal, *given):
            within = word(f"conditional.panel.{ranking.record.options['within']}")
            panel = panel_of(ranking, names, over_rows=False)
            panels.append(
                replace(panel, name=f"{within}, {facts.card(ranking.record)}")
            )
        lower = [
            {record.features[row] for row, _ in much_lower(marginal, ranking)}
            for ranking in given
        ]
        shared = [name for name in names if all(name in of for of in lower)]
        alt = say(
            "conditional.alt",
            panels=str(len(panels)),
            loss=loss_label(record.loss),
            model=short_name(marginal.subject),
            n=str(len(names)),
            total=count(len(record.features)),
        )
        caption = say(
            "conditional.caption",
            card=card_link(facts.card(record)),
            cards=cards_of(facts, given),
        )
        n, total = len(names), len(marginal.measured)
        if n < total:
            caption += say("conditional.fewer", n=str(n), total=count(total))
        figures[key] = Figure(
            id=f"fig-conditional-{key_of(record.model, record.of, record.loss)}",
            draw=draw_models,
            data=losses_data(facts, marginal, tuple(panels)),
            alt=alt_text(plain(alt)),
            headline=say(
                "conditional.headline" if shared else "conditional.headline_none",
                model=model,
                features=joined(map(short_name, shared)),
            ),
            caption=caption,
        )
    return tuple(figures.values())


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
