"""The random draws of SAGE in the order in which R's package xplainfi makes them.

Read off numbers recorded with xplainfi 1.2.0: reference rows first, where there are
more rows than are asked for; then all permutations; then what a conditional sampler
draws, one coalition after the other. Features are in alphabetical order throughout.
mlr3 would also draw for ties between classes, but `engines.xplainfi` leaves it none.
"""

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.r_rng import RStream
from .conditional_gaussian import Index


def reference_rows(r: RStream, n: int, n_drawn: int) -> Index:
    """Return the rows that stand in for what is not known, in the order drawn."""
    return r.sample(n, n_drawn) if n > n_drawn else np.arange(n)


def normal_draws(r: RStream, shape: tuple[int, int, int]) -> Floats:
    """Return standard normal numbers, (n_rows, n_draws, n_columns).

    All rows have their first draw before one has its second.
    """
    n_rows, n_draws, n_columns = shape
    numbers = r.rnorm(n_rows * n_draws * n_columns)
    return numbers.reshape(n_draws, n_rows, n_columns).transpose(1, 0, 2)
