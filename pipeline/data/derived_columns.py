"""Columns made of others, row by row: what FIRM calls feature functions.

    conjunction, disjunction, xor    of two truths or more, each as it is or "not" it
    step                             1 where a number is above a threshold
    level                            1 where a column has one level
    product                          of two numbers or more
    linear_combination               of numbers, with weights
    expression                       a formula of columns; see `expressions`
    date_part                        the year, month, weekday … of a date; see `dates`

Parts of dates are features like any other; models are given none of the others.
Truths are columns of true and false, of 0 and 1, or of -1 and 1; what comes out of
them is 0 or 1. A definition may name others before it. Nothing is learnt from the
rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import Dataset
from ..records.errors import HINTED, DataError, did_you_mean, listed, quote
from ..records.value_rules import NAME, OneOf
from .column_roles import feature_problems, missing_problems
from .column_types import digest_of, is_category, text_of
from .dates import PARTS, cells_of, date_part, is_dates, was_dates
from .dates import from_texts as dates_from_texts
from .encoding import restored
from .expressions import names_of, value_of

NOT = "not "
TRUTHS = ({0.0, 1.0}, {-1.0, 1.0})
Cells: TypeAlias = npt.NDArray[Any]


class Kind(NamedTuple):
    """How columns of one kind are made.

    Attributes
    ----------
    function : callable
        ``function(inputs, option)`` of inputs (n_samples,) returns (n_samples,).
    reads : {"truths", "numbers", "levels", "dates"}
        What the inputs must be, and are handed over as: bool, float64, texts or
        datetime64.
    least, most : int
        How many inputs there must be; `most` 0 is any number.
    option : str
        The one key beside `name`, `kind` and `of` that it needs; empty if none.
    sign : str
        What stands between the inputs in the text of a definition.
    is_given : bool
        Whether models are given the column.
    """

    function: Callable[[list[Cells], Any], Cells]
    reads: str
    least: int
    most: int = 0
    option: str = ""
    sign: str = ""
    is_given: bool = False


def conjunction(inputs: list[Cells], option: None) -> Cells:
    """Return 1 where every input is true."""
    del option
    return np.logical_and.reduce(inputs).astype(np.int64)


def disjunction(inputs: list[Cells], option: None) -> Cells:
    """Return 1 where some input is true."""
    del option
    return np.logical_or.reduce(inputs).astype(np.int64)


def xor(inputs: list[Cells], option: None) -> Cells:
    """Return 1 where an odd number of inputs is true."""
    del option
    return np.logical_xor.reduce(inputs).astype(np.int64)


def step(inputs: list[Cells], threshold: float) -> Cells:
    """Return 1 where the input is above the threshold."""
    return (inputs[0] > threshold).astype(np.int64)


def level(inputs: list[Cells], name: str) -> Cells:
    """Return 1 where the input is this level."""
    return (inputs[0] == name).astype(np.int64)


def product(inputs: list[Cells], option: None) -> Cells:
    """Return the product of the inputs."""
    del option
    return np.asarray(np.multiply.reduce(inputs))


def linear_combination(inputs: list[Cells], weights: Sequence[float]) -> Cells:
    """Return the sum of the inputs, each times its weight."""
    return np.asarray(sum(w * x for w, x in zip(weights, inputs, strict=True)))


def expression(inputs: list[Cells], text: str) -> Cells:
    """Return what a formula says of its columns, in the order it names them."""
    return value_of(text, dict(zip(names_of(text), inputs, strict=True)))


DERIVED: dict[str, Kind] = {
    "conjunction": Kind(conjunction, "truths", 2, sign=" and "),
    "disjunction": Kind(disjunction, "truths", 2, sign=" or "),
    "xor": Kind(xor, "truths", 2, sign=" xor "),
    "step": Kind(step, "numbers", 1, 1, option="threshold"),
    "level": Kind(level, "levels", 1, 1, option="level"),
    "product": Kind(product, "numbers", 2, sign=" × "),
    "linear_combination": Kind(linear_combination, "numbers", 1, option="weights"),
    "expression": Kind(expression, "numbers", 0, option="expression"),
    "date_part": Kind(date_part, "dates", 1, 1, option="part", is_given=True),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DerivedSection:
    """A column derived from others. Of these, models are given only parts of dates.

    Attributes
    ----------
    name : str
        The name used in the report.
    kind : str
        How it is derived: "conjunction", "disjunction" or "xor" of true/false columns,
        "step" of a number, "level" of a category, "product" or "linear_combination" of
        numbers, "expression" for a formula, "date_part" of a date.
    of : tuple of str
        The columns it is derived from, which may be derived columns defined before it;
        "not x" negates the true/false column "x". Left out for an expression.
    threshold : float
        For "step": 1 above this number, else 0.
    level : str
        For "level": 1 where the column has this level, else 0.
    weights : tuple of float
        For "linear_combination": one weight per column.
    expression : str
        For "expression": a formula such as "log(x1) * (x2 > 3)". It may use columns,
        numbers, + - * / **, comparisons, and, or, not, log, exp, sqrt, abs, min, max.
    part : str
        For "date_part": which part of the date, as a number. The date column itself is
        a feature only if [data] features names it.
    format : str
        For "date_part": the format of the texts, in the notation of Python's strptime,
        such as "%d.%m.%Y"; by default ISO dates such as 2024-01-31.
    """

    name: Annotated[str, NAME]
    kind: Annotated[str, OneOf(tuple(DERIVED))]
    of: tuple[str, ...] = ()
    threshold: float | None = None
    level: str | None = None
    weights: tuple[float, ...] = ()
    expression: str = ""
    part: Annotated[str, OneOf(tuple(PARTS))] | None = None
    format: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """What it is made of: as given, or as the formula names them."""
        return names_of(self.expression) if self.expression else self.of


def derive(
    columns: Mapping[str, pd.Series],
    sections: Sequence[DerivedSection],
    *,
    where: str,
    taken_names: Sequence[str] = (),
) -> dict[str, pd.Series]:
    """Return the columns that `sections` define, in their order.

    Parameters
    ----------
    columns : mapping of str to Series
        The audited columns, typed, over all rows.
    sections : sequence of DerivedSection
    where : str
        How a sentence names the rows.
    taken_names : sequence of str
        Further names that none of them may have.

    Raises
    ------
    DataError
        One line per problem; what is made of a faulty column is not judged.
    """
    all_columns, faulty = dict(columns), set[str]()
    problems: list[str] = []
    for section in sections:
        if section.name in all_columns or section.name in taken_names:
            clash = (
                f"[[derived]] name {quote(section.name)} is a column of {where} "
                "already."
            )
            problems.append(f"{clash} Choose another.")
        own = tuple(_unknown_inputs(section, all_columns, faulty))
        if section.name not in all_columns and not own:
            own = tuple(_unfit_inputs(section, all_columns, where))
            if not own:
                column = _column_of(section, all_columns)
                own = tuple(_not_finite(section, column, where))
            if not own:
                all_columns[section.name] = column
        problems += [text for text in own if text]
        faulty |= {section.name} if section.name not in all_columns else set()
    if problems:
        raise DataError("\n".join(problems))
    return {section.name: all_columns[section.name] for section in sections}


def with_derived(rows: Dataset, sections: Sequence[DerivedSection]) -> Dataset:
    """Return rows given in Python with the columns that a configuration derives.

    Those that a configuration describes are read with them.

    Parameters
    ----------
    rows : Dataset
    sections : sequence of DerivedSection
        ``config.derived``.

    Raises
    ------
    DataError
        One line per problem.
    """
    columns = {name: rows.X[name] for name in rows.features}
    for name, written in date_formats(sections).items():
        if name in columns and was_dates(rows.types.get(name)):
            columns[name] = restored(columns[name], rows.types[name])
            columns[name] = pd.Series(pd.DatetimeIndex(columns[name]))
        elif name in columns and is_category(columns[name]):
            where = f"{rows.name}: column {quote(name)}"
            columns[name] = dates_from_texts(columns[name], written, where=where)
    new_columns = derive(columns, sections, where=rows.name)
    problems = [
        text
        for name, column in new_columns.items()
        for text in feature_problems(column, where=f"{rows.name}: column {quote(name)}")
    ]
    if problems:
        raise DataError("\n".join(problems))
    X = rows.X.assign(
        **{name: column.to_numpy() for name, column in new_columns.items()}
    )
    parts, facts = [(name, X[name]) for name in X], (rows.task, *rows.classes)
    return replace(
        rows,
        X=X,
        groups={**rows.groups, **{name: (name,) for name in new_columns}},
        unread={**rows.unread, **sources_of(sections, rows.features)},
        sha256=digest_of(parts, [rows.y, rows.weights], facts=facts),
    )


def sources_of(
    sections: Sequence[DerivedSection], columns: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the columns of the data that each derived one is made of in the end.

    Of those that no model is given. What models are given counts as the data's.
    """
    given = [section.name for section in sections if DERIVED[section.kind].is_given]
    sources: dict[str, tuple[str, ...]] = {name: (name,) for name in (*columns, *given)}
    for section in sections:
        if section.name in given:
            continue
        inputs = (_input(name, sources)[0] for name in section.inputs)
        each = [source for name in inputs for source in sources[name]]
        sources[section.name] = tuple(dict.fromkeys(each))
    names = [section.name for section in sections if section.name not in given]
    return {name: sources[name] for name in names}


def date_formats(sections: Sequence[DerivedSection]) -> dict[str, str]:
    """Return the columns that parts of dates are made of, and how they are written."""
    dated = [section for section in sections if section.kind == "date_part"]
    return {name: section.format for section in dated for name in section.of}


def definition_of(section: DerivedSection) -> str:
    """Return how a column is made, as a reader would write it.

    Examples
    --------
    >>> rich = DerivedSection(name="rich", kind="step", of=("income",), threshold=9.5)
    >>> definition_of(rich)
    'income > 9.5'
    """
    if section.kind == "expression":
        return section.expression
    kind, first = DERIVED[section.kind], section.of[0]
    if section.kind == "step":
        return f"{first} > {section.threshold:g}"
    if section.kind == "level":
        return f"{first} = {section.level}"
    if section.kind == "date_part":
        return f"{section.part} of {first}"
    if section.kind == "linear_combination":
        pairs = zip(section.weights, section.of, strict=True)
        total = " + ".join(f"{weight:g} × {name}" for weight, name in pairs)
        return total.replace("+ -", "− ")
    return kind.sign.join(section.of)


def _input(name: str, columns: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the column that an input names, and whether its opposite is meant."""
    bare = name.removeprefix(NOT)
    is_opposite = name not in columns and bare != name
    return (bare if is_opposite else name), is_opposite


def _unknown_inputs(
    section: DerivedSection, columns: Mapping[str, pd.Series], faulty: set[str]
) -> Iterator[str]:
    """Yield a sentence per input that is not there, empty if it has its own problem."""
    key = "expression" if section.expression else "of"
    for place, item in enumerate(section.inputs, start=len(faulty)):
        name, is_opposite = _input(item, columns)
        subject = f"[[derived]] {quote(section.name)} {key}"
        if name in faulty:
            yield ""
        elif name not in columns:
            what = "neither an audited column nor derived before it"
            hint = did_you_mean(name, columns) if place < HINTED else ""
            yield f"{subject} names {quote(name)}, {what}.{hint}"
        elif is_opposite and DERIVED[section.kind].reads != "truths":
            rule = f"kind {section.kind!r} takes columns without negation"
            yield f'{subject} holds {quote(item)}; {rule}, without "not".'


def _unfit_inputs(
    section: DerivedSection, columns: Mapping[str, pd.Series], where: str
) -> Iterator[str]:
    """Yield a sentence per input that the kind cannot be made of."""
    because = f"{quote(section.name)} is derived from it"
    for item in section.inputs:
        name, _ = _input(item, columns)
        column, subject = columns[name], f"{where}: column {quote(name)}"
        missing = tuple(missing_problems(column, because, where=subject))
        if DERIVED[section.kind].reads == "dates":
            missing = ()  # the part of a missing date is missing
        yield from missing
        misfit = MISFITS[DERIVED[section.kind].reads](column, section)
        if misfit and not missing:
            needs, holds = misfit
            yield f"{subject} holds {holds}; {because}, which needs {needs}."


def _not_finite(
    section: DerivedSection, column: pd.Series, where: str
) -> Iterator[str]:
    """Yield a sentence if a formula has no answer in some rows."""
    at = np.flatnonzero(~np.isfinite(column.to_numpy(dtype=np.float64))) + 1
    if len(at) and section.kind == "expression":
        rows = f"{'row' if len(at) == 1 else 'rows'} {listed(at.tolist())}"
        subject = f"[[derived]] {quote(section.name)} expression"
        remedy = "Change the formula, or leave those rows out."
        yield f"{subject} is not finite in {rows} of {len(column)} of {where}. {remedy}"


def _no_truths(column: pd.Series, section: DerivedSection) -> tuple[str, str] | None:
    """Return what is needed and what a column of other than truths holds."""
    del section
    values = {text_of(value) for value in column.unique()}
    if not (is_category(column) or is_dates(column)) and any(
        set(column.astype(np.float64)) <= truths for truths in TRUTHS
    ):
        return None
    return "0 and 1, -1 and 1, or true and false", listed(sorted(values))


def _no_numbers(column: pd.Series, section: DerivedSection) -> tuple[str, str] | None:
    del section
    if is_dates(column):
        return "numbers", "dates"
    return ("numbers", "texts") if is_category(column) else None


def _no_such_level(
    column: pd.Series, section: DerivedSection
) -> tuple[str, str] | None:
    levels = column.cat.categories if is_category(column) else column.unique()
    names = sorted(map(text_of, levels))
    if section.level in names:
        return None
    return f"the level {quote(section.level)}", listed(names)


def _no_dates(column: pd.Series, section: DerivedSection) -> tuple[str, str] | None:
    del section
    if is_dates(column):
        return None
    return "dates, or text that contains them", "texts" if is_category(
        column
    ) else "numbers"


MISFITS = {
    "truths": _no_truths,
    "numbers": _no_numbers,
    "levels": _no_such_level,
    "dates": _no_dates,
}


def _truths(column: pd.Series) -> Cells:
    return np.asarray(column.to_numpy(dtype=np.float64) > 0)


def _numbers(column: pd.Series) -> Cells:
    return np.asarray(column.to_numpy(dtype=np.float64))


def _levels(column: pd.Series) -> Cells:
    return np.asarray(column.astype(object).map(text_of).to_numpy(dtype=object))


CELLS = {"truths": _truths, "numbers": _numbers, "levels": _levels, "dates": cells_of}


def _column_of(section: DerivedSection, columns: Mapping[str, pd.Series]) -> pd.Series:
    """Return one derived column of inputs that fit."""
    kind = DERIVED[section.kind]
    inputs = []
    for item in section.inputs:
        name, is_opposite = _input(item, columns)
        cells = CELLS[kind.reads](columns[name])
        inputs.append(~cells if is_opposite else cells)
    option = getattr(section, kind.option) if kind.option else None
    return pd.Series(kind.function(inputs, option), name=section.name)
