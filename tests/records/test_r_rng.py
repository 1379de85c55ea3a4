"""R's stream in numpy against numbers recorded from R, and against R itself."""

import doctest
import json
import statistics
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.cases import for_each

from importance_audit.records import r_rng
from importance_audit.records.r_rng import RStream

CASES = json.loads(
    (Path(__file__).parents[1] / "reference" / "r_rng.json").read_text(encoding="utf8")
)["cases"]


def cases(function, *, is_long=False):
    """Return the recorded draws of one function as pytest parameters."""
    return [
        pytest.param(case, id=case["id"])
        for case in CASES
        if case["function"] == function and isinstance(case["result"], dict) == is_long
    ]


def test_the_example_of_the_docstring_holds():
    assert doctest.testmod(r_rng) == (0, 2)


@for_each(cases("runif") + cases("rnorm"))
def test_numbers_equal_r_in_every_digit(case):
    numbers = getattr(RStream(case["seed"]), case["function"])(case["n"])
    assert numbers.tolist() == case["result"]


@for_each(cases("runif", is_long=True) + cases("rnorm", is_long=True))
def test_a_hundred_thousand_numbers_equal_r(case):
    numbers = getattr(RStream(case["seed"]), case["function"])(case["n"])
    recorded = case["result"]
    assert numbers[:3].tolist() == recorded["first"]
    assert numbers[-3:].tolist() == recorded["last"]
    assert (numbers.min(), numbers.max()) == (recorded["min"], recorded["max"])
    for name, at in (("which_max", numbers.argmax()), ("which_min", numbers.argmin())):
        assert recorded.get(name, at + 1) == at + 1


@for_each(cases("sample"))
def test_samples_equal_r(case):
    r = RStream(case["seed"])
    sample = r.sample(case["n"], case["size"], replace=case["replace"]) + 1
    assert sample.tolist() == case["result"]
    if "runif_after" in case:
        assert r.runif(1)[0] == case["runif_after"]


@pytest.mark.parametrize("case", cases("sample", is_long=True))
def test_long_permutations_equal_r_and_leave_its_stream_where_r_does(case):
    r = RStream(case["seed"])
    permutation, reference = r.sample(case["n"]) + 1, case["result"]
    assert permutation[:20].tolist() == reference["head"]
    assert permutation[-10:].tolist() == reference["tail"]
    assert permutation @ np.arange(1, len(permutation) + 1) == reference["weighted_sum"]
    assert r.runif(1)[0] == reference["runif_after"]


@for_each(cases("mixed", is_long=True))
def test_one_stream_serves_every_kind_of_draw_as_in_r(case):
    r, reference = RStream(case["seed"]), case["result"]
    assert r.runif(2).tolist() == reference["a"]
    assert (r.sample(9) + 1).tolist() == reference["b"]
    assert r.rnorm(3).tolist() == reference["c"]
    assert (r.sample(70000, 3) + 1).tolist() == reference["d"]


def test_calls_in_parts_draw_the_same_stream():
    whole, parts = RStream(5), RStream(5)
    ends = [parts.runif(n) for n in (1, 1247, 1, 3000)]
    assert np.concatenate(ends).tolist() == whole.runif(4249).tolist()


@pytest.mark.parametrize(
    ("size", "replace"), [(11, False), (-1, True)], ids=["too many", "negative"]
)
def test_an_impossible_size_is_refused(size, replace):
    with pytest.raises(ValueError, match=rf"^size must .*; {size} was given\.$"):
        RStream(1).sample(10, size, replace=replace)


LIVE = """
sums <- function(...) sprintf("%.0f", c(...))
for (seed in SEEDS) for (n in SIZES) for (k in unique(c(1, 2, n %/% 2, n)) ) {
  if (k < 1 || k > n) next
  set.seed(seed); x <- sample.int(n, k); y <- sample.int(n, k, TRUE)
  steps <- as.double(seq_len(k))
  cat(sums(seed, n, k, sum(x * steps), x[k], sum(y * steps), y[k]), "")
  cat(sprintf("%a", c(runif(1), rnorm(2))), "\\n")
}
"""
SEEDS = (0, 42, 2147483647, -2147483647)
POWERS = (2**b for b in (4, 6, 8, 10, 16))
SIZES = (*range(1, 10), *(n for m in POWERS for n in (m - 1, m, m + 1)), 200_000)


def rscript(code):
    """Return the standard output of R code."""
    process = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=True
    )
    return process.stdout


@pytest.mark.needs_r
def test_a_grid_of_seeds_and_sizes_equals_r_itself():
    code = LIVE.replace("SEEDS", f"c{SEEDS}").replace("SIZES", f"c{SIZES}")
    lines = rscript(code).splitlines()
    assert len(lines) > 70 * len(SEEDS)
    for line in lines:
        seed, n, k, *sums, u, z1, z2 = line.split()
        n, k, r = int(n), int(k), RStream(int(seed))
        x, y = r.sample(n, k) + 1, r.sample(n, k, replace=True) + 1
        steps = np.arange(1, k + 1)
        assert [float(a) for a in sums] == [x @ steps, x[-1], y @ steps, y[-1]], line
        numbers = [*r.runif(1), *r.rnorm(2)]
        assert numbers == [float.fromhex(a) for a in (u, z1, z2)], line


@pytest.mark.needs_r
def test_a_million_normals_equal_r_itself():
    code = (
        'set.seed(9); out <- pipe("cat", "wb"); writeBin(rnorm(1e6), out); close(out)'
    )
    process = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], capture_output=True, check=True
    )
    assert np.array_equal(np.frombuffer(process.stdout), RStream(9).rnorm(10**6))


def zeros_ahead():
    """Return a stream whose next words are 0."""
    key = np.array([5, *[0] * 622, 1], dtype=np.uint32)
    inner = {"bit_generator": "MT19937", "state": {"key": key, "pos": 1}}
    r = RStream(1)
    r._twister.state = inner
    return r


def test_normals_far_out_in_the_tail_follow_the_same_algorithm():
    p = float(zeros_ahead().runif(1)[0]) / 2**27
    number = zeros_ahead().rnorm(1)[0]
    assert number == statistics.NormalDist().inv_cdf(p) < -8


@pytest.mark.needs_r
@pytest.mark.parametrize("function", ["runif", "rnorm"])
def test_the_word_zero_is_a_number_as_r_makes_it(function):
    output = rscript(
        ".Random.seed <- c(10403L, 1L, 5L, rep(0L, 622), 1L); "
        f"cat(sprintf('%a', {function}(2)))"
    )
    numbers = getattr(zeros_ahead(), function)(2)
    assert numbers.tolist() == [float.fromhex(word) for word in output.split()]
    assert np.isfinite(numbers).all()


@pytest.mark.needs_r
@pytest.mark.parametrize(("n", "k"), [(20_000_000, 3000), (5_000_000_000, 40)])
def test_few_of_very_many_equal_r_itself(n, k):
    code = (
        f"set.seed(6); x <- sample.int({n}, {k}); "
        "cat(sprintf('%.0f', c(x, runif(1) * 2^32)))"
    )
    r = RStream(6)
    words = [float(word) for word in rscript(code).split()]
    assert (r.sample(n, k) + 1).tolist() == words[:-1]
    assert r.runif(1)[0] * 2**32 == words[-1]
