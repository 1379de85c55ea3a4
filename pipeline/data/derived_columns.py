"""Columns derived from others, row by row: the feature functions of FIRM.

    expression   a formula of columns; see `expressions`
    part         the year, month, weekday … of a date; see `dates`

Parts of dates are ordinary features; models are not given the other derived columns. A
definition may use derived columns defined before it. Nothing is learnt from the rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pandas as pd

from ..records.dataset_and_model import Dataset
from ..records.errors import DataError, did_you_mean, listed, quote
from ..records.value_rules import NAME, OneOf
from .column_roles import about, feature_problems, missing_problems, raise_all
from .column_types import digest_of, is_category, text_of
from .dates import PARTS, date_part, is_dates, was_dates
from .dates import from_texts as dates_from_texts
from .encoding import restored
from .expressions import Use, uses_of, value_of

TRUTHS = ({0.0, 1.0}, {-1.0, 1.0})
NEEDED = {
    "numbers": "numbers",
    "level": "texts or numbers",
    "dates": "dates, or text that contains them",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DerivedSection:
    """A column derived from others. Of these, models are given only parts of dates.

    Attributes
    ----------
    name : str
        The name used in the report.
    kind : str
        "expression" or "date_part". It may be left out, because it follows from
        `expression` or `part`.
    expression : str
        A formula such as "log(x1) * (x2 > 3)" or "sex == 'male' and not rich". It may
        use columns, also derived ones defined before it, numbers, + - * / **,
        comparisons, and, or, not, log, exp, sqrt, abs, min, max. == and != also compare
        a column with one of its levels, a text in quotes; and, or and not also accept
        columns of true/false, 0/1 or -1/1. Names with characters other than letters,
        digits, _ and . need backticks.
    of : tuple of str
        For a part: the column of the date.
    part : str
        The part of the date, as a number. The date column itself is a feature only if
        [data] features names it.
    format : str
        For a part: the format of the texts, in the notation of Python's strptime, such
        as "%d.%m.%Y"; by default ISO dates such as 2024-01-31.
    """

    name: Annotated[str, NAME]
    kind: Annotated[str, OneOf(("expression", "date_part"))] | None = None
    expression: str = ""
    of: tuple[str, ...] = ()
    part: Annotated[str, OneOf(tuple(PARTS))] | None = None
    format: str = ""

    @property
    def is_given(self) -> bool:
        """Whether models are given the column: only parts of dates are."""
        return self.part is not None

    @property
    def uses(self) -> tuple[Use, ...]:
        """The uses of columns in the definition."""
        if self.part:
            return tuple(Use(name, "dates") for name in self.of)
        return uses_of(self.expression)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The distinct columns in the definition."""
        return tuple(dict.fromkeys(use.name for use in self.uses))


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
        The name of the rows in messages.
    taken_names : sequence of str
        Further names that derived columns must not have.

    Raises
    ------
    DataError
        One line per problem of the first faulty definition.
    """
    all_columns = dict(columns)
    for section in sections:
        problems = [*_unknown_inputs(section, all_columns)]
        if section.name in all_columns or section.name in taken_names:
            problems.append(
                f"[[derived]] name {quote(section.name)} is a column of {where} "
                "already. Choose another."
            )
        raise_all(problems)
        raise_all(_unfit_inputs(section, all_columns, where))
        if section.part:
            cells = date_part(all_columns[section.of[0]], section.part)
        else:
            cells = value_of(section.expression, all_columns)
            at = np.flatnonzero(~np.isfinite(cells)) + 1
            if len(at):
                rows = f"{'row' if len(at) == 1 else 'rows'} {listed(at.tolist())}"
                raise DataError(
                    f"[[derived]] {quote(section.name)} expression is not finite in "
                    f"{rows} of {len(cells)} of {where}. Change the formula, or leave "
                    "those rows out."
                )
        all_columns[section.name] = pd.Series(cells, name=section.name)
    return {section.name: all_columns[section.name] for section in sections}


def with_derived(rows: Dataset, sections: Sequence[DerivedSection]) -> Dataset:
    """Return rows passed in Python with the derived columns of a configuration.

    Rows that a configuration describes already have them.

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
    if not sections:
        return rows
    columns = {name: rows.X[name] for name in rows.features}
    for name, written in date_formats(sections).items():
        if name in columns and was_dates(rows.types.get(name)):
            columns[name] = restored(columns[name], rows.types[name])
            columns[name] = pd.Series(pd.DatetimeIndex(columns[name]))
        elif name in columns and is_category(columns[name]):
            with about(f"{rows.name}: column {quote(name)}"):
                columns[name] = dates_from_texts(columns[name], written)
    new_columns = derive(columns, sections, where=rows.name)
    problems = [
        f"{rows.name}: column {quote(name)} {problem}"
        for name, column in new_columns.items()
        for problem in feature_problems(column)
    ]
    raise_all(problems)
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
    """Return the columns of the data from which each derived column is computed.

    Only for derived columns that no model is given; those that models are given count
    as columns of the data. Intermediate derived columns are resolved.
    """
    given = [section.name for section in sections if section.is_given]
    sources: dict[str, tuple[str, ...]] = {name: (name,) for name in (*columns, *given)}
    unread = [section for section in sections if not section.is_given]
    for section in unread:
        each = [source for name in section.inputs for source in sources[name]]
        sources[section.name] = tuple(dict.fromkeys(each))
    return {section.name: sources[section.name] for section in unread}


def date_formats(sections: Sequence[DerivedSection]) -> dict[str, str]:
    """Return the date columns of which parts are derived, with their formats."""
    dated = [section for section in sections if section.part]
    return {name: section.format for section in dated for name in section.of}


def definition_of(section: DerivedSection) -> str:
    """Return the definition of a derived column for the report.

    Examples
    --------
    >>> definition_of(DerivedSection(name="m", of=("visit",), part="month"))
    'month of visit'
    """
    return f"{section.part} of {section.of[0]}" if section.part else section.expression


def _unknown_inputs(
    section: DerivedSection, columns: Mapping[str, pd.Series]
) -> Iterator[str]:
    """Yield a sentence per input that does not exist."""
    key = "of" if section.of else "expression"
    for name in section.inputs:
        if name not in columns:
            yield (
                f"[[derived]] {quote(section.name)} {key} names {quote(name)}, neither "
                f"an audited column nor derived before it.{did_you_mean(name, columns)}"
            )


def _unfit_inputs(
    section: DerivedSection, columns: Mapping[str, pd.Series], where: str
) -> Iterator[str]:
    """Yield a sentence per input that does not hold what the definition needs."""
    because = f"{quote(section.name)} is derived from it"
    for use in section.uses:
        column, subject = columns[use.name], f"{where}: column {quote(use.name)}"
        missing = next(missing_problems(column, because), "")
        if missing and not section.part:  # the part of a missing date is missing
            yield f"{subject} {missing}"
        elif misfit := _misfit(column, use):
            needs, holds = misfit
            yield f"{subject} holds {holds}; {because}, which needs {needs}."


def _misfit(column: pd.Series, use: Use) -> tuple[str, str] | None:
    """Return, in words, what a use needs and the column holds; None if these agree."""
    is_text = is_category(column)
    kind = "dates" if is_dates(column) else "texts" if is_text else "numbers"
    if use.needs == "truths":
        values = set(column.unique())
        if kind == "numbers" and any(values <= truths for truths in TRUTHS):
            return None
        names = sorted(set(map(text_of, values)))
        return "0 and 1, -1 and 1, or true and false", listed(names)
    if use.needs == "level" and kind != "dates":
        levels = column.cat.categories if is_text else column.unique()
        names = sorted(map(text_of, levels))
        if use.level in names:
            return None
        return f"the level {quote(use.level)}", listed(names)
    return None if kind == use.needs else (NEEDED[use.needs], kind)
