"""Shapley importance: the mean absolute Shapley value of a feature's contributions."""

from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, quote
from ...records.execution import each
from ...records.r_rng import RStream
from ...records.streams import stream as generator_of
from ..effects.partial_dependence import Scale
from ..effects.shapley_values import (
    Game,
    Index,
    Score,
    check_players,
    enumerate_coalitions,
    sample_orders,
    score_of,
)
from . import fastshap_order
from .sampled_rows import draw_places, refuse_unlike, rows_within
from .scores import linear_slopes, numbers_of, numbers_read

Algorithm = Literal["sampling", "exact", "linear"]
Background = Literal["rows", "means"]
Stream = Literal["numpy", "fastshap", "vip-0.4", "vip-0.5"]
# vip calls fastshap.
FASTSHAP = ("fastshap", "vip-0.4", "vip-0.5")
SAMPLE, USE_ROWS = "Use algorithm 'sampling'.", "background 'rows'"


def shapley(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Stream = "numpy",
    algorithm: Algorithm = "sampling",
    n_repeats: int = 3,
    n_permutations: int = 10,
    n_rows: int | None = None,
    background: Background = "rows",
    n_background: int | None = None,
    scale: Scale = "native",
    adjust: bool = False,
) -> tuple[Floats, Floats]:
    r"""Return the mean absolute Shapley value of each feature.

    With :math:`v_i(S)` the mean score over the background :math:`W` of row *i* keeping
    the columns *S*, :math:`v_i(S) = E\, s(x_{i,S}, W_{-S})`, and the mean over all
    orders of the *p* columns the model reads,

    .. math::
        \phi_{ij} = \sum_{S \not\ni j} \frac{|S|!\,(p-|S|-1)!}{p!}
        \bigl(v_i(S \cup j) - v_i(S)\bigr), \qquad
        I_j = \sum_i w_i |\phi_{ij}| / \sum_i w_i.

    The values of a row add up to :math:`s(x_i) - E\, s(W)` [1]_ [2]_.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called for mixed rows: ``n_permutations * (p + 1)`` times
        the explained rows in each repeat ("sampling"), ``2**p`` times explained times
        background rows ("exact"), once ("linear").
    data : Dataset
        The rows explained and the rows of the background. A group of several columns
        is one player; all other columns are players of their own.
    seed : int
        Selects the random stream.
    stream : {"numpy", "fastshap", "vip-0.4", "vip-0.5"}, default "numpy"
        Draw order of "sampling". "numpy": each row draws its own orders, shared by its
        features, so that they add up; more repeats and other measured features change
        no number. The others replay R's fastshap, which vip calls: one feature after
        the other, so a row of the result also depends on the rows before it.
    algorithm : {"sampling", "exact", "linear"}, default "sampling"
        "sampling" draws random orders; "exact" enumerates all coalitions of up to 12
        columns; "linear" is :math:`b_j (x_{ij} - \bar x_j)` for an estimator that
        reports its weights. The last two draw only rows.
    n_repeats : int, default 3
        Number of independent estimates, whose spread is the Monte Carlo error. More of
        them do not bring the mean nearer to the exact value. Without random draws, all
        repeats are equal.
    n_permutations : int, default 10
        Number of random orders per row that an estimate averages over; `nsim` of
        fastshap. The fewer, the more noise counts as importance.
    n_rows : int, optional
        Number of explained rows, sampled without replacement anew for every repeat; all
        by default.
    background : {"rows", "means"}, default "rows"
        Where absent columns take their values: from the background rows, or from one
        row of all means.
    n_background : int, optional
        Number of background rows, sampled like `n_rows`; all by default.
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.
    adjust : bool, default False
        The adjustment of fastshap: distributes the difference between the sum of the
        values and the prediction, except for rows whose rounds are all equal. The numpy
        stream has no such difference except from sampling of the background.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, n_outputs)
        In units of the scale.
    baseline : ndarray of shape (n_repeats, n_outputs)
        Zero, which a column the model does not read has exactly.

    Raises
    ------
    ValueError
        If `n_rows` or `n_background` exceeds the rows there are, or `adjust` is set for
        a single permutation.
    NotApplicable
        If the model or the data do not suit the algorithm or the stream.

    Warnings
    --------
    Absolute values do not average out: with few permutations noise counts as
    importance, the more the smaller a feature's own. An interval over the repeats is
    about this mean, not about the exact value. Absent columns are drawn independently
    of those that stay, so the model predicts rows that may not exist.

    References
    ----------
    .. [1] Shapley (1953). A value for n-person games. Contributions to the Theory of
       Games II, 307-317. doi:10.1515/9781400881970-018
    .. [2] Štrumbelj and Kononenko (2014). Explaining prediction models and individual
       predictions with feature contributions. Knowledge and Information Systems 41,
       647-665. doi:10.1007/s10115-013-0679-x

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = shapley(linear_model(2, 0), normal_data(), seed=1)
    >>> raw.shape, bool(abs(raw[1] - baseline).max() < 1e-12)
    ((2, 3, 1), True)
    """
    rows_within(data.n_samples, n_rows=n_rows, n_background=n_background)
    inputs = _Inputs(
        model, data, score_of(model, scale), seed, background, n_rows, n_background
    )
    if algorithm == "sampling" and stream != "numpy":
        rows = _in_fastshap_order(
            inputs, stream, n_repeats, n_permutations=n_permutations, adjust=adjust
        )
    else:
        if adjust:
            raise NotApplicable(
                "Option adjust must be false but where the draws of fastshap are "
                "replayed; it is true: there is nothing to share out. Leave it out."
            )
        is_drawn = algorithm == "sampling" or n_rows or n_background
        of_repeat = partial(_of_repeat, inputs, algorithm, n_permutations)
        rows = [*each(of_repeat, range(n_repeats if is_drawn else 1))]
        rows = rows if is_drawn else rows * n_repeats
    raw = np.stack(rows, axis=1)
    return raw, np.zeros(raw.shape[1:])


class _Inputs(NamedTuple):
    """The inputs of all algorithms; the names are those of `shapley`."""

    model: FittedModel
    data: Dataset
    score: Score
    seed: int
    background: Background
    n_rows: int | None
    n_background: int | None

    def game(self, repeat: int) -> tuple[Game, Floats]:
        """Return the rows of one repeat, and the shares of those explained."""
        data, n = self.data, self.data.n_samples
        weighing = np.flatnonzero(data.weights > 0)
        explained = draw_places(self.seed, "explained", repeat, weighing, self.n_rows)
        others = draw_places(
            self.seed, "background", repeat, weighing, self.n_background
        )
        X, shares = data.X, _shares(data.weights[others])
        features = self.model.features
        if self.background == "means":
            matrix = numbers_read(self.model, X, "background 'means'", USE_ROWS)
            table = np.vstack([matrix, shares @ matrix[others]])
            X = pd.DataFrame(table, columns=list(features))
            others, shares = np.array([n]), np.ones(1)
        k = len(self.model.outputs)
        game = Game(self.score, X, features, explained, others, shares, k)
        return game, _shares(data.weights[explained])


def _of_repeat(
    inputs: _Inputs, algorithm: Algorithm, n_permutations: int, repeat: int
) -> Floats:
    """Return the importance of every group in one repeat, (n_groups, n_outputs).

    The single columns are one game, evaluated once; a group is a game of its own.
    """
    model, features = inputs.model, inputs.model.features
    game, shares = inputs.game(repeat)

    def values(owner: Index, joined: str) -> Floats:
        """Return the values of one game, (n_explained, n_players, n_outputs)."""
        if algorithm == "linear":
            return _linear(model, game, owner)
        if algorithm == "exact":
            check_players(model, int(owner.max()) + 1, "exact Shapley values", SAMPLE)
            return enumerate_coalitions(game, owner)
        generator = generator_of(inputs.seed, "orders", joined, repeat)
        return sample_orders(
            game, owner, n_permutations=n_permutations, generator=generator
        )

    alone: Floats | None = None
    sums = []
    for columns in inputs.data.groups.values():
        members = [k for k, name in enumerate(features) if name in columns]
        if not members:
            sums.append(np.zeros(len(model.outputs)))
            continue
        if len(members) == 1:
            if alone is None:
                alone = values(np.arange(len(features)), "")
            of_rows = alone[:, members[0]]
        else:
            owner = np.zeros(len(features), dtype=np.intp)
            others = [k for k in range(len(features)) if k not in members]
            owner[others] = 1 + np.arange(len(others))
            of_rows = values(owner, "|".join(features[k] for k in members))[:, 0]
        sums.append(shares @ np.abs(of_rows))
    return np.stack(sums)


def _in_fastshap_order(
    inputs: _Inputs,
    stream: str,
    n_repeats: int,
    *,
    n_permutations: int,
    adjust: bool,
) -> list[Floats]:
    """Return the values of each repeat, (n_groups, n_outputs), from one R stream."""
    data, groups = inputs.data, inputs.data.groups
    is_cut = inputs.n_rows or inputs.n_background or inputs.background != "rows"
    unlike = {
        f"another stream than {stream!r}": stream not in FASTSHAP,
        "all rows as they are": bool(is_cut),
    }
    refuse_unlike("shapley", "fastshap", data, unlike)
    r, every = RStream(inputs.seed), np.arange(data.n_samples)
    shares = np.full(data.n_samples, 1 / data.n_samples)
    k = len(inputs.model.outputs)
    game = Game(inputs.score, data.X, data.features, every, every, shares, k)
    names = tuple(columns[0] for columns in groups.values())
    importances = []
    for _ in range(n_repeats):
        values = fastshap_order.explain(
            game, names, n_permutations=n_permutations, r=r, adjust=adjust
        )
        importances.append(np.abs(values).mean(axis=0))
    return importances


def _linear(model: FittedModel, game: Game, owner: Index) -> Floats:
    """Return b_j (x_j - mean x_j), summed by player, (n_explained, n_players, …)."""
    weights = linear_slopes(model, game.X, game.score(game.X))
    x, others = (
        numbers_of(game.X.iloc[places], game.features)
        for places in (game.explained, game.background)
    )
    if weights is None or x is None or others is None:
        raise NotApplicable(
            f"Model {quote(model.name)} must be linear in complete columns of numbers "
            "for algorithm 'linear'; it reports no weights that give its predictions. "
            "Use algorithm 'sampling'."
        )
    terms = (x - game.shares @ others)[:, :, np.newaxis] * weights
    players = range(int(owner.max()) + 1)
    return np.stack([terms[:, owner == k].sum(axis=1) for k in players], axis=1)


def _shares(weights: Floats) -> Floats:
    """Return weights that sum to one."""
    return np.asarray(weights / weights.sum())
