"""What is asked: rows and models, frozen, with read-only arrays.

What is answered is in `importance_record`, the whole, `AuditResult`, in `result`, and
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
    """What a column was before the audit typed it, as a model may have met it.

    Attributes
    ----------
    dtype : dtype
        Its dtype in the rows that were given or read.
    cells : str
        What it holds, as `pandas.api.types.infer_dtype` calls it.
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
        Its other role: "weights", "split", "dates", of which parts are taken, or
        "segments", by which rows are judged apart. Or why it has none: "excluded" by
        the configuration, "not_listed" among its features, "not_in_training" if only
        evaluation or reference rows have it.
    look : {"", "empty", "constant", "near_constant", "names_rows"}
        What its cells are like.
    distinct : int
        How many different values it has.
    """

    column: str
    reason: str
    look: str
    distinct: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset(Frozen):
    """Rows, their target, and what is asked of them.

    Attributes
    ----------
    name, source : str
        How the report names these rows, and where they came from.
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
        Columns asked together; by default each feature alone.
    unread : mapping of str to tuple of str
        The columns of `X` that no model is given, each with those it was derived
        from; none for a column held out.
    split : {"train", "test", "all", "reference"}
    target : str
        The name of the target column.
    sha256 : str
        Digest of what was read: columns, types, values, target and weights.
    script, script_sha256 : str
        The R script that made these rows and the digest of its file, empty if none.
    notes : tuple of Finding
        What reading these rows changed: rows left out, levels made missing.
    reference : Dataset or None
        Rows that need no target; `measure.ON_REFERENCE` are taken over them.
    types : mapping of str to ColumnType
        What each column was that has another type in `X`, such as texts.
    declared : frozenset of str
        The columns whose levels the configuration lists.
    left_out : tuple of LeftOut
        Of test rows: the columns of the tables that are neither in `X` nor the target.
    row_numbers : ndarray of shape (n_samples,)
        The number of each row in its table, from 1; empty for rows given in Python.
    segments : DataFrame of shape (n_samples, n_segments)
        The columns by whose values the rows are also judged apart, whether models are
        given them or not; without columns if there are none.
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
        """The names of the columns that models are given, in order."""
        return tuple(name for name in self.X.columns if name not in self.unread)

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.X)

    @property
    def is_weighted(self) -> bool:
        """Whether any row weighs more or less than another."""
        return bool(np.ptp(self.weights)) if len(self.weights) else False

    def part(
        self, features: Sequence[str], rows: npt.NDArray[np.int64] | None = None
    ) -> "Dataset":
        """Return some columns of some rows, which may repeat; each column alone.

        What is cut out has no digest: `sha256` is empty.
        """
        at = np.arange(self.n_samples) if rows is None else rows
        columns = [self.X.columns.get_loc(name) for name in features]
        # Rows that were put together by hand have none, or others' numbers.
        has_numbers = len(self.row_numbers) == self.n_samples
        X = self.X.take(columns, axis=1).take(at)  # a third of X[list].iloc's time
        X.index = pd.RangeIndex(len(X))  # reset_index would copy all of it once more
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
        """Return the same rows with other columns asked together."""
        return replace(self, groups=groups)

    def without_asking(self, columns: Collection[str]) -> "Dataset":
        """Return the same rows with some columns no longer asked about."""
        asked = {
            name: group
            for name, group in self.groups.items()
            if not set(group) & set(columns)
        }
        return self.with_groups(asked)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel(Frozen):
    """One fitted model on one prediction scale, judged by one or more losses.

    Attributes
    ----------
    name : str
    task : {"regression", "binary", "multiclass"}
    scale : {"response", "probability", "class", "score"}
        What `predict` returns; "class" is 1 for the class that is predicted and 0 for
        others, "score" any number that is larger where 1 is likelier.
    predict : callable
        ``predict(X) -> ndarray`` of shape (n_samples,), or (n_samples, n_classes)
        if multiclass; float64, finite, checked.
    features : tuple of str
        The columns the model reads, in its own order.
    classes : tuple of str
        As in `Dataset`.
    losses : tuple of str
        Keys of `losses.LOSSES`.
    estimator : Any
        The fitted object as the user would know it; None if only `predict` is known.
    encoder : {"none", "ordinal", "one_hot", "one_hot_full"}
        How categories reach the estimator.
    encoded : tuple of str
        For each column the estimator sees, the feature it was made from.
    held : tuple of str
        Those of `features` that are no features of the audit, its offset: they stay
        with their rows.
    library : str
        Distribution and version that made the estimator.
    parameters : mapping
        What the estimator was made with.
    source : {"fitted", "file", "r_script", "given"}
        Fitted by the audit, read from a file, fitted by an R script, or handed over in
        Python.
    sha256 : str
        Digest of the file or the script, else empty.
    n_train : int
        Rows it was fitted on, 0 if unknown.
    train_sha256 : str
        Digest of those rows, empty if unknown.
    train : Dataset or None
        Those rows, if the audit fitted it, or if its user says which they are.
    fit_on : callable or None
        What `refit` calls with rows and a seed, if the audit fitted it or it is an
        estimator that was handed over.
    takes_types : bool
        Whether `predict` takes ``types``: fitted elsewhere, the model is asked with
        columns of the types it may have met; see `for_rows`.
    notes : tuple of Finding
        What was told of it when it was loaded.
    instead : mapping of str to FittedModel
        By loss, the same model on another scale, which is asked for that loss.
    count_fitted : callable or None
        ``count_fitted(rows)``, of a model that may keep the rows it was fitted on: how
        many of `rows` are equal to one of them, and how many would be by chance; None
        if it does not tell.
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
        """Return the model that gets the columns of `rows` in the types they had.

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
        """Return the same estimator fitted anew, judged by the same losses.

        On these columns of these training rows, which may repeat (all by default),
        with `seed` as its `random_state` where it has one (as configured by default).

        Raises
        ------
        NotApplicable
            If the audit did not fit it and has no training rows or estimator of it, if
            that cannot be cloned, or if no row has some class.
        ModelError, DataError
            If it cannot be fitted on these.
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
        """What to do so that the model can be fitted again, where it cannot."""
        if self.fit_on is not None:
            return "Pass the rows it was fitted on as train=(X, y)."
        return remedy_by_fitting()

    def unfitted(self) -> "FittedModel":
        """Return what `refit` needs of the model, to be sent elsewhere: not its fit."""
        return replace(self, predict=_not_fitted, estimator=None, instead={})

    @property
    def outputs(self) -> tuple[str, ...]:
        """What one prediction consists of: its classes, or the one number."""
        if self.task == "multiclass":
            return self.classes
        return self.classes[1:] if self.task == "binary" else ("",)

    def asked_for(self, losses: Sequence[str]) -> tuple["FittedModel", ...]:
        """Return the model under some losses, once for each scale they are taken on.

        Raises
        ------
        ModelError
            If a loss needs probabilities, and the model gives none.
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
        """Return the same model with other facts, on every scale it is asked on."""
        instead = {loss: m.with_facts(**facts) for loss, m in self.instead.items()}
        return replace(self, instead=instead, **facts)

    def with_losses(self, losses: tuple[str, ...]) -> "FittedModel":
        """Return the same model under other losses."""
        return replace(self, losses=losses)


def largest_gap(one: Floats, other: Floats) -> float:
    """Return the largest difference of predictions, as a share of the largest of them.

    Not of each by itself: what threads add in any order is rounded by the size of what
    they add, also where the sum is small. 0 if all are equal.
    """
    gap = float(np.abs(one - other).max(initial=0.0))
    return gap and gap / float(max(np.abs(one).max(), np.abs(other).max()))


def _not_fitted(_: pd.DataFrame) -> Floats:
    raise RuntimeError("This model was sent to be fitted again and cannot predict.")
