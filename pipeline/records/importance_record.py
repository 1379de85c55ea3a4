"""Results of one engine: an importance or a curve, frozen, with read-only arrays.

Computes nothing but means, standard deviations and ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .dataset_and_model import Floats, Form, Options
from .frozen import Frozen

Counts: TypeAlias = npt.NDArray[np.int64]
UNKNOWN_SEED = "unknown"
"""The `stream` of supplied numbers without a stated seed; `seed` is meaningless."""


def supplied_engine(package: str, version: str) -> str:
    """Return the displayed name of an engine of supplied numbers.

    It is for readers only: code uses `is_supplied` of a record.
    """
    return f"{package} {version} (supplied)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured(Frozen):
    """What importances, curves and surfaces have in common.

    Attributes
    ----------
    model, engine, engine_version : str
        What was measured, by which implementation.
    scale : str
        Prediction scale of the numbers.
    positive_class : str
        The class whose prediction is measured, empty if none.
    split : {"train", "test", "all", "reference"}
    unit : str
        Unit of the values: a loss, a prediction, or "1".
    options : mapping
        Every option of the method, defaults included.
    n_samples : int
        Rows available to the method.
    seed : int
    """

    model: str
    engine: str
    engine_version: str
    scale: str = ""
    positive_class: str = ""
    split: str
    unit: str
    options: Options
    n_samples: int
    seed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Importance(Measured):
    """One method on one model by one engine: numbers, and the definition they follow.

    Attributes
    ----------
    method : str
    of : {"features", "groups", "pairs"}
    form : {"difference", "ratio", "raw", "absolute"}
        How `values` follows from `raw` and `baseline`.
    aggregator : {"mean", "pooled", "median"}
        Whether repeats are averaged directly; whether raw and baseline are averaged
        separately, which differs for ratios only; or whether the median is taken.
    loss : str
        Key of `losses.LOSSES`, empty if no loss is involved.
    stream : str
        Draw order of the random numbers: "numpy", a package's name, or empty if
        nothing is drawn.
    features : tuple of str
        Features or groups, in the order of the rows of `raw`.
    columns : tuple of tuple of str
        The columns of each of `features`.
    raw : ndarray of shape (n_features, n_repeats)
        The measured quantity, in `unit`.
    baseline : ndarray of shape (n_repeats,)
        The value of `raw` for a feature without effect.
    y_permuted : ndarray of shape (n_repeats,)
        The loss with the target permuted, by the same engine in the same draws; empty
        if it was not requested.
    entry : str
        The name of its entry in the configuration; empty if it has none.
    supplied_by : str
        The package that computed the numbers outside this run; empty if `engine` was
        called in this run.
    """

    method: str
    of: Literal["features", "groups", "pairs"]
    form: Form
    aggregator: Literal["mean", "pooled", "median"] = "mean"
    loss: str = ""
    stream: str = ""
    features: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    raw: Floats
    baseline: Floats
    y_permuted: Floats = field(default_factory=lambda: np.empty(0))
    entry: str = ""
    supplied_by: str = ""

    @property
    def is_supplied(self) -> bool:
        """Whether the numbers were computed elsewhere and read from a file."""
        return bool(self.supplied_by)

    @property
    def n_repeats(self) -> int:
        """Number of measurements of each feature."""
        return int(self.raw.shape[1])

    def rows(self, places: Sequence[int]) -> "Importance":
        """Return the record of some features, in the order of `places`."""
        at = np.asarray(places, dtype=np.int64)
        return replace(
            self,
            features=tuple(self.features[place] for place in places),
            columns=tuple(self.columns[place] for place in places),
            raw=self.raw[at],
        )

    def first(self, n_repeats: int) -> "Importance":
        """Return the record of the first repeats only."""
        return replace(
            self, raw=self.raw[:, :n_repeats], baseline=self.baseline[:n_repeats]
        )

    @property
    def n_drawn(self) -> int:
        """Number of rows behind each repeat: less than `n_samples` if rows are drawn.

        Each repeat draws its own rows, and its baseline is of the same rows. With draws
        in the order of "vip-0.4" the baseline is of all rows.
        """
        return min(int(self.options.get("n_rows") or self.n_samples), self.n_samples)

    @property
    def values(self) -> Floats:
        """Importance of each feature in each repeat, (n_features, n_repeats)."""
        if self.form == "difference":
            with np.errstate(invalid="ignore"):  # inf - inf: not measured, NaN
                return self.raw - self.baseline
        if self.form == "ratio":
            is_pooled = self.aggregator == "pooled"
            with np.errstate(divide="ignore", invalid="ignore"):
                return self.raw / (self.baseline.mean() if is_pooled else self.baseline)
        return np.abs(self.raw) if self.form == "absolute" else np.array(self.raw)

    @property
    def mean(self) -> Floats:
        """Importance of each feature, (n_features,): the aggregate of its values."""
        if self.aggregator == "median":
            return np.asarray(np.median(self.values, axis=1))
        return np.asarray(self.values.mean(axis=1))

    @property
    def std(self) -> Floats:
        """Standard deviation over repeats, ddof 1; NaN after one, 0 without draws."""
        if not self.stream:
            return np.zeros(len(self.features))
        if self.n_repeats < 2:
            return np.full(len(self.features), np.nan)
        if self.form == "ratio" and self.aggregator == "pooled":
            # The delta method for a ratio of means of the same rows.
            residual = self.raw - self.mean[:, np.newaxis] * self.baseline
            return np.asarray(residual.std(axis=1, ddof=1) / self.baseline.mean())
        return np.asarray(self.values.std(axis=1, ddof=1))

    @property
    def std_error(self) -> Floats:
        """Monte-Carlo standard error of `mean`: over the repeats only."""
        return np.asarray(self.std / np.sqrt(self.n_repeats))

    @property
    def rank(self) -> Floats:
        """Rank 1 for the largest mean, ties averaged, NaN for features not measured."""
        return np.array(pd.Series(self.mean).rank(ascending=False), dtype=float)

    @property
    def share(self) -> Floats:
        """Each mean over their sum; NaN if any is below 0, and for ratios."""
        mean, total = self.mean, float(np.nansum(self.mean))
        is_sum = self.form in ("difference", "absolute") and 0 < total < np.inf
        return mean / (total if is_sum and not (mean < 0).any() else np.nan)

    @property
    def estimand(self) -> dict[str, Any]:
        """Every field that defines the quantity: equal in comparable records."""
        options = {k: v for k, v in self.options.items() if k != "n_repeats"}
        names = ("method", "of", "form", "loss", "scale", "positive_class", "split")
        facts: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.form == "ratio":
            facts["aggregator"] = self.aggregator
        return {**facts, "n_samples": self.n_samples, **options}


@dataclass(frozen=True, kw_only=True, eq=False)
class Effect(Measured):
    """One curve: the prediction as a function of one feature.

    Attributes
    ----------
    method, stream, supplied_by : str
        As in `Importance`.
    feature : str
    kind : {"number", "category"}
    grid : ndarray of shape (n_grid,)
        Points of the curve: floats, or levels as text.
    values : ndarray of shape (n_grid,)
        The curve, in `unit`.
    band_low, band_high : ndarray of shape (n_grid,)
        Quartiles over the rows of their centred curves; empty if the method has none,
        or the engine does not return them. See `effects.partial_dependence`.
    """

    method: str
    stream: str = ""
    feature: str
    kind: Literal["number", "category"]
    grid: npt.NDArray[Any]
    values: Floats
    supplied_by: str = ""
    band_low: Floats = field(default_factory=lambda: np.empty(0))
    band_high: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def is_supplied(self) -> bool:
        """Whether the curve was computed elsewhere and read from a file."""
        return bool(self.supplied_by)

    @property
    def has_band(self) -> bool:
        """Whether the spread of the curves of single rows is available."""
        return len(self.band_low) > 0

    @property
    def estimand(self) -> dict[str, Any]:
        """Every field that defines the curve; the grid is compared separately."""
        names = ("method", "scale", "positive_class", "split", "n_samples", "feature")
        return {**{name: getattr(self, name) for name in names}, **self.options}
