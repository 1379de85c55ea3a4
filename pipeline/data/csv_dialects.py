"""Guess the dialect of a CSV file: the keys that its source needs, each with a reason.

Only `init` guesses, and writes the result into the configuration; a run reads a file as
configured. Reading is in `csv_files`, the types of columns in `column_types`.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import compress, islice, product, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..records.errors import DataError, quote
from .column_types import (
    APOSTROPHES,
    BLANKS,
    PLAIN,
    NumberFormat,
    is_missing_word,
    is_number,
    plain_number,
)
from .csv_files import as_utf8, line_of, read_csv, utf16_of
from .tables import text_content, usual_separator

TRIED = (";", "\t", ",", "|")
LINES = 200
FORMATS = tuple(
    NumberFormat(*marks) for marks in (".", ",", ",.", ".,", ", ", ". ", ",'", ".'")
)
"""Formats of numbers that are tried: the decimal mark, and the mark of thousands."""
SAME = {" ": BLANKS, "'": APOSTROPHES}
_NUMBER = re.compile(
    rf"(?!\s*\d+(?:\.\d+){{3}}\s*$)"  # no IP address
    rf"(?=.*\d)[\s\d.,eE+{APOSTROPHES}{BLANKS}-]+",
    re.ASCII,
)


class Guess(NamedTuple):
    """A key of the source, its guessed value, and the reason in words."""

    key: str
    value: Any
    reason: str


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
    for encoding in ("utf-8", "cp1252", "latin-1"):  # the last one reads any bytes
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            break
    if encoding == "utf-8":
        return encoding, ""
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
    """Yield the marks of decimals and thousands with which most columns are numbers.

    Of several formats with as many columns, the first of `FORMATS` is taken. If they
    read other numbers, the mark is ambiguous, except three decimals after a point.
    """
    columns: dict[int, list[str]] = {}
    for place in range(frame.shape[1]):
        distinct = frame.iloc[:, place].dropna().unique()
        words = [word for word in distinct if not is_missing_word(word)]
        if words and all(map(_NUMBER.fullmatch, words)):
            columns[place] = words
    met = set("".join(word for words in columns.values() for word in words))
    formats = [
        form
        for form in FORMATS
        if given.get("decimal", form.decimal) == form.decimal
        and given.get("thousands", form.thousands) == form.thousands
        and (form.thousands in ("", *given.values()) or met & _signs(form.thousands))
    ]
    if not formats:  # given twice the same, which is refused later
        return
    read: dict[NumberFormat, dict[int, list[str]]] = {}
    for form in formats:
        read[form] = {}
        for place, words in columns.items():
            plain = (plain_number(word, form) for word in words)
            numbers = list(takewhile(is_number, plain))
            if len(numbers) == len(words):
                read[form][place] = numbers
    best = max(formats, key=lambda form: len(read[form]))
    for form, place in product(formats, read[best]):
        words, numbers = columns[place], read[best][place]
        others = read[form].get(place, numbers)
        is_usual = best == PLAIN and separator == ","
        is_usual &= not any(word.isdecimal() for word in words)
        if len(read[form]) == len(read[best]) and others != numbers and not is_usual:
            differ = (a != b for a, b in zip(numbers, others, strict=True))
            word = next(compress(words, differ))
            mark = "." if "." in word else ","
            raise DataError(
                f"{name}: {locate(place, word)} in column "
                f"{quote(frame.columns[place])}, in which the "
                f"{'point' if mark == '.' else 'comma'} may stand before thousands or "
                f'decimals. Give --thousands "{mark}" or --decimal "{mark}".'
            )
    for key in ("decimal", "thousands"):
        mark = getattr(best, key)
        if key not in given and mark != getattr(PLAIN, key):
            found = (
                locate(place, word)
                for place in read[best]
                for word in columns[place]
                if _signs(mark) & set(word)
            )
            yield Guess(key, mark, next(found, "thousands have a point"))


def _signs(mark: str) -> set[str]:
    """Return the characters that a mark means."""
    return set(SAME.get(mark, mark))
