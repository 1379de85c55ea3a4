"""Two tables that read many rankings: the owner's expectations (F), the loss (H).

Not: the judgement, which the result holds.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

from ...assess.expectations import DEVIATES, FOUND, UNKNOWN, below_nothing
from ...records.finding import places_apart
from ..text.blocks import (
    Cell,
    Cells,
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
from ..text.wording import (
    full_name,
    full_value,
    joined,
    quoted_names,
    say,
    say_count,
    sentence_case,
    show_hidden,
    table_of,
    word,
)
from .facts import Facts, card_link, config_of, tallied


def expectations(facts: Facts) -> tuple[Group, ...]:
    """Return what the owner expected beside what was found; nothing if not said."""
    frame = facts.result.expected
    if frame.empty:
        return ()
    limit = float(config_of(facts, "checks").get("resolution", nan))
    numbers = list(dict.fromkeys(frame["expectation"]))
    every = table_of(
        "expected",
        "expected",
        "expectation:header asked found verdict",
        [_expectation(facts, at, limit) for at in range(len(frame))],
        caption=say("expected.caption"),
        notes=(say("expected.note"),),
        source="tables/expected.csv",
        shape="wide",
        is_single=len(numbers) < len(frame),
    )
    tables: tuple[Table, ...] = (every,)
    if every.is_single:
        tables = (_in_short(facts, numbers, limit), replace(every, notes=()))
    return (Group("expected", say("expected.title"), (_lede(facts), *tables)),)


def _in_short(facts: Facts, numbers: Sequence[int], limit: float) -> Table:
    """Return one row per expectation, with the rankings that do not show it."""
    return table_of(
        "expectations",
        "expected",
        [
            "expectation:header",
            Column(sentence_case(say("expected.verdicts.as_expected")), "number"),
            "otherwise",
        ],
        [_of_all_rankings(facts, number, limit) for number in numbers],
        caption=say("expected.in_short"),
        notes=(say("expected.note"),),
        source="tables/expected.csv",
        shape="wide",
    )


def _of_all_rankings(facts: Facts, number: int, limit: float) -> Cells:
    frame = facts.result.expected.reset_index(drop=True)
    rows = frame[frame["expectation"] == number]
    as_expected = int((rows["verdict"] == FOUND).sum())
    others = [
        (*_measure(facts, row), ": ", *_describe_result(facts, row, at, limit))
        if row["verdict"] == DEVIATES
        else (*_measure(facts, row), ": ", word("expected.verdicts.not_measured"))
        for at, row in rows[rows["verdict"] != FOUND].iterrows()
    ]
    count = say(
        "expected.of_all",
        n=tallied("expected.verdict", as_expected),
        all=tallied("expected", len(rows)),
    )
    first = rows.iloc[0]
    lines = [Styled("entry", (*other, ";")) for other in others[:-1]]
    lines += [Styled("entry", other) for other in others[-1:]]
    return (_expected(first), count, joined(lines, " "))


def _lede(facts: Facts) -> Sentence:
    verdicts = facts.result.expected["verdict"].tolist()
    lede = say(
        "expected.lede",
        found=tallied("expected", verdicts.count(FOUND)),
        all=say_count(tallied("expected", len(verdicts)), "judgement"),
    )
    deviating = verdicts.count(DEVIATES)
    n = tallied("expected", deviating)
    lede += say("expected.others", n=n) if deviating else ()
    unknown = tallied("expected", verdicts.count(UNKNOWN))
    return lede + (say("expected.unknown", n=unknown) if unknown.raw else ())


def _expectation(facts: Facts, at: int, limit: float) -> Cells:
    row = facts.result.expected.iloc[at]
    verdict: Sentence = (word(f"expected.verdicts.{row['verdict'].replace(' ', '_')}"),)
    if row["verdict"] != FOUND:
        verdict = (Styled("strong", verdict),)
    result = _describe_result(facts, row, at, limit)
    cells = (_expected(row), _measure(facts, row), result, verdict)
    return Row(tuple(Cell(parts) for parts in cells))


def _expected(row: Any) -> Sentence:
    """Return what is expected of which features, and why."""
    return say(
        f"expected.{row['place']}",
        features=quoted_names(row["features"]),
        reason=show_hidden(row["reason"].strip(" .")),
    )


def _measure(facts: Facts, row: Any) -> Sentence:
    """Return which ranking a row is about: model, method, loss, class and card."""
    measure: list[Part | Sentence] = [full_name(row["model"] or word("words.the_data"))]
    measure.append(show_hidden(row["method"].replace("_", " ")))
    measure += [loss_label(row["loss"])] if row["loss"] else []
    measure += _class(row)
    measure.append(_card(facts, row["record"]))
    return joined(measure)


def _class(row: Any) -> list[Sentence]:
    """Return which class a row is about, if it is about one."""
    name = str(row["positive_class"])
    return [say("data.of_class", cls=full_value(name))] if name else []


def _card(facts: Facts, place: int) -> Link:
    """Return which card a row is about: a method may be asked twice."""
    return card_link(facts.card(facts.result.importances[int(place)]))


def _describe_result(facts: Facts, row: Any, at: int, limit: float) -> Sentence:
    """Return who is on top instead, or how far from zero the farthest is.

    A share never reads like the `limit` it is beyond.
    """
    rank, share = float(row["rank"]), float(row["share"])
    if row["place"] == "top" and row["verdict"] == FOUND:
        return say("expected.found_first", first=quoted_names(row["first"]))
    if row["place"] == "top":
        place = Value(f"expected[{at}].rank", rank, rank_text(rank))
        return say(
            "expected.found_top",
            first=quoted_names(row["first"]),
            farthest=full_name(row["farthest"]),
            rank=place,
        )
    text = percent(share) if share == share else MISSING
    if row["verdict"] == DEVIATES and text == percent(limit):
        text = f"{number(100 * share, places_apart(share, limit))}{THIN}%"
    part = Value(f"expected[{at}].share", share, text)
    farthest = full_name(row["farthest"])
    return say("expected.found_zero", farthest=farthest, share=part) + _negative(
        facts, row
    )


def _negative(facts: Facts, row: Any) -> Sentence:
    """Return whether a model does better with the feature of a row shuffled."""
    index, intervals = int(row["record"]), facts.result.row_intervals
    record = facts.result.importances[index]
    negative = below_nothing(record, index, intervals.to_dict("records"))
    is_negative = negative[record.features.index(row["farthest"])]
    return say("expected.found_negative") if is_negative else ()


def losses(facts: Facts) -> tuple[Group, ...]:
    """Return what the choice of the loss changes; nothing where there is one loss."""
    frame = facts.result.losses
    if frame.empty:
        return ()
    has_two = bool((frame["leader_a"] != frame["leader_b"]).any())
    table = table_of(
        "losses",
        "losses",
        "asked:header pair kendall:number overlap:number leaders",
        [_pair(facts, at) for at in range(len(frame))],
        caption=say("losses.caption"),
        notes=(say("losses.note"),) if has_two else (),
        source="tables/losses.csv",
        shape="wide",
    )
    return (Group("losses", say("losses.title"), (say("losses.lede"), table)),)


def _pair(facts: Facts, at: int) -> Cells:
    row = facts.result.losses.iloc[at]
    measure: list[Part | Sentence] = [
        full_name(row["model"]),
        show_hidden(row["method"].replace("_", " ")),
    ]
    measure += [word(f"asked.{row['of']}")]
    measure += _class(row)
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
    leaders = quoted_names(row["leader_a"])
    if row["leader_a"] != row["leader_b"]:
        leaders = (Styled("strong", (*leaders, " / ", *quoted_names(row["leader_b"]))),)
    return (
        joined(measure),
        pair,
        Value(f"losses[{at}].kendall", kendall, text),
        of,
        leaders,
    )
