"""Section F: what each model relies on, measure by measure, and the curves."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...records.ranking import Measure, measure_of
from ..text.blocks import Group, Section, Sentence, Value
from ..text.number_text import lone, loss_label
from ..text.wording import (
    full_name,
    joined,
    key_of,
    say,
    say_count,
    series,
    short_name,
    show_hidden,
    word,
)
from .cards import title_of
from .claims import claims
from .clusters import marked
from .conditional import conditional_figures, shared_information
from .effects import effect_figures
from .expectations import expectations
from .facts import Facts, card_link, whole
from .interactions import interaction_figure
from .models_figure import models_figure
from .overview import in_overview, overview_tables
from .ranking_figure import ranking_figure
from .ranking_tables import on_drawn_rows, ranking_table, value_of
from .rankings import Ranking, rows_drawn
from .significance import engine_tables, significance_table
from .stability import firmness
from .surfaces import surface_figures
from .top_k import selection_tables, top_k_figures


def results(facts: Facts) -> Section:
    """Return section F: one group per measure, then the curves."""
    title = word("sections.results")
    groups = []
    if overview := overview_tables(facts):
        blocks = (*overview, *conditional_figures(facts))
        groups.append(Group("overview", say("overview.title"), blocks))
    groups += [_group(facts, measure) for measure in facts.cards]
    curves = effect_figures(facts)
    if curves:
        groups.append(Group("measure-curves", say("results.curves"), curves))
    groups += (*expectations(facts), *claims(facts))
    if surfaces := surface_figures(facts):
        groups.append(Group("measure-surfaces", say("surfaces.title"), surfaces))
    if judged := top_k_figures(facts):
        groups.append(Group("measure-top-k", say("top_k.title"), judged))
    if sets := selection_tables(facts):
        groups.append(Group("measure-selection", say("selection.title"), sets))
    first = lede(facts) if facts.rankings else say("results.none")
    return Section("F", "results", title, first, {"groups": tuple(groups)})


def lede(facts: Facts) -> Sentence:
    """Return who leads in which model, by the lead measure."""
    sentences = (
        say(
            f"results.{key}",
            feature=full_name(feature),
            models=series(map(full_name, models)),
        )
        for (key, feature), models in by_leader_of(facts).items()
    )
    return joined(sentences, " ")


def by_leader_of(facts: Facts) -> dict[tuple[str, str], list[str]]:
    """Return the models that one feature leads in, or none, by what is said of it."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for ranking in facts.leads:
        found.setdefault(_leader(ranking), {})[ranking.subject] = None
    return {leader: list(models) for leader, models in found.items()}


def leader_of(ranking: Ranking) -> str:
    """Return the feature that no other can overtake, empty if there is none."""
    return _leader(ranking)[1]


def _leader(ranking: Ranking) -> tuple[str, str]:
    """Return the feature no other can overtake within the intervals, if there is one.

    With the key of what to say; what its interval does not set apart from a feature
    that does not matter leads nothing.
    """
    measured = ranking.measured
    if not measured or ranking.low[measured[0]] <= ranking.nothing:
        return "none_leads", ""
    if np.isnan(ranking.low[measured[0]]):
        return "unknown_leads", ""
    if ranking.last[measured[0]] != 1:
        return "no_leader", ""
    return "leads", ranking.record.features[measured[0]]


def leaders(facts: Facts, ranking: Ranking, n: int) -> Sentence:
    """Return the first features of one ranking with their values."""
    del facts
    record = ranking.record
    first = (
        (short_name(record.features[row]), " ", value_of(ranking, row))
        for row in ranking.measured[:n]
    )
    return say(
        "results.leaders", model=full_name(ranking.subject), features=joined(first)
    )


def _group(facts: Facts, measure: Measure) -> Group:
    """Return everything one card is about: tables, figures, what to read in them."""
    ranked = [r for r in facts.rankings if measure_of(r.record) == measure]
    record = ranked[0].record
    card = facts.card(record)
    losses = list(dict.fromkeys(r.record.loss for r in ranked))
    by_loss = [[r for r in ranked if r.record.loss == loss] for loss in losses]
    blocks: list[object] = []
    for place, same_loss in enumerate(by_loss):
        is_lead, beside = facts.lead in same_loss, models_figure(facts, same_loss)
        for ranking in same_loss:
            table = ranking_table(facts, ranking, _outside(facts, ranking))
            firm = filter(None, [firmness(facts, ranking)])
            notes = (*table.notes, *marked(facts, ranking), *firm)
            is_single = ranking is not facts.lead and in_overview(facts, ranking)
            table = replace(table, notes=notes, is_single=is_single)
            blocks.append(replace(table, is_appended=False))
            if significance := significance_table(facts, ranking):
                blocks.append(significance)
            blocks += engine_tables(facts, ranking)
            if is_lead and not beside:
                blocks += filter(None, [ranking_figure(facts, ranking, same_loss)])
            if figure := interaction_figure(facts, ranking, same_loss):
                blocks.append(figure)
            if ranking is facts.lead:
                blocks.append(_reading(facts, ranking))
        if place == 0 and beside:
            blocks.append(beside)
    blocks += shared_information(facts, ranked)
    title = title_of(facts, record)
    return Group(
        f"measure-{key_of(*_words_of(measure))}",
        (card_link(card), " ", *title),
        tuple(blocks),
    )


def _words_of(measure: Measure) -> tuple[str, ...]:
    method, of, form, options = measure
    return (method, of, form, *(f"{k}={v}" for k, v in options))


def _outside(facts: Facts, ranking: Ranking) -> list[str]:
    """Return the features of a ranking on which two engines disagree."""
    frame, record = facts.result.disagreements, ranking.record
    same = (
        (frame["model"] == record.model)
        & (frame["method"] == record.method)
        & (frame["of"] == record.of)
        & (frame["loss"] == record.loss)
    )
    return list(frame.loc[same, "feature"])


def _reading(facts: Facts, ranking: Ranking) -> Sentence:
    """Return how to read the first number of the lead ranking, and who is tied."""
    record = ranking.record
    is_rise = record.form == "difference" and ranking.starts_at_loss
    if not is_rise or not ranking.measured:
        return ()
    row = ranking.measured[0]
    before, after = _before_and_after(ranking, row)
    text = say(
        "results.reading",
        value=value_of(ranking, row),
        feature=full_name(record.features[row]),
        loss=loss_label(record.loss),
        model=full_name(record.model),
        before=before,
        after=after,
        unit=_unit_after(facts, ranking),
        rows=on_drawn_rows(ranking),
    )
    return (*text, *_constant(facts, ranking), *_tied(ranking))


def _before_and_after(ranking: Ranking, row: int) -> tuple[Value, Value]:
    """Return the loss as it is and with one feature shuffled: decimals to subtract."""
    base = float(ranking.record.baseline.mean())
    shuffled = base + float(ranking.mean[row])
    before, after = (lone(loss, least=ranking.places) for loss in (base, shuffled))
    path = f"importances[{ranking.index}]"
    return (
        Value(f"{path}.baseline", base, before, derived="mean"),
        Value(f"{path}.raw[{row}]", shuffled, after, derived="mean"),
    )


def _unit_after(facts: Facts, ranking: Ranking) -> str:
    unit = facts.unit(ranking.record)
    return f" {show_hidden(unit)}" if unit else ""


def _constant(facts: Facts, ranking: Ranking) -> Sentence:
    """Return what predicting one constant would lose on the same rows."""
    frame, record = facts.result.performance, ranking.record
    same = (
        (frame["model"] == record.model)
        & (frame["loss"] == record.loss)
        & (frame["split"] == record.split)
    )
    if not same.any():
        return ()
    value = float(frame.loc[same, "constant"].iloc[0])
    place = frame.index[same][0]
    constant = Value(f"performance[{place}].constant", value, lone(value))
    if not rows_drawn(record):
        return say("results.constant", value=constant)
    rows = int(frame.loc[place, "n_samples"])
    n = say_count(whole(f"performance[{place}].n_samples", rows), "row")
    return say("results.constant_whole", value=constant, rows=n)


def _tied(ranking: Ranking) -> Sentence:
    """Return the first two neighbours whose ranks the intervals leave open.

    Two intervals may overlap where the order is the same on nearly all resamples,
    since both move with the same rows; the ranks know that, the ends do not.
    """
    order, names = ranking.measured, ranking.record.features
    for one, other in pairwise(order):
        if ranking.is_drawn and ranking.first[other] <= ranking.last[one]:
            return say(
                "results.tied", one=full_name(names[one]), other=full_name(names[other])
            )
    return ()
