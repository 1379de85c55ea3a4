"""Section C: the purpose, what engines shared with Python, what was not tested."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...assess.page_one import is_of_unknown_rows
from ...methods.importance import METHODS
from ..text.blocks import Section, Sentence, Table
from ..text.labels import with_labels
from ..text.wording import (
    ended,
    full_name,
    joined,
    look_up,
    say,
    say_count,
    series,
    short_name,
    show_hidden,
    table_of,
    word,
)
from .facts import Facts, cards_of, config_of, section, tallied
from .findings import link_to
from .missing import count_missing, name_missing
from .rankings import Ranking
from .verdicts import recomputable


class Untested(NamedTuple):
    """An item that was not tested: reason, what a test takes, and the consequence."""

    item: Sentence
    reason: str
    takes: Sentence
    consequence: Sentence

    @classmethod
    def of(cls, text: Mapping[str, str], reason: str) -> "Untested":
        """Return an item with the texts of a table of strings."""
        return cls((text["item"],), reason, (text["takes"],), (text["consequence"],))


GRAVITY = (
    *("not given", "not finished", "failed", "unavailable"),
    *("not configured", "not applicable", "out of scope"),
)
REASONS = {
    "method_failed": "failed",
    "interrupted": "not finished",
    "time_limit": "not finished",
    "step_failed": "failed",
    "nothing_measured": "failed",
    "engine_required": "unavailable",
    "engine_missing": "unavailable",
    "not_applicable": "not applicable",
    "unmeasured": "not applicable",
}
"""Reason of each check with findings on something that was not tested."""


def scope(facts: Facts) -> Section:
    """Return section C."""
    purpose = [
        say(f"scope.noted.{key}", text=ended(facts.note(key)))
        for key in ("goal", "purpose", "intended_use")
        if facts.note(key)
    ]
    people: Table | Sentence = say("scope.no_people")
    if entries := config_of(facts, "report").get("people", ()):
        people = table_of(
            "people",
            "scope",
            "role person:header relation",
            [
                (
                    show_hidden(person["role"]),
                    full_name(person["name"]),
                    show_hidden(person.get("relation") or word("scope.unsaid")),
                )
                for person in entries
            ],
            caption=say("scope.people_caption"),
            shape="tight",
        )
    reasons = look_up("scope.reasons")
    not_tested = table_of(
        "untested",
        "scope",
        "item:header reason takes consequence",
        [
            item._replace(reason=reasons[item.reason.replace(" ", "_")])
            for item in untested(facts)
        ],
        caption=say("scope.untested_caption"),
        shape="tight",
    )
    parts = {
        "prose": (joined(purpose or [say("scope.no_purpose")], " "),),
        "people": people,
        "shared": _shared(facts),
        "untested": not_tested,
    }
    return section("C", _lede(facts), parts)


def untested(facts: Facts) -> list[Untested]:
    """Return the items that were not tested, the gravest first; never empty."""
    items = [
        *_from_findings(facts),
        *_uncompared(facts),
        *_from_configuration(facts),
        *(
            Untested.of(text, text["reason"])
            for text in look_up("scope.never").values()
        ),
    ]
    return sorted(items, key=lambda item: GRAVITY.index(item.reason))


def _lede(facts: Facts) -> Sentence:
    """Return the engines that ran here, and those with numbers measured elsewhere."""
    if not facts.rankings:
        return say("scope.lede_none")
    own = [e for e in facts.answered if e in facts.result.own_engines]
    supplied = [e for e in facts.answered if e in facts.supplied_engines]
    known = _packages(facts)
    text = say("scope.lede_python" if own else "scope.lede_one")
    if known:
        text = say("scope.lede_two", engines=series(["Python", *map(full_name, known)]))
    sentences = [text]
    for engines, key in ((own, "own"), (supplied, "supplied")):
        if engines:
            names = series(map(full_name, engines))
            sentences.append(say(f"scope.lede_{key}", engines=names))
    return joined(sentences, " ")


def _shared(facts: Facts) -> tuple[Table, ...]:
    """Return the table of what Python shares with R packages; empty without any."""
    if not (engines := _packages(facts)):
        return ()
    table = table_of(
        "shared",
        "scope",
        "ingredient:header in_this_run an_error",
        [(t["label"], t["cell"], t["error"]) for t in look_up("scope.shared").values()],
        caption=say("scope.shared_caption", engines=series(map(full_name, engines))),
        notes=(say("scope.verify"),),
    )
    return (table,)


def _packages(facts: Facts) -> list[str]:
    """Return the R packages that ran here and have results."""
    others = facts.result.own_engines | facts.supplied_engines
    return [engine for engine in facts.answered if engine not in others]


def _from_findings(facts: Facts) -> Iterator[Untested]:
    """Yield the items of findings on what failed, is missing or is not applicable."""
    seen: set[Sentence] = set()
    for finding in facts.result.findings:
        is_of_repeats = finding.check == "time_limit" and not finding.ends_run
        if finding.check not in REASONS or is_of_repeats:
            continue
        key, package = f"scope.found.{finding.check}", f"{finding.subject} "
        is_supplied = any(name.startswith(package) for name in facts.answered)
        item = say(
            f"{key}.item",
            supplied=word(f"{key}.supplied") if is_supplied else "",
            subject=short_name(finding.subject),
            where=full_name(finding.subject.rsplit(": ", 1)[0]),
            message=show_hidden(with_labels(finding.message)).rstrip("."),
        )
        if finding.ends_run and (left := count_missing(facts, "missing")):
            item = left
        if item not in seen:
            seen.add(item)
            takes: Sentence = (show_hidden(finding.remedy),)
            if not finding.remedy:
                takes = say(f"{key}.takes", number=link_to(finding, facts))
            consequence = say(f"{key}.consequence")
            if finding.ends_run and (names := name_missing(facts)):
                consequence = say("scope.nothing_said", names=names)
            yield Untested(item, REASONS[finding.check], takes, consequence)


def _from_configuration(facts: Facts) -> Iterator[Untested]:
    """Yield items not configured: training rows, a second engine or model, refits."""
    config = facts.result.run.config
    refitted: set[str] = set()
    for entry in config.get("importance", ()):
        if METHODS[entry["method"]].asks == "refit":
            refitted.update(entry.get("models") or facts.models)
    validates = facts.note("goal") == "domain validation"
    is_missing = {
        "seen": is_of_unknown_rows(facts.result),
        "engine": not facts.configured_engines and not facts.answered,
        "challenger": len(facts.models) == 1 and len(config_of(facts, "models")) < 2,
        "groups": facts.came_to_end
        and not config.get("groups")
        and facts.result.joint_importances.empty,
        "refit": not refitted.issuperset(facts.models),
        "expected": validates and not config.get("expected"),
    }
    for key, text in look_up("scope.unasked").items():
        if is_missing[key]:
            yield Untested.of(text, text.get("reason", "not configured"))


def _uncompared(facts: Facts) -> Iterator[Untested]:
    """Yield the rankings that no second implementation computed, by reason.

    None for a run without a second engine or one that ended early, which have items of
    their own.
    """
    was_asked = facts.configured_engines or facts.answered
    if not was_asked or not facts.came_to_end:
        return
    able = {ranking.index for ranking in recomputable(facts)}
    by_reason: dict[str, list[Ranking]] = {}
    for ranking in facts.uncompared:
        reason = "not configured" if ranking.index in able else "not applicable"
        by_reason.setdefault(reason, []).append(ranking)
    for reason, own in by_reason.items():
        none = "" if reason == "not configured" else "_none"
        number = say_count(tallied("importances", len(own)), "ranking")
        yield Untested(
            say(f"scope.uncompared.item{none}", rankings=number),
            reason,
            say(f"scope.uncompared.takes{none}"),
            say("scope.uncompared.consequence", cards=cards_of(facts, own)),
        )
