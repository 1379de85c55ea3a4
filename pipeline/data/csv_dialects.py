"""Guess the dialect of a CSV file: the keys that its source needs, each with a reason.

Only `init` guesses, and writes the result into the configuration; a run reads a file as
configured. Reading is in `csv_files`, the types of columns in `column_types`.
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
"""A number with any marks; group `mark` is a mark before three digits."""

Numbers: TypeAlias = Mapping[int, list[re.Match[str]]]


class Guess(NamedTuple):
    """A key of the source, its guessed value, and the reason in words."""

    key: str
    value: Any
    reason: str


class _Examples(NamedTuple):
    """First cells in which a mark stands before decimals, thousands, or either.

    The first such cell of each column, by mark and then by position of the column.
    """

    decimal: dict[str, dict[int, str]]
    thousands: dict[str, dict[int, str]]
    either: dict[str, dict[int, str]]


def guessed(path: Path, given: Mapping[str, Any]) -> tuple[Guess, ...]:
    """Return the keys that a file of texts needs in addition to those that are given.

    Raises
    ------
    DataError
        If the file cannot be read with these keys, or its numbers are ambiguous.
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

    def locate(place: int, word: str) -> str:
        line = line_of(content, place, word, separator=separator)
        return f"line {line} holds {quote(word)}"

    if list(frame.columns).count("") == 1:
        place = list(frame.columns).index("") + 1
        guesses.append(Guess("index_column", "", f"column {place} has no name"))
    guesses += _number_guesses(name, frame, separator, given, locate)
    keys = {**given, **{guess.key: guess.value for guess in guesses}}
    if separator == keys.get("decimal") and "separator" not in keys:
        guesses.append(Guess("separator", separator, "cells with decimals are quoted"))
    return tuple(guesses)


def _encoding(content: bytes) -> tuple[str, str]:
    """Return the encoding and the reason for it, which is empty for UTF-8."""
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
    """Return the separator with which most lines have the same number of cells.

    The second value is the reason, empty for the default separator.
    """
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


def _number_guesses(
    name: str,
    frame: pd.DataFrame,
    separator: str,
    given: Mapping[str, Any],
    locate: Callable[[int, str], str],
) -> Iterator[Guess]:
    """Yield the keys of the format of numbers that differ from their defaults."""
    numbers = dict(_number_columns(frame))
    examples = _examples_in(numbers)
    n_columns = {mark: len(examples.decimal[mark]) for mark in ".,"}
    marks = sorted(examples.thousands, key=lambda mark: -len(examples.thousands[mark]))
    thousands = given.get("thousands") or next(iter(marks), "")
    decimal = given.get("decimal")
    if decimal is None:
        decimal = "," if n_columns[","] > n_columns["."] else "."
        if thousands == decimal and not n_columns[decimal]:
            decimal = "," if decimal == "." else "."
            if "thousands" not in given:  # IP addresses also have groups of three
                cells = examples.either[thousands]
                _refuse_ambiguous(cells, thousands, name, frame, locate)
        if decimal == ",":
            own = examples.decimal[","] or examples.thousands["."]
            why = locate(*next(iter(own.items()))) if own else "thousands have a point"
            yield Guess("decimal", ",", why)
    if thousands == decimal:
        thousands = ""
    elif thousands and "thousands" not in given:
        reason = locate(*next(iter(examples.thousands[thousands].items())))
        yield Guess("thousands", thousands, reason)
    signs = {
        place: {number["before"] or number["after"] or "" for number in found}
        for place, found in numbers.items()
    }
    for mark in ".,":
        is_known = mark == thousands or "decimal" in given or any(n_columns.values())
        for place, word in examples.either[mark].items() if not is_known else ():
            has_whole = any(number["digits"].isdecimal() for number in numbers[place])
            is_usual = mark == "." and separator == "," and signs[place] == {""}
            if is_usual and not has_whole:
                continue  # a run reads these as three decimals
            _refuse_ambiguous({place: word}, mark, name, frame, locate)
    strip = {
        sign: next(n.string for n in numbers[place])
        for place, (sign, *others) in ((p, sorted(s)) for p, s in signs.items())
        if sign and not others
    }
    if strip:
        words = ", ".join(map(quote, strip.values()))
        yield Guess("strip", list(strip), f"signs are left out of {words}")
    for value, part in (("1-", ("minus", "last")), ("(1)", ("open",))):
        for place, found in numbers.items():
            negative = [n.string for n in found if any(n[key] for key in part)]
            if negative:
                yield Guess("negative", value, locate(place, negative[0]))
                return


def _refuse_ambiguous(
    cells: Mapping[int, str],
    mark: str,
    name: str,
    frame: pd.DataFrame,
    locate: Callable[[int, str], str],
) -> None:
    """Refuse the first of `cells`, in which a mark is ambiguous."""
    for place, word in cells.items():
        raise DataError(
            f"{name}: {locate(place, word)} in column {quote(frame.columns[place])}, "
            f"in which the {'point' if mark == '.' else 'comma'} may stand before "
            f'thousands or decimals. Give --thousands "{mark}" or --decimal "{mark}".'
        )


def _number_columns(frame: pd.DataFrame) -> Iterator[tuple[int, list[re.Match[str]]]]:
    """Yield the position of each column of numbers, with the distinct numbers."""
    for place in range(frame.shape[1]):
        words = [
            word
            for word in frame.iloc[:, place].dropna().unique()
            if not is_missing_word(word)
        ]
        found = [match for word in words if (match := _NUMBER.fullmatch(word))]
        if found and len(found) == len(words):
            yield place, found


def _examples_in(numbers: Numbers) -> _Examples:
    """Return example cells of the marks before decimals, thousands, or either."""
    examples = _Examples(defaultdict(dict), defaultdict(dict), defaultdict(dict))
    for place, found in numbers.items():
        for number in found:
            digits, mark = number["digits"], number["mark"]
            others = [sign for sign in ".," if sign in digits and sign != mark]
            for sign in others:
                examples.decimal[sign].setdefault(place, number.string)
            if not mark:
                continue
            kind = examples.thousands
            if mark in ".," and not others and digits.count(mark) == 1:
                kind = examples.decimal if digits.startswith("0") else examples.either
            alike = (each for each in (BLANKS, APOSTROPHES) if mark in each)
            kind[next(alike, mark)[0]].setdefault(place, number.string)
    return examples
