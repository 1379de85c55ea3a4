"""The random draws of SAGE in the order in which R's package xplainfi makes them.

Read off numbers recorded with xplainfi 1.2.0: reference rows first, where there are
more rows than are asked for; then a uniform number for every tie among the predicted
probabilities; then all permutations; then what a conditional sampler draws, one
coalition after the other. Features are in alphabetical order throughout.
"""

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.r_rng import RStream
from .conditional_gaussian import Index

TIE = 1e-5
"""Probabilities are tied up to this share of the largest of their row."""


def reference_rows(r: RStream, n: int, n_drawn: int) -> Index:
    """Return the rows that stand in for what is not known, in the order drawn."""
    return r.sample(n, n_drawn) if n > n_drawn else np.arange(n)


def pass_ties(r: RStream, prediction: Floats) -> None:
    """Move on by what choosing the most probable class of each row draws.

    Of two classes `prediction` is the probability of the first, (n_rows,).
    It is R's ``max.col`` with ties at random: columns are compared from the left with
    the largest so far, and each one that is tied with it takes a uniform number.
    """
    columns = prediction
    if prediction.ndim == 1:
        columns = np.stack([prediction, 1 - prediction], axis=1)
    margin = TIE * columns.max(axis=1)
    largest, n_ties = columns[:, 0], 0
    for column in columns[:, 1:].T:
        is_larger = column > largest + margin
        n_ties += int((~is_larger & (column >= largest - margin)).sum())
        largest = np.where(is_larger, column, largest)
    r.runif(n_ties)


def normal_draws(r: RStream, shape: tuple[int, int, int]) -> Floats:
    """Return standard normal numbers, (n_rows, n_draws, n_columns).

    All rows have their first draw before one has its second.
    """
    n_rows, n_draws, n_columns = shape
    numbers = r.rnorm(n_rows * n_draws * n_columns)
    return numbers.reshape(n_draws, n_rows, n_columns).transpose(1, 0, 2)
