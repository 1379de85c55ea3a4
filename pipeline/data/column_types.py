"""What the cells of a column mean: numbers, true or false, or a category.

    CSV, every cell a number            int64, or float64 if a cell is missing
    CSV, every cell true or false       bool, or float64 if a cell is missing
    CSV, anything else                  category with the texts as sorted levels
    declared under [data] categories    category with those levels, in that order
    typed tables                        as they come; texts as category; nullable
                                        types as numpy's, float64 if a cell is missing

Nothing is guessed silently. Digits with a leading zero (codes, not counts) are text.
Refused, each with what to do about it, unless levels are declared: a column of which
more than half are numbers, but not all; numbers or true and false beside "NA" and the
like; numbers with other marks than a decimal point; dates; levels that differ by
blanks only; whole numbers that a float64 cannot tell from their neighbours.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.errors import DataError, listed

NUMBER = re.compile(
    r"\s*[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*", re.ASCII | re.I
)
INTEGER = re.compile(r"\s*[+-]?(?:0|[1-9]\d{0,400})\s*", re.ASCII)  # longer: infinite
INFINITE = re.compile(r"\s*[+-]?inf(?:inity)?\s*", re.ASCII | re.I)
FLAGS = dict.fromkeys(("true", "True", "TRUE"), True)
FLAGS |= dict.fromkeys(("false", "False", "FALSE"), False)
MARKED = re.compile(
    r"""\s*[+-]?(?:\d+,\d+|\d{1,3}(?:[.' \xa0\u2009\u202f]\d{3})+(?:,\d+)?
    |\d{1,3}(?:[,' \xa0\u2009\u202f]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?\s*%)\s*""",
    re.ASCII | re.X,
)
DATE = re.compile(
    r"""\s*(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2}))
    (?:[T\ ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\ ?(?:Z|[+-]\d{2}:?\d{2})?)?\s*""",
    re.ASCII | re.X,
)
MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "missing", "?", "-", ".")
WIDEST = 2**63
DIGITS = 53  # binary ones that a float64 holds

OTHERWISE = (
    "declare the levels under [data] categories, or list the other columns under "
    "[data] features."
)
AS_TEXTS = "Convert them to texts, or leave the column out of the features."


def is_category(column: pd.Series) -> bool:
    """Return whether a column holds levels, not numbers."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def text_of(value: object) -> str:
    """Return a value as a level is written: ``1.0`` as "1", True as "true"."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def without(cells: pd.Series, missing: Iterable[str]) -> pd.Series:
    """Return the texts of a CSV file with NaN where a cell is missing."""
    return cells.where(~cells.isin(["", *missing]))


def as_levels(column: pd.Series, levels: Iterable[str], *, where: str) -> pd.Series:
    """Return a column as a category with declared levels, in their order.

    Raises
    ------
    DataError
        If a cell holds something else.
    """
    texts = column.astype(object).map(text_of, na_action="ignore")
    declared_levels = tuple(levels)
    others = sorted(set(texts.dropna()) - set(declared_levels))
    if others:
        raise DataError(
            f"{where} holds {listed(others)}, which [data] categories does not "
            "declare. Declare every level."
        )
    return _category(texts, declared_levels)


def from_texts(cells: pd.Series, *, where: str, is_class: bool = False) -> pd.Series:
    """Return the column that the texts of a CSV file spell.

    Parameters
    ----------
    cells : Series of str
        NaN where a cell is missing.
    where : str
        How a sentence names the column.
    is_class : bool, default False
        Whether the cells name classes, among which a text may stand beside numbers.

    Raises
    ------
    DataError
        If they cannot be told apart from a mistake; see the head of this module.
    """
    words = cells.dropna()
    kind_by_word = {word: _kind(word) for word in set(words)}
    kinds = set(kind_by_word.values())
    if kinds and "text" not in kinds:
        return _numbers(cells, where)
    if kinds and set(kind_by_word) <= set(FLAGS):
        return _flags(cells.map(FLAGS))
    if not kinds:
        return pd.Series(np.full(len(cells), np.nan))
    _refuse_missing_words(words, where)
    _refuse_blanks_around(kind_by_word, where)
    if not is_class:
        _refuse_marks_and_dates(words, where)
        _refuse_texts_among_numbers(words, kind_by_word, where)
    return _category(cells, sorted(kind_by_word))


def is_missing_word(word: str) -> bool:
    """Return whether a text usually means "missing", as one of blanks alone does."""
    return word.strip().casefold() in MISSING


def _refuse_missing_words(words: pd.Series, where: str) -> None:
    """Refuse usual words for missing beside numbers, or true and false, alone."""
    usual = words[words.map(is_missing_word)]
    others = set(words) - set(usual)
    is_plain = others <= set(FLAGS) or all(map(NUMBER.fullmatch, others))
    if len(usual) and (is_plain or not usual.str.strip().all()):
        raise DataError(
            f"{where} holds {listed(usual.unique())} in {len(usual)} of {len(words)} "
            "cells, which may mean missing. If so, add it to [data] missing_values; "
            "else declare the levels under [data] categories."
        )


def _refuse_blanks_around(levels: Iterable[str], where: str) -> None:
    """Refuse levels that differ by the blanks around them only."""
    bare = pd.Series(sorted(levels), dtype=object)
    twice = bare[bare.str.strip().duplicated(keep=False)]
    if len(twice):
        raise DataError(
            f"{where} has levels that differ only in blanks: {listed(twice)}. Take the "
            "blanks out of the file, or declare the levels under [data] categories."
        )


def _refuse_marks_and_dates(words: pd.Series, where: str) -> None:
    """Refuse numbers that are written with other marks, and dates."""
    present = [word for word in words.unique() if not is_missing_word(word)]
    marked = [word for word in present if not NUMBER.fullmatch(word)]
    if marked and all(map(MARKED.fullmatch, marked)):
        raise DataError(
            f"{where} holds numbers that are not written like 1234.5: "
            f"{listed(marked)}. Write them so in the file, {OTHERWISE}"
        )
    if present and all(map(DATE.fullmatch, present)):
        raise DataError(
            f"{where} holds dates such as {present[0]!r}. Turn them into numbers in "
            f"the file, {OTHERWISE}"
        )


def _refuse_texts_among_numbers(
    words: pd.Series, kind_by_word: Mapping[str, str], where: str
) -> None:
    """Refuse a column of which more than half, but not all, are numbers.

    Usual words for missing count on neither side.
    """
    kinds = words.map(kind_by_word)
    texts = words[kinds == "text"]
    n_present = len(words) - int(words.map(is_missing_word).sum())
    if 2 * int((kinds == "number").sum()) > n_present:
        verb = "is" if len(texts) == 1 else "are"
        raise DataError(
            f"{where} holds mostly numbers, but {len(texts)} of {len(words)} cells "
            f"{verb} text: {listed(texts.unique())}. Add what means missing to [data] "
            "missing_values, or declare the levels under [data] categories."
        )


def _refuse_lost_digits(whole: Iterable[int], where: str, remedy: str) -> None:
    """Refuse whole numbers that become others as float64, in models and in R."""
    lost = [
        number
        for number in whole
        if number and (number // (number & -number)).bit_length() > DIGITS
    ]
    if lost:
        raise DataError(
            f"{where} holds whole numbers with more digits than float64 keeps: "
            f"{listed(sorted(lost))}. {remedy}"
        )


def from_values(column: pd.Series, *, where: str) -> pd.Series:
    """Return a column of a typed table as an audit keeps it, a copy.

    Raises
    ------
    DataError
        If it holds dates, objects, or levels that are written alike.
    """
    dtype = column.dtype
    if is_category(column):
        if all(isinstance(level, str) for level in dtype.categories):
            return column.copy()
        texts = [text_of(level) for level in dtype.categories]
        if len(set(texts)) < len(texts):
            raise DataError(
                f"{where} has levels that are written alike: "
                f"{listed(dtype.categories.tolist())}. Rename them: "
                "column.cat.rename_categories([…])"
            )
        return column.cat.rename_categories(texts)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        if dtype.kind in "iu":
            _refuse_lost_digits(map(int, column.unique()), where, AS_TEXTS)
        return column.copy()
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "string":
        return _category(column, sorted(set(column.dropna())))
    if kind == "boolean":
        return _flags(column)
    if kind in ("integer", "floating", "mixed-integer-float", "empty"):
        values = column.dropna().unique()
        whole = [int(value) for value in values if isinstance(value, int | np.integer)]
        _refuse_lost_digits(whole, where, AS_TEXTS)
        is_whole = kind == "integer" and column.notna().all()
        return _without_na(column, np.int64 if is_whole else np.float64)
    raise DataError(
        f"{where} holds {kind} values (dtype {dtype}), which are neither numbers nor "
        "texts nor true and false. Convert it, or leave it out of the features."
    )


def joined(
    train: pd.Series, test: pd.Series, *, where: str, rows: str = "test"
) -> pd.Series:
    """Return the column of two typed tables one below the other.

    Both must be of one kind, and the levels are those of `train`, in its order. What
    the others are called in messages is `rows`.

    Raises
    ------
    DataError
        If the kinds differ, or `test` holds a level that `train` does not know.
    """
    kinds = [kind_of(column) for column in (train, test)]
    wide = {"integer", "number"}
    if kinds[0] != kinds[1] and not set(kinds) <= wide:
        raise DataError(
            f"{where} is {kinds[0]} in the training rows and {kinds[1]} in the {rows} "
            "rows. Give it one type, or declare its levels under [data] categories."
        )
    if is_category(train):
        refuse_new_levels(train.cat.categories, test, where=where, rows=rows)
        test = test.cat.set_categories(train.cat.categories)
        test = test.astype(train.dtype)
    return pd.concat([train, test], ignore_index=True)


def refuse_new_levels(
    known_levels: Collection[str], test: pd.Series, *, where: str, rows: str = "test"
) -> None:
    """Refuse rows with a level that is not among `known_levels`, or training cells.

    Raises
    ------
    DataError
        Naming the levels.
    """
    new = sorted(set(test.dropna()) - set(known_levels))
    if new:
        remedy = "Split the rows otherwise, or merge rare levels."
        if rows == "reference":
            remedy = "Leave those rows out, or merge rare levels."
        if isinstance(known_levels, pd.Series) and known_levels.is_unique:
            remedy = (
                "Every training row has a level of its own, so the column only names "
                "rows: list the other columns under [data] features."
            )
        raise DataError(
            f"{where} has levels in the {rows} rows that no training row has: "
            f"{listed(new)}. {remedy}"
        )


def kind_of(column: pd.Series) -> str:
    """Return "category", "boolean", "integer" or "number"."""
    if is_category(column):
        return "category"
    return {"b": "boolean", "i": "integer", "u": "integer"}.get(
        column.dtype.kind, "number"
    )


def digest_of(
    columns: Iterable[tuple[str, pd.Series]],
    extra: Iterable[npt.NDArray[Any]],
    *,
    facts: Iterable[str] = (),
) -> str:
    """Return the SHA-256 of columns and further numbers, equal on every platform.

    Each column enters as its name, kind, levels and values: little-endian float64,
    int64, int32 codes of levels or bytes 0 and 1, every NaN with the same bits, each
    part after its length. `extra` enters as float64, `facts` as they are.
    """
    digest = hashlib.sha256()

    def add(part: bytes) -> None:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)

    for name, column in columns:
        kind = kind_of(column)
        add(name.encode())
        add(kind.encode())
        for level in column.cat.categories if kind == "category" else ():
            add(level.encode())
        add(_bytes(column, kind))
    for numbers in extra:
        add(_float_bytes(numbers))
    for fact in facts:
        add(fact.encode())
    return digest.hexdigest()


def _bytes(column: pd.Series, kind: str) -> bytes:
    if kind == "category":
        return column.cat.codes.to_numpy().astype("<i4").tobytes()
    if kind == "number":
        return _float_bytes(column.to_numpy())
    return column.to_numpy().astype("<i8" if kind == "integer" else "u1").tobytes()


def _float_bytes(numbers: npt.NDArray[np.float64]) -> bytes:
    little_endian = np.array(numbers, dtype="<f8")
    little_endian[np.isnan(little_endian)] = np.nan
    return little_endian.tobytes()


def _kind(word: str) -> str:
    """Return whether a text spells a number, an infinity or nothing of the kind."""
    if NUMBER.fullmatch(word):
        return "number"
    return "infinite" if INFINITE.fullmatch(word) else "text"


def _numbers(texts: pd.Series, where: str) -> pd.Series:
    """Return texts as int64 if all are whole and present, else as float64."""
    words = texts.dropna()
    if all(map(INTEGER.fullmatch, set(words))):
        remedy = OTHERWISE[0].upper() + OTHERWISE[1:]
        _refuse_lost_digits(map(int, words.unique()), where, remedy)
        is_present = len(words) == len(texts)
        whole = [int(word) for word in words]
        if is_present and all(-WIDEST <= n < WIDEST for n in (min(whole), max(whole))):
            return pd.Series(np.array(whole, dtype=np.int64))
    numbers = np.full(len(texts), np.nan)
    numbers[texts.notna().to_numpy()] = [float(word) for word in words]
    return pd.Series(numbers)


def _flags(column: pd.Series) -> pd.Series:
    return _without_na(column, np.float64 if column.isna().any() else np.bool_)


def _without_na(column: pd.Series, dtype: type) -> pd.Series:
    """Return a column of numpy's types, NaN where a cell is missing."""
    cells = [
        np.nan if missing else cell
        for cell, missing in zip(column, column.isna(), strict=True)
    ]
    return pd.Series(np.array(cells, dtype=dtype))


def _category(texts: pd.Series, levels: Iterable[str]) -> pd.Series:
    return pd.Series(pd.Categorical(texts, categories=list(levels)))
