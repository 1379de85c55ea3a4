"""Section C: the measures of each model, what engines shared, what was not tested."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...assess.page_one import is_of_unknown_rows
from ...engines import ENGINES
from ...methods.importance import METHODS
from ...records.ranking import OURS
from ..text.blocks import Section, Sentence, Table, plain
from ..text.labels import with_labels
from ..text.wording import (
    ended,
    full_name,
    in_sentence,
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
from .cards import title_of
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
        "prose": (
            joined(purpose or [say("scope.no_purpose")], " "),
            _measures_of_models(facts),
        ),
        "people": people,
        "shared": (_shared(facts),),
        "untested": not_tested,
    }
    return section("C", _lede(facts), parts)


def untested(facts: Facts) -> list[Untested]:
    """Return the items that were not tested, the gravest first; never empty."""
    items = [
        *_from_findings(facts),
        *_from_configuration(facts),
        *_uncompared(facts),
        *_not_refitted(facts),
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
    own = _own_engines(facts)
    supplied = [e for e in facts.answered if e in facts.supplied_engines]
    known = [e for e in facts.answered if e not in (*own, *supplied)]
    text = say("scope.lede_python" if own else "scope.lede_one")
    if known:
        text = say("scope.lede_two", engines=series(["Python", *map(full_name, known)]))
    sentences = [text]
    for engines, key in ((own, "own"), (supplied, "supplied")):
        if engines:
            names = series(map(full_name, engines))
            sentences.append(say(f"scope.lede_{key}", engines=names))
    return joined(sentences, " ")


def _measures_of_models(facts: Facts) -> Sentence:
    """Return sentences on the measures of each model, or of the data."""
    if not facts.rankings:
        return say("scope.nothing_asked")
    measures: dict[str, dict[str, None]] = {}
    for ranking in facts.rankings:
        title = in_sentence(plain(title_of(facts, ranking.record)))
        measures.setdefault(title, {})[ranking.subject] = None
    together: dict[tuple[str, ...], list[str]] = {}
    for title, subjects in measures.items():
        together.setdefault(tuple(subjects), []).append(title)
    sentences = (
        say(
            "scope.asked",
            models=series(short_name(subject) for subject in subjects),
            measures=series(titles),
        )
        for subjects, titles in together.items()
    )
    return joined(sentences, " ")


def _shared(facts: Facts) -> Table:
    """Return the table of ingredients: whether engines shared each in this run."""
    words, ingredients = look_up("scope.cell"), look_up("scope.ingredients")
    errors = {key: text["error"] for key, text in ingredients.items()}
    cells: dict[str, str | Sentence] = dict(words)
    if not facts.answered:
        cells = dict.fromkeys(
            ingredients, words["none" if facts.rankings else "nothing"]
        )
        errors = {key: look_up(f"scope.error_alone.{key}") for key in ingredients}
    else:
        cells["draws"] = _draws(facts)
        supplied = [e for e in facts.answered if e in facts.supplied_engines]
        for table, engines in (
            ("cell_own", _own_engines(facts)),
            ("cell_supplied", supplied),
        ):
            names = series(map(full_name, engines))
            is_alone = len(engines) == len(facts.answered)
            for key in look_up(f"scope.{table}") if engines else ():
                text = say(f"scope.{table}.{key}", engines=names)
                cells[key] = text if is_alone else joined((cells[key], text), "; ")
    return table_of(
        "shared",
        "scope",
        "ingredient:header in_this_run an_error",
        [(text["label"], cells[k], errors[k]) for k, text in ingredients.items()],
        caption=say("scope.shared_caption"),
        notes=(say("scope.verify"),),
        is_single=not facts.answered,  # one implementation shares nothing with another
    )


def titled(text: str) -> str:
    """Return a text with the keys of measures replaced by the titles of their cards."""
    titles = {
        f"{key} of {of}".lower(): title
        for method in METHODS
        for of, title in look_up("cards").get(method, {}).get("title", {}).items()
        for key in (method, method.replace("_", " "))
    }
    keys = "|".join(map(re.escape, sorted(titles, key=len, reverse=True)))

    def name_of(found: re.Match[str]) -> str:
        title = titles[found[1].lower()]
        return title if found[1][:1].isupper() else in_sentence(title)

    return re.sub(rf"(?i:\b({keys}))\b", name_of, text)


def _own_engines(facts: Facts) -> list[str]:
    """Return the user-defined engines that have results."""
    return [e for e in facts.answered if e in facts.result.own_engines]


def _draws(facts: Facts) -> Sentence:
    """Return whether each engine shared our random draws, by the records' streams."""
    streams: dict[str, set[str]] = {}
    for record in facts.result.importances:
        if record.stream:
            streams.setdefault(record.engine, set()).add(record.stream)
    ours = streams.get(OURS, set())
    agreement = facts.result.agreement
    replayed = set(agreement.loc[agreement["verdict"] == "replayed", "engine_b"])
    sentences: list[Sentence] = []
    for engine in facts.answered:
        if engine in streams:
            key = "independent"
            if streams[engine] <= ours:
                key = "shared" if engine in replayed else "same"
            sentences.append(say(f"scope.draws_{key}", engine=full_name(engine)))
    return joined(sentences, "; ") or say("scope.draws_none")


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
            message=show_hidden(with_labels(titled(finding.message))).rstrip("."),
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
    """Yield items not configured: training rows, a second engine or model, groups."""
    config = facts.result.run.config
    validates = facts.note("goal") == "domain validation"
    is_missing = {
        "seen": is_of_unknown_rows(facts.result),
        "engine": not facts.configured_engines and not facts.answered,
        "challenger": len(facts.models) == 1 and len(config_of(facts, "models")) < 2,
        "groups": facts.came_to_end
        and not config.get("groups")
        and facts.result.joint_importances.empty,
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
    rankings = facts.uncompared
    was_asked = facts.configured_engines or facts.answered
    if not rankings or not was_asked or not facts.came_to_end:
        return
    missing = {f.subject for f in facts.result.findings if f.check == "engine_missing"}
    offered = (ENGINES[engine]["importance"] for engine in missing & set(ENGINES))
    by_missing = set[str]().union(*offered)
    able = {ranking.index for ranking in recomputable(facts)}
    by_reason: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in rankings:
        why = "not applicable", "takes_none"
        if ranking.index in able:
            why = "not configured", "takes"
        elif ranking.record.method in by_missing:
            why = "unavailable", "takes_missing"
        by_reason.setdefault(why, []).append(ranking)
    for (reason, takes), own in by_reason.items():
        number = say_count(tallied("importances", len(own)), "ranking")
        key = "item_none" if takes == "takes_none" else "item"
        yield Untested(
            say(f"scope.uncompared.{key}", rankings=number),
            reason,
            say(f"scope.uncompared.{takes}"),
            say("scope.uncompared.consequence", cards=cards_of(facts, own)),
        )


def _not_refitted(facts: Facts) -> Iterator[Untested]:
    """Yield the models that no measure refits, by whether a refit is possible."""
    asked: set[str] = set()
    for entry in facts.result.run.config.get("importance", ()):
        if METHODS[entry["method"]].asks == "refit":
            asked.update(entry.get("models") or facts.models)
    left: dict[str, list[str]] = {"possible": [], "impossible": []}
    by_train = {"given"} if (facts.result.datasets["split"] == "train").any() else set()
    for row in facts.result.models.to_dict("records"):
        if row["model"] not in asked:
            key = "possible" if row["source"] in {"fitted", *by_train} else "impossible"
            left[key].append(row["model"])
    for key, models in left.items():
        if models:
            yield Untested(
                say("scope.refit.item", models=series(map(short_name, models))),
                "not configured" if key == "possible" else "not applicable",
                say(f"scope.refit.{key}"),
                say("scope.refit.consequence"),
            )
