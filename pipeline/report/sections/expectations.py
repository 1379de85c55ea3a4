"""Tables across rankings: expectations of the owner (F), effect of the loss (H).

The verdicts on expectations are in the result.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...assess import expectations as judged
from ...assess.expectations import DEVIATES, FOUND, UNKNOWN, below_nothing
from ...config.settings import ChecksSection
from ...records.finding import places_apart
from ...records.importance_record import Importance
from ..text.blocks import Group, Part, Sentence, Styled, Table, Value
from ..text.number_text import (
    MISSING,
    THIN,
    lone,
    loss_label,
    number,
    percent,
    rank_text,
)
from ..text.wording import (
    full_name,
    full_value,
    joined,
    quoted_names,
    say,
    say_count,
    show_hidden,
    table_of,
    word,
)
from .facts import Facts, card_link, config_of, tallied


def expectations(facts: Facts) -> Iterator[Sentence | Table]:
    """Yield the expectations of the owner and the results; nothing without any."""
    frame = facts.result.expected.reset_index(drop=True)
    if frame.empty:
        return
    limit = resolution_of(facts)
    body = []
    for at, row in frame.iterrows():
        expected = say(
            f"expected.{row['place']}",
            features=quoted_names(row["features"]),
            reason=show_hidden(row["reason"].strip(" .")),
        )
        loss = loss_label(row["loss"]) if row["loss"] else ""
        measure = _measure(facts, row, loss, row["record"])
        verdict: Part = word(f"expected.verdicts.{row['verdict'].replace(' ', '_')}")
        if row["verdict"] != FOUND:
            verdict = Styled("strong", (verdict,))
        body.append((expected, measure, _result(facts, row, at, limit), verdict))
    verdicts = frame["verdict"].tolist()
    lede = say(
        "expected.lede",
        found=tallied("expected", verdicts.count(FOUND)),
        all=say_count(tallied("expected", len(verdicts)), "judgement"),
    )
    for key, other in {"others": DEVIATES, "unknown": UNKNOWN}.items():
        if n := verdicts.count(other):
            lede += say(f"expected.{key}", n=tallied("expected", n))
    yield lede
    yield table_of(
        "expected",
        "expected",
        "expectation:header asked found verdict",
        body,
        caption=say("expected.caption"),
        notes=(say("expected.note", limit=percent(limit)),),
        source="tables/expected.csv",
        shape="wide",
    )


def in_place(
    facts: Facts, record: Importance, place: str, n: int
) -> npt.NDArray[np.bool_]:
    """Return a mask of the features at the place that is expected of `n` of them."""
    own = _row_intervals(facts, record)
    return judged.in_place(place, n, record, resolution_of(facts), own)


def resolution_of(facts: Facts) -> float:
    """Return the share of the largest importance up to which one counts as zero."""
    usual = ChecksSection().resolution
    return float(config_of(facts, "checks").get("resolution", usual))


def _row_intervals(facts: Facts, record: Importance) -> list[dict[str, Any]]:
    frame = facts.result.row_intervals
    own = frame[frame["record"] == facts.index(record)]
    return [dict(row) for row in own.to_dict("records")]


def _measure(
    facts: Facts, row: Mapping[str, Any], of_what: str, record: int
) -> Sentence:
    """Return the ranking of a row: model, method, loss or unit, class and card.

    The card distinguishes two entries of the same method.
    """
    cls = str(row["positive_class"])
    parts: list[Part | Sentence] = [
        full_name(row["model"] or word("words.the_data")),
        show_hidden(row["method"].replace("_", " ")),
        of_what,
        say("data.of_class", cls=full_value(cls)) if cls else (),
        card_link(facts.card(facts.result.importances[int(record)])),
    ]
    return joined(part for part in parts if part)


def _result(facts: Facts, row: Mapping[str, Any], at: Any, limit: float) -> Sentence:
    """Return the features on top, or the share of the feature farthest from zero.

    A note follows if the model performs better with that feature permuted. A share
    beyond `limit` is never printed as equal to it.
    """
    rank, share = float(row["rank"]), float(row["share"])
    farthest = full_name(row["farthest"])
    if row["place"] == "top":
        first = quoted_names(row["first"])
        if row["verdict"] == FOUND:
            return say("expected.found_first", first=first)
        place = Value(f"expected[{at}].rank", rank, rank_text(rank))
        return say("expected.found_top", first=first, farthest=farthest, rank=place)
    text = percent(share) if share == share else MISSING
    if row["verdict"] == DEVIATES and text == percent(limit):
        text = f"{number(100 * share, places_apart(share, limit))}{THIN}%"
    part = Value(f"expected[{at}].share", share, text)
    sentence = say("expected.found_zero", farthest=farthest, share=part)
    if row["verdict"] == UNKNOWN:
        return sentence
    record = facts.result.importances[int(row["record"])]
    negative = below_nothing(record, _row_intervals(facts, record))
    if negative[record.features.index(row["farthest"])]:
        sentence += say("expected.found_negative")
    return sentence


def losses(facts: Facts) -> tuple[Group, ...]:
    """Return the effect of the choice of loss on rankings; nothing with one loss."""
    frame = facts.result.losses
    if frame.empty:
        return ()
    rows = []
    for at, row in enumerate(frame.to_dict("records")):
        kendall, overlap = float(row["kendall"]), float(row["top_k_overlap"])
        text = lone(kendall, least=2) if kendall == kendall else MISSING
        share = percent(overlap) if overlap == overlap else MISSING
        leaders = quoted_names(row["leader_a"])
        if row["leader_a"] != row["leader_b"]:
            both = (*leaders, " / ", *quoted_names(row["leader_b"]))
            leaders = (Styled("strong", both),)
        of_first = say(
            "losses.of_first",
            share=Value(f"losses[{at}].top_k_overlap", overlap, share),
            k=str(int(row["top_k"])),
        )
        rows.append(
            {
                "asked": _measure(
                    facts, row, word(f"asked.{row['of']}"), row["record_a"]
                ),
                "pair": f"{loss_label(row['loss_a'])} / {loss_label(row['loss_b'])}",
                "kendall": Value(f"losses[{at}].kendall", kendall, text),
                "overlap": of_first,
                "leaders": leaders,
            }
        )
    has_two = bool((frame["leader_a"] != frame["leader_b"]).any())
    table = table_of(
        "losses",
        "losses",
        "asked:header pair kendall:number overlap:number leaders",
        rows,
        caption=say("losses.caption"),
        notes=(say("losses.note"),) if has_two else (),
        source="tables/losses.csv",
        shape="wide",
    )
    return (Group("losses", say("losses.title"), (say("losses.lede"), table)),)
