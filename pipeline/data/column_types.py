"""Types of columns: numbers, true or false, or a category.

    texts, every cell a number          int64, or float64 if a cell is missing
    texts, every cell true or false     bool, or float64 if a cell is missing
    texts, anything else                category with the texts as sorted levels
    declared under [data] categories    category with those levels, in that order
    typed tables                        unchanged; texts as category; nullable types
                                        as numpy's, float64 if a cell is missing

Texts are the cells of a CSV file. In Excel and databases each cell has a type, and a
column with some text is typed like one of a CSV file; see `as_read`.

Nothing is guessed silently. Digits with a leading zero (codes, not counts) are text.
Unless levels are declared, the following are refused with a remedy: a column of which
more than half of the cells are numbers, but not all; numbers, or true and false, mixed
with "NA" or similar words; numbers with marks other than a decimal point, or with a
unit; dates in texts (`dates` reads them where parts are derived); levels that differ by
blanks only; whole numbers that float64 cannot represent.

The message of a DataError is a predicate, such as "holds dates …"; the caller knows the
name of the column.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache, partial
from itertools import filterfalse
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.asker import remedy
from ..records.errors import DataError, listed, quote
from . import dates

NUMBER = re.compile(
    r"\s*[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*", re.ASCII | re.I
)
INTEGER = re.compile(r"\s*[+-]?(?:0|[1-9]\d{0,400})\s*", re.ASCII)  # longer: infinite
NUMBER_OR_INFINITE = re.compile(
    rf"{NUMBER.pattern}|\s*[+-]?inf(?:inity)?\s*", re.ASCII | re.I
)
NO_NUMBER, NO_INTEGER = (
    re.compile(rf";(?!(?:{word.pattern})(?:;|\Z))", word.flags)
    for word in (NUMBER_OR_INFINITE, INTEGER)
)
"""Search patterns for a list of words, each after a semicolon: they match if a word is
not a number, or not an integer."""
FLAGS = dict.fromkeys(("true", "True", "TRUE"), True)
FLAGS |= dict.fromkeys(("false", "False", "FALSE"), False)
MARKED = re.compile(
    r"""(?!\s*[+-]?\d+\.?\d*\s*$)  # digits with no mark but a point may be a code
    \s*\(?(?:[<>]=?|[≤≥~≈±])?\s*[+\-−–]?
    \s*(?:[$€£¥]|(?:USD|EUR|GBP|CHF)\b)?\s*[+\-−–]?
    (?:\d+,\d+|\d{1,3}(?:[.'’ \xa0\u2009\u202f]\d{3})+(?:,\d+)?
    |\d{1,3}(?:['’ \xa0\u2009\u202f]\d{3})+(?:\.\d+)?
    |\d+(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)
    (?:[eE][+-]?\d+)?
    (?:[\s\xa0\u2009\u202f]*(?:[%‰°$€£¥+\-−–]|USD|EUR|GBP|CHF)
    |[ \xa0]?(?:[kmµ]?g|[kmcµ]?m|m?l|h|min|m?s|lb|oz|ft)
    |[ \xa0](?:[a-zµ°/²³]{1,9}|[A-Z]{2,3}))?\)?\s*""",
    re.ASCII | re.X,
)
"""A number with a mark of thousands, decimals, currency, sign, bound or unit."""
MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DATE = re.compile(
    rf"""\s*(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}
    |\d{{1,2}}([-/.])\d{{1,2}}\2(?:\d{{4}}|\d{{2}})
    |\d{{1,2}}([-/.\ ]){MONTH}\.?\3(?:\d{{4}}|\d{{2}})|{MONTH}\.?\ \d{{1,2}},?\ \d{{4}})
    (?:[T\ ]\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?\ ?
    (?:Z|[+-]\d{{2}}:?\d{{2}})?)?\s*""",
    re.ASCII | re.X | re.I,
)
ONE_MARK = re.compile(
    r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?\s*", re.ASCII | re.I
)
MISSING = frozenset(
    "na n/a n.a. #n/a #nv nan null none missing k.a. keineangabe ? - .".split()
)
"""Usual words for "missing", English and German, in lower case without blanks."""
WIDEST = 2**63
DIGITS = 53  # binary digits of the significand of a float64

OTHERWISE = (
    "declare the levels under [data] categories, or name the column under [data] "
    "exclude."
)
PART_OF_DATES = 'make parts of them with [[derived]] kind = "date_part"'
AS_TEXTS = "Convert them to texts, or leave the column out of the features."


class NumberFormat(NamedTuple):
    """The format of numbers in a CSV file.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    thousands : str
        The mark between groups of three digits, empty for none; " " is any blank, "'"
        either apostrophe.
    strip : tuple of str
        Signs before or after a number, such as "%", that are ignored.
    negative : {"-1", "1-", "(1)"}
        The format of negative numbers; a minus before the digits is always accepted.
    """

    decimal: str = "."
    thousands: str = ""
    strip: tuple[str, ...] = ()
    negative: str = "-1"


PLAIN = NumberFormat()
BLANKS = " \xa0\u2009\u202f"
APOSTROPHES = "'’"


def is_category(column: pd.Series) -> bool:
    """Return whether a column holds levels, not numbers."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def text_of(value: object) -> str:
    """Return a value as the text of a level: ``1.0`` as "1", True as "true"."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def without(cells: pd.Series, missing: Collection[str]) -> pd.Series:
    """Return cells with NaN in place of each text that means missing."""
    if not missing:
        return cells
    is_missing = [isinstance(cell, str) and cell in missing for cell in cells]
    return cells.mask(np.array(is_missing, dtype=bool))


def is_number(word: str) -> bool:
    """Return whether a text spells a number."""
    return bool(NUMBER.fullmatch(word))


def as_levels(column: pd.Series, levels: Iterable[str]) -> pd.Series:
    """Return a column as a category with declared levels, in their order.

    Raises
    ------
    DataError
        If a cell holds another level.
    """
    texts = column.astype(object).map(text_of, na_action="ignore")
    if others := sorted(set(texts.dropna()) - set(levels)):
        raise DataError(
            f"holds {listed(others)}, which [data] categories does not declare. "
            "Declare every level."
        )
    return _category(texts, levels)


def plain_number(word: str, written: NumberFormat) -> str:
    """Return a number in the notation of Python; other texts are returned unchanged.

    If the decimal mark is a comma, a point in a number that does not have this format
    becomes a comma, so that 1.234, which may mean thousands, is refused later.

    Examples
    --------
    >>> plain_number("-1.234,5", NumberFormat(decimal=",", thousands="."))
    '-1234.5'
    >>> plain_number("€ 12-", NumberFormat(strip=("€",), negative="1-"))
    '-12'
    """
    if written == PLAIN:
        return word
    if found := _number_in(word, written):
        whole = "".join(filter(str.isdigit, found["whole"] or ""))
        point = "" if found["decimals"] is None else f".{found['decimals']}"
        sign = "-" if found["close"] else _signs_of(found)
        number = f"{sign}{whole}{point}{found['exponent'] or ''}"
        return f"{found['left']}{number}{found['right']}"
    if written.decimal == "." or not ONE_MARK.fullmatch(word):
        return word
    return word.translate({ord(written.decimal): ".", ord("."): written.decimal})


def _number_in(word: str, written: NumberFormat) -> re.Match[str] | None:
    """Return the match of a number in a format, None if it has several signs."""
    found = _number_pattern(written).fullmatch(word)
    if not found or bool(found["open"]) != bool(found["close"]):
        return None
    n_signs = bool(found["close"]) + len(_signs_of(found))
    return found if n_signs <= 1 and not (found["before"] and found["after"]) else None


def _signs_of(found: re.Match[str]) -> str:
    return "".join(found[f"minus{place}"] or "" for place in (1, 2, 3, 4))


@lru_cache
def _number_pattern(written: NumberFormat) -> re.Pattern[str]:
    """Return the pattern of a number with its signs, marks and blanks."""
    marks = {" ": rf"[{BLANKS}]", "'": rf"[{APOSTROPHES}]"}
    mark = marks.get(written.thousands, re.escape(written.thousands))
    decimal, never, gap = re.escape(written.decimal), "(?!)", f"[{BLANKS}]*"
    strip = "|".join(map(re.escape, written.strip)) or never
    groups = rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+|" if mark else ""
    after = "-" if written.negative == "1-" else never
    opening, closing = (r"\(", r"\)") if written.negative == "(1)" else (never, never)
    return re.compile(
        rf"(?P<left>\s*)(?P<open>{opening})?"
        rf"(?P<minus1>[+-])?(?:{gap}(?P<before>{strip}){gap})?(?P<minus2>[+-])?"
        rf"(?=\d|{decimal}\d)(?P<whole>{groups}\d+)?(?:{decimal}(?P<decimals>\d*))?"
        rf"(?P<exponent>e[+-]?\d+)?(?P<minus3>{after})?"
        rf"(?:{gap}(?P<after>{strip}))?(?P<minus4>{after})?"
        rf"(?P<close>{closing})?(?P<right>\s*)",
        re.ASCII | re.I,
    )


def as_read(cells: pd.Series) -> pd.Series:
    """Return the column of cells with one type each, typed as in a CSV file.

    Parameters
    ----------
    cells : Series of object
        Cells of an Excel sheet or a database; NaN where one is missing.

    Returns
    -------
    Series
        int64, float64 or bool if every cell is such a value, float64 with NaN if some
        numbers are missing; else the result of `as_texts`. That includes whole numbers
        that float64 may not represent, and true and false with missing cells, whose
        rows may be left out later.
    """
    kind = pd.api.types.infer_dtype(cells, skipna=True)
    if kind == "boolean" and cells.notna().all():
        return _flags(cells)
    if kind not in ("integer", "floating", "mixed-integer-float", "empty"):
        return as_texts(cells)
    whole = [cell for cell in cells if isinstance(cell, int)]
    if any(abs(number) >= 2**DIGITS for number in whole):
        return as_texts(cells)
    is_whole = whole and len(whole) == len(cells)
    return _without_na(cells, np.int64 if is_whole else np.float64)


def as_texts(cells: pd.Series) -> pd.Series:
    """Return numbers, true and false as texts, and empty texts as NaN.

    Other objects, such as dates, are unchanged.
    """

    def text(cell: Any) -> Any:
        if isinstance(cell, str):
            return cell or np.nan
        if isinstance(cell, float | np.floating) and abs(cell) >= 2**DIGITS:
            return repr(float(cell))  # 1e+300, not three hundred digits
        is_value = isinstance(cell, bool | int | float | np.number | np.bool_)
        return text_of(cell) if is_value else cell

    return cells.astype(object).map(text, na_action="ignore")


def is_of_texts(cells: pd.Series) -> bool:
    """Return whether `from_texts` can type the cells of a CSV file or of `as_read`."""
    kind = pd.api.types.infer_dtype(cells, skipna=True)
    is_number = cells.dtype != object and kind not in dates.KINDS
    return is_number or kind in ("string", "empty")


def from_texts(
    cells: pd.Series, *, is_class: bool = False, written: NumberFormat = PLAIN
) -> pd.Series:
    """Return the typed column of texts.

    Parameters
    ----------
    cells : Series of str
        NaN where a cell is missing; the index counts from 0. A column of numbers, or
        of true and false, is returned unchanged and not copied.
    is_class : bool, default False
        Whether the cells are classes, which may be a mixture of texts and numbers.
    written : NumberFormat
        The format of numbers.

    Raises
    ------
    DataError
        If the type is ambiguous; the module docstring lists the cases.
    """
    if cells.dtype != object:
        return cells
    words = cells
    if written != PLAIN:
        words = cells.map(partial(plain_number, written=written), na_action="ignore")
        _refuse_several_signs(cells, written)
    is_present = words.notna().to_numpy()
    present = words[is_present].tolist()
    text = ";".join(["", *present])  # one search is faster than one per word
    if text.count(";") == len(present) and not NO_NUMBER.search(text):
        return _numbers(text[1:], is_present)
    codes, levels = pd.factorize(cells)  # from here on by distinct text
    counts = Counter(present)
    if counts.keys() <= FLAGS.keys():
        return _flags(cells.map(FLAGS))
    _refuse_missing_words(counts)
    _refuse_blanks_around(levels)
    if not is_class:
        own = {plain_number(level, written): level for level in levels}
        _refuse_numbers_and_dates(counts, own, written.decimal)
    order = pd.Index(sorted(levels), dtype=object)
    return pd.Series(pd.Categorical.from_codes(codes, levels).reorder_categories(order))


def is_missing_word(word: str) -> bool:
    """Return whether a text is blank or a usual word for "missing"."""
    return not word.strip() or "".join(word.split()).casefold() in MISSING


def may_mean_missing(level: str) -> bool:
    """Return whether a level of a column of texts is a usual word for "missing".

    "none" is not, because it is often a valid level.
    """
    return is_missing_word(level) and level.strip().casefold() != "none"


def _refuse_missing_words(counts: Mapping[str, int]) -> None:
    """Refuse usual words for "missing" if all other cells are numbers, or flags.

    A blank text is refused in any column.
    """
    usual = [word for word in counts if is_missing_word(word)]
    others = set(counts) - set(usual)
    is_plain = others <= set(FLAGS) or all(map(NUMBER.fullmatch, others))
    if usual and (is_plain or not all(word.strip() for word in usual)):
        n_usual = sum(counts[word] for word in usual)
        raise DataError(
            f"holds {listed(usual)} in {n_usual} of {sum(counts.values())} cells, "
            "which may mean missing. If so, add it to [data] missing_values; else "
            "declare the levels under [data] categories."
        )


def _refuse_blanks_around(levels: Iterable[str]) -> None:
    """Refuse levels that differ only in leading or trailing blanks."""
    bare = pd.Series(sorted(levels), dtype=object)
    twice = bare[bare.str.strip().duplicated(keep=False)]
    if len(twice):
        raise DataError(
            f"has levels that differ only in blanks: {listed(twice)}. Remove the "
            "blanks from the file, or declare the levels under [data] categories."
        )


def _refuse_several_signs(cells: pd.Series, written: NumberFormat) -> None:
    """Refuse columns in which the signs that `strip` ignores differ between numbers."""
    first: dict[str, str] = {}
    for word in cells.dropna().unique() if written.strip else ():
        if found := _number_in(word, written):
            first.setdefault(found["before"] or found["after"] or "", word)
    if len(first) > 1:
        raise DataError(
            f"holds numbers with different signs beside them: "
            f"{listed(first.values())}. Write them alike in the file, {OTHERWISE}"
        )


def _refuse_numbers_and_dates(
    counts: Mapping[str, int], own: Mapping[str, str], decimal: str
) -> None:
    """Refuse numbers written with other marks, dates, and texts among mostly numbers.

    Usual words for "missing" count neither as numbers nor as texts. Marked numbers are
    refused if all other cells are numbers, or if more than half of the cells are. They
    have their own message, because they must not be declared missing.
    """
    present = [word for word in counts if not is_missing_word(word)]
    others = [word for word in present if not NUMBER.fullmatch(word)]
    n_others = sum(counts[word] for word in others)
    are_mostly_numbers = sum(counts[word] for word in present) > 2 * n_others
    marked = list(filter(MARKED.fullmatch, others))
    if marked and (len(marked) == len(others) or are_mostly_numbers):
        raise DataError(
            f"holds numbers that are not written like 1234{decimal}5: "
            f"{listed(own[word] for word in marked)}. Write them so in the file, say "
            "beside a CSV file how they are written (decimal, thousands, strip, "
            f"negative), {OTHERWISE}"
        )
    if present and all(map(DATE.fullmatch, present)):
        raise DataError(
            f"holds dates such as {quote(present[0])}. To use them, {PART_OF_DATES}; "
            f"else {OTHERWISE}"
        )
    if are_mostly_numbers:
        texts = list(filterfalse(NUMBER_OR_INFINITE.fullmatch, counts))
        n_texts = sum(counts[word] for word in texts)
        verb = "is" if n_texts == 1 else "are"
        raise DataError(
            f"holds mostly numbers, but {n_texts} of {sum(counts.values())} cells "
            f"{verb} text: {listed(texts)}. Add the markers of missing values to "
            "[data] missing_values, or declare the levels under [data] categories."
        )


def _refuse_lost_digits(whole: Iterable[int], how: str) -> None:
    """Refuse whole numbers that float64, as used by models and R, cannot represent."""
    lost = [
        number
        for number in whole
        if number and (number // (number & -number)).bit_length() > DIGITS
    ]
    if lost:
        raise DataError(
            "holds whole numbers with more digits than float64 keeps: "
            f"{listed(sorted(lost))}. {how}"
        )


def from_values(column: pd.Series, *, is_feature: bool = False) -> pd.Series:
    """Return a copy of a column of a typed table, in the types of the audit.

    Dates are returned as datetime64, if the column `is_feature`; `dates.seconds_of`
    converts them to numbers.

    Raises
    ------
    DataError
        If the column holds other objects, different levels with the same text, or dates
        without being a feature.
    """
    dtype = column.dtype
    if is_category(column):
        if all(isinstance(level, str) for level in dtype.categories):
            return column.copy()
        texts = [text_of(level) for level in dtype.categories]
        if len(set(texts)) < len(texts):
            raise DataError(
                "has levels that become identical as text: "
                f"{listed(dtype.categories.tolist())}. Rename them: "
                "column.cat.rename_categories([…])"
            )
        return column.cat.rename_categories(texts)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        if dtype.kind in "iu":
            _refuse_lost_digits(map(int, column.unique()), AS_TEXTS)
        return column.copy()
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "string":
        return _category(column, sorted(set(column.dropna())))
    if kind == "boolean":
        return _flags(column)
    if kind in ("integer", "floating", "mixed-integer-float", "empty"):
        values = column.dropna().unique()
        whole = [int(value) for value in values if isinstance(value, int | np.integer)]
        _refuse_lost_digits(whole, AS_TEXTS)
        is_whole = kind == "integer" and column.notna().all()
        return _without_na(column, np.int64 if is_whole else np.float64)
    if kind in dates.KINDS and is_feature:
        return dates.from_values(column)
    if kind in dates.KINDS:
        raise DataError(
            f"holds dates (dtype {dtype}), which only features can hold. Convert them "
            "to numbers."
        )
    texts = [cell for cell in column if isinstance(cell, str)]
    how = "Convert it"
    if texts:
        how = remedy(
            f"Say in [data] missing_values if {quote(texts[0])} means missing, convert "
            "it",
            r="Make it a factor or numbers",
            python="Convert it to numbers, or to texts (pandas' category)",
        )
    raise DataError(
        f"holds {kind} values (dtype {dtype}), which are not numbers, text or "
        f"booleans. {how}{', or leave it out of the features' * is_feature}."
    )


def flags_in_words(column: pd.Series, cells: pd.Series) -> pd.Series:
    """Return a column with its flags as levels "true" and "false".

    A column of flags with missing cells has been typed as 0.0 and 1.0. Only the
    original `cells` show that these numbers were flags; other columns are unchanged.
    """
    if column.dtype != np.float64 or not column.dropna().isin((0, 1)).all():
        return column
    if all(text_of(cell) not in FLAGS for cell in cells.dropna().unique()):
        return column
    return _category(column.map({0: "false", 1: "true"}), ("false", "true"))


def joined(
    train: pd.Series,
    test: pd.Series,
    *,
    rows: str = "test",
    is_open: bool = False,
) -> pd.Series:
    """Return the concatenated column of two typed tables.

    Both must be of the same kind. The levels are those of `train`, in its order; if
    `is_open`, the levels that only `test` has follow. `rows` is the name of the rows of
    `test` in messages.

    Raises
    ------
    DataError
        If the kinds differ, or, unless `is_open`, `test` has a level that `train` does
        not have.
    """
    kinds = [kind_of(column) for column in (train, test)]
    wide = {"integer", "number"}
    if kinds[0] != kinds[1] and not set(kinds) <= wide:
        how = remedy(
            "or declare its levels under [data] categories",
            r="such as a factor",
            python="such as pandas' category",
        )
        raise DataError(
            f"is {kinds[0]} in the training rows and {kinds[1]} in the {rows} rows. "
            f"Give it one type, {how}."
        )
    if is_category(train):
        if is_open:
            new = sorted(set(test.dropna()) - set(train.cat.categories))
            train = train.cat.add_categories(new)
        refuse_new_levels(train.cat.categories, test, rows=rows)
        test = test.astype(train.dtype)
    return pd.concat([train, test], ignore_index=True)


def refuse_new_levels(
    known_levels: Collection[str], test: pd.Series, *, rows: str = "test"
) -> None:
    """Refuse rows with a level that is not among `known_levels`.

    If these are a Series of training cells that are all different, the message says
    that the column identifies rows.

    Raises
    ------
    DataError
        If there are such levels; it lists them.
    """
    new = sorted(set(test.dropna()) - set(known_levels))
    if new:
        first = {"reference": "Leave those rows out"}
        how = first.get(rows, "Split the rows otherwise") + remedy(
            ", merge rare levels, or set [data] unseen.",
            r=", or merge rare levels.",
            python=", or merge rare levels.",
        )
        if isinstance(known_levels, pd.Series) and known_levels.is_unique:
            without = "fit without it"
            instead = remedy("name it under [data] exclude", r=without, python=without)
            how = (
                "Every training row has its own level, so the column merely "
                f"identifies rows: {instead}."
            )
        raise DataError(
            f"has levels in the {rows} rows that no training row has: {listed(new)}. "
            f"{how}"
        )


def kind_of(column: pd.Series) -> str:
    """Return "category", "boolean", "integer", "number", or "date" for datetime64."""
    if is_category(column):
        return "category"
    return {"b": "boolean", "i": "integer", "u": "integer", "M": "date"}.get(
        column.dtype.kind, "number"
    )


def digest_of(
    columns: Iterable[tuple[str, pd.Series]],
    extra: Iterable[npt.NDArray[Any]],
    *,
    facts: Iterable[str] = (),
) -> str:
    """Return the SHA-256 of columns and further numbers, equal on every platform.

    Each column is hashed as its name, kind, levels and values: little-endian float64,
    int64, int32 codes of levels, or bytes 0 and 1. Every NaN has the same bits, and
    each part follows its length. `extra` is hashed as float64, `facts` as UTF-8.
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
        if kind == "number":
            add(_float_bytes(column.to_numpy()))
        elif kind == "category":
            add(column.cat.codes.to_numpy().astype("<i4").tobytes())
        else:
            form = "<i8" if kind == "integer" else "u1"
            add(column.to_numpy().astype(form).tobytes())
    for numbers in extra:
        add(_float_bytes(numbers))
    for fact in facts:
        add(fact.encode())
    return digest.hexdigest()


def _float_bytes(numbers: npt.NDArray[np.float64]) -> bytes:
    little_endian = np.array(numbers, dtype="<f8")
    little_endian[np.isnan(little_endian)] = np.nan
    return little_endian.tobytes()


def _numbers(text: str, is_present: npt.NDArray[np.bool_]) -> pd.Series:
    """Return numbers of a text: int64 if all are whole and present, else float64."""
    if text and not NO_INTEGER.search(f";{text}"):
        how = OTHERWISE[0].upper() + OTHERWISE[1:]
        whole = list(map(int, text.split(";")))
        _refuse_lost_digits(dict.fromkeys(whole), how)
        is_held = -WIDEST <= min(whole) <= max(whole) < WIDEST
        if is_held and is_present.all():
            return pd.Series(np.array(whole, dtype=np.int64))
    numbers = np.full(len(is_present), np.nan)
    numbers[is_present] = np.fromstring(text, sep=" ; ")  # with any blanks around them
    return pd.Series(numbers)


def _flags(column: pd.Series) -> pd.Series:
    return _without_na(column, np.float64 if column.isna().any() else np.bool_)


def _without_na(column: pd.Series, dtype: type) -> pd.Series:
    """Return a column with a numpy type, NaN where a cell is missing."""
    cells = [
        np.nan if missing else cell
        for cell, missing in zip(column, column.isna(), strict=True)
    ]
    return pd.Series(np.array(cells, dtype=dtype))


def _category(texts: pd.Series, levels: Iterable[str]) -> pd.Series:
    return pd.Series(pd.Categorical(texts, categories=list(levels)))
