"""Section B: one page that answers seven questions. Not: anything said only here."""

import math
from dataclasses import replace

import pandas as pd

from ...records.finding import Finding
from ...records.ranking import LEVEL
from ...runs.signoff.finding_states import Standing
from ..text.blocks import (
    Badge,
    Cell,
    Column,
    Link,
    Part,
    Row,
    Section,
    Sentence,
    Table,
    Value,
    plain,
)
from ..text.number_text import loss_label, number, percent, rank_text
from ..text.wording import (
    joined,
    look_up,
    say,
    say_count,
    section_link,
    sentence_case,
    short_name,
    show_hidden,
    word,
)
from .agreement import by_engines
from .change import lede as change_lede
from .facts import Facts, card_link, tallied
from .findings import SEVERITIES, gravest, link_to, tally, title_of, title_of_check
from .performance import against_constant
from .ranking_tables import (
    axis_of,
    bar_cell,
    baseline_of,
    bounds_of,
    interval_columns,
    measured_in,
    on_drawn_rows,
    over_repeats,
    places_of,
    value_label,
    value_of,
)
from .rankings import Ranking
from .results import leaders
from .scope import untested, untested_count
from .verdicts import badge, reason, sentence

FEATURES = 7
MODELS = 3
OTHERS = 2
PAIRS = 3
FINDINGS = 5
OVERDUE = 3
SUBJECT = 24
LINE, PAIR_LINE, VERDICT_LINE = 76, 63, 72
VERDICT_LINES = 4
NAME = 48
ITEM = 90
REASONS = 90
LINES = 11  # of pairs and findings together
"""What one page holds; the sections behind it have the rest."""


def executive(facts: Facts) -> Section:
    """Return section B."""
    pairs = _pairs(facts)
    verdict_text = joined([sentence(facts), reason(facts)], " ")
    n_lines = sum(_lines(text, PAIR_LINE) for _, text in pairs)
    n_lines += max(0, _lines(verdict_text, VERDICT_LINE) - VERDICT_LINES)
    overdue = _overdue(facts, LINES - n_lines)
    late = sum(_lines(text, LINE) for text in overdue)
    parts = {
        "verdict": badge(facts.result.verdict),
        "sentence": verdict_text,
        "about": say("executive.about"),
        "models": _models(facts),
        "heading": _heading(facts),
        "ranking": (_ranking(facts, facts.lead),) if facts.lead else (),
        "others": _others(facts),
        "pairs": pairs,
        "meanings": _meanings(facts, pairs),
        "change": change_lede(facts),
        "tally": (*tally(facts.result), ".", *_late(facts, len(overdue))),
        "findings": (*overdue, *_findings(facts, LINES - n_lines - late, len(overdue))),
        "untested": _untested(facts),
        "decision": (
            show_hidden(facts.note("decision")) or word("executive.decision"),
        ),
    }
    return Section("B", "executive", word("sections.executive"), (), parts)


def _heading(facts: Facts) -> str:
    """Return the question the ranking answers: of the models, or of the data."""
    of_data = facts.lead is not None and not facts.lead.record.model
    return word("page.data_say" if of_data else "page.relies_on")


def _models(facts: Facts) -> tuple[Sentence, ...]:
    """Return each model with its class and its loss, the first few of them."""
    frame = facts.result.models
    sentences = []
    for place in range(min(len(frame), MODELS)):
        row = frame.iloc[place]
        what = short_name(str(row["estimator"]) or word("data.callable"), 50).text
        text = say("executive.model", model=short_name(row["model"], NAME), what=what)
        good = against_constant(facts, row["model"])
        sentences.append((*text, *((": ", *good) if good else ()), "."))
    if len(frame) > MODELS:
        more = say("words.more", n=tallied("models", len(frame) - MODELS))
        sentences.append((*more, ", ", section_link("D"), "."))
    return tuple(sentences) or (say("executive.no_model"),)


def _ranking(facts: Facts, ranking: Ranking) -> Table:
    """Return the first rows of the lead ranking as a short table."""
    record, over_rows = ranking.record, _over_rows(facts, ranking)
    if len(over_rows):
        bounds = ("low", "high", "rank_low", "rank_high")
        low, high, first, last = (over_rows[b].to_numpy(float) for b in bounds)
        ranking = replace(ranking, low=low, high=high, first=first, last=last)
    rows = ranking.order[:FEATURES]
    axis = axis_of(ranking, rows)
    columns = [
        Column(say("ranking.rank"), "number", 7),
        Column(say(f"ranking.name.{record.of}"), "header", 31),
        Column((value_label(ranking),), "number", 12),
        Column((axis.text,), "bar", 14),
    ]
    if ranking.is_drawn:
        columns += interval_columns(ranking)
    more = len(ranking.order) - len(rows)
    n, section = tallied("importances", more), section_link("F")
    notes = [say("executive.more", n=n, section=section)] if more > 0 else []
    if ranking.is_drawn:
        key = "over_rows" if len(over_rows) else "over_repeats"
        notes.append(say(f"executive.{key}", level=percent(LEVEL)))
    return Table(
        id="tab-executive",
        caption=_caption(facts, ranking),
        columns=tuple(columns),
        rows=tuple(
            _row(ranking, row, over_rows, cell=bar_cell(ranking, row, axis))
            for row in rows
        ),
        notes=tuple(notes),
        shape="tight",
    )


def _over_rows(facts: Facts, ranking: Ranking) -> pd.DataFrame:
    """Return the intervals of a ranking over other rows, empty if any is missing."""
    frame = facts.result.row_intervals
    rows = frame[frame["record"] == ranking.index]
    whole = len(rows) == len(ranking.low) and rows["low"].notna().all()
    return rows if whole else rows.iloc[:0]


def _row(ranking: Ranking, row: int, over_rows: pd.DataFrame, *, cell: Cell) -> Row:
    record = ranking.record
    cells = [
        Cell((rank_text(float(ranking.rank[row])),)),
        Cell((short_name(record.features[row], NAME),)),
        Cell((value_of(ranking, row),)),
        cell,
    ]
    if ranking.is_drawn:
        bounds: tuple[Cell, ...] = bounds_of(ranking, row)
        if len(over_rows):
            bounds = tuple(_bound(ranking, over_rows, row, b) for b in ("low", "high"))
        cells += [*bounds, places_of(ranking, row)]
    return Row(tuple(cells))


def _bound(ranking: Ranking, over_rows: pd.DataFrame, row: int, name: str) -> Cell:
    """Return one bound of an interval over other rows."""
    path = f"row_intervals[{over_rows.index[row]}].{name}"
    raw = float(over_rows[name].iloc[row])
    return Cell((Value(path, raw, number(raw, ranking.places)),))


def _caption(facts: Facts, ranking: Ranking) -> Sentence:
    """Return the estimand in one sentence: model, measure, repeats, card."""
    record = ranking.record
    text = say(
        "executive.caption",
        model=_name(ranking),
        measured=measured_in(facts, ranking),
        card=card_link(facts.card(record)),
    )
    if ranking.is_drawn:
        text += say("executive.over", estimate=over_repeats(ranking))
    if ranking.starts_at_loss:
        text += say(
            "executive.as_it_is",
            loss=loss_label(record.loss),
            value=baseline_of(ranking),
            rows=on_drawn_rows(ranking),
        )
    return (*text, ".")


def _name(ranking: Ranking) -> Part:
    """Return whom the question was put to, at the start of a caption."""
    if ranking.record.model:
        return short_name(ranking.subject, NAME)
    return sentence_case((ranking.subject,))[0]


def _others(facts: Facts) -> tuple[Sentence, ...]:
    """Return the leaders of the other models in one sentence each."""
    rest = facts.leads[1:]
    sentences = [leaders(facts, ranking, 3) for ranking in rest[:OTHERS]]
    if len(rest) > OTHERS:
        more = say("words.more", n=tallied("importances", len(rest) - OTHERS))
        sentences.append((*more, ", ", section_link("F"), "."))
    return tuple(sentences)


def _pairs(facts: Facts) -> tuple[tuple[Badge, Sentence], ...]:
    """Return one line per pair of engines, the worst first."""
    pairs = by_engines(facts)[:PAIRS]
    return tuple((pair.mark, _capped(pair.text)) for pair in pairs)


def _meanings(
    facts: Facts, pairs: tuple[tuple[Badge, Sentence], ...]
) -> tuple[Sentence, ...]:
    """Return what the words of the pairs mean, and how many pairs are not shown."""
    meanings = look_up("executive.ladder")
    words = dict.fromkeys(mark.word.replace("-", " ") for mark, _ in pairs)
    sentences: list[Sentence] = [(meanings[word],) for word in words]
    engines = {name for pair in by_engines(facts)[:PAIRS] for name in pair.engines}
    if engines & facts.supplied_engines:
        sentences.append((meanings["supplied"],))
    more = len(by_engines(facts)) - len(pairs)
    if more:
        n = say_count(tallied("agreement", more), "further_pair")
        sentences.append(say("executive.more_pairs", n=n, section=section_link("G")))
    return tuple(sentences)


def _capped(text: Sentence) -> Sentence:
    """Return what is said of a pair: of long reasons the first, the rest counted."""
    cut_text: list[Part] = []
    for part in text:
        if not isinstance(part, str) or len(part) <= REASONS:
            cut_text.append(part)
            continue
        first, *rest = part.split("; ")
        cut_text += _cut((first,), REASONS)
        if rest:
            n, section = str(len(rest)), section_link("G")
            cut_text += say("executive.more_reasons", n=n, section=section)
    is_cut = cut_text[-1] == "." and str(cut_text[-2]).endswith("…")
    return tuple(cut_text[:-1] if is_cut else cut_text)


def _cut(text: Sentence, limit: int) -> Sentence:
    """Return a sentence with long plain text cut between two words."""
    return tuple(
        f"{part[:limit].rsplit(' ', 1)[0].rstrip(',;:')} …"
        if isinstance(part, str) and len(part) > limit
        else part
        for part in text
    )


def _overdue(facts: Facts, most: int) -> tuple[Sentence, ...]:
    """Return the first findings whose day has passed, in so many lines."""
    sentences: list[Sentence] = []
    for standing in _all_overdue(facts)[:OVERDUE]:
        text = say(
            "executive.overdue",
            number=_link_of(facts, standing),
            day=str(standing.answer["due"]),
            title=title_of_check(standing.check, standing.subject, SUBJECT),
        )
        most -= _lines(text, LINE)
        if most < 0:
            break
        sentences.append(text)
    return tuple(sentences)


def _all_overdue(facts: Facts) -> list[Standing]:
    """Return what is overdue, the gravest first, then the longest."""
    late = [standing for standing in facts.register if standing.is_overdue]
    return sorted(late, key=lambda s: (SEVERITIES.index(s.severity), s.answer["due"]))


def _link_of(facts: Facts, standing: Standing) -> Link:
    """Return a link to a finding by its number, or to what this run has not found."""
    for finding in facts.result.findings:
        if finding.key == standing.key and standing.is_found:
            return link_to(finding, facts.result)
    return section_link("K")


def _late(facts: Facts, listed: int) -> Sentence:
    """Return how many findings are overdue, and how many of them are listed."""
    if not (late := len(_all_overdue(facts))):
        return ()
    key = "overdue_some" if 0 < listed < late else "overdue_none"
    key = "overdue_all" if listed == late else key
    n, first = tallied("answers.overdue", late), tallied("answers.overdue", listed)
    return say(f"executive.{key}", n=n, listed=first, section=section_link("K"))


def _findings(facts: Facts, most: int, listed: int) -> tuple[Sentence, ...]:
    """Return the gravest findings by number and title, in so many lines; no notes.

    Those that are listed as overdue already are passed over.
    """
    sentences: list[Sentence] = []
    listed_keys = {standing.key for standing in _all_overdue(facts)[:listed]}
    rest = [f for f in gravest(facts.result) if f.key not in listed_keys]
    for finding in rest[: FINDINGS - listed]:
        text = say(
            "executive.finding",
            number=link_to(finding, facts.result),
            severity=_severity(facts, finding),
            title=title_of(finding),
        )
        most -= _lines(text, LINE)
        if finding.severity == "info" or most < 0:
            break
        sentences.append(text)
    return tuple(sentences)


def _severity(facts: Facts, finding: Finding) -> Sentence:
    """Return how grave a finding is, and until when it is accepted."""
    text: Sentence = (word(f"severity.{finding.severity}"),)
    if day := facts.result.accepted.get(finding.key):
        return say("executive.accepted", severity=text, day=day)
    return text


def _lines(text: Sentence, characters: int) -> int:
    """Return about how many lines of so many characters a sentence takes."""
    return math.ceil(len(plain(text)) / characters)


def _untested(facts: Facts) -> Sentence:
    gravest_item = untested(facts)[0]
    return say(
        "executive.untested",
        items=untested_count(facts),
        table=Link("tab-untested", word("executive.listed")),
        item=_cut((*gravest_item.item, "."), ITEM),
    )
