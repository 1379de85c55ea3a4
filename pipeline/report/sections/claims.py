"""The last part of section F: claims of a paper, and whether they are reproduced."""

from collections.abc import Iterator
from typing import Any

from ...assess.claims.judge import NOT_COMPARABLE, REPRODUCED
from ..text.blocks import Group, Part, Sentence, Styled, Value
from ..text.number_text import MISSING, loss_label, method_words, number, significant
from ..text.wording import (
    full_name,
    full_value,
    joined,
    quoted_names,
    say,
    say_count,
    section_link,
    show_hidden,
    table_of,
)
from .facts import Facts, tallied


def claims(facts: Facts) -> tuple[Group, ...]:
    """Return the table of claims with its first sentence, or nothing without claims.

    The sentence counts those that were reproduced, and the others by verdict.
    """
    frame = facts.result.claims
    if frame.empty:
        return ()
    verdicts = frame["verdict"].tolist()
    lede = say(
        "claims.lede",
        reproduced=tallied("claims", verdicts.count(REPRODUCED)),
        claims=say_count(tallied("claims", len(verdicts)), "claim"),
    )
    for verdict in dict.fromkeys(verdicts):
        if verdict != REPRODUCED:
            n = tallied("claims", verdicts.count(verdict))
            lede += say("claims.others", n=n, verdict=verdict)
    has_paper = bool(frame["paper"].notna().any())
    rows = (_row(frame.iloc[place], place) for place in range(len(frame)))
    paper = ["paper:number"] if has_paper else []
    table = table_of(
        "claims",
        "claims",
        ["claim:header", "asked", "must", *paper, "ours:number", "verdict"],
        rows,
        caption=say("claims.caption"),
        source="tables/claims.csv",
        shape="wide",
    )
    return (Group("claims", say("claims.title"), (lede, table)),)


def reproduced(facts: Facts) -> Iterator[Sentence]:
    """Yield the number of claims that this run reproduces, for page one.

    It is out of those that can be compared; the others are counted separately.
    """
    verdicts = facts.result.claims["verdict"].tolist()
    n_incomparable = verdicts.count(NOT_COMPARABLE)
    if verdicts:
        yield say(
            "claims.held",
            n=tallied("claims", verdicts.count(REPRODUCED)),
            of=tallied("claims", len(verdicts) - n_incomparable),
            others=say("claims.apart", n=tallied("claims", n_incomparable))
            if n_incomparable
            else (),
            section=section_link("F"),
        )


def _row(row: Any, place: int) -> dict[str, Part | Sentence]:
    source = f" ({show_hidden(row['source'])})" if row["source"] else ""
    of_what: list[Part] = []
    of_what += [full_value(method_words(row["method"]))] if row["method"] else []
    of_what += [full_name(row["model"])] if row["model"] else []
    of_what += [loss_label(row["loss"])] if row["loss"] else []
    quantity = quoted_names(row["asked"]) or (MISSING,)
    quantity += ("; ", *joined(of_what)) if of_what else ()
    verdict: Sentence = (str(row["verdict"]),)
    if row["verdict"] != REPRODUCED:
        verdict = (Styled("strong", verdict),)
        if row["reason"]:
            verdict += say("claims.because", reason=show_hidden(row["reason"]))
    return {
        "claim": (show_hidden(row["claim"]), source),
        "asked": quantity,
        "must": show_hidden(row["must"]) or MISSING,
        "paper": _number(row["paper"], f"claims[{place}].paper", row["decimals"]),
        "ours": _number(row["ours"], f"claims[{place}].ours", row["decimals"]),
        "verdict": verdict,
    }


def _number(value: float, path: str, decimals: float) -> str | Value:
    """Return a number with its path, or a dash; `decimals` of the paper, if known."""
    if value != value:
        return MISSING
    exact, is_printed = float(value), decimals == decimals
    text = number(exact, int(decimals)) if is_printed else significant(exact, 4)
    return Value(path, exact, text)
