"""Section C: what was asked, what both sides shared, what was not tested."""

from collections.abc import Mapping
from typing import NamedTuple

from ...methods.importance import METHODS
from ...records.ranking import OURS
from ..text.blocks import Section, Sentence, Table, plain
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
from .cards import title_of
from .facts import Facts, card_link, config_of, tallied
from .findings import link_to


class Untested(NamedTuple):
    """One thing the audit did not test: what, why, what it would take, what follows."""

    item: Sentence
    reason: str
    takes: Sentence
    consequence: Sentence

    @classmethod
    def of(cls, text: Mapping[str, str], reason: str) -> "Untested":
        """Return one whose words the catalogue holds."""
        return cls((text["item"],), reason, (text["takes"],), (text["consequence"],))


GRAVITY = (
    "failed",
    "unavailable",
    "not configured",
    "not applicable",
    "out of scope",
)
REASONS = {
    "method_failed": "failed",
    "interrupted": "failed",
    "step_failed": "failed",
    "nothing_measured": "failed",
    "engine_required": "unavailable",
    "engine_missing": "unavailable",
    "not_applicable": "not applicable",
    "unmeasured": "not applicable",
}
"""The reason class of each check whose findings say that something was not tested."""


REFITS = {"possible": "not configured", "impossible": "not applicable"}
"""The reason class of models that were not fitted again, by whether they can be."""


def scope(facts: Facts) -> Section:
    """Return section C."""
    parts = {
        "prose": (_purpose(facts), _measures_of_models(facts)),
        "people": _people(facts),
        "shared": (_shared(facts),),
        "untested": _untested_table(facts),
    }
    return Section("C", "scope", word("sections.scope"), _lede(facts), parts)


def untested(facts: Facts) -> list[Untested]:
    """Return what was not tested, the gravest first; never empty."""
    untested_items = [
        *_from_findings(facts),
        *_from_configuration(facts),
        *_uncompared(facts),
        *_not_refitted(facts),
    ]
    for text in look_up("scope.never").values():
        untested_items.append(Untested.of(text, text["reason"]))
    return sorted(untested_items, key=lambda item: GRAVITY.index(item.reason))


def _lede(facts: Facts) -> Sentence:
    """Return who ran here, and whose numbers were measured elsewhere."""
    if not facts.rankings:
        return say("scope.lede_none")
    supplied = facts.supplied_engines
    handed = [full_name(engine) for engine in facts.answered if engine in supplied]
    here = [full_name(engine) for engine in facts.answered if engine not in supplied]
    own = [full_name(engine) for engine in _own_engines(facts)]
    known = [engine for engine in here if engine not in own]
    text = say("scope.lede_python" if own else "scope.lede_one")
    if known:
        text = say("scope.lede_two", engines=series(["Python", *known]))
    if own:
        unknown = say("scope.lede_own", engines=series(own))
        text = joined((text, unknown), " ")
    if handed:
        elsewhere = say("scope.lede_supplied", engines=series(handed))
        text = joined((text, elsewhere), " ")
    return text


def _purpose(facts: Facts) -> Sentence:
    """Return why the audit was run and what the model is for, as configured."""
    texts = [
        say(f"scope.noted.{key}", text=ended(facts.note(key)))
        for key in ("goal", "purpose", "intended_use")
        if facts.note(key)
    ]
    return joined(texts or [say("scope.no_purpose")], " ")


def _people(facts: Facts) -> Table | Sentence:
    """Return who took part and how near they are to the developer, as configured."""
    people = config_of(facts, "report").get("people", ())
    if not people:
        return say("scope.no_people")
    rows = [
        (
            show_hidden(person["role"]),
            full_name(person["name"]),
            show_hidden(person.get("relation") or word("scope.unsaid")),
        )
        for person in people
    ]
    columns, caption = "role person:header relation", "scope.people_caption"
    return table_of(
        "people", "scope", columns, rows, caption=say(caption), shape="tight"
    )


def _measures_of_models(facts: Facts) -> Sentence:
    """Return which measures were asked of which models, or of the data."""
    if not facts.rankings:
        return say("scope.nothing_asked")
    measures: dict[str, dict[str, None]] = {}
    for ranking in facts.rankings:
        title = _within(plain(title_of(facts, ranking.record)))
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


def _within(title: str) -> str:
    """Return a title as it stands within a sentence; abbreviations and names stay."""
    is_name = title.split(" ")[0] in look_up("scope.proper_names")
    is_word = title[1:2].islower() and not is_name
    return title[:1].lower() + title[1:] if is_word else title


def _shared(facts: Facts) -> Table:
    cells = _cells(facts)
    ingredients = look_up("scope.ingredients")
    return table_of(
        "shared",
        "scope",
        "ingredient:header in_this_run an_error",
        [(text["label"], cells[k], text["error"]) for k, text in ingredients.items()],
        caption=say("scope.shared_caption"),
        notes=(say("scope.verify"),),
        is_single=not facts.answered,  # one implementation shares nothing with another
    )


def _cells(facts: Facts) -> dict[str, Sentence]:
    """Return what each ingredient was in this run."""
    words = look_up("scope.cell")
    keys = look_up("scope.ingredients")
    if not facts.answered:
        return dict.fromkeys(keys, (words["none" if facts.rankings else "nothing"],))
    cells: dict[str, Sentence] = {key: (words[key],) for key in keys if key != "draws"}
    if own := _own_engines(facts):
        names = series(map(full_name, own))
        for key in look_up("scope.cell_own"):
            text = say(f"scope.cell_own.{key}", engines=names)
            alone = len(own) == len(facts.answered)
            cells[key] = text if alone else joined((cells[key], text), "; ")
    return {**cells, "draws": _draws(facts)}


def _own_engines(facts: Facts) -> list[str]:
    """Return the engines that answered and are the user's own."""
    return [e for e in facts.answered if e in facts.result.own_engines]


def _draws(facts: Facts) -> Sentence:
    """Return whose random draws were shared with whom, from the records' streams."""
    sentences: list[Sentence] = []
    for engine in facts.answered:
        records = [
            r for r in facts.result.importances if r.engine == engine and r.stream
        ]
        ours = {r.stream for r in facts.result.importances if r.engine == OURS}
        if records:
            is_shared = all(record.stream in ours for record in records)
            key = "scope.draws_independent"
            if is_shared:
                replayed = facts.result.agreement["verdict"] == "replayed"
                engines = set(facts.result.agreement.loc[replayed, "engine_b"])
                key = f"scope.draws_{'shared' if engine in engines else 'same'}"
            sentences.append(say(key, engine=full_name(engine)))
    return joined(sentences, "; ") or say("scope.draws_none")


def _untested_table(facts: Facts) -> Table:
    reasons = look_up("scope.reasons")
    return table_of(
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


def _from_findings(facts: Facts) -> list[Untested]:
    """Return what the findings say was not done: failed, missing, not applicable."""
    items: dict[Sentence, Untested] = {}
    for finding in facts.result.findings:
        if finding.check not in REASONS:
            continue
        reason = REASONS[finding.check]
        key = f"scope.found.{finding.check}"
        item = say(
            f"{key}.item",
            subject=short_name(finding.subject),
            where=full_name(finding.subject.rsplit(": ", 1)[0]),
            message=show_hidden(with_labels(finding.message)).rstrip("."),
        )
        takes = (
            (show_hidden(finding.remedy),)
            if finding.remedy
            else say(f"{key}.takes", number=link_to(finding, facts.result))
        )
        items.setdefault(item, Untested(item, reason, takes, say(f"{key}.consequence")))
    return list(items.values())


def _from_configuration(facts: Facts) -> list[Untested]:
    """Return what nobody asked for: a second engine, a second model, groups."""
    missing = []
    if not facts.configured_engines and not facts.answered:
        missing.append("engine")
    if len(facts.models) == 1 and len(config_of(facts, "models")) < 2:
        missing.append("challenger")
    if not facts.result.run.config.get("groups"):
        missing.append("groups")
    has_no_expectations = not facts.result.run.config.get("expected")
    if facts.note("goal") == "domain validation" and has_no_expectations:
        missing.append("expected")
    texts = look_up("scope.unasked")
    return [Untested.of(texts[key], "not configured") for key in missing]


def _uncompared(facts: Facts) -> list[Untested]:
    """Return which rankings no second implementation computed, beside others it did.

    A run that asked no engine at all, and one that ended early, say so already.
    """
    rankings = facts.uncompared
    was_asked = facts.configured_engines or facts.answered
    if not rankings or not was_asked or not facts.came_to_end:
        return []
    number = say_count(tallied("importances", len(rankings)), "ranking")
    cards = dict.fromkeys(facts.card(ranking.record) for ranking in rankings)
    asked = set(facts.result.agreement["method"])
    is_missing = all(ranking.record.method in asked for ranking in rankings)
    return [
        Untested(
            item=say("scope.uncompared.item", rankings=number),
            reason="unavailable" if is_missing else "not configured",
            takes=say("scope.uncompared.takes"),
            consequence=say(
                "scope.uncompared.consequence",
                cards=series(card_link(card) for card in cards),
            ),
        )
    ]


def _not_refitted(facts: Facts) -> list[Untested]:
    """Return which models no measure has fitted again, and what would do it."""
    asked: set[str] = set()
    for entry in facts.result.run.config.get("importance", ()):
        if METHODS[entry["method"]].asks == "refit":
            asked.update(entry.get("models") or facts.models)
    left: dict[str, list[str]] = {}
    for row in facts.result.models.to_dict("records"):
        if row["model"] not in asked:
            key = "possible" if row["source"] == "fitted" else "impossible"
            left.setdefault(key, []).append(row["model"])
    return [
        Untested(
            item=say("scope.refit.item", models=series(map(short_name, left[key]))),
            reason=reason,
            takes=say(f"scope.refit.{key}"),
            consequence=say("scope.refit.consequence"),
        )
        for key, reason in REFITS.items()
        if key in left
    ]


def untested_count(facts: Facts) -> Sentence:
    """Return how many things were not tested."""
    return say_count(tallied("findings", len(untested(facts))), "item")
