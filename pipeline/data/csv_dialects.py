"""How a CSV file seems to be written: the keys to set beside it, each with a reason.

Only `init` guesses, and writes what it guessed; a run reads a file as it is configured.
Not: reading (`csv_files`), and what cells mean (`column_types`).
"""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from ..records.errors import DataError, quote
from .column_types import APOSTROPHES, BLANKS, is_missing_word
from .csv_files import as_utf8, line_of, read_csv, utf16_of
from .tables import text_content, usual_separator

TRIED = (";", "\t", ",", "|")
LINES = 200
SIGNS = ("%", "‰", "€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF")
_SIGN = "|".join(map(re.escape, SIGNS))
_NUMBER = re.compile(
    rf"\s*(?P<open>\()?[+-]?(?:[{BLANKS}]*(?P<before>{_SIGN})[{BLANKS}]*)?[+-]?"
    rf"(?P<digits>\d{{1,3}}(?P<mark>[.,{APOSTROPHES}{BLANKS}])\d{{3}}(?:(?P=mark)\d{{3}})*"
    rf"(?:(?!(?P=mark))[.,]\d+)?|\d+(?:[.,]\d*)?|[.,]\d+)"
    rf"(?:[eE][+-]?\d+)?"
    rf"(?P<minus>-)?(?:[{BLANKS}]*(?P<after>{_SIGN}))?(?P<last>-)?(?(open)\))\s*",
    re.ASCII,
)
"""A number with marks of any kind; `mark` is one before three digits."""

Numbers: TypeAlias = Mapping[int, list[re.Match[str]]]


class Guess(NamedTuple):
    """A key beside a file, its value, and what led to it, in words."""

    key: str
    value: Any
    reason: str


class _Seen(NamedTuple):
    """The first cell of a kind in each column that has one: by mark, then by column."""

    decimal: dict[str, dict[int, str]]
    thousands: dict[str, dict[int, str]]
    either: dict[str, dict[int, str]]


def guessed(path: Path, given: Mapping[str, Any]) -> tuple[Guess, ...]:
    """Return the keys that a file of texts needs beside those that are given.

    Raises
    ------
    DataError
        If the file cannot be read so, or its numbers can be read in two ways.
    """
    name, content, guesses = path.name, text_content(path), list[Guess]()
    if (encoding := given.get("encoding")) is None:
        encoding, reason = _encoding(content)
        guesses += [Guess("encoding", encoding, reason)] * bool(reason)
    content = as_utf8(name, content, encoding)
    separator = str(given.get("separator", ""))
    if not separator:
        separator, reason = _separator(content.decode(), usual_separator(name))
        guesses += [Guess("separator", separator, reason)] * bool(reason)
    frame = read_csv(name, content, separator=separator, encoding="utf-8")

    def said(place: int, word: str) -> str:
        line = line_of(content, place, word, separator=separator)
        return f"line {line} holds {quote(word)}"

    if list(frame.columns).count("") == 1:
        place = list(frame.columns).index("") + 1
        guesses.append(Guess("index_column", "", f"column {place} has no name"))
    guesses += _of_numbers(name, frame, separator, given, said)
    keys = {**given, **{guess.key: guess.value for guess in guesses}}
    if separator == keys.get("decimal") and "separator" not in keys:
        guesses.append(Guess("separator", separator, "cells with decimals are quoted"))
    return tuple(guesses)


def _encoding(content: bytes) -> tuple[str, str]:
    """Return the encoding and what shows it, which is empty for UTF-8."""
    if own := utf16_of(content):
        return own, "the first bytes of the file show it"
    for encoding in ("utf-8", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8":
            return encoding, ""
        break
    else:
        encoding, text = "latin-1", content.decode("latin-1")
    odd = re.search(r"\w*[^\x00-\x7f]\w*", text)
    example = quote(odd[0]) if odd else ""
    return encoding, f"it is not UTF-8; check that {example} is spelled correctly"


def _separator(text: str, usual: str) -> tuple[str, str]:
    """Return what gives the most lines one number of cells, and which if not usual."""
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    best, best_fit, reason = usual, (False, 0.0), ""
    for sign in TRIED:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
        widths, is_whole = [], True
        try:
            for row in islice(filter(None, rows), LINES):
                widths.append(len(row))
        except csv.Error:
            is_whole = False
        for width, n_lines in Counter(w for w in widths if w > 1).most_common(1):
            fit = (is_whole, n_lines / len(widths))
            if fit > best_fit:
                best, best_fit = sign, fit
                reason = (
                    f"{n_lines} of the first {len(widths)} lines have {width} cells"
                )
    return best, reason if best != usual else ""


def _of_numbers(
    name: str,
    frame: pd.DataFrame,
    separator: str,
    given: Mapping[str, Any],
    said: Callable[[int, str], str],
) -> Iterator[Guess]:
    """Yield how numbers are written, where it is not as usual."""
    numbers = dict(_number_columns(frame))
    seen = _seen(numbers)
    n_columns = {mark: len(seen.decimal[mark]) for mark in ".,"}
    marks = sorted(seen.thousands, key=lambda mark: -len(seen.thousands[mark]))
    thousands = given.get("thousands") or next(iter(marks), "")
    decimal = given.get("decimal")
    if decimal is None:
        decimal = "," if n_columns[","] > n_columns["."] else "."
        if thousands == decimal and not n_columns[decimal]:
            decimal = "," if decimal == "." else "."
            if "thousands" not in given:  # numbers of an address have groups too
                _ask_about(seen.either[thousands], thousands, name, frame, said)
        if decimal == ",":
            own = seen.decimal[","] or seen.thousands["."]
            why = said(*next(iter(own.items()))) if own else "thousands have a point"
            yield Guess("decimal", ",", why)
    if thousands == decimal:
        thousands = ""
    elif thousands and "thousands" not in given:
        reason = said(*next(iter(seen.thousands[thousands].items())))
        yield Guess("thousands", thousands, reason)
    signs = {
        place: {number["before"] or number["after"] or "" for number in found}
        for place, found in numbers.items()
    }
    for mark in ".,":
        is_known = mark == thousands or "decimal" in given or any(n_columns.values())
        for place, word in seen.either[mark].items() if not is_known else ():
            has_whole = any(number["digits"].isdecimal() for number in numbers[place])
            is_usual = mark == "." and separator == "," and signs[place] == {""}
            if is_usual and not has_whole:
                continue  # three decimals, as a run reads them
            _ask_about({place: word}, mark, name, frame, said)
    strip = {
        sign: next(n.string for n in numbers[place])
        for place, (sign, *others) in ((p, sorted(s)) for p, s in signs.items())
        if sign and not others
    }
    if strip:
        examples = ", ".join(map(quote, strip.values()))
        yield Guess("strip", list(strip), f"signs are left out of {examples}")
    for value, part in (("1-", ("minus", "last")), ("(1)", ("open",))):
        for place, found in numbers.items():
            words = [n.string for n in found if any(n[key] for key in part)]
            if words:
                yield Guess("negative", value, said(place, words[0]))
                return


def _ask_about(
    cells: Mapping[int, str],
    mark: str,
    name: str,
    frame: pd.DataFrame,
    said: Callable[[int, str], str],
) -> None:
    """Refuse the first of some cells, in which a mark may mean one of two things."""
    for place, word in cells.items():
        raise DataError(
            f"{name}: {said(place, word)} in column {quote(frame.columns[place])}, in "
            f"which the {'point' if mark == '.' else 'comma'} may stand before "
            f'thousands or decimals. Give --thousands "{mark}" or --decimal "{mark}".'
        )


def _number_columns(frame: pd.DataFrame) -> Iterator[tuple[int, list[re.Match[str]]]]:
    """Yield the places of columns of numbers, with each different number."""
    for place in range(frame.shape[1]):
        words = [
            word
            for word in frame.iloc[:, place].dropna().unique()
            if not is_missing_word(word)
        ]
        found = [match for word in words if (match := _NUMBER.fullmatch(word))]
        if found and len(found) == len(words):
            yield place, found


def _seen(numbers: Numbers) -> _Seen:
    """Return which marks stand before decimals, before thousands, or before either."""
    seen = _Seen(defaultdict(dict), defaultdict(dict), defaultdict(dict))
    for place, found in numbers.items():
        for number in found:
            digits, mark = number["digits"], number["mark"]
            others = [sign for sign in ".," if sign in digits and sign != mark]
            for sign in others:
                seen.decimal[sign].setdefault(place, number.string)
            if not mark:
                continue
            kind = seen.thousands
            if mark in ".," and not others and digits.count(mark) == 1:
                kind = seen.decimal if digits.startswith("0") else seen.either
            alike = (each for each in (BLANKS, APOSTROPHES) if mark in each)
            kind[next(alike, mark)[0]].setdefault(place, number.string)
    return seen
