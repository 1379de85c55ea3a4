"""The inputs of an audit: rows and models, frozen, with read-only arrays.

Results are in `importance_record`, the whole result (`AuditResult`) is in `result`, and
`AuditConfig` in `config.sections`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .asker import remedy_by_fitting
from .errors import DataError, ModelError, NotApplicable, listed, quote
from .extensions import is_in_force
from .finding import Finding
from .frozen import Frozen
from .losses import OF_CLASS

Floats: TypeAlias = npt.NDArray[np.float64]
Task = Literal["regression", "binary", "multiclass"]
Form = Literal["difference", "ratio", "raw", "absolute"]
Options: TypeAlias = Mapping[str, Any]


class ColumnType(NamedTuple):
    """The type of a column before the audit converted it, as a model may expect it.

    Attributes
    ----------
    dtype : dtype
        Its dtype in the rows that were given or read.
    cells : str
        Its content, as named by `pandas.api.types.infer_dtype`.
    missing : tuple
        The kinds of missing value among its cells, such as None and NaN.
    """

    dtype: Any
    cells: str = "string"
    missing: tuple[Any, ...] = ()


class LeftOut(NamedTuple):
    """A column of the tables of an audit that is neither audited nor the target.

    Attributes
    ----------
    column : str
    reason : str
        Its other role: "weights", "split", "dates" (its parts are features) or
        "segments" (rows are evaluated by its values). Or why it has no role: "excluded"
        by the configuration, "not_listed" among its features, "not_in_training" if only
        evaluation or reference rows have it.
    look : {"", "empty", "constant", "near_constant", "names_rows"}
        Pattern of its values.
    distinct : int
        Number of distinct values.
    """

    column: str
    reason: str
    look: str
    distinct: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset(Frozen):
    """Rows, their target, and the groups of columns to be measured.

    Attributes
    ----------
    name, source : str
        Name of these rows in the report, and where they came from.
    X : DataFrame of shape (n_samples, n_features)
        The audited columns, in the order of the data; categories as `category`.
    y : ndarray of shape (n_samples,)
        The target; 0/1 with 1 = the positive class if binary, codes into `classes`
        if multiclass.
    task : {"regression", "binary", "multiclass"}
    classes : tuple of str
        The classes in the order of the model's outputs, negative class first if
        binary; empty for regression.
    weights : ndarray of shape (n_samples,)
        Row weights; ones if the data have none.
    groups : mapping of str to tuple of str
        Columns that are permuted together; by default each feature separately.
    unread : mapping of str to tuple of str
        The columns of `X` that no model uses, each with the columns it was derived
        from; none for a held-out column.
    split : {"train", "test", "all", "reference"}
    target : str
        The name of the target column.
    sha256 : str
        Digest of the data as read: columns, types, values, target and weights.
    script, script_sha256 : str
        The R script that made these rows and the digest of its file, empty if none.
    notes : tuple of Finding
        Changes made while reading these rows: rows left out, levels made missing.
    reference : Dataset or None
        Rows that need no target, used by the methods in `measure.ON_REFERENCE`.
    types : mapping of str to ColumnType
        Original type of each column that has another type in `X`, such as text.
    declared : frozenset of str
        The columns with levels listed in the configuration.
    left_out : tuple of LeftOut
        Of test rows: the columns of the tables that are neither in `X` nor the target.
    row_numbers : ndarray of shape (n_samples,)
        The number of each row in its table, from 1; empty for rows given in Python.
    segments : DataFrame of shape (n_samples, n_segments)
        The columns by whose values the rows are also evaluated in segments, whether or
        not models use them; without columns if there are none.
    """

    name: str
    X: pd.DataFrame
    y: npt.NDArray[Any]
    task: Task
    weights: Floats
    groups: Mapping[str, tuple[str, ...]]
    split: Literal["train", "test", "all", "reference"]
    target: str
    sha256: str
    classes: tuple[str, ...] = ()
    source: str = ""
    script: str = ""
    script_sha256: str = ""
    unread: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    reference: "Dataset | None" = None
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()
    left_out: tuple[LeftOut, ...] = ()
    row_numbers: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.empty(0, dtype=np.int64)
    )
    segments: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns of `X`, in order."""
        return tuple(self.X.columns)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the columns that models use, in order."""
        return tuple(name for name in self.X.columns if name not in self.unread)

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.X)

    @property
    def is_weighted(self) -> bool:
        """Whether the row weights differ."""
        return bool(np.ptp(self.weights)) if len(self.weights) else False

    def part(
        self, features: Sequence[str], rows: npt.NDArray[np.int64] | None = None
    ) -> "Dataset":
        """Return some columns of some rows, which may repeat; each column is a group.

        A part has no digest: its `sha256` is empty.
        """
        at = np.arange(self.n_samples) if rows is None else rows
        columns = [self.X.columns.get_loc(name) for name in features]
        # Rows assembled by hand have no row numbers, or those of other rows.
        has_numbers = len(self.row_numbers) == self.n_samples
        X = self.X.take(columns, axis=1).take(at)  # a third of the time of X[list].iloc
        X.index = pd.RangeIndex(len(X))  # reset_index would copy all data again
        return replace(
            self,
            X=X,
            y=self.y[at],
            weights=self.weights[at],
            groups={name: (name,) for name in features},
            unread={
                name: self.unread[name] for name in features if name in self.unread
            },
            sha256="",
            row_numbers=self.row_numbers[at] if has_numbers else at[:0],
            segments=self.segments.take(at) if self.segments.size else self.segments,
        )

    def with_groups(self, groups: Mapping[str, tuple[str, ...]]) -> "Dataset":
        """Return the same rows with other groups of columns."""
        return replace(self, groups=groups)

    def without_asking(self, columns: Collection[str]) -> "Dataset":
        """Return the same rows without the groups that contain any of some columns."""
        asked = {
            name: group
            for name, group in self.groups.items()
            if not set(group) & set(columns)
        }
        return self.with_groups(asked)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel(Frozen):
    """One fitted model on one prediction scale, evaluated by one or more losses.

    Attributes
    ----------
    name : str
    task : {"regression", "binary", "multiclass"}
    scale : {"response", "probability", "class", "score"}
        Scale of `predict`; "class" is 1 for the predicted class and 0 for others,
        "score" any number that increases with the probability of 1.
    predict : callable
        ``predict(X) -> ndarray`` of shape (n_samples,), or (n_samples, n_classes)
        if multiclass; float64, finite, checked.
    features : tuple of str
        The columns that the model uses, in its own order.
    classes : tuple of str
        As in `Dataset`.
    losses : tuple of str
        Keys of `losses.LOSSES`.
    estimator : Any
        The fitted object as its user knows it; None if only `predict` is known.
    encoder : {"none", "ordinal", "one_hot", "one_hot_full"}
        Encoding of categories for the estimator.
    encoded : tuple of str
        For each input column of the estimator, the feature it was derived from.
    held : tuple of str
        Those of `features` that are not features of the audit, such as an offset: they
        are never permuted.
    library : str
        Distribution and version that made the estimator.
    parameters : mapping
        Parameters of the estimator.
    source : {"fitted", "file", "r_script", "given"}
        Fitted by the audit, read from a file, fitted by an R script, or passed in
        Python.
    sha256 : str
        Digest of the file or the script, else empty.
    n_train : int
        Number of training rows, 0 if unknown.
    train_sha256 : str
        Digest of the training rows, empty if unknown.
    train : Dataset or None
        The training rows, if the audit fitted the model or its user stated them.
    fit_on : callable or None
        Called by `refit` with rows and a seed; None if the audit did not fit the model
        and has no estimator of it.
    takes_types : bool
        Whether `predict` takes ``types``: a model fitted elsewhere gets its columns in
        the types it may expect; see `for_rows`.
    notes : tuple of Finding
        Findings made while it was loaded.
    instead : mapping of str to FittedModel
        By loss, the same model on the scale that this loss needs.
    count_fitted : callable or None
        ``count_fitted(rows)``, for a model that may contain its training rows: how many
        of `rows` are equal to one of them, and how many would be by chance; None if
        that is unknown.
    """

    name: str
    task: Task
    scale: Literal["response", "probability", "class", "score"]
    predict: Callable[[pd.DataFrame], Floats]
    features: tuple[str, ...]
    losses: tuple[str, ...]
    classes: tuple[str, ...] = ()
    estimator: Any = None
    encoder: Literal["none", "ordinal", "one_hot", "one_hot_full"] = "none"
    encoded: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    library: str = ""
    parameters: Options = field(default_factory=dict)
    source: Literal["fitted", "file", "r_script", "given"] = "given"
    sha256: str = ""
    n_train: int = 0
    train_sha256: str = ""
    train: Dataset | None = None
    fit_on: Callable[..., "FittedModel"] | None = None
    takes_types: bool = False
    notes: tuple[Finding, ...] = ()
    instead: Mapping[str, "FittedModel"] = field(default_factory=dict)
    count_fitted: Callable[[Dataset], tuple[int, float] | None] | None = None

    def for_rows(self, rows: Dataset) -> "FittedModel":
        """Return the model that gets the columns of `rows` in their original types.

        The model itself, if the audit fitted it: it was fitted on ``rows.X``.

        Raises
        ------
        DataError
            If a column mixes kinds of missing values: the audit keeps one kind.
        """
        if not self.takes_types:
            return self
        types = {name: rows.types[name] for name in self.features if name in rows.types}
        for name, kind in types.items():
            if len(kind.missing) > 1:
                raise DataError(
                    f"Column {quote(name)} mixes the missing values "
                    f"{listed(kind.missing)}, which model {quote(self.name)} may tell "
                    "apart. Make them one: column.where(column.notna(), None)"
                )
        instead = {loss: model.for_rows(rows) for loss, model in self.instead.items()}
        predict = partial(self.predict, types=types)
        return replace(self, predict=predict, instead=instead)

    def refit(
        self,
        features: Sequence[str],
        rows: npt.NDArray[np.int64] | None = None,
        *,
        seed: int | None = None,
    ) -> "FittedModel":
        """Return the same estimator fitted to these columns, with the same losses.

        It is fitted on these training rows, which may repeat (all by default), with
        `seed` as its `random_state` if it has one (as configured by default).

        Raises
        ------
        NotApplicable
            If the audit did not fit the model and has no training rows or estimator of
            it, if the estimator cannot be cloned, or if a class has no rows.
        ModelError, DataError
            If it cannot be fitted on these rows.
        """
        if self.fit_on is None or self.train is None:
            raise NotApplicable(
                f"Model {quote(self.name)} cannot be fitted again, because the audit "
                f"did not fit it. {self.remedy_for_refit}"
            )
        part = self.train.part(features, rows)
        again = self.fit_on(part, seed)
        return next(iter(again.asked_for(self.losses)), again)

    @property
    def remedy_for_refit(self) -> str:
        """The remedy for a model that cannot be fitted again."""
        if self.fit_on is not None:
            return "Pass the rows it was fitted on as train=(X, y)."
        return remedy_by_fitting()

    def unfitted(self) -> "FittedModel":
        """Return the model without its fit: only what workers need for `refit`."""
        return replace(self, predict=_not_fitted, estimator=None, instead={})

    @property
    def outputs(self) -> tuple[str, ...]:
        """Labels of the columns of a prediction: its classes, or "" for one number."""
        if self.task == "multiclass":
            return self.classes
        return self.classes[1:] if self.task == "binary" else ("",)

    def asked_for(self, losses: Sequence[str]) -> tuple["FittedModel", ...]:
        """Return the model under some losses, once for each scale that they need.

        Raises
        ------
        ModelError
            If a loss needs probabilities, and the model does not predict them.
        """
        on_scale: dict[str, tuple[FittedModel, list[str]]] = {}
        for loss in losses:
            model = self.instead.get(loss, self)
            is_own = is_in_force("loss", loss)
            if model.scale == "class" and loss not in OF_CLASS and not is_own:
                known = ", ".join(map(quote, dict.fromkeys([*OF_CLASS, *self.instead])))
                raise ModelError(
                    f"Model {quote(self.name)} gives no probabilities, and loss "
                    f"{quote(loss)} needs them. Its losses are {known}."
                )
            on_scale.setdefault(model.scale, (model, []))[1].append(loss)
        return tuple(m.with_losses(tuple(names)) for m, names in on_scale.values())

    def with_facts(self, **facts: Any) -> "FittedModel":
        """Return the same model with some fields replaced, on all its scales."""
        instead = {loss: m.with_facts(**facts) for loss, m in self.instead.items()}
        return replace(self, instead=instead, **facts)

    def with_losses(self, losses: tuple[str, ...]) -> "FittedModel":
        """Return the same model with other losses."""
        return replace(self, losses=losses)


def largest_gap(one: Floats, other: Floats) -> float:
    """Return the largest difference of predictions, relative to the largest of all.

    Not relative to each prediction: rounding in sums of varying order grows with the
    terms, even where the sum is small. 0 if all are equal.
    """
    gap = float(np.abs(one - other).max(initial=0.0))
    return gap and gap / float(max(np.abs(one).max(), np.abs(other).max()))


def _not_fitted(_: pd.DataFrame) -> Floats:
    raise RuntimeError("This model was sent to be fitted again and cannot predict.")
