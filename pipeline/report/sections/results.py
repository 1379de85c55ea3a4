"""Section F: the importances of each model by measure, and the curves."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...records.ranking import Measure
from ..text.blocks import Group, Section, Sentence, Value
from ..text.number_text import lone, loss_label
from ..text.wording import (
    full_name,
    joined,
    key_of,
    say,
    series,
    show_hidden,
)
from .cards import title_of
from .claims import claims
from .conditional import shared_information
from .effects import effect_figures
from .expectations import expectations
from .facts import Facts, card_link, group, section
from .interactions import interaction_figure
from .models_figure import models_figure
from .overview import in_overview, overview_tables
from .ranking_figure import ranking_figure
from .ranking_tables import how_replaced, on_drawn_rows, ranking_table, value_of
from .rankings import Ranking
from .segments import segment_blocks
from .significance import engine_tables, significance_table
from .surfaces import surface_figures
from .top_k import selection_tables, top_k_figures


def results(facts: Facts) -> Section:
    """Return section F: one group per measure, then the curves."""
    groups = (
        *group("overview", say("overview.title"), overview_tables(facts)),
        *(_group(facts, measure) for measure in facts.cards),
        *group("segments", say("segments.title"), segment_blocks(facts)),
        *group("measure-curves", say("results.curves"), effect_figures(facts)),
        *group("expected", say("expected.title"), expectations(facts)),
        *claims(facts),
        *group("measure-surfaces", say("surfaces.title"), surface_figures(facts)),
        *group("measure-top-k", say("top_k.title"), top_k_figures(facts)),
        *group("measure-selection", say("selection.title"), selection_tables(facts)),
    )
    lede = say("results.none")
    if facts.rankings:  # the leading features of the models, by the lead measure
        lede = joined(leaders_in_words(facts, "results"), " ")
        if facts.evaluated_on == "fitted":
            lede += (" ", *say("results.of_the_fit"))
    return section("F", lede, {"groups": groups})


def leaders_in_words(facts: Facts, table: str) -> Iterator[Sentence]:
    """Yield sentences on the leading features, with the texts of a table of strings."""
    for (key, feature), models in by_leader_of(facts).items():
        names = series(map(full_name, models))
        loss = facts.leads[0].record.loss
        by = say("results.by_loss", loss=loss_label(loss)) if loss else ()
        yield say(f"{table}.{key}", feature=full_name(feature), models=names, by=by)


def by_leader_of(facts: Facts) -> dict[tuple[str, str], list[str]]:
    """Return the models by leader: the key of its sentence, and the feature.

    The feature is empty if none leads.
    """
    found: dict[tuple[str, str], dict[str, None]] = {}
    for ranking in facts.leads:
        found.setdefault(leader_of(ranking), {})[ranking.subject] = None
    return {leader: list(models) for leader, models in found.items()}


def leader_of(ranking: Ranking) -> tuple[str, str]:
    """Return the key of the sentence on a ranking's leader, and its name, or "".

    A feature leads if no other can overtake it within the intervals, and its own
    interval is above the null value.
    """
    measured = ranking.measured
    if not measured:
        return "not_ranked", ""
    if ranking.low[measured[0]] <= ranking.null_value:
        return "none_leads", ""
    if np.isnan(ranking.low[measured[0]]):
        return "unknown_leads", ""
    if ranking.last[measured[0]] != 1:
        return "no_leader", ""
    return "leads", ranking.record.features[measured[0]]


def _group(facts: Facts, measure: Measure) -> Group:
    """Return the group of one card: its tables and figures, and how to read them."""
    ranked = facts.of_measure(measure)
    record = ranked[0].record
    by_loss: dict[str, list[Ranking]] = {}
    for ranking in ranked:
        by_loss.setdefault(ranking.record.loss, []).append(ranking)
    blocks: list[object] = []
    for place, same_loss in enumerate(by_loss.values()):
        side_by_side = models_figure(facts, same_loss)
        for ranking in same_loss:
            table = ranking_table(facts, ranking)
            blocks.append(
                replace(
                    table,
                    is_single=ranking is not facts.lead and in_overview(facts, ranking),
                )
            )
            below = [
                significance_table(facts, ranking),
                *engine_tables(facts, ranking),
                None
                if side_by_side or facts.lead not in same_loss
                else ranking_figure(facts, ranking),
                interaction_figure(facts, ranking, same_loss),
            ]
            blocks += filter(None, below)
            if ranking is facts.lead:
                blocks.append(_reading(facts, ranking))
        if place == 0 and side_by_side:
            blocks.append(side_by_side)
    blocks += shared_information(facts, ranked)
    method, of, form, options = measure
    key = key_of(method, of, form, *(f"{name}={value}" for name, value in options))
    title: Sentence = (card_link(facts.card(record)), " ", *title_of(facts, record))
    return Group(f"measure-{key}", title, tuple(blocks))


def _reading(facts: Facts, ranking: Ranking) -> Sentence:
    """Return how to read the first value of the lead ranking."""
    record, measured = ranking.record, ranking.measured
    is_rise = record.form == "difference" and ranking.starts_at_loss
    if not is_rise or not measured:
        return ()
    row, path = measured[0], f"importances[{ranking.index}]"
    before = float(record.baseline.mean())
    after = before + float(ranking.mean[row])
    # With enough decimals that a reader can subtract one from the other.
    texts = [lone(loss, least=ranking.places) for loss in (before, after)]
    unit = facts.unit(record)
    return say(
        "results.reading",
        value=value_of(ranking, row),
        feature=full_name(record.features[row]),
        how=how_replaced(record),
        loss=loss_label(record.loss),
        model=full_name(record.model),
        before=Value(f"{path}.baseline", before, texts[0], derived="mean"),
        after=Value(f"{path}.raw[{row}]", after, texts[1], derived="mean"),
        unit=f" {show_hidden(unit)}" if unit else "",
        rows=on_drawn_rows(ranking),
    )
