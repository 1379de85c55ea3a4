"""How the time of StratImpact grows with the rows.

Run from the project's root: ``python3 -m tests.benchmarks.stratified_growth``. Prints
two tables of processor time, which other programs on the machine do not prolong, and
fails if a limit is exceeded:

* medians up to 200 000 rows, beside n log n: the last doubling may take MARGIN times
  what n log n says, for caches that overflow and for the trees, which sort every node
  and so grow by one more logarithm;
* the protocol of Table 1 of Parr, Wilson and Hamrick (2020): n = 1000, 2000, ...,
  30 000 and the quadratic a n^2 + b n + c through the times, which explains R^2 of
  their variance. The paper has .99 or more.
"""

import sys
from math import log
from statistics import median
from time import process_time

import numpy as np
from tests.benchmarks.stratified import CATEGORICAL, N_FEATURES, mixed

from importance_audit.methods.importance.stratified import stratified_impact
from importance_audit.methods.known_answers import normal_data

SIZES, ROUNDS, MARGIN = (25_000, 50_000, 100_000, 200_000), 3, 1.25
TABLE_1, LEAST_R2 = range(1000, 31_000, 1000), 0.99


def seconds(data):
    """Return the processor time of one trial on all rows."""
    start = process_time()
    stratified_impact(None, data, seed=1, n_repeats=1, resample="none")
    return process_time() - start


def growth():
    """Print the medians beside n log n; return whether the last doubling holds."""
    datasets = [normal_data(2, 1, 0, 0, n_samples=n) for n in SIZES]
    rounds = [[seconds(data) for data in datasets] for _ in range(ROUNDS)]
    times = [median(column) for column in zip(*rounds, strict=True)]
    print(f"{'rows':>9}{'median':>10}{'doubling':>10}{'n log n':>10}{'ratio':>8}")
    ratio = 1.0
    for k, n in enumerate(SIZES):
        line = f"{n:9}{times[k]:9.3f}s"
        if k:
            half = SIZES[k - 1]
            expected = n * log(n) / (half * log(half))
            ratio = times[k] / times[k - 1] / expected
            line += f"{expected * ratio:10.2f}{expected:10.2f}{ratio:8.2f}"
        print(line, flush=True)
    print(f"last ratio {ratio:.2f}, limit {MARGIN}")
    return ratio <= MARGIN


def table_1():
    """Print the times of the paper's protocol; return whether a quadratic fits them."""
    data = mixed(max(TABLE_1))
    seconds(data.part(data.features, np.arange(1000)))  # imports, once
    times = [seconds(data.part(data.features, np.arange(n))) for n in TABLE_1]
    n = np.array(TABLE_1, dtype=float)
    fitted = np.polynomial.Polynomial.fit(n, times, 2)
    r2 = 1 - np.var(times - fitted(n)) / np.var(times)
    c, b, a = fitted.convert().coef
    print(f"{N_FEATURES} features, {len(CATEGORICAL)} categorical")
    for start in range(0, len(times), 10):
        pairs = zip(TABLE_1[start : start + 10], times[start : start + 10], strict=True)
        print("  ".join(f"{size // 1000:2}k {t:5.2f}s" for size, t in pairs))
    print(f"{a:.3g} n^2 + {b:.3g} n + {c:.3g}, R^2 {r2:.4f}, limit {LEAST_R2}")
    return r2 >= LEAST_R2


if __name__ == "__main__":
    print("growth with 4 features")
    is_in_bounds = growth()
    print("Table 1")
    is_quadratic = table_1()
    sys.exit(not (is_in_bounds and is_quadratic))
