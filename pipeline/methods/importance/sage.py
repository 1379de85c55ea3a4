"""SAGE: Shapley values of the features for the reduction of a model's loss.

The losses of single coalitions come from `coalitions`; here they give Shapley values.
"""

import operator
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Annotated, Literal, NamedTuple

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ...records.r_rng import RStream
from ...records.streams import stream as generator_of
from ...records.value_rules import Range
from ..effects.shapley_values import MOST_PLAYERS, check_players
from ..trees.routes import report_route
from .coalitions import (
    Coalitions,
    Index,
    Sampler,
    losses_of,
    row_sampler,
    rows_for_model,
    widened,
)
from .conditional_gaussian import Noise, gaussian_sampler
from .drop_column import shapley_values
from .method_result import MethodResult
from .refits import Unit, by_group, refuse_ratio, units_of
from .sampled_rows import draw_places, refuse_unlike, rows_within

Algorithm = Literal["auto", "exact", "sampling"]
Background = Literal["rows", "gaussian"]
Stream = Literal["numpy", "xplainfi"]
REMEDY = "Use algorithm 'sampling', or group features under [groups]."


class Stop(NamedTuple):
    """When to stop drawing orders.

    Attributes
    ----------
    tolerance : float
        Stop once every standard error is below this share of the range of the values.
    at_least : int
        Orders before the first test.
    every : int
        Orders from one test to the next.
    ddof : int
        The divisor of a variance over n orders is n - `ddof`.
    """

    tolerance: float
    at_least: int = 10
    every: int = 10
    ddof: int = 1


def sage(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Stream = "numpy",
    algorithm: Algorithm = "auto",
    n_repeats: int = 100,
    tolerance: Annotated[float, Range(least=0)] = 0.01,
    n_rows: int | None = None,
    background: Background = "rows",
    n_background: int = 100,
    form: Form = "difference",
) -> MethodResult:
    r"""Return the contribution of each feature to the reduction of the loss.

    With :math:`f_S(x)` the mean prediction for a row of which only the columns of the
    players *S* are known, and :math:`v(S) = L(y, f_\emptyset(X)) - L(y, f_S(X))` the
    reduction of the loss by them, the value of feature *j* among *q* players is [1]_

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|! (q - |S| - 1)!}{q!}
              \left( v(S \cup j) - v(S) \right).

    The values add up to the loss of the mean prediction less that of the model. The
    players are the groups and, separately, all other columns that the model reads. The
    prediction is averaged on its own scale before any loss is computed, so losses need
    not be means over rows, and all losses share the predictions.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called for rows some of whose columns are drawn:
        `n_background` times the rows for each coalition, only once per coalition.
    data : Dataset
        The rows of the losses, from which unknown values are drawn too. Rows without a
        weight are left out; ``data.groups`` names the columns that join together.
    seed : int
        Selects the random stream.
    stream : {"numpy", "xplainfi"}, default "numpy"
        Draw order. "numpy" has a stream for each order, for the reference rows, and for
        the draws of each coalition: more orders and other measured features change no
        number. "xplainfi" replays R's generator in the order of that package.
    algorithm : {"auto", "exact", "sampling"}, default "auto"
        "exact" evaluates all ``2**q`` coalitions of up to 12 players; "sampling" draws
        orders in which the players join; "auto" is "exact" if that needs no more
        coalitions than `n_repeats` orders may.
    n_repeats : int, default 100
        Most orders that are drawn, each of which is a repeat; "exact" has one.
    tolerance : float, default 0.01
        Drawing stops once, for every loss, the largest standard error of the players'
        values is below this share of the range of the values, from the largest to the
        smallest. The standard error is the standard deviation over the orders, divisor
        n - 1, over the root of n. It is tested after every ten orders. Orders with
        equal values suffice too, unless the tolerance is 0. For "xplainfi" the divisor
        is n, and it is tested after each from the tenth.
    n_rows : int, optional
        Number of rows of the losses, drawn once without replacement; all by default.
    background : {"rows", "gaussian"}, default "rows"
        Unknown values are taken from reference rows whatever is known ("rows", the
        marginal SAGE), or drawn for each row given its known values, from the normal
        with the mean and the covariance of the rows ("gaussian", a conditional SAGE);
        integers are then rounded, halves to the even number.
    n_background : int, default 100
        Number of reference rows, drawn once without replacement and shared by all
        rows and coalitions (all rows if there are no more), or of draws for each row.
    form : {"difference", "raw"}, default "difference"
        There is no ratio to a baseline of 0.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, n_losses)
        Values in units of each of ``model.losses``, for each order; 0 for columns that
        the model does not read. There are fewer repeats than `n_repeats` if the
        tolerance was met before.
    baseline : ndarray of shape (n_repeats, n_losses)
        Zero, the value of a player that changes no prediction.

    Raises
    ------
    ValueError
        If there are fewer rows than `n_rows`.
    NotApplicable
        If there are more than 12 players for "exact", `form` is "ratio", two groups
        share a column, columns for "gaussian" are not complete numbers, or the data do
        not suit the stream.

    Warnings
    --------
    The spread is that over the orders; it covers neither the choice of reference rows
    nor other test rows. With *B* reference rows, or draws for each row, the values of a
    squared error are too large by about one part in *B*. Marginal values come from rows
    that may not exist; conditional ones attribute importance to features that only
    correlate with what the model uses, and assume the normal distribution.

    References
    ----------
    .. [1] Covert, Lundberg and Lee (2020). Understanding Global Feature Contributions
       With Additive Importance Measures. NeurIPS 33. doi:10.48550/arXiv.2004.00668

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> data = normal_data(2, 0, noise=0)
    >>> raw, _ = sage(linear_model(2, 0), data, seed=1, n_background=200)
    >>> raw[:, 0, 0].round(6).tolist()  # the variance of each term
    [4.0, 0.0]
    """
    rows_within(data.n_samples, n_rows=n_rows)
    refuse_ratio(form, "sage")
    players, places = units_of(model, data, "sage")
    r = None
    if stream == "xplainfi":
        unlike = {
            "all rows": n_rows is not None,
            "an algorithm that samples": algorithm == "exact",
        }
        refuse_unlike("sage", "xplainfi", data, unlike)
        r, by_name = RStream(seed), sorted(players)
        places = [by_name.index(players[k]) if k >= 0 else k for k in places]
        players = by_name
    game = _game(
        model,
        data,
        players,
        seed=seed,
        r=r,
        background=background,
        n_background=n_background,
        n_rows=n_rows,
    )
    nothing_drawn = False
    if r is not None:
        values = replayed(game, r, n_repeats, Stop(tolerance, every=1, ddof=0))
    elif is_exact(algorithm, len(players), n_repeats):
        values = _of_all_coalitions(game)
        n = int((data.weights > 0).sum())  # all rows, each with all as reference
        nothing_drawn = (
            game.is_marginal and game.rows.n_samples == len(game.shares) == n
        )
    else:

        def order(repeat: int) -> Index:
            return generator_of(seed, "orders", "", repeat).permutation(len(players))

        values = sampled(game, order, n_repeats, Stop(tolerance))
    of_groups = by_group(values.swapaxes(0, 1), places, unread=0.0)
    return MethodResult(*of_groups, is_exact=nothing_drawn)


def is_exact(algorithm: str, n_players: int, n_repeats: int) -> bool:
    """Return whether `sage` evaluates all coalitions instead of orders."""
    most_of_orders = n_repeats * (n_players - 1)
    is_cheaper = n_players <= MOST_PLAYERS and 2**n_players - 2 <= most_of_orders
    return algorithm == "exact" or (algorithm == "auto" and is_cheaper)


def sampled(
    game: Coalitions,
    order: Callable[[int], Index],
    n_orders: int,
    stop: Stop,
    generator: RStream | None = None,
) -> Floats:
    """Return the gain of each player at its turn, (n_drawn, n_players, n_losses).

    Parameters
    ----------
    game : Coalitions
    order : callable
        ``order(k)``: the players in the order in which they join the *k*-th time.
    n_orders : int
        Most orders that are drawn.
    stop : Stop
    generator : RStream, optional
        Generator of a conditional sampler, which draws anew for each coalition.
    """
    n_predictions = 0
    losses: dict[int, Floats] = {}
    gains: list[Floats] = []
    for start in range(0, n_orders, stop.every):
        orders = [order(k) for k in range(start, min(start + stop.every, n_orders))]
        paths = [  # the coalitions as players join, from none to all
            [0, *accumulate((1 << k for k in one.tolist()), operator.or_)]
            for one in orders
        ]
        new = [c for c in dict.fromkeys(chain.from_iterable(paths)) if c not in losses]
        of_new = losses_of(game, new, generator) if generator else game.losses(new)
        losses.update(zip(new, of_new, strict=True))
        n_predictions += sum(map(game.n_predictions, new))
        for one, path in zip(orders, paths, strict=True):
            of_path = np.stack([losses[coalition] for coalition in path])
            with np.errstate(invalid="ignore"):  # inf - inf: not measured, NaN
                gains.append((of_path[:-1] - of_path[1:])[np.argsort(one)])
        if generator:
            losses = {c: losses[c] for c in (0, game.everyone)}
        if len(gains) >= stop.at_least and is_settled(np.stack(gains), stop):
            break
    report_route(game.model, "predict", n_predictions=n_predictions)
    return np.stack(gains)


def replayed(game: Coalitions, r: RStream, n_orders: int, stop: Stop) -> Floats:
    """Return the result of `sampled`, drawn as by xplainfi after reference rows."""
    orders = [r.sample(len(game.players)) for _ in range(n_orders)]
    redrawn_by = None if game.is_marginal else r
    return sampled(game, orders.__getitem__, n_orders, stop, redrawn_by)


def is_settled(gains: Floats, stop: Stop) -> bool:
    """Return whether the errors of all players are small relative to their range.

    Or whether all orders have equal values, as for a single player.

    Parameters
    ----------
    gains : ndarray of shape (n_orders, n_players, n_losses)
    stop : Stop
    """
    with np.errstate(invalid="ignore"):  # infinite losses settle nothing
        errors = gains.std(axis=0, ddof=stop.ddof) / np.sqrt(len(gains))
        ranges = np.ptp(gains.mean(axis=0), axis=0)
        is_small = errors.max(axis=0) < stop.tolerance * ranges
        is_one_value = (np.ptp(gains, axis=0) == 0).all(axis=0)
        has_error = stop.tolerance > 0
        return bool((is_small | (is_one_value & has_error)).all())


def _of_all_coalitions(game: Coalitions) -> Floats:
    """Return the value of each player, (1, n_players, n_losses).

    Consecutive coalitions differ in one player (Gray's code).
    """
    n_players = len(game.players)
    check_players(game.model, n_players, "exact values", REMEDY)
    coalitions = [k ^ k >> 1 for k in range(2**n_players)]
    losses = np.empty((len(coalitions), len(game.model.losses)))
    losses[coalitions] = [*game.losses(coalitions)]
    n_predictions = sum(map(game.n_predictions, coalitions))
    report_route(game.model, "predict", n_predictions=n_predictions)
    return shapley_values(losses, n_players)[np.newaxis]


def _game(
    model: FittedModel,
    data: Dataset,
    players: Sequence[Unit],
    *,
    seed: int,
    r: RStream | None,
    background: str,
    n_background: int,
    n_rows: int | None,
) -> Coalitions:
    """Return the game; reference rows are drawn by `r` if it is given."""
    columns = tuple(chain.from_iterable(players))
    weighing = np.flatnonzero(data.weights > 0)
    rows = rows_for_model(model, data, draw_places(seed, "rows", 0, weighing, n_rows))
    noise: Noise = np.random.Generator.standard_normal
    if r is not None:
        noise = normal_draws_of_xplainfi
    sampler: Sampler
    if background == "gaussian":
        sampler = gaussian_sampler(
            data,
            columns,
            n_draws=n_background,
            noise=noise,
            is_scaled=r is None,
        )
        rows, shares = widened(rows), np.ones(n_background)
    else:
        drawn = draw_places(seed, "background", 0, weighing, n_background)
        if r is not None:
            drawn = reference_rows(r, data.n_samples, n_background)
        sampler, shares = row_sampler(data, columns, drawn), data.weights[drawn]
    return Coalitions(
        model=model,
        rows=rows,
        players=tuple(players),
        sampler=sampler,
        shares=shares / shares.sum(),
        seed=seed,
    )


# The order of xplainfi was inferred from numbers recorded with version 1.2.0: reference
# rows first, if there are more rows than needed; then all permutations; then the draws
# of a conditional sampler, one coalition after the other. Features are in alphabetical
# order throughout. mlr3 would also draw for ties between classes, but
# `engines.xplainfi` leaves it none.


def reference_rows(r: RStream, n: int, n_drawn: int) -> Index:
    """Return the reference rows, in the order drawn."""
    return r.sample(n, n_drawn) if n > n_drawn else np.arange(n)


def normal_draws_of_xplainfi(r: RStream, shape: tuple[int, int, int]) -> Floats:
    """Return standard normal numbers, (n_rows, n_draws, n_columns).

    The first draws of all rows come before the second ones.
    """
    n_rows, n_draws, n_columns = shape
    numbers = r.rnorm(n_rows * n_draws * n_columns)
    return numbers.reshape(n_draws, n_rows, n_columns).transpose(1, 0, 2)
