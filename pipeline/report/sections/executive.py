"""Section B: one page that answers seven questions. Not: anything said only here."""

import math

from ...records.finding import Finding
from ...runs.signoff.finding_states import Standing
from ..text.blocks import (
    Badge,
    Link,
    Part,
    Section,
    Sentence,
    Table,
    plain,
)
from ..text.wording import (
    full_name,
    joined,
    look_up,
    say,
    say_count,
    section_link,
    short_name,
    show_hidden,
    word,
)
from .agreement import by_engines
from .change import lede as change_lede
from .control import version_line
from .facts import Facts, tallied
from .findings import SEVERITIES, gravest, link_to, tally, title_of, title_of_check
from .leading_features import leading_table, negative_features
from .likeness import least_alike
from .model_quality import quality_table
from .results import leader_of, lede
from .scope import untested, untested_count
from .verdicts import alone, badge, reason, sentence

MODELS = 3
PAIRS, PAIR_LINES = 3, 7
FINDINGS = 5
OVERDUE = 3
LINE, PAIR_LINE, VERDICT_LINE = 76, 63, 72
VERDICT_LINES = 4
ITEM = 90
REASONS = 90
LINES = 10  # of pairs and findings together
LINES_BESIDE = 3  # of what models agree on and what was not tested
"""What one page holds; the sections behind it have the rest."""


def executive(facts: Facts) -> Section:
    """Return section B."""
    pairs, ranking = _pairs(facts), leading_table(facts)
    verdict = (sentence(facts), reason(facts), alone(facts))
    verdict_text = joined(filter(None, verdict), " ")
    n_lines = sum(_lines(text, PAIR_LINE) for _, text in pairs)
    n_lines += max(0, _lines(verdict_text, VERDICT_LINE) - VERDICT_LINES)
    n_lines += _long_names(ranking) if ranking else 0
    alike, negative, gaps = _alike(facts), negative_features(facts), _untested(facts)
    beside = (*alike, *negative, gaps)
    lines_beside = sum(_lines(text, LINE) for text in beside)
    n_lines += max(0, lines_beside - LINES_BESIDE)
    overdue = _overdue(facts, LINES - n_lines)
    late = sum(_lines(text, LINE) for text in overdue)
    sentences = _findings(facts, LINES - n_lines - late, len(overdue))
    parts = {
        "verdict": badge(facts.result.verdict),
        "sentence": verdict_text,
        "about": joined([say("executive.about"), version_line(facts)], " "),
        "quality": tuple(filter(None, [quality_table(facts)])),
        "models": _models(facts),
        "heading": _heading(facts),
        "ranking": tuple(filter(None, [ranking])),
        "negative": negative,
        "alike": alike,
        "pairs": pairs,
        "meanings": _meanings(facts, pairs),
        "change": change_lede(facts),
        "tally": (
            *tally(facts.result),
            ".",
            *_late(facts, len(overdue)),
            *_not_listed(facts, len(overdue) + len(sentences)),
        ),
        "findings": (*overdue, *sentences),
        "untested": gaps,
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
    """Return each model with its class where no loss was measured, the first few."""
    if not facts.result.performance.empty:
        return ()
    frame = facts.result.models
    sentences = []
    for place in range(min(len(frame), MODELS)):
        row = frame.iloc[place]
        what = short_name(str(row["estimator"]) or word("data.callable")).text
        text = say("executive.model", model=short_name(row["model"]), what=what)
        sentences.append((*text, "."))
    if len(frame) > MODELS:
        more = say("words.more", n=tallied("models", len(frame) - MODELS))
        sentences.append((*more, ", ", section_link("D"), "."))
    if sentences:
        return (*sentences, say("data.no_performance"))
    return (say("executive.no_model"),)


def _alike(facts: Facts) -> tuple[Sentence, ...]:
    """Return whether the models lead with one feature, and how far rankings differ."""
    leaders: Sentence = ()
    if len(facts.leads) > 1:
        first = {leader_of(ranking) for ranking in facts.leads}
        models = {ranking.record.model for ranking in facts.leads} - {""}
        is_one = len(first) == 1 and "" not in first
        is_of_all = is_one and len(models) == len(facts.leads)
        leaders = _one_leader(first.pop(), len(models)) if is_of_all else lede(facts)
    return tuple(filter(None, (leaders, joined(least_alike(facts), " "))))


def _one_leader(name: str, n: int) -> Sentence:
    """Return that one feature leads everywhere, without the names of all models."""
    if n == 2:
        return say("executive.leads_both", feature=full_name(name))
    number = tallied("models", n)
    return say("executive.leads_all", feature=full_name(name), n=number)


def _pairs(facts: Facts) -> tuple[tuple[Badge, Sentence], ...]:
    """Return what is said of each pair of engines, the worst first, if it fits."""
    pairs: list[tuple[Badge, Sentence]] = []
    n_lines = 0
    for pair in by_engines(facts)[:PAIRS]:
        text = _capped(pair.text)
        n_lines += _lines(text, PAIR_LINE)
        if pairs and n_lines > PAIR_LINES:
            break
        pairs.append((pair.mark, text))
    return tuple(pairs)


def _meanings(
    facts: Facts, pairs: tuple[tuple[Badge, Sentence], ...]
) -> tuple[Sentence, ...]:
    """Return what the words of the pairs mean, and how many pairs are not shown."""
    meanings = look_up("executive.ladder")
    words = dict.fromkeys(mark.word.replace("-", " ") for mark, _ in pairs)
    sentences: list[Sentence] = [(meanings[word],) for word in words]
    shown = by_engines(facts)[: len(pairs)]
    engines = {name for pair in shown for name in pair.engines}
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
            title=title_of_check(standing.check, standing.subject),
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
            title=title_of(finding, facts.result),
        )
        most -= _lines(text, LINE)
        if finding.severity == "info" or most < 0:
            break
        sentences.append(text)
    return tuple(sentences)


def _not_listed(facts: Facts, listed: int) -> Sentence:
    """Return where the failures and warnings are that page one has no room for."""
    serious = [f for f in gravest(facts.result) if f.severity != "info"]
    more = len(serious) - listed
    if more <= 0 or _all_overdue(facts):
        return ()
    n = tallied("findings", more)
    return say("executive.not_listed", n=n, section=section_link("K"))


def _severity(facts: Facts, finding: Finding) -> Sentence:
    """Return how grave a finding is, and until when it is accepted."""
    text: Sentence = (word(f"severity.{finding.severity}"),)
    if day := facts.result.accepted.get(finding.key):
        return say("executive.accepted", severity=text, day=day)
    return text


def _lines(text: Sentence, characters: int) -> int:
    """Return about how many lines of so many characters a sentence takes."""
    return math.ceil(len(plain(text)) / characters)


def _long_names(table: Table) -> int:
    """Return how many lines the names of a table take beyond one a row."""
    places = (i for i, column in enumerate(table.columns) if column.kind == "header")
    names = next(places)
    width = table.columns[names].width
    texts = (row.cells[names].parts for row in table.rows)
    return sum(_lines(text, int(width)) - 1 for text in texts)


def _untested(facts: Facts) -> Sentence:
    gravest_item = untested(facts)[0]
    return say(
        "executive.untested",
        items=untested_count(facts),
        table=Link("tab-untested", word("executive.listed")),
        item=_cut((*gravest_item.item, "."), ITEM),
    )
