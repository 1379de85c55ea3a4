"""Section L: limits of the measures, the data and this run, and conditions of use."""

from ...records.importance_record import Importance
from ..text.blocks import Link, Section, Sentence, plain
from ..text.wording import ended, joined, look_up, say, say_count
from .facts import Facts, cards_of, config_of, repeats_of, section, tallied, whole
from .findings import title_of
from .rankings import Ranking
from .scope import untested

OF_THE_DATA = (
    "same_columns",
    "dependence",
    "constant_column",
    "weak_model",
    "scored_on_training_rows",
    "crowded_fits",
)
"""Checks whose findings limit every number of the data or of a model."""
ITEM = 100
ITEMS = 6
"""How long an item may be to be named, and how many are."""


def limits(facts: Facts) -> Section:
    """Return section L, the general before the particular, the owner's words last."""
    of_model = any(ranking.record.model for ranking in facts.rankings)
    is_of_data = bool(facts.rankings) and not of_model
    sentences = [
        say("limits.reliance_data" if is_of_data else "limits.reliance"),
        *_limits_of_run(facts),
        *_limits_of_measures(facts),
        *_limits_of_data(facts),
        *_untested(facts),
    ]
    own_texts = config_of(facts, "report").get("limits", ())
    sentences += [say("limits.given", text=ended(text)) for text in own_texts]
    return section("L", parts={"limits": tuple(sentences)})


def _limits_of_measures(facts: Facts) -> list[Sentence]:
    """Return the limits of each method that was used, with the cards they belong to."""
    used: dict[str, list[Ranking]] = {}
    for ranking in facts.rankings:
        used.setdefault(ranking.record.method, []).append(ranking)
    texts = look_up("limits.method")
    return [
        say("limits.of_cards", cards=cards_of(facts, rankings), text=text)
        for method, rankings in used.items()
        for text in texts[method]
    ]


def _limits_of_data(facts: Facts) -> list[Sentence]:
    """Return what was found about the data and the models, by its finding."""
    return [
        say(
            "limits.found",
            number=link,
            title=title_of(group),
        )
        for link, group in facts.causes
        if group[0].check in OF_THE_DATA
    ]


def _untested(facts: Facts) -> list[Sentence]:
    """Return what this run could have tested and did not, the short items by name."""
    every = untested(facts)
    items = [item.item for item in every if item.reason != "out of scope"]
    outside = [item.item for item in every if item.reason == "out of scope"]
    if not items:
        return []
    short = [item for item in items if len(plain(item)) <= ITEM][:ITEMS]
    more = tallied("findings", len(items) - len(short))
    if more.raw and short:
        short.append(say("words.more", n=more))
    what = joined(short) or say_count(more, "item")
    link = Link("tab-untested")
    return [say("limits.untested", items=what, outside=joined(outside), table=link)]


def _limits_of_run(facts: Facts) -> list[Sentence]:
    """Return what the intervals cover, once for all that cover the same."""
    alike: dict[tuple[str, str, int], list[Ranking]] = {}
    for ranking in facts.rankings:
        record = ranking.record
        if ranking.is_drawn and record.n_repeats > 1:
            key = (_cover(record), repeats_of(record, "").text, record.n_samples)
            alike.setdefault(key, []).append(ranking)
    limits = [
        _limit_of(facts, same, is_only=len(alike) == 1) for same in alike.values()
    ]
    return [*limits, *_limit_of_resampling(facts)]


def _limit_of_resampling(facts: Facts) -> list[Sentence]:
    """Return what intervals over resampled rows cover, if there are any."""
    records = set(facts.result.row_intervals["record"])
    cards = cards_of(facts, (r for r in facts.rankings if r.index in records))
    return [say("limits.other_rows", cards=cards)] if cards else []


def _cover(record: Importance) -> str:
    """Return the key of what the intervals of a record cover."""
    if not record.model:
        return "spread_data"
    is_refit = record.method in look_up("cards.spread_of")
    return "spread_refit" if is_refit else "spread"


def _limit_of(facts: Facts, same: list[Ranking], *, is_only: bool) -> Sentence:
    record, path = same[0].record, f"importances[{same[0].index}]"
    some = say("limits.some_intervals", cards=cards_of(facts, same))
    return say(
        f"limits.{_cover(record)}",
        intervals=say("limits.all_intervals") if is_only else some,
        repeats=say_count(repeats_of(record, path), "repeat"),
        rows=say_count(whole(f"{path}.n_samples", record.n_samples), "row"),
    )
