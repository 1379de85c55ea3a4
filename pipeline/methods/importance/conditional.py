"""Values of a group drawn given all other columns: from a normal, or from a near row.

Draws from near rows are an order of rows, as a permutation is; values from a normal are
new, so a draw carries them. `neighbours` finds the near rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable, listed, quote
from ...records.r_rng import RStream
from ..effects.stratpd import refuse_missing
from .conditional_gaussian import symmetric_root
from .exchange import Index, in_use, indicators_of, numbers_of
from .neighbours import Convention, Neighbours, nearest
from .permutation_draws import BASELINE, Draw, Draws, in_order_of_xplainfi


@dataclass(frozen=True)
class Normal:
    """Columns with a conditional normal distribution given others.

    Attributes
    ----------
    mean : ndarray of shape (n_samples, n_columns)
        The conditional mean of each row.
    root : ndarray of shape (n_columns, n_columns)
        The symmetric root of the conditional covariance.
    dtypes : tuple of dtype
        Types of the columns; integer columns are drawn as integers.
    """

    mean: Floats
    root: Floats
    dtypes: tuple[Any, ...]

    def drawn(self, draw: Draw, generator: np.random.Generator) -> Draw:
        """Return a draw of these rows, with normal numbers from a Generator."""
        shape = len(draw.rows), len(self.root)
        return self._with(draw, generator.standard_normal(shape))

    def replayed(self, draws: Sequence[Draw], r: RStream) -> Iterator[Draw]:
        """Yield draws of all rows with R's normal numbers, repeat by repeat."""
        noise = r.rnorm(len(draws) * self.mean.size)
        for draw, of_draw in zip(draws, np.split(noise, len(draws)), strict=True):
            yield self._with(draw, of_draw.reshape(self.mean.shape))

    def _with(self, draw: Draw, noise: Floats) -> Draw:
        values = (self.mean[draw.rows] + noise @ self.root).T
        columns = map(_as_type, values, self.dtypes)
        return draw._replace(order=np.arange(len(draw.rows)), values=tuple(columns))


@dataclass(frozen=True)
class Near:
    """The values of one of the nearest rows, by other columns.

    Attributes
    ----------
    others : DataFrame of shape (n_samples, n_others)
    n_neighbours : int
    convention : {"standard", "xplainfi"}
    """

    others: pd.DataFrame
    n_neighbours: int
    convention: Convention
    _last: dict[str, Any] = field(default_factory=dict, init=False)

    def drawn(self, draw: Draw, generator: np.random.Generator) -> Draw:
        """Return a draw of these rows, with neighbours drawn by a Generator."""
        return draw._replace(order=self._among(draw.rows).drawn(generator))

    def replayed(self, draws: Sequence[Draw], r: RStream) -> Iterator[Draw]:
        """Yield draws of all rows with neighbours drawn as in R, row by row."""
        orders = self._among(draws[0].rows).replayed(r, len(draws))
        for draw, order in zip(draws, orders, strict=True):
            yield draw._replace(order=order)

    def _among(self, rows: Index) -> Neighbours:
        """Return the neighbours among some rows, cached for the last rows."""
        if self._last.get("rows") is not rows:
            near = nearest(
                self.others.iloc[rows], self.n_neighbours, convention=self.convention
            )
            self._last.update(rows=rows, neighbours=near)
        neighbours: Neighbours = self._last["neighbours"]
        return neighbours


Given: TypeAlias = Normal | Near
"""How the values of one group are drawn given other columns."""


def normal_of(data: Dataset, group: str) -> Normal:
    """Return the conditional normal of a group given all inputs outside it.

    Parameters
    ----------
    data : Dataset
        Without missing values; its weights are not used.
    group : str
        A key of ``data.groups``, whose columns are numeric. A category among the other
        columns has one indicator per level.

    Raises
    ------
    NotApplicable
        If a value is missing, a column of the group is not numeric, or there are too
        few rows for a residual.
    """
    columns = data.groups[group]
    other = [
        name
        for name in columns
        if is_category(data.X[name]) or pd.api.types.is_bool_dtype(data.X[name])
    ]
    if other:
        raise NotApplicable(
            f"Only numbers can be drawn from a normal; {listed(other)} of data "
            f"{quote(data.name)} holds none. Leave it out with features, or set "
            'within = "neighbours".'
        )
    refuse_missing(data, "a normal", in_use(data))
    own = np.stack([numbers_of(data.X[name]) for name in columns], axis=1)
    table = [
        indicators_of(data.X[name])
        if is_category(data.X[name])
        else numbers_of(data.X[name])[:, np.newaxis]
        for name in _others(data, group)
    ]
    mean, covariance, rank = normal_given(
        own, np.concatenate([np.empty((len(own), 0)), *table], axis=1)
    )
    if rank + 1 >= len(own):
        raise NotApplicable(
            f"Data {quote(data.name)} must have more rows for {quote(group)} to be "
            f"drawn from a normal given the other columns: {len(own)} were given, and "
            f"{rank + 2} are needed at least. Give more rows, or set "
            'within = "neighbours".'
        )
    dtypes = tuple(data.X[name].dtype for name in columns)
    return Normal(mean, symmetric_root(covariance), dtypes)


def normal_given(columns: Floats, others: Floats) -> tuple[Floats, Floats, int]:
    """Return the conditional normal of some columns given others.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    others : ndarray of shape (n_samples, n_others)
        They may be linearly dependent.

    Returns
    -------
    mean : ndarray of shape (n_samples, n_columns)
        Fitted by least squares, with an intercept.
    covariance : ndarray of shape (n_columns, n_columns)
        Covariance of the residuals, with divisor n - 1.
    rank : int
        The rank of `others`, without the intercept.
    """
    centre = columns.mean(axis=0)
    spread = others.std(axis=0)
    scaled = (others - others.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    slopes, _, rank, _ = np.linalg.lstsq(scaled, columns - centre, rcond=None)
    mean = centre + scaled @ slopes
    residual = columns - mean
    covariance = residual.T @ residual / max(1, len(columns) - 1)
    return mean, covariance, int(rank)


def near_of(
    data: Dataset, group: str, n_neighbours: int, convention: Convention
) -> Near:
    """Return the sampler of a group's values from rows near by all inputs outside it.

    Parameters and errors are those of `normal_of`, and of `neighbours.nearest`; the
    columns of the group need not be numbers.
    """
    refuse_missing(data, "neighbours", in_use(data))
    # In the order in which xplainfi adds distances: the last bits can decide ties.
    columns = data.X[sorted(_others(data, group))]
    return Near(columns, n_neighbours, convention)


def replayed_given(
    draws: Draws, samplers: Sequence[Given], names: Sequence[str], seed: int
) -> Draws:
    """Yield draws with the values that xplainfi draws for each group given the others.

    `draws` are of all rows; the first ones, those of the baseline, are kept.
    """
    r = RStream(seed)
    baselines = [*takewhile(lambda draw: draw.what == BASELINE, draws)]
    yield from baselines
    for what in in_order_of_xplainfi(names):
        of_group = [draw._replace(what=what) for draw in baselines]
        yield from samplers[what].replayed(of_group, r)


def _others(data: Dataset, group: str) -> list[str]:
    return [name for name in data.inputs if name not in data.groups[group]]


def _as_type(values: Floats, dtype: Any) -> npt.NDArray[Any]:
    """Return values in the type of their column, integers rounded half to even.

    Values that the type cannot hold, such as negative ones, remain floats.
    """
    if not pd.api.types.is_integer_dtype(dtype):
        return pd.Series(values).astype(dtype).values
    whole = np.rint(values)
    limits = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
    if whole.min(initial=0) < limits.min or whole.max(initial=0) > limits.max:
        return whole
    return pd.Series(whole).astype(dtype).values
