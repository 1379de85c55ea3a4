"""Importances given the other columns beside those among all rows: what is shared.

A feature that loses most of its importance when it is drawn given the others carries
information that they carry too. How it is drawn: `methods.importance`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...records.importance_record import Importance
from ..figures.models import draw_models
from ..text.blocks import Figure, Sentence, Value, plain
from ..text.number_text import count, loss_label, percent, unit_text
from ..text.wording import (
    alt_text,
    full_name,
    joined,
    key_of,
    say,
    series,
    short_name,
    show_hidden,
    word,
)
from .facts import Facts, card_link
from .models_figure import MOST_EACH, PANEL_ROWS, PANELS, panel_of
from .rankings import Ranking

MUCH_LOWER = 0.5
"""At most this share of the marginal importance, the conditional one is much lower."""
EXCHANGE = ("within", "min_samples_leaf", "n_neighbours", "convention")
"""The options in which the two differ."""


def conditional_figures(facts: Facts) -> tuple[Figure, ...]:
    """Return one figure per model whose features are also drawn given the others.

    Of the first loss; features and groups have a figure each.
    """
    figures: dict[tuple[str, str], Figure] = {}
    for marginal in facts.rankings:
        key = marginal.record.model, marginal.record.of
        beside = [
            ranking
            for ranking in facts.rankings
            if is_marginal_of(marginal.record, ranking.record)
        ]
        rankings = [marginal, *beside][:PANELS]
        names = _names_of_all(rankings)
        if beside and names and marginal.starts_at_loss and key not in figures:
            figures[key] = _figure(facts, rankings, names)
    return tuple(figures.values())


def _names_of_all(rankings: Sequence[Ranking]) -> list[str]:
    """Return the first features of a ranking that all others measured too."""
    first, *others = rankings
    measured = [
        {ranking.record.features[row] for row in ranking.measured} for ranking in others
    ]
    names = [first.record.features[row] for row in first.measured]
    most = min(max(PANEL_ROWS // len(rankings), 3), MOST_EACH)
    return [name for name in names if all(name in of for of in measured)][:most]


def _figure(facts: Facts, rankings: Sequence[Ranking], names: Sequence[str]) -> Figure:
    """Return the losses of one model, among all rows and given the others."""
    marginal, *beside = rankings
    record, model = marginal.record, full_name(marginal.subject)
    unit = unit_text(record.unit, facts.target_unit)
    label = say("figures.models_axis", loss=loss_label(record.loss))
    panels = tuple(
        replace(
            panel_of(ranking, names, {}, over_rows=False),
            name=f"{word(f'conditional.panel.{_within(ranking)}')}, {card}",
        )
        for ranking in rankings
        for card in [facts.card(ranking.record)]
    )
    cards = series(card_link(facts.card(ranking.record)) for ranking in beside)
    lower = [
        {marginal.record.features[row] for row, _ in much_lower(marginal, ranking)}
        for ranking in beside
    ]
    shared = [name for name in names if all(name in of for of in lower)]
    text = say(
        "conditional.alt",
        panels=str(len(panels)),
        loss=loss_label(record.loss),
        model=short_name(marginal.subject),
        n=str(len(names)),
        total=count(len(record.features)),
    )
    return Figure(
        id=f"fig-conditional-{key_of(record.model, record.of, record.loss)}",
        draw=draw_models,
        data={
            "panels": panels,
            "axis_label": plain((*label, f", {show_hidden(unit)}") if unit else label),
            "value_label": word("figures.models_value"),
        },
        alt=alt_text(plain(text)),
        headline=say(
            "conditional.headline" if shared else "conditional.headline_none",
            model=model,
            features=joined(short_name(name) for name in shared),
        ),
        caption=(
            *say(
                "conditional.caption", card=card_link(facts.card(record)), cards=cards
            ),
            *_fewer(len(names), len(marginal.measured)),
        ),
    )


def _fewer(n: int, total: int) -> Sentence:
    """Return how many of the features are drawn, empty if all are."""
    if n == total:
        return ()
    return say("conditional.fewer", n=str(n), total=count(total))


def _within(ranking: Ranking) -> str:
    return str(ranking.record.options["within"])


def shared_information(facts: Facts, ranked: Sequence[Ranking]) -> list[Sentence]:
    """Return a sentence per conditional ranking that has its marginal one beside it."""
    sentences = []
    for ranking in ranked:
        for beside in facts.rankings:
            if is_marginal_of(beside.record, ranking.record):
                sentences.append(_shared_reading(beside, ranking))
                break
    return sentences


def is_marginal_of(record: Importance, conditional: Importance) -> bool:
    """Return whether a record asks what the other does or more, but among all rows."""
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
    """Return which features have beyond doubt a lower conditional importance.

    Each by its row in either ranking, in the order of the marginal one: at most half
    the marginal importance in distance from nothing, with intervals apart, of features
    whose marginal importance differs from nothing.
    """
    names = marginal.record.features
    at = [names.index(name) for name in conditional.record.features]
    nothing, low = marginal.nothing, marginal.low[at]
    apart = conditional.high < low
    halved = conditional.mean - nothing <= MUCH_LOWER * (marginal.mean[at] - nothing)
    rows = {at[row]: row for row in np.flatnonzero((low > nothing) & apart & halved)}
    return [(row, int(rows[row])) for row in marginal.order if row in rows]


def _shared_reading(marginal: Ranking, conditional: Ranking) -> Sentence:
    rows = much_lower(marginal, conditional)
    model = full_name(conditional.subject)
    drawn = say(f"conditional.drawn.{conditional.record.options['within']}")
    if not rows:
        return say("conditional.none", model=model, drawn=drawn)
    nothing = marginal.nothing
    sentences = []
    for of_marginal, row in rows:
        left = conditional.mean[row] - nothing
        part = float(left / (marginal.mean[of_marginal] - nothing))
        path = f"importances[{conditional.index}].mean[{row}]"
        share = Value(path, part, percent(part), derived="ratio")
        sentences.append(
            (full_name(conditional.record.features[row]), " (", share, ")")
        )
    return say(
        "conditional.shared", model=model, drawn=drawn, features=joined(sentences)
    )
