"""Permutation importance: the loss when a feature is permuted, and when nothing is.

`samplers` makes the draws, `permuted_predictions` the predictions, and `permutation` is
the loop over both.
"""

import time
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...models.prediction import predict_unchanged
from ...records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ...records.errors import NotApplicable, OutOfTime
from ...records.losses import evaluate
from .exchange import Index
from .method_result import Kept, MethodResult
from .neighbours import Convention
from .paired_losses import PairedLosses
from .permutation_draws import (
    BASELINE,
    DRAWS,
    REPEAT_BY_REPEAT,
    TARGET,
    Perturbation,
    Stream,
    numpy_targets,
)
from .permutation_exact import exact_permutation
from .permuted_predictions import answers, table_of
from .row_terms import RowTerms
from .sampled_rows import rows_within
from .samplers import Within, draws_of
from .segment_losses import SegmentLosses

HowDrawn = Literal["sampled", "exact"]
FEWEST = 2
"""Fewest repeats that are kept if time ends: a spread needs two."""


def permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Stream = "numpy",
    n_repeats: int = 10,
    n_rows: int | None = None,
    perturbation: Perturbation = "permute",
    within: Within = "none",
    min_samples_leaf: int = 15,
    n_neighbours: int = 5,
    convention: Convention = "standard",
    draws: HowDrawn = "sampled",
    form: Form = "difference",
    keep: Sequence[Kept] = (),
    segments: Sequence[Index] = (),
) -> MethodResult:
    r"""Return the loss when a feature is permuted, and when nothing is.

    With :math:`L(y, f(X))` the loss and :math:`X^{\pi j}` the rows with the columns
    of feature or group *j* permuted together [1]_ [2]_, the rise in loss is

    .. math:: \mathrm{VI}_j = L(y, f(X^{\pi j})) - L(y, f(X)).

    The caller reports that difference, a ratio, or the loss. Row weights stay with
    their row and its target; only the columns of *j* move.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called once per feature and repeat for all its losses.
    data : Dataset
        Rows `model` was not fitted on; ``data.groups`` names the columns permuted.
    seed : int
        Selects the random stream.
    stream : {"numpy", "vip-0.4", "vip-0.5", "DALEX", "hstats", "xplainfi"}
        Draw order. "numpy", the default, has a stream of its own for every feature and
        repeat, so neither other features nor more repeats change a number. The others
        replay R's generator in the order in which that package draws.
    n_repeats : int, default 10
        Number of permutations of each feature.
    n_rows : int, optional
        Rows sampled without replacement, anew for every repeat and shared by all
        features and the baseline; all rows by default. The stream "vip-0.4" reproduces
        a defect of that package: one sample for all repeats, and a baseline on all
        rows. "hstats" has one sample for all repeats, the baseline included.
    perturbation : {"permute", "resample"}, default "permute"
        "permute" shuffles the values among the rows. "resample" draws the value of each
        row with replacement; if the loss is a mean over rows, its expectation is then
        the mean over all pairs of rows.
    within : {"none", "leaves", "gaussian", "neighbours"}, default "none"
        "none" exchanges values among all rows. The others measure the importance of *j*
        beyond the information about it in all other columns that models are given: new
        values are drawn from its distribution given these columns. "leaves" exchanges
        values only among rows in the same leaf of a tree that predicts *j* from them
        [3]_; each half of the rows is grouped by a tree fitted to the other half.
        "gaussian" draws from a normal distribution [4]_ [5]_, with the mean linear in
        the other columns and the covariance of the residuals (divisor n - 1); integers
        are rounded half to even. "neighbours" takes values from one of the
        `n_neighbours` rows that are nearest by the other columns, ties included: by
        Euclidean distance in standard deviations, or by Gower's if one is a category.
        Weights are not used for any of them.
    min_samples_leaf : int, default 15
        Minimum number of rows per leaf, in the half the tree is fitted to.
    n_neighbours : int, default 5
        Number of nearest rows that values are taken from, all equally likely.
    convention : {"standard", "xplainfi"}, default "standard"
        "standard" excludes a row from its own neighbours. "xplainfi" counts it as the
        nearest of them, as that package does, so that one draw in `n_neighbours`
        changes nothing.
    draws : {"sampled", "exact"}, default "sampled"
        "sampled" permutes `n_repeats` times. "exact" takes the mean loss over all
        permutations of all rows from the nodes of an ensemble of trees; nothing is
        drawn. For RMSE it is the root of the mean squared error over all permutations.
    form : {"difference", "ratio", "raw"}, default "difference"
        Form of the importance for the row terms; it does not change the numbers.
    keep : sequence of {"row_terms", "paired_losses"}, default ()
        Details of rows to keep, from the predictions that are made anyway. Neither is
        available for the streams of vip, whose baseline is of other rows. Row terms are
        not available for draws given the other columns, which depend on the rows;
        paired losses are not if nothing is sampled.
    segments : sequence of ndarray of int, optional
        Rows by their position in the data. The same draws, if they are sampled, are
        also evaluated in each segment.

    Returns
    -------
    MethodResult
        ``raw``, of shape (n_features, n_repeats, n_losses), is the loss with one
        feature permuted, in units of each of ``model.losses``, and ``baseline``, of
        shape (n_repeats, n_losses), that with nothing permuted, which an ignored
        feature has exactly. If a time limit ends (`OutOfTime`), only the repeats that
        every feature has by then are returned.

    Raises
    ------
    ValueError
        If there are fewer rows than `n_rows`.
    NotApplicable
        If the package of a stream does not draw as requested; if there are too few rows
        for leaves or a normal, or missing values; if a category would be drawn from a
        normal; or if the mean over all permutations is not known, see
        `permutation_exact`.
    OutOfTime
        If a time limit ends before every feature has `FEWEST` repeats, or in a stream
        that is not in `REPEAT_BY_REPEAT`.

    Warnings
    --------
    Permuting breaks the dependence of *j* on the other features, so `model` predicts
    rows that may not exist, and correlated features share or hide their importance.
    Leaves and neighbours hold the others about equal, not equal, so the remaining
    dependence gives too high values; a leaf of few rows gives too low ones: a single
    row in a leaf keeps its values. A normal is wrong for columns that are not normal,
    such as counts, and draws values outside their range. A value below the baseline is
    chance, unless its interval over other rows is below it too.

    References
    ----------
    .. [1] Fisher, Rudin and Dominici (2019). All Models are Wrong, but Many are
       Useful. JMLR 20(177), 1-81. doi:10.48550/arXiv.1801.01489
    .. [2] Biecek and Burzykowski (2021). Explanatory Model Analysis, chapter 16.
       CRC Press. doi:10.1201/9780429027192
    .. [3] Strobl, Boulesteix, Kneib, Augustin and Zeileis (2008). Conditional variable
       importance for random forests. BMC Bioinformatics 9, 307.
       doi:10.1186/1471-2105-9-307
    .. [4] Watson and Wright (2021). Testing conditional independence in supervised
       learning algorithms. Machine Learning 110, 2107-2129.
       doi:10.1007/s10994-021-06030-6
    .. [5] Blesch, Koenen, Kapar, Golchian, Burk, Loecher and Wright (2025). Conditional
       Feature Importance with Generative Modeling Using Adversarial Random Forests.
       doi:10.48550/arXiv.2501.11178

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = permutation(linear_model(2, 0), normal_data(), seed=1)
    >>> raw.shape, bool((raw[1] == baseline).all())
    ((2, 10, 1), True)
    """
    rows_within(data.n_samples, n_rows=n_rows)
    if draws == "exact":
        if n_rows is not None or within != "none":
            option = "n_rows" if within == "none" else "within"
            raise NotApplicable(
                f'draws = "exact" is of all rows, exchanged freely, but {option} was '
                f'set. Leave {option} out, or set draws = "sampled".'
            )
        return exact_permutation(model, data, form=form, keep=keep)
    planned = draws_of(
        data,
        seed=seed,
        stream=stream,
        n_repeats=n_repeats,
        n_rows=n_rows,
        perturbation=perturbation,
        within=within,
        min_samples_leaf=min_samples_leaf,
        n_neighbours=n_neighbours,
        convention=convention,
    )
    losses, n_features, n_samples = model.losses, len(data.groups), data.n_samples
    terms = pairs = by_segment = None
    if "row_terms" in keep:
        terms = RowTerms(losses, n_features, n_samples, n_repeats)
    if "paired_losses" in keep:
        pairs = PairedLosses(losses, n_features, n_samples)
    if segments:
        by_segment = SegmentLosses(
            losses, form, segments, n_features, n_samples, n_repeats
        )
    collectors = [part for part in (terms, pairs, by_segment) if part is not None]
    raw = np.full((n_features, n_repeats, len(losses)), np.nan)
    baseline = np.full((n_repeats, len(losses)), np.nan)
    n_made, began = np.zeros(n_features, dtype=np.int64), time.monotonic()
    try:
        for draw, table, prediction in answers(model, data, planned):
            scored = table.y, prediction, table.weights
            loss = evaluate(losses, *scored)
            if draw.what == BASELINE:
                baseline[draw.repeat] = loss
                for part in collectors:
                    part.start(draw.rows, scored)
            else:
                raw[draw.what, draw.repeat] = loss
                n_made[draw.what] += 1
                for part in collectors:
                    part.add(draw, scored)
    except OutOfTime as error:
        if stream not in REPEAT_BY_REPEAT:
            raise
        n_repeats = int(n_made.min(initial=n_repeats))
        if n_repeats < FEWEST:
            if share := n_made.sum() / (FEWEST * n_features):
                seconds = (time.monotonic() - began) / share
                fitting = int(share * min(n_rows or n_samples, n_samples))
                error.advice = (
                    f"{FEWEST} repeats take about {seconds:.0f} s, and would fit with "
                    f"max_rows = {fitting}"
                    if seconds >= 1
                    else f"{FEWEST} repeats take less than 1 s; reading, fitting, what "
                    "was asked before and the time kept for the report used the limit"
                )
            raise
        if terms is not None:
            terms.spread_over(n_made)
    whole = raw[:, :n_repeats], baseline[:n_repeats]
    return MethodResult(*whole, terms, pairs, by_segment)


def permuted_target(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Stream,
    n_repeats: int,
    n_rows: int | None,
) -> Floats:
    """Return the loss when the target is permuted, that of a model without information.

    DALEX calls it `_baseline_`; in its stream the target is permuted in DALEX's order,
    in all others by numpy. The other arguments are those of `permutation`.

    Returns
    -------
    values : ndarray of shape (n_repeats, n_losses)
        In units of each of ``model.losses``.
    """
    draws = DRAWS["DALEX"] if stream == "DALEX" else numpy_targets
    values = np.empty((n_repeats, len(model.losses)))
    rows_drawn: Index | None = None
    for draw in draws(seed, tuple(data.groups), data.n_samples, n_repeats, n_rows):
        if draw.what != TARGET:
            continue
        if draw.rows is not rows_drawn:
            table = table_of(data, draw.rows, is_written=False)
            prediction = predict_unchanged(model, table.frame)
            rows_drawn = draw.rows
        y, weights = table.y[draw.order], table.weights
        values[draw.repeat] = evaluate(model.losses, y, prediction, weights)
    return values
