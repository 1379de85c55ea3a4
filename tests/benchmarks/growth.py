"""Time and weigh audits of more and more rows and columns, and print the exponents.

Run from the project's root: ``python3 -m tests.benchmarks.growth [seconds]``. Each size
has a process of its own; it is left out, and said so, if the one before took so long
that it is expected to take more than these seconds of a processor, by default 120. An
exponent of 1 is growth in step with the rows or columns; below the fixed cost it is
less.
"""

import sys
from functools import partial
from itertools import pairwise, product
from math import log
from multiprocessing import get_context

from sklearn.linear_model import LinearRegression

import importance_audit as ia

from .scale import peak, table, timed

ROWS, COLUMNS = (1_000, 10_000, 100_000, 1_000_000), (10, 50, 200)
N_REPEATS = 2


def measured(n_samples, n_features):
    """Return the seconds of an audit and its peak in GiB beyond the start and table."""
    X, y = table(n_samples, n_features)
    model = LinearRegression().fit(X[:10_000], y[:10_000])
    ia.audit(model, X[:100], y[:100])  # imports and compiled loops are no growth
    before = peak()
    seconds = timed(partial(ia.audit, model, X, y, n_repeats=N_REPEATS))[1]
    return seconds, peak() - before


def all_sizes(limit):
    """Yield rows, columns and what was measured, None where it would take too long."""
    answers = {}
    for p, n in product(COLUMNS, ROWS):
        fewer_rows, fewer_columns = (n // 10, p), (n, COLUMNS[COLUMNS.index(p) - 1])
        expected = 0.0
        if n > ROWS[0]:
            before = answers.get(fewer_rows)
            expected = limit + 1 if before is None else 8 * before[0]
        if p > COLUMNS[0] and (before := answers.get(fewer_columns)):
            expected = max(expected, before[0] * p / fewer_columns[1])
        if expected <= limit:
            with get_context("spawn").Pool(1) as process:
                answers[n, p] = process.apply(measured, (n, p))
        yield n, p, answers.get((n, p))


def exponent(few, many, smaller, larger):
    """Return the power by which a measure grows between two sizes."""
    return log(larger / smaller) / log(many / few)


def main(limit=120.0):
    """Print each size, then how time and memory grow from each to the next."""
    print(f"{'rows':>9}{'columns':>9}{'processor':>12}{'peak':>12}", flush=True)
    answers = {}
    for n, p, answer in all_sizes(limit):
        answers[n, p] = answer
        cells = f"{answer[0]:11.2f}s{answer[1]:9.3f}GiB" if answer else "  not measured"
        print(f"{n:9}{p:9}{cells}", flush=True)
    print(f"{'growth':36}{'time':>8}{'memory':>8}")
    steps = [((a, p), (b, p), a, b) for p in COLUMNS for a, b in pairwise(ROWS)]
    steps += [((n, a), (n, b), a, b) for n in ROWS for a, b in pairwise(COLUMNS)]
    for one, other, few, many in steps:
        first, last = answers[one], answers[other]
        if first and last and min(first[1], last[1]) > 0:
            powers = (
                exponent(few, many, *pair) for pair in zip(first, last, strict=True)
            )
            name = f"{one[0]} x {one[1]} to {other[0]} x {other[1]}"
            print(f"{name:36}" + "".join(f"{power:8.2f}" for power in powers))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
