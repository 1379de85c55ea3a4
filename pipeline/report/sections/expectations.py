"""Two tables that read many rankings: the owner's expectations (F), the loss (H).

Not: the judgement, which the result holds.
"""

from math import nan
from typing import Any

from ...records.finding import places_apart
from ..text.blocks import (
    Cell,
    Column,
    Group,
    Link,
    Part,
    Row,
    Sentence,
    Styled,
    Table,
    Value,
)
from ..text.number_text import (
    MISSING,
    THIN,
    lone,
    loss_label,
    number,
    percent,
    rank_text,
)
from ..text.wording import full_name, joined, say, say_count, show_hidden, word
from .facts import Facts, card_link, config_of, tallied

FOUND, DEVIATES = "as expected", "not as expected"


def expectations(facts: Facts) -> tuple[Group, ...]:
    """Return what the owner expected beside what was found; nothing if not said."""
    frame = facts.result.expected
    if frame.empty:
        return ()
    limit = float(config_of(facts, "checks").get("resolution", nan))
    table = Table(
        id="tab-expected",
        caption=say("expected.caption"),
        columns=(
            Column(say("expected.expectation"), "header", 30),
            Column(say("expected.asked"), width=25),
            Column(say("expected.found"), width=28),
            Column(say("expected.verdict"), width=17),
        ),
        rows=tuple(_expectation(facts, at, limit) for at in range(len(frame))),
        notes=(say("expected.note"),),
        source="expected.csv",
        shape="wide",
    )
    return (Group("expected", say("expected.title"), (_lede(facts), table)),)


def _lede(facts: Facts) -> Sentence:
    verdicts = facts.result.expected["verdict"].tolist()
    lede = say(
        "expected.lede",
        found=tallied("expected", verdicts.count(FOUND)),
        all=say_count(tallied("expected", len(verdicts)), "judgement"),
    )
    deviating = verdicts.count(DEVIATES)
    n = tallied("expected", deviating)
    return lede + (say("expected.others", n=n) if deviating else ())


def _expectation(facts: Facts, at: int, limit: float) -> Row:
    row = facts.result.expected.iloc[at]
    what = say(
        f"expected.{row['place']}",
        features=show_hidden(row["features"]),
        reason=show_hidden(row["reason"].strip(" .")),
    )
    measure: list[Part] = [full_name(row["model"] or word("words.the_data"))]
    measure.append(show_hidden(row["method"].replace("_", " ")))
    measure += [loss_label(row["loss"])] if row["loss"] else []
    measure += [full_name(row["positive_class"])] if row["positive_class"] else []
    measure.append(_card(facts, row["record"]))
    verdict: Sentence = (word(f"expected.verdicts.{row['verdict'].replace(' ', '_')}"),)
    if row["verdict"] != FOUND:
        verdict = (Styled("strong", verdict),)
    cells = (what, joined(measure), _describe_result(row, at, limit), verdict)
    return Row(tuple(Cell(parts) for parts in cells))


def _card(facts: Facts, place: int) -> Link:
    """Return which card a row is about: a method may be asked twice."""
    return card_link(facts.card(facts.result.importances[int(place)]))


def _describe_result(row: Any, at: int, limit: float) -> Sentence:
    """Return who is on top instead, or how far from zero the farthest is.

    A share never reads like the `limit` it is beyond.
    """
    rank, share = float(row["rank"]), float(row["share"])
    if row["place"] == "top" and row["verdict"] == FOUND:
        return say("expected.found_first", first=show_hidden(row["first"]))
    if row["place"] == "top":
        place = Value(f"expected[{at}].rank", rank, rank_text(rank))
        return say(
            "expected.found_top",
            first=show_hidden(row["first"]),
            farthest=full_name(row["farthest"]),
            rank=place,
        )
    text = percent(share) if share == share else MISSING
    if row["verdict"] == DEVIATES and text == percent(limit):
        text = f"{number(100 * share, places_apart(share, limit))}{THIN}%"
    part = Value(f"expected[{at}].share", share, text)
    return say("expected.found_zero", farthest=full_name(row["farthest"]), share=part)


def losses(facts: Facts) -> tuple[Group, ...]:
    """Return what the choice of the loss changes; nothing where there is one loss."""
    frame = facts.result.losses
    if frame.empty:
        return ()
    table = Table(
        id="tab-losses",
        caption=say("losses.caption"),
        columns=(
            Column(say("losses.asked"), "header", 26),
            Column(say("losses.pair"), width=18),
            Column(say("losses.kendall"), "number", 12),
            Column(say("losses.overlap"), "number", 20),
            Column(say("losses.leaders"), width=24),
        ),
        rows=tuple(_pair(facts, at) for at in range(len(frame))),
        notes=(say("losses.note"),),
        source="losses.csv",
        shape="wide",
    )
    return (Group("losses", say("losses.title"), (say("losses.lede"), table)),)


def _pair(facts: Facts, at: int) -> Row:
    row = facts.result.losses.iloc[at]
    measure: list[Part] = [
        full_name(row["model"]),
        show_hidden(row["method"].replace("_", " ")),
    ]
    measure += [word(f"asked.{row['of']}")]
    measure += [full_name(row["positive_class"])] if row["positive_class"] else []
    measure.append(_card(facts, row["record_a"]))
    pair = joined((loss_label(row[key]) for key in ("loss_a", "loss_b")), " / ")
    kendall, overlap = float(row["kendall"]), float(row["top_k_overlap"])
    text = lone(kendall, least=2) if kendall == kendall else MISSING
    share = percent(overlap) if overlap == overlap else MISSING
    of = say(
        "losses.of_first",
        share=Value(f"losses[{at}].top_k_overlap", overlap, share),
        k=str(int(row["top_k"])),
    )
    leaders: Sentence = (show_hidden(row["leader_a"]),)
    if row["leader_a"] != row["leader_b"]:
        changed = (f"{show_hidden(row['leader_a'])} / {show_hidden(row['leader_b'])}",)
        leaders = (Styled("strong", changed),)
    return Row(
        (
            Cell(joined(measure)),
            Cell(pair),
            Cell((Value(f"losses[{at}].kendall", kendall, text),)),
            Cell(of),
            Cell(leaders),
        )
    )
