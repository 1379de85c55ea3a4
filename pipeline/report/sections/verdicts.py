"""The verdicts on the run and on pairs of engines, as badges and in sentences."""

import re
from collections import Counter
from dataclasses import replace

import pandas as pd

from ...engines import ENGINES
from ...records.importance_record import Importance
from ...records.ranking import OURS
from ..text.blocks import Badge, Sentence, Value, plain
from ..text.wording import (
    full_name,
    joined,
    look_up,
    say,
    say_count,
    section_link,
    series,
    show_hidden,
    word,
)
from .facts import ANSWER, Facts, answer_of, card_link, first_few, tallied
from .missing import count_missing
from .rankings import Ranking

SHAPES = {
    "replayed": "●",
    "equivalent": "◆",
    "comparable": "▲",
    "disagrees": "■",
    "not compared": "○",
    "confirmed": "●",
    "confirmed with exceptions": "◆",
    "not cross-checked": "◇",
    "not confirmed": "■",
    "not established": "○",
}
LADDER = ("disagrees", "not compared", "comparable", "equivalent", "replayed")
"""Verdicts on a pair of engines, the worst first."""
GOOD = ("equivalent", "replayed")
"""Verdicts on a pair of engines whose numbers are equal."""
EXCEPTIONS = 3
"""Number of exceptions that the page names."""
SURE = ("confirmed", "confirmed with exceptions")
"""Verdicts on a confirmed run, with and without exceptions."""


def badge(verdict: str) -> Badge:
    """Return the badge of a verdict: its shape, and its title as a label."""
    labels = look_up("verdicts")
    return Badge(
        word=verdict.replace(" ", "-"),
        label=labels.get(re.sub("[ -]", "_", verdict), verdict),
        shape=SHAPES[verdict],
    )


def sentence(facts: Facts, *, is_beside_points: bool = False) -> Sentence:
    """Return the verdict on the run in one sentence.

    With `is_beside_points`, the exceptions are not counted, since the points of page
    one name them.
    """
    if facts.result.verdict == "not confirmed":
        limit = str(facts.result.run.config.get("fail_on", "failure"))
        against = facts.result.against
        groups = [group for _, group in facts.finding_groups]
        number = sum(any(f in against for f in group) for group in groups)
        statement = say(
            "verdict.not_confirmed",
            findings=say_count(tallied("findings", number), "finding"),
            limit=word(f"severity.{limit}").lower(),
        )
    elif facts.result.verdict == "not established":
        gaps = [finding for finding in facts.result.findings if finding.leaves_gap]
        gaps.sort(key=lambda f: (not f.ends_run, f.check == "nothing_measured"))
        why = say("verdict.no_reason")
        if gaps:
            why = (show_hidden(gaps[0].message).rstrip("."),)
        if gaps and gaps[0].check == "time_limit":
            why = say("verdict.time_over")
        measured = count_missing(facts, "measured")
        statement = (*joined(filter(None, (why, measured)), ". "), ".")
    else:
        # What was not confirmed comes first: it weighs more than a missing engine.
        exceptions = facts.result.exceptions
        number = sum(group[0] in exceptions for _, group in facts.finding_groups)
        n = tallied("findings", number)
        unconfirmed, where = _unconfirmed(facts)
        key = "unsure" if unconfirmed else "sure"
        statement = say(
            f"verdict.{key}_except"
            if number and not is_beside_points
            else f"verdict.{key}",
            standing=unconfirmed or _reproduced(facts),
            where=section_link(where) if where else "",
            exceptions=say_count(n, "exception"),
            n=n,
            section=section_link("K"),
        )
    return joined(filter(None, (statement, _accepted(facts))), " ")


def count_verdict(verdict: str, number: Value) -> Sentence:
    """Return a number of pairs with their verdict: "1 disagrees"."""
    one, many = look_up("ladder")[verdict]
    return (number, " ", one if number.raw == 1 else many)


def recomputed(facts: Facts) -> Sentence:
    """Return the number of recomputed rankings, the engines, and the verdicts.

    If the run is not confirmed or not finished, the reason comes first.
    """
    ours = (own[own["engine_a"] == OURS] for own in facts.compared.values())
    counts = Counter(min(own["verdict"], key=LADDER.index) for own in ours if len(own))
    against = _unconfirmed(facts)[0]
    n = sum(counts.values())
    texts = []
    if against or not n or facts.result.verdict not in SURE:
        texts.append(sentence(facts, is_beside_points=True))
    elif accepted := _accepted(facts):
        texts.append(accepted)
    if not n:
        return joined(texts, " ")
    each = [
        say(f"recomputed.{verdict}", n=tallied("agreement", counts[verdict]))
        for verdict in LADDER
        if counts[verdict]
    ]
    of = say_count(tallied("importances", len(facts.rankings)), "ranking")
    counted = say("recomputed.counted", n=tallied("agreement", n), of=of)
    one = next(iter(counts)) if len(counts) == 1 else ""
    in_part = _is_confirmed_in_part(facts)
    is_drawn = all(r.is_drawn for r in facts.rankings if r not in facts.uncompared)
    text = say(
        f"recomputed.all_{one}" if one in GOOD else "recomputed.some",
        draws=say("recomputed.same_draws") if is_drawn else (),
        rankings=() if in_part else counted,
        by=joined(_by_engines(facts), "; "),
        each=joined(each),
    )
    if len(facts.rankings) > n:
        possible = len(recomputable(facts))
        if possible:
            number = tallied("importances", possible)
            text += (" ", *say("recomputed.open", n=number))
        if len(facts.rankings) > n + possible:
            text += (" ", *say("recomputed.cannot"))
    texts.append(text)
    for link, own in facts.finding_groups:
        if own[0].check == "supplied_twice":
            pairs = say_count(tallied("findings", len(own)), "pair")
            texts.append(say("recomputed.twice", n=pairs, finding=link))
    if facts.result.verdict == "confirmed with exceptions" and not in_part:
        exceptions = facts.result.exceptions
        links = [link for link, own in facts.finding_groups if own[0] in exceptions]
        few = joined(first_few(links, EXCEPTIONS, "findings"))
        texts.append(say("recomputed.exceptions", findings=few))
    return joined(texts, " ")


def _by_engines(facts: Facts) -> list[Sentence]:
    """Return the cards recomputed by other engines, one clause for the same engines."""
    found: dict[str, list[list[str]]] = {}
    for ranking in facts.rankings:
        own = facts.compared.get(answer_of(ranking.record), facts.result.agreement[:0])
        engines = own.loc[own["engine_a"] == OURS, "engine_b"].tolist()
        found.setdefault(facts.card(ranking.record), []).append(engines)
    cards: dict[tuple[str, ...], list[Sentence]] = {}
    for card, each in found.items():
        if by := tuple(dict.fromkeys(engine for own in each for engine in own)):
            key = "whole" if all(each) else "in_part"
            text = say(f"recomputed.{key}", card=card_link(card))
            cards.setdefault(by, []).append(text)
    return [
        say("recomputed.by", cards=series(own), engines=series(map(full_name, by)))
        for by, own in cards.items()
    ]


def _is_confirmed_in_part(facts: Facts) -> bool:
    """Return whether a run is confirmed, but not every ranking was recomputed.

    Without exceptions, rankings that could not be recomputed do not count.
    """
    verdict = facts.result.verdict
    left = {
        "confirmed with exceptions": facts.uncompared,
        "confirmed": recomputable(facts),
    }
    return bool(left.get(verdict)) and not _unconfirmed(facts)[0]


def verdict_badge(facts: Facts) -> Badge:
    """Return the badge of the run, with counts if it is confirmed only in part."""
    mark = badge(facts.result.verdict)
    if _is_confirmed_in_part(facts):
        n, of = int(_distinct(facts, "importance").raw), len(facts.rankings)
        label = plain(say("verdict.confirmed_for", n=str(n), of=str(of)))
        return replace(mark, label=label)
    return mark


def recomputable(facts: Facts) -> list[Ranking]:
    """Return the rankings that were not recomputed, but could be by an engine here.

    An engine here is one with any results, also supplied ones. An engine that was
    configured for a ranking and has no result for it cannot compute it: it lacks the
    loss, or weights.
    """
    here = {engine.split(" ")[0] for engine in facts.answered} & set(ENGINES)
    rows = facts.result.agreement[[*ANSWER, "engine_b"]].itertuples(
        index=False, name=None
    )
    answers = {(*question, engine.split(" ")[0]) for *question, engine in rows}

    def is_able(engine: str, record: Importance) -> bool:
        was_asked = engine in facts.engines_asked(record)
        offers = record.method in ENGINES[engine]["importance"]
        return offers and (not was_asked or (*answer_of(record), engine) in answers)

    return [
        ranking
        for ranking in facts.uncompared
        if any(is_able(engine, ranking.record) for engine in here)
    ]


def _reproduced_pairs(facts: Facts, *kinds: str) -> pd.DataFrame:
    """Return the pairs of our engine with one that is replayed or equivalent."""
    frame = facts.result.agreement
    good = frame["verdict"].isin(GOOD)
    return frame[good & (frame["engine_a"] == OURS) & frame["kind"].isin(kinds)]


def _reproduced(facts: Facts) -> Sentence:
    """Return a clause on the rankings, or else curves, that were reproduced, if any."""
    ours = [e for e in facts.result.effects if e.engine == OURS]
    asked = (
        ("importance", "rankings", "ranking", "importances", len(facts.rankings)),
        ("effect", "curves", "curve", "effects", len(ours)),
    )
    for kind, key, noun, path, n_ours in asked:
        if counts := Counter(map(str, _reproduced_pairs(facts, kind)["engine_b"])):
            if n_ours == 1:
                return say(f"verdict.one_{noun}", engine=series(counts))
            each = joined(
                say("verdict.reproduced", engine=engine, n=tallied("agreement", n))
                for engine, n in counts.items()
            )
            several = len(counts) > 1
            return say(
                f"verdict.{key}",
                engine=series(counts),
                n=_distinct(facts, kind),
                **{key: say_count(tallied(path, n_ours), noun)},
                engines=say("verdict.by_engine", engines=each) if several else "",
            )
    return ()


def _distinct(facts: Facts, kind: str) -> Value:
    """Return the number of our rankings or curves that any engine reproduced."""
    answers = _reproduced_pairs(facts, kind)[[*ANSWER, "feature"]].drop_duplicates()
    return tallied("agreement", len(answers))


def _unconfirmed(facts: Facts) -> tuple[Sentence, str]:
    """Return the reason why nothing is confirmed, and its section; else empty ones."""
    frame = facts.result.agreement
    n_pairs = int((frame["verdict"] == "disagrees").sum())
    if n_pairs:
        n, *words = count_verdict("disagrees", tallied("agreement.verdict", n_pairs))
        pairs = say_count(tallied("agreement", len(frame)), "pair")
        text = say("verdict.disagrees", n=n, pairs=pairs, disagree=words[-1])
        return text, "G"
    if reproduced := _reproduced(facts):
        engines = _reproduced_pairs(facts, "importance", "effect")["engine_b"]
        if engines.isin(facts.supplied_engines).all():
            return say("verdict.only_supplied", confirmed=reproduced), "G"
        if engines.isin(facts.supplied_engines | facts.result.own_engines).all():
            return say("verdict.only_own", confirmed=reproduced), "C"
        return (), ""
    if facts.answered:
        return say("verdict.only_comparable"), "G"
    key = "unanswered" if facts.configured_engines else "python_alone"
    return say(f"verdict.{key}"), "C"


def _accepted(facts: Facts) -> Sentence:
    """Return a sentence on the number of accepted findings, and the first end date."""
    in_force = facts.result.accepted
    keys = {f.key for f in facts.result.findings if f.severity != "info"}
    days = sorted(in_force[key] for key in keys & in_force.keys())
    if not days:
        return ()
    findings = say_count(tallied("answers.state", len(days)), "finding")
    key = "accepted" if len(days) == 1 else "some_accepted"
    return say(f"verdict.{key}", findings=findings, day=days[0])
