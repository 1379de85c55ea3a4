"""The return value of the Python function `audit`: numbers, figures and pages.

import importance_audit as ia

result = ia.audit(model, X_test, y_test)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from importance_audit.r_bridge import host

from ..records.as_json import dumps, loads
from ..records.dataset_and_model import Floats
from ..records.errors import (
    AuditError,
    DataError,
    did_you_mean,
    listed,
    quote,
    several,
)
from ..records.importance_record import Effect, Importance
from ..records.losses import loss_label
from ..records.ranking import OURS, interval, lead_of, order_of, question_of
from ..records.result import AuditResult
from ..runs.folder import write_file, write_folder
from ..runs.load import load_whole_run

if TYPE_CHECKING:
    from ..report.figures.notebook import Figure
    from ..report.pages.html import Page

COLUMNS = (
    *("model", "method", "entry", "of", "form", "loss", "positive_class", "feature"),
    *("mean", "std_error", "low", "high", "interval"),
    *("repeats_low", "repeats_high", "rank", "engine"),
)
SHOWN = (
    *("verdict", "findings", "checks", "importances", "effects", "agreement"),
    *("performance", "frames"),
)
"""Parts of the result that `dir` lists; the others are attributes too."""
LINES, WIDTH, TOP = 15, 100, 5
"""Maximum lines and columns of the text of a result, and features of its ranking."""


def load(folder: str | Path) -> "Audit":
    """Return the audit stored in a run folder, if it is unaltered.

    Raises
    ------
    DataError
        If there is none, if it cannot be read, or if it is altered.
    """
    return Audit(load_whole_run(folder))


@dataclass(frozen=True, repr=False)
class Audit:
    """An immutable result, with methods to show and save it.

    Every part of the result is an attribute: ``verdict``, ``findings``,
    ``importances``, ``agreement`` and the other tables, whose names are the keys of
    ``frames``. ``checks`` has a row for every check, passed or not.

    Attributes
    ----------
    result : AuditResult
    """

    result: AuditResult

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "result":  # missing while unpickling
            raise AttributeError(name)
        try:
            return getattr(self.result, name)
        except AttributeError:
            raise AttributeError(f"Audit has no attribute {quote(name)}.") from None

    def __dir__(self) -> list[str]:
        """Return the most used attributes; `frames` has the names of all tables."""
        own = [name for name in vars(type(self)) if not name.startswith("_")]
        return sorted({*own, "result", *SHOWN})

    def to_frame(self) -> pd.DataFrame:
        """Return every importance as a tidy frame, one row per feature of a ranking.

        Columns: model; method; entry, its name, empty if it has none; of, "features",
        "groups" or "pairs"; form, such as "difference"; loss and positive_class, empty
        if there is none; feature; mean over the repeats, in the unit of the loss or
        prediction; std_error, low and high, the standard error and 95 % interval, NaN
        if there is none; interval, its source of variation: "rows" for other rows of
        the same kind and other shuffles, "repeats" for the draws alone, empty if
        nothing is drawn; repeats_low and repeats_high, the interval over the draws
        alone, NaN if there are none; rank, 1 for the largest, ties averaged; engine.
        """
        parts = []
        for record in self.result.importances:
            error, low, high, over = self.result.interval_of(record)
            draws = interval(record) if record.stream else (np.nan, np.nan)
            facts = {
                **{name: getattr(record, name) for name in COLUMNS[:7]},
                **{"feature": list(record.features), "mean": record.mean},
                **{"std_error": error, "low": low, "high": high, "interval": over},
                **{"repeats_low": draws[0], "repeats_high": draws[1]},
                **{"rank": record.rank, "engine": record.engine},
            }
            parts.append(pd.DataFrame(facts)[list(COLUMNS)])
        empty = pd.DataFrame(columns=list(COLUMNS))
        return pd.concat(parts, ignore_index=True) if parts else empty

    def plot(
        self,
        kind: Literal["ranking", "effects", "agreement"] | None = None,
        *,
        method: str | None = None,
        model: str | None = None,
        feature: str | None = None,
    ) -> "Figure":
        """Return a matplotlib figure.

        Parameters
        ----------
        kind : {"ranking", "effects", "agreement"}
            The leading ranking of a model with its intervals; the curves of one
            feature (by default of the first in the ranking); or the numbers of two
            engines in one scatter plot. By default "effects" if a feature or the
            method of a curve is given, else "ranking".
        method : str, optional
            A method, such as "shapley", or a curve, such as "ale"; by default the
            method of the first ranking in the report, and its first curve.
        model : str, optional
            By default the first model in the report.
        feature : str, optional
            For "effects".

        Raises
        ------
        DataError
            If the result has nothing of this kind to draw.
        """
        from ..report.figures import notebook

        if kind is None:
            rankings = {record.method for record in self.result.importances}
            drawn = {effect.method for effect in self.result.effects}
            has_curve = feature is not None or method in [*drawn - rankings]
            kind = "effects" if has_curve else "ranking"
        if feature is not None and kind != "effects":
            raise DataError(
                f"plot({kind!r}) draws all features; leave feature out, or ask for "
                '"effects".'
            )
        if kind == "ranking":
            record = self._leading(model, method)
            return notebook.ranking(record, self.result.interval_of(record))
        if kind == "agreement":
            return notebook.agreement(*self._pair(model, method))
        if kind != "effects":
            raise DataError(
                f'kind must be "ranking", "effects" or "agreement"; {kind!r} was given.'
            )
        curves = self._curves(model, method, feature)
        return notebook.effects(curves, [*map(self.result.mean_at_missing, curves)])

    def handoff(
        self,
        folder: str | Path,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        rows: bool = False,
    ) -> Path:
        """Write a folder for R users, like the command ``handoff``; return its path.

        The result does not store the rows, so they must be given again; their digest is
        compared. The hand-off has the columns of the rows and their positions in `X`;
        its recompute.R takes the same table as .csv or .rds.

        Parameters
        ----------
        folder : path
            The folder to create.
        X, y, sample_weight
            The same as for `audit`.
        rows : bool, default False
            Whether to hand over the rows themselves; they may be personal data.

        Raises
        ------
        DataError
            If the rows are not those of the audit.
        importance_audit.r_bridge.errors.RBridgeError
            If R is not available.
        """
        from .handoff import handoff
        from .recomputation import rows_again

        data = rows_again(self.result, X, y, sample_weight)
        with host.session():
            files = handoff(self.result, data, with_rows=rows)
        write_folder(Path(folder), files)
        return Path(folder)

    def save(self, folder: str | Path, *, pdf: bool = True) -> Path:
        """Write a run folder, like the command ``run``, and return its path.

        It has report.html, report.pdf, result.json, every table as CSV, and SHA256SUMS,
        the list of digests; ``importance-audit verify`` checks it.

        Parameters
        ----------
        folder : path
            The folder of the audit; the run is saved in its folder ``runs``.
        pdf : bool, default True
            Whether to write the PDF report too.
        """
        from .run import save_result

        return save_result(self.result, Path(folder), pdf=pdf)

    def report(self) -> "Page":
        """Return the whole report as an object that notebooks display."""
        from ..report.pages.html import show

        return show(self.result)

    def save_html(self, path: str | Path) -> Path:
        """Write the whole report as one HTML file that needs no other files.

        For a run folder, which `verify` can check, use `save`.

        Parameters
        ----------
        path : path
            Such as "report.html"; an existing file is replaced.

        Raises
        ------
        AuditError
            If the folder does not exist, or the file cannot be written.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise AuditError(
                f"There is no folder {str(path.parent)!r} to save {quote(path.name)} "
                "in. Make it, or name another."
            )
        write_file(path, self.report().html)
        return path

    def to_json(self) -> str:
        """Return the whole result as JSON, the content of result.json in a run."""
        return dumps(self.result)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as JSON, which is lossless: read-only mappings cannot be pickled."""
        return _from_json, (self.to_json(),)

    def __repr__(self) -> str:
        """Return the verdict, the leading ranking and the findings as short text."""
        lines = [f"Audit: {self.result.verdict}"]
        record = lead_of(self.result.importances)
        if record is not None:
            lines += _ranking_lines(record, self.result.interval_of(record).std_error)
        findings = [f for f in self.result.findings if f.severity != "info"]
        room = LINES - len(lines)
        lines += [_one_line(f"{f.severity}: {f.message}") for f in findings[: room - 1]]
        n_more = len(self.result.findings) - len(findings[: room - 1])
        if n_more:
            lines.append(f"{several(n_more, 'more note')}: see .findings")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the verdict, the leading ranking as a figure, and the findings."""
        from ..report.pages.html import card

        return card(self.result)

    def _leading(self, model: str | None, method: str | None = None) -> Importance:
        """Return the first ranking in the report, of a model or method if given."""
        records = self.result.importances
        for what, asked, known in (
            ("model", model, [r.model for r in records]),
            ("ranking by", method, [r.method for r in records]),
        ):
            if asked is not None and asked not in known:
                raise DataError(
                    f"There is no {what} {quote(asked)}; there is "
                    f"{listed(dict.fromkeys(known))}."
                )
        record = lead_of(
            r
            for r in records
            if model in (None, r.model) and method in (None, r.method)
        )
        if record is None:
            raise DataError("There is no ranking to draw.")
        return record

    def _curves(
        self, model: str | None, method: str | None, feature: str | None
    ) -> tuple[Effect, ...]:
        """Return our curves by one method, for one feature of one model."""
        record = self._leading(model)
        name = feature or record.features[int(order_of(record)[0])]
        curves = tuple(
            effect
            for effect in self.result.effects
            if (effect.engine, effect.model, effect.feature)
            == (OURS, record.model, name)
        )
        kinds = list(dict.fromkeys(effect.method for effect in curves))
        if method is not None and curves and method not in kinds:
            raise DataError(
                f"There is no {quote(method)} curve for {quote(name)}; there is "
                f"{listed(kinds)}."
            )
        curves = tuple(c for c in curves if c.method == (method or kinds[0]))
        if not curves and name not in record.features:
            hint = did_you_mean(str(name), record.features)
            raise DataError(f"There is no feature {quote(name)}.{hint}")
        if not curves:
            raise DataError(
                f"There is no curve for {quote(name)}. Use a method that is computed "
                'from curves: methods=["partial_dependence"].'
            )
        return curves

    def _pair(
        self, model: str | None, method: str | None
    ) -> tuple[Importance, Importance]:
        """Return our record, in the same draws if possible, and another engine's."""
        subject = self._leading(model, method).model
        records = [
            r
            for r in self.result.importances
            if r.model == subject and method in (None, r.method)
        ]
        other = next((record for record in records if record.engine != OURS), None)
        if other is None:
            raise DataError(
                "No other engine returned a result. Request one with "
                'engines=["DALEX"]; if one was requested, `findings` says why it '
                "returned none."
            )
        ours = [
            record
            for record in records
            if record.engine == OURS and question_of(record) == question_of(other)
        ]
        draws = (other.stream, other.seed)
        twins = (record for record in ours if (record.stream, record.seed) == draws)
        return next(twins, ours[0]), other


def _from_json(text: str) -> Audit:
    return Audit(loads(text))


def _ranking_lines(record: Importance, errors: Floats) -> Iterator[str]:
    """Yield a ranking as text: its method and loss, then its first features."""
    what = loss_label(record.loss) if record.loss else record.unit
    subject = f" of {record.model}" if record.model else ""
    yield f"{record.method} of {record.of}{subject} ({what}):"
    order = order_of(record)[:TOP]
    width = min(max(len(record.features[row]) for row in order), 40)
    for row in order:
        name = record.features[row][:width]
        error = "" if np.isnan(errors[row]) else f" ± {errors[row]:.2g}"
        yield f"  {name:<{width}}  {record.mean[row]:>10.4g}{error}"
    if len(record.features) > TOP:
        yield f"  … {len(record.features) - TOP} more: see .to_frame()"


def _one_line(text: str) -> str:
    """Return a message cut to one line of a terminal."""
    words = " ".join(text.split())
    return words if len(words) <= WIDTH else f"{words[: WIDTH - 1]}…"
