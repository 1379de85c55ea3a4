"""Section L: limits of the measures, the data and this run, and conditions of use."""

from ...methods.importance import METHODS
from ..text.blocks import Link, Section, Sentence
from ..text.wording import ended, look_up, say
from .facts import Facts, cards_of, config_of, section
from .findings import title_of
from .model_quality import is_on_training_rows
from .rankings import Ranking

OF_THE_DATA = (
    "same_columns",
    "dependence",
    "constant_column",
    "missing_words",
    "weak_model",
    "scored_on_training_rows",
    "crowded_fits",
)
"""Checks whose findings limit every number of the data or of a model."""


def limits(facts: Facts) -> Section:
    """Return section L: general limits, those of this run, then the owner's text."""
    used: dict[str, list[Ranking]] = {}
    for ranking in facts.rankings:
        used.setdefault(ranking.record.method, []).append(ranking)
    texts = look_up("limits.method")
    sentences = [
        say("limits.reliance_data" if facts.is_of_data else "limits.reliance"),
        *_limits_of_run(facts),
        *(
            say("limits.of_cards", cards=cards_of(facts, rankings), text=text)
            for method, rankings in used.items()
            for text in texts[method]
        ),
        *(
            say("limits.found", number=link, title=title_of(group))
            for link, group in facts.finding_groups
            if group[0].check in OF_THE_DATA
        ),
        say("limits.untested", table=Link("tab-untested")),
    ]
    own_texts = config_of(facts, "report").get("limits", ())
    sentences += [say("limits.given", text=ended(text)) for text in own_texts]
    return section("L", parts={"limits": tuple(sentences)})


def _limits_of_run(facts: Facts) -> list[Sentence]:
    """Return sentences on what the intervals of rankings cover."""
    refits = [name for name, method in METHODS.items() if method.asks == "refit"]
    by_cover: dict[str, list[Ranking]] = {}
    for ranking in facts.rankings:
        record = ranking.record
        if ranking.is_drawn and record.n_repeats > 1:
            cover = "spread_refit" if record.method in refits else "spread"
            cover = cover if record.model else "spread_data"
            by_cover.setdefault(cover, []).append(ranking)
    limits = [
        say(f"limits.{cover}", cards=cards_of(facts, same))
        for cover, same in by_cover.items()
    ]
    resampled = set(facts.result.row_intervals["record"])
    for over_what, is_own in (("other_rows", False), ("training_rows", True)):
        over = [
            r
            for r in facts.rankings
            if r.index in resampled
            and is_on_training_rows(facts, r.record.model) == is_own
        ]
        if cards := cards_of(facts, over):
            limits.append(say(f"limits.{over_what}", cards=cards))
    return limits
