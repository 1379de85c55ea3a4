"""The leading features of each model for page one, with the models side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...assess.page_one import LEAST, Difference, differences
from ...records.ranking import LEVEL, is_marginal, question_of
from ..text.blocks import Column, Part, Sentence, Styled, Table, Value
from ..text.number_text import decimals, interval_text, loss_label, percent
from ..text.wording import (
    full_name,
    joined,
    say,
    section_link,
    sentence_case,
    series,
    short_name,
    table_of,
    word,
)
from .facts import Facts, card_link, first_few, number_in, tallied
from .model_quality import best_first, is_on_training_rows
from .ranking_tables import (
    baseline_of,
    bound_values,
    measured_in,
    on_drawn_rows,
    over_repeats,
    value_label,
    value_of,
)
from .rankings import Ranking
from .results import leader_of

ROWS = {1: 9, 2: 6, 3: 5}
"""Most leading features in the table, by the number of models in its columns."""
MODELS, WITH_BOUNDS = 3, 2
"""Most models in the table, and most with value and interval on the same line."""
FEW = 3
"""Least features in the table, even if the last are indistinguishable from zero."""
DIFFERENCES = 3
GROUPS = LEADERS = 3
"""Most groups of the owner, and most leaders by other measures, that page one names."""
SETS = "abcdefghijklmnopqrstuvwxyz"


def shown_rankings(facts: Facts) -> list[Ranking]:
    """Return the rankings on page one: those of the best models on evaluation rows."""
    return _by_quality(facts)[:MODELS]


def _by_quality(facts: Facts) -> list[Ranking]:
    """Return the leading rankings, the best model first, with the same decimals.

    These show at most five digits of the largest value.
    """
    order = best_first(facts)
    names = {name: place for place, name in enumerate(order)}
    means = [ranking.mean for ranking in facts.leads]
    five = decimals(np.concatenate(means) / 10 if means else [])
    places = min((ranking.places for ranking in facts.leads), default=0)
    return sorted(
        (replace(ranking, decimals=min(places, five)) for ranking in facts.leads),
        key=lambda r: names.get(r.record.model, len(order)),
    )


def leading_table(facts: Facts) -> Table | None:
    """Return the table of leading features by model; None without a ranking."""
    rankings = shown_rankings(facts)
    if not rankings:
        return None
    names, n_models = leading_names(facts, rankings), len(rankings)
    columns = [Column(say(f"ranking.name.{rankings[0].record.of}"), "header")]
    for ranking in rankings:
        heads: list[Sentence] = [(short_name(ranking.subject),)]
        if n_models == 1:
            heads = [(value_label(ranking),)]
            interval = say("leading.interval", level=percent(LEVEL))
            heads += [interval] if ranking.is_drawn else []
        columns += [Column(head, "number") for head in (*heads, say("ranking.rank"))]
    rows, letters = [], letters_of(facts, names)
    for name in names:
        cells = (_cells(ranking, name, n_models) for ranking in rankings)
        rows.append((_marked(facts, name, letters), *chain(*cells)))
    return table_of(
        "executive",
        "leading",
        columns,
        rows,
        caption=_caption(facts, rankings),
        notes=_notes(facts, rankings, names),
        shape="wide" if n_models > 1 else "tight",
        abreast=2 if n_models > 1 else len(columns) - 1,
    )


def leading_names(facts: Facts, rankings: Sequence[Ranking]) -> list[str]:
    """Return the features of the table of leading features, by their best rank.

    These are the first that some model relies on beyond zero, followed by the next
    ones up to `FEW`, and by the features that are always shown.
    """
    best: dict[str, float] = {}
    for ranking in rankings:
        names, ranks = ranking.record.features, np.nan_to_num(ranking.rank, nan=np.inf)
        for name, rank in zip(names, ranks.tolist(), strict=True):
            best[name] = min(rank, best.get(name, np.inf))
    order, relied_on = sorted(best, key=best.__getitem__), _relied_on(rankings)
    known = [name for name in order if name in relied_on]
    most = ROWS[len(rankings)]
    chosen = known[: most + (len(order) == most + 1)]  # nobody cuts a single feature
    others = [name for name in order if name not in chosen]
    also = (name for name in facts.always_shown if name in best)
    return list(dict.fromkeys([*chosen, *others[: max(FEW - len(chosen), 0)], *also]))


def _relied_on(rankings: Sequence[Ranking]) -> set[str]:
    """Return the features above zero, and above `LEAST`, in some ranking."""
    names = set()
    for ranking in rankings:
        sizes = ranking.mean - ranking.null_value
        matters = ranking.is_above_zero & (
            sizes >= LEAST * np.nanmax(sizes, initial=0.0)
        )
        names |= {ranking.record.features[row] for row in np.flatnonzero(matters)}
    return names


def _cells(ranking: Ranking, name: str, n_models: int) -> list[Sentence | Part]:
    """Return the cells of one feature and model: value, interval and rank.

    The interval has its own column if there is only one model.
    """
    if name not in ranking.record.features:
        return ["–"] * (3 if n_models == 1 and ranking.is_drawn else 2)
    row = ranking.record.features.index(name)
    value, (low, high) = value_of(ranking, row), bound_values(ranking, row)
    interval = say("leading.from_to", low=low, high=high)
    cells: list[Sentence | Part] = [value]
    if ranking.is_drawn:
        if n_models == 1:
            cells = [value, interval]
        elif n_models <= WITH_BOUNDS:
            cells = [say("leading.with_interval", value=value, interval=interval)]
        else:
            cells = [(value, " ", Styled("line", interval))]
    rank = interval_text(ranking.first[row], ranking.last[row])
    return [*cells, rank if ranking.is_above_zero[row] else "–"]


def _caption(facts: Facts, rankings: Sequence[Ranking]) -> Sentence:
    """Return the estimand in one sentence: measure, repeats, rows, card."""
    first = rankings[0]
    measured = measured_in(facts, first)
    text = say(
        "leading.caption" if len(rankings) > 1 else "leading.caption_one",
        model=full_name(first.record.model)
        if first.record.model
        else word("leading.data"),
        measured=sentence_case(measured) if len(rankings) > 1 else measured,
        card=card_link(facts.card(first.record)),
    )
    rows = on_drawn_rows(first)
    if first.is_drawn:
        rows = say("leading.over", estimate=over_repeats(*rankings), rows=rows)
    text += rows
    if first.starts_at_loss and len(rankings) == 1:
        loss = loss_label(first.record.loss)
        text += say("leading.before", loss=loss, value=baseline_of(first))
    return (*text, ".")


def _notes(
    facts: Facts, rankings: Sequence[Ranking], names: Sequence[str]
) -> tuple[Sentence, ...]:
    notes = []
    every = {name for ranking in rankings for name in ranking.record.features}
    if more := len(every.difference(names)):
        n, section = tallied("importances", more), section_link("F")
        known = {
            ranking.record.features[row]
            for ranking in rankings
            for row in np.flatnonzero(ranking.is_above_zero)
        }
        key = "more" if known.issubset(names) else "more_first"
        first = tallied("importances", len(known.intersection(names)))
        of = tallied("importances", len(known))
        notes.append(say(f"leading.{key}", first=first, of=of, n=n, section=section))
    left_out = [ranking.subject for ranking in _by_quality(facts)[MODELS:]]
    if left_out:
        models = joined(short_name(name) for name in dict.fromkeys(left_out))
        section = section_link("F")
        notes.append(say("leading.other_models", models=models, section=section))
    leaders = []
    for ranking in other_leaders(facts):
        key = "leader" if len(rankings) > 1 else "leader_one"
        feature, model = full_name(leader_of(ranking)[1]), short_name(ranking.subject)
        card = card_and_loss(facts, ranking)
        leaders.append(say(f"leading.{key}", feature=feature, card=card, model=model))
    if leaders:
        few = joined(first_few(leaders, LEADERS, "importances"), "; ")
        notes.append(say("leading.other_leaders", leaders=few))
    notes += _groups(facts, rankings)
    drawn = [ranking for ranking in rankings if ranking.is_drawn]
    for key in ("zero", "below_zero"):
        each, counts = [], []
        for ranking in drawn:
            path, n_named = f"importances[{ranking.index}]", len(ranking.negative)
            if key == "zero":
                n_named = int((~ranking.is_above_zero).sum()) - n_named
            n, of = tallied(path, n_named), tallied(path, len(ranking.is_above_zero))
            model = full_name(ranking.subject)
            if not n_named:
                continue
            counts.append(say("leading.count", n=n, of=of))
            of_model = "count_of" if len(rankings) == 1 else "count_of_model"
            each.append(say(f"leading.{of_model}", n=n, of=of, model=model))
        if len(each) == len(rankings) > 1:
            each = [series(counts)]
        if each:
            by, models = _by_card(facts), joined(each, "; ")
            notes.append(say(f"leading.{key}", by=by, models=models))
    if drawn:
        interval = say("leading.intervals", level=percent(LEVEL))
        if len(rankings) > 1:
            key = "brackets" if len(rankings) == WITH_BOUNDS else "below"
            interval = say(f"leading.{key}", interval=interval)
        is_over_rows = all(ranking.row_intervals for ranking in drawn)
        key = "over_rows" if is_over_rows else "over_draws"
        if is_over_rows and any(
            is_on_training_rows(facts, ranking.record.model) for ranking in drawn
        ):
            key = "over_training_rows"
        notes.append(say(f"leading.{key}", interval=interval))
    return (*notes, *_sets(facts, names))


def card_and_loss(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the card of a ranking, with its loss and class if the card has several."""
    record = ranking.record
    return joined([card_link(facts.card(record)), *facts.beside_card(record)])


def _by_card(facts: Facts) -> Sentence:
    """Return the measure of page one in words; empty if features have no other."""
    records = [r.record for r in facts.rankings if r.record.of == "features"]
    measures = {(facts.card(r), r.loss, r.positive_class) for r in records}
    card = card_and_loss(facts, facts.leads[0])
    return say("leading.by_measure", card=card) if len(measures) > 1 else ()


def other_leaders(facts: Facts) -> list[Ranking]:
    """Return the rankings of features led by another feature than that of page one."""
    of_model = {r.subject: r.in_order[0] for r in facts.leads if r.measured}
    return [
        ranking
        for ranking in facts.rankings
        if ranking.record.of == "features"
        and leader_of(ranking)[1] not in {of_model.get(ranking.subject, ""), ""}
    ]


def _groups(facts: Facts, rankings: Sequence[Ranking]) -> tuple[Sentence, ...]:
    """Return the note on the importance of the owner's groups; empty without any."""
    of_features = (ranking for ranking in rankings if ranking.record.of == "features")
    others = [*chain.from_iterable(_of_groups(facts, r)[:1] for r in of_features)]
    if not others:
        return ()
    groups = []
    for name in others[0].in_order:
        values = [
            in_words(joint_of(other, other.record.features.index(name)))
            if name in other.in_order
            else ("–",)
            for other in others
        ]
        value = in_each(values)
        groups.append(say("leading.group", group=short_name(name), value=value))
    models = series(full_name(other.subject) for other in others)
    if len(others) == len(rankings) > 1:
        models = say(
            "leading.all" if others[2:] else "leading.both", n=str(len(others))
        )
    text = say(
        "leading.groups",
        models=models,
        groups=joined(first_few(groups, GROUPS, "importances"), "; "),
        card=card_link(facts.card(others[0].record)),
    )
    return (text,)


def in_each(values: Sequence[Sentence]) -> Sentence:
    """Return the values in each model; once if all are the same words."""
    return values[0] if all(value == values[0] for value in values) else series(values)


def _of_groups(facts: Facts, ranking: Ranking) -> list[Ranking]:
    """Return the rankings of groups with the same question as one of features."""
    asked = question_of(replace(ranking.record, of="groups"))
    return [other for other in facts.rankings if question_of(other.record) == asked]


def letters_of(facts: Facts, names: Sequence[str]) -> dict[int, str]:
    """Return the letter of each cluster with any of these features, by its number."""
    of = {name: number for number, own in facts.clusters.items() for name in own}
    shown = dict.fromkeys(of[name] for name in names if name in of)
    return dict(zip(shown, SETS, strict=False))


def shown_letters(facts: Facts) -> dict[int, str]:
    """Return the letter of each cluster on page one, by its number."""
    rankings = shown_rankings(facts)
    return letters_of(facts, leading_names(facts, rankings)) if rankings else {}


def _marked(facts: Facts, name: str, letters: Mapping[int, str]) -> Sentence:
    """Return the name of a feature, with the letter of its cluster if it has one."""
    for cluster, letter in letters.items():
        if name in facts.clusters[cluster]:
            return (short_name(name), "\u00a0", Styled("mark", (letter,)))
    return (short_name(name),)


def _sets(facts: Facts, names: Sequence[str]) -> Iterator[Sentence]:
    """Yield the note on the clusters in the table, if there are any.

    It has the joint importance of each cluster in the models shown, if measured.
    """
    texts = []
    for cluster, letter in letters_of(facts, names).items():
        others = [name for name in facts.clusters[cluster] if name not in names]
        text = say(
            "leading.set_with" if others else "leading.set",
            mark=Styled("strong", (letter,)),
            others=series(map(short_name, others)),
            strongest=strongest(facts, cluster),
        )
        measured = {one.model: in_words(one) for one in joint_values(facts, cluster)}
        models = (ranking.record.model for ranking in shown_rankings(facts))
        together = [measured[model] for model in models if model in measured]
        if together:
            text += say("leading.together", values=in_each(together))
        texts.append(text)
    if texts:
        yield say("leading.sets", sets=joined(texts, "; "))


def strongest(facts: Facts, cluster: int) -> Value:
    """Return the strongest association within a cluster."""
    frame = facts.result.clusters
    own = frame.loc[frame["cluster"] == cluster, "strongest"].astype(float)
    return number_in("clusters", frame.loc[own.idxmax()], "strongest", 2)


class Joint(NamedTuple):
    """The joint importance of a cluster or a group in one model.

    Attributes
    ----------
    model : str
    value : Value
    side : {"above", "zero", "below"}
        Position of its interval relative to the null value.
    low, high : float
        The interval.
    """

    model: str
    value: Value
    side: str
    low: float
    high: float


def in_words(one: Joint) -> Sentence:
    """Return a joint importance in words, or that it is indistinguishable from zero."""
    return say(f"leading.joint_{one.side}", value=one.value)


def joint_values(facts: Facts, cluster: int) -> Iterator[Joint]:
    """Yield the joint importance of a cluster in each model, by the leading measure.

    Of a cluster that is a group of the owner it is that of the group; of others it is
    known if the leading ranking permutes features among all rows.
    """
    frame = facts.result.clusters
    group = str(frame.loc[frame["cluster"] == cluster, "group"].iloc[0])
    rows = facts.result.joint_importances
    for ranking in _by_quality(facts):
        lead = ranking.record
        if not group:
            own = rows[(rows["cluster"] == cluster) & is_marginal(lead)]
            for name in ("model", "loss", "form"):
                own = own[own[name] == getattr(lead, name)]
            for _, row in own.iterrows():
                value = number_in("joint_importances", row, "mean", ranking.places)
                side = "above" if row["low"] > ranking.null_value else "zero"
                side = "below" if row["high"] < ranking.null_value else side
                yield Joint(lead.model, value, side, row["low"], row["high"])
            continue
        for other in _of_groups(facts, ranking):
            if group in other.record.features:
                yield joint_of(other, other.record.features.index(group))
                break


def joint_of(ranking: Ranking, row: int) -> Joint:
    """Return the joint importance of a group, one row of its ranking."""
    side = "above" if ranking.is_above_zero[row] else "zero"
    side = "below" if row in ranking.negative else side
    low, high = float(ranking.low[row]), float(ranking.high[row])
    return Joint(ranking.record.model, value_of(ranking, row), side, low, high)


def where_models_differ(facts: Facts) -> tuple[list[Difference], list[Difference]]:
    """Return the features that two models rely on unequally, in two lists.

    The second has those on whose cluster the model does not rely more, since each model
    may use another feature of it.
    """
    by_model = _by_model(facts)
    rows = [
        (r.record.model, name, *(np.array(ends) - r.null_value))
        for r in by_model.values()
        if r.is_drawn
        for name, *ends in zip(r.record.features, r.mean, r.low, r.high, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["model", "feature", "mean", "low", "high"])
    found: tuple[list[Difference], list[Difference]] = ([], [])
    for one in differences(frame.dropna()):
        found[_is_only_alone(facts, one)].append(one)
    return found


def _is_only_alone(facts: Facts, one: Difference) -> bool:
    """Return whether the model that relies more on a feature does not on its cluster.

    It does if the interval of its joint importance is above that of the other model.
    """
    for cluster, members in facts.clusters.items():
        joint = {own.model: own for own in joint_values(facts, cluster)}
        if one.feature in members and {one.more, one.less} <= joint.keys():
            return bool(joint[one.more].low <= joint[one.less].high)
    return False


def _by_model(facts: Facts) -> dict[str, Ranking]:
    """Return the leading ranking of each model, in the order of page one.

    With several classes it is that of the first class.
    """
    found: dict[str, Ranking] = {}
    for ranking in _by_quality(facts):
        found.setdefault(ranking.record.model, ranking)
    return found


def differing(facts: Facts) -> Sentence:
    """Return a sentence on the features that differ between models, largest first."""
    found, only_alone = where_models_differ(facts)
    by_model, letters, texts = _by_model(facts), shown_letters(facts), []
    names = [_marked(facts, one.feature, letters) for one in only_alone]
    features = series(first_few(names, DIFFERENCES, "importances"))
    alone = say("leading.only_alone", features=features) if names else ()
    if not found:
        none = say("leading.none_differs", by=_by_card(facts))
        return joined(filter(None, [none, alone]), " ")
    for one in found[:DIFFERENCES]:
        # All models where there is room, since more than one pair may differ so.
        models = list(by_model) if len(by_model) <= MODELS else [one.more, one.less]
        sides: list[Value | Sentence] = []
        for model in models:
            ranking = by_model[model]
            if one.feature not in ranking.record.features:
                continue
            value = value_of(ranking, ranking.record.features.index(one.feature))
            said = say("leading.value_in", value=value, model=full_name(model))
            sides.append(value if len(by_model) == 2 else said)
        feature = _marked(facts, one.feature, letters)
        texts.append(say("leading.differs_in", feature=feature, sides=series(sides)))
    features = joined(texts, "; ")
    text = say("leading.differ", by=_by_card(facts), features=features)
    rest = len(found) - DIFFERENCES
    if rest > 0:
        n, section = tallied("importances", rest), section_link("F")
        text += say("leading.differ_more", n=n, section=section)
    return joined(filter(None, [(*text, "."), alone]), " ")
