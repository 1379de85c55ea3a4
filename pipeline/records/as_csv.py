"""A result as long tables: one line per number, with every digit.

A spreadsheet evaluates a cell that begins like a formula, and names come from the data.
Such a text is written with an apostrophe in front, which `unescaped` removes. Numbers
and result.json are not affected.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from .cells import escaped
from .frames import FRAMES, csv_path
from .importance_record import Effect, Importance
from .result import AuditResult
from .surface_record import Surface

Table: TypeAlias = Iterable[Sequence[Any]]
KEPT = (csv_path("importances"), csv_path("findings"))
"""Tables that are written even without rows: every report refers to them."""
WHO = ("model", "method", "engine", "engine_version")
WHAT = ("scale", "positive_class", "split", "unit", "n_samples", "stream", "seed")


def tables(result: AuditResult) -> dict[str, str]:
    """Return the text of each table by the path of its file in the run folder.

    A table without rows is left out, unless it is in `KEPT`.
    """
    texts = {name: csv_text(rows) for name, rows in rows_of(result).items()}
    return {n: text for n, text in texts.items() if n in KEPT or has_rows(text)}


def has_rows(text: str) -> bool:
    """Return whether a CSV table has rows below its header line."""
    return text.index("\n") < len(text) - 1


def rows_of(result: AuditResult) -> dict[str, Table]:
    """Return the iterator over header and rows of each table, by path in the folder."""
    return {
        csv_path("importances"): _importances(result.importances),
        csv_path("effects"): _effects(result.effects),
        csv_path("surfaces"): _surfaces(result.surfaces),
        csv_path("findings"): _findings(result),
        **{frame.csv: _frame(result.frames[name]) for name, frame in FRAMES.items()},
    }


def _importances(records: Iterable[Importance]) -> Table:
    """Yield the long table of importances: one row per feature and repeat."""
    names = (*WHO, "entry", "of", "form", "aggregator", "loss", *WHAT)
    yield ("record", *names, "feature", "repeat", "raw", "baseline", "value")
    for number, record in enumerate(records):  # the key in other tables
        who, values = [getattr(record, name) for name in names], record.values
        for j, feature in enumerate(record.features):
            rows = zip(record.raw[j], record.baseline, values[j], strict=True)
            for repeat, numbers in enumerate(rows, start=1):
                yield (number, *who, feature, repeat, *numbers)


def _effects(records: Iterable[Effect]) -> Table:
    """Yield the long table of curves: one row per point."""
    names = (*WHO, *WHAT, "feature", "kind")
    yield (*names, "point", "grid", "value", "band_low", "band_high")
    for record in records:
        who = [getattr(record, name) for name in names]
        nothing = np.full(len(record.values), np.nan)
        low = record.band_low if record.has_band else nothing
        high = record.band_high if record.has_band else nothing
        points = zip(record.grid.tolist(), record.values, low, high, strict=True)
        for n, numbers in enumerate(points, start=1):
            yield (*who, n, *numbers)


def _surfaces(records: Iterable[Surface]) -> Table:
    """Yield the long table of surfaces: one row per point."""
    names = [name for name in (*WHO, *WHAT) if name not in ("method", "stream")]
    yield (*names, *"first_feature second_feature first second value within".split())
    for record in records:
        who = [getattr(record, name) for name in names]
        for i, first in enumerate(record.first_grid.tolist()):
            for j, second in enumerate(record.second_grid.tolist()):
                at = (record.values[i, j], bool(record.within[i, j]))
                yield (*who, *record.features, first, second, *at)


def _findings(result: AuditResult) -> Table:
    """Yield the table of findings; the evidence as JSON."""
    names = ("key", "check", "measure", "severity", "subject", "message", "remedy")
    yield (*names, "evidence")
    for finding in result.findings:
        evidence = {name: cell(value) for name, value in finding.evidence.items()}
        row = [getattr(finding, name) for name in names]
        yield (*row, json.dumps(evidence, ensure_ascii=False))


def _frame(frame: pd.DataFrame) -> Table:
    """Yield the rows of a frame below the names of its columns."""
    yield tuple(frame.columns)
    yield from frame.itertuples(index=False, name=None)


def csv_text(table: Table) -> str:
    """Return a table as CSV: LF, full precision, minimal quoting, `escaped`."""
    text = _Lines()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([cell(value) for value in row] for row in table)
    return text.getvalue()


class _Lines(io.StringIO):
    r"""Ends rows with \n; they arrive with \r\n so that `csv` quotes \r in cells."""

    def write(self, row: str) -> int:
        """Write one row, ended by a line feed."""
        return super().write(f"{row[:-2]}\n")


def cell(value: Any) -> Any:
    """Return a number with all its digits; NaN and the infinities as words."""
    if isinstance(value, str):
        return escaped(value)
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)  # numpy 2 writes its own floats differently
