"""Adjusts references to columns when an estimator is fitted on other columns.

`HistGradientBoostingRegressor(categorical_features=[1])` refers to the second column.
Without the first column, that is column 0. A column that is left out is removed from
such parameters, which refer to columns by position or by name. Positions in the code of
a transformer, such as a `FunctionTransformer`, are unknown and are not adjusted.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from inspect import isclass
from typing import Any, TypeAlias

import numpy as np

from ..records.errors import NotApplicable

Columns: TypeAlias = tuple[Hashable, ...]
Seen: TypeAlias = tuple[Columns, Columns] | None
"""The columns that a part was made for and will be fitted on; None: unknown."""

CHOSEN = frozenset(
    "categorical_features categorical_feature cat_features cat_feature cat_column "
    "categorical_column text_features embedding_features ignored_features".split()
)
"""Parameters that are positions, names or a mask of columns, in any library."""
EACH = frozenset(
    "monotonic_cst monotone_constraints monotone_constraint mc feature_types "
    "feature_names feature_weights feature_contri max_bin_by_feature categories drop "
    "n_bins min_value max_value".split()
)
"""Parameters with one value for each column, or a mapping from columns."""
OTHERS = frozenset(
    "terms interactions exclude forcedsplits_filename forcedbins_filename "
    "per_float_feature_quantization interaction_cst interaction_constraints".split()
)
"""Parameters that refer to columns in ways that are not supported."""
REFERENCES = CHOSEN | EACH | OTHERS
ON_OTHER_COLUMNS = ("final_estimator", "transformer", "remainder")
"""Parts that see predictions, the target, or the remaining columns."""
WORDS = ("auto", "from_dtype", "pairwise", "no_interactions", "first", "if_binary")


def move_references(estimator: Any, before: Columns, after: Columns) -> None:
    """Adjust the references of an unfitted estimator and its parts to new columns.

    Parameters
    ----------
    estimator : estimator
        Its parameters are changed in place.
    before, after : tuple
        The columns that its parameters refer to, and those it will be fitted on.

    Raises
    ------
    NotApplicable
        If it refers to columns created by one of its own steps, or in an unsupported
        way.
    """
    if before != after:
        _move(estimator, (before, after))


def _move(part: Any, seen: Seen) -> Seen:
    """Adjust the references of one part, and return its output columns."""
    if part is None or isinstance(part, str):
        return seen
    if isclass(part) or not hasattr(part, "get_params"):
        return None
    parameters = part.get_params(deep=False)
    if "steps" in parameters:
        for _, step in part.steps:
            seen = _move(step, seen)
        return seen
    for name, value in parameters.items():
        moved = _parameter(part, name, value, seen)
        if moved is not value:
            part.set_params(**{name: moved})
    from sklearn.base import OneToOneFeatureMixin

    # A target encoder makes one column per class if there are several.
    is_kept = isinstance(part, OneToOneFeatureMixin) and not hasattr(
        part, "target_type"
    )
    return seen if is_kept else None


def _parameter(part: Any, name: str, value: Any, seen: Seen) -> Any:
    """Return one parameter's adjusted value; parts inside it are changed in place."""
    kind = type(part).__name__
    if name in REFERENCES:
        return _translated(kind, name, value, seen)
    if name == "transformers":
        return [_moved(kind, seen, *each) for each in value]
    if isinstance(value, Mapping):  # candidates of a search at unknown steps
        for key, candidates in value.items():
            if isinstance(candidates, list | tuple | np.ndarray):
                for each in candidates:
                    _parameter(part, str(key).rpartition("__")[2], each, None)
    elif isinstance(value, list | tuple):
        for each in value:
            _parameter(part, name, each, seen)
    else:
        _move(value, None if name in ON_OTHER_COLUMNS else seen)
    return value


def _moved(
    kind: str, seen: Seen, name: str, transformer: Any, chosen: Any
) -> tuple[str, Any, Any]:
    """Return an entry of a ColumnTransformer (name, transformer, columns), adjusted."""
    if callable(chosen):
        _move(transformer, None)
        return name, transformer, partial(_named_by, chosen, kind)
    translated = _translated(kind, "transformers", chosen, seen)
    own = None
    if seen is not None:
        before, after = seen
        picked = tuple(_picked(chosen, before))
        own = picked, tuple(column for column in picked if column in after)
    if own is None or own[0] != own[1]:
        _move(transformer, own)
    return name, transformer, translated


def _named_by(chosen: Callable[[Any], Any], kind: str, rows: Any) -> Any:
    """Return the columns that a function chooses; choosing by position is refused."""
    return _translated(kind, "transformers", chosen(rows), None)


def _translated(kind: str, name: str, value: Any, seen: Seen) -> Any:
    """Return the value of a referring parameter, adjusted to the columns of the fit."""
    is_number = np.isscalar(value) and not isinstance(value, str)
    if value is None or (is_number and name not in CHOSEN | {"transformers"}):
        return value
    if isinstance(value, str) and value in WORDS:
        return value
    try:
        is_text = isinstance(value, str) and name in EACH  # as XGBoost may have it
        if name in OTHERS or is_text or (seen is None and not _is_named(value)):
            raise ValueError
        if seen is None:
            return value
        return (_of_each if name in EACH else _chosen)(value, *seen)
    except (IndexError, TypeError, ValueError):
        raise NotApplicable(
            f"{kind} refers to columns by {name} in a way that cannot be carried over "
            "to a fit on other columns. Refer to the model's own columns, by name or "
            "by place, or use a method that fits no model again."
        ) from None


def _of_each(value: Any, before: Columns, after: Columns) -> Any:
    """Return one value per remaining column; values that were not given are 0."""
    if isinstance(value, Mapping):
        kept = {key: _chosen(key, before, after) for key in value}
        return {new: value[key] for key, new in kept.items() if new != []}
    values = [*value, *[0] * (len(before) - len(value))]
    moved = [values[before.index(column)] for column in after]
    return tuple(moved) if isinstance(value, tuple) else moved


def _chosen(value: Any, before: Columns, after: Columns) -> Any:
    """Return the remaining columns of a selection, by name if it was by name."""
    kept = [column for column in _picked(value, before) if column in after]
    moved = kept if _is_named(value) else [after.index(column) for column in kept]
    return moved[0] if np.isscalar(value) and moved else moved


def _picked(value: Any, before: Columns) -> list[Any]:
    """Return the columns selected by positions, a mask or names."""
    items: list[Any] = [value] if np.isscalar(value) else list(value)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        return [c for c, is_in in zip(before, items, strict=True) if is_in]
    return [before[before.index(i) if isinstance(i, str) else i] for i in items]


def _is_named(value: Any) -> bool:
    """Return whether columns are selected by name."""
    items: Sequence[Any] = [value] if np.isscalar(value) else list(value)
    return all(isinstance(item, str) for item in items)
