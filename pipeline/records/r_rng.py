"""R's random number stream in numpy, bit for bit: set.seed, runif, rnorm, sample.

R >= 3.6 draws from the Mersenne Twister, turns uniforms into normals by inversion and
into indexes by "Rejection". Indexes here start at 0, so they are R's minus 1. Not: R
itself, nor our own generators (`streams`).
"""

from math import log
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
Indexes: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

# Above MANY R hashes the drawn indexes; a BLOCK of words is two turns of the twister.
MANY, BLOCK = 10_000_000, 1248
SMALLEST = 2.328306437080797e-10 / 2  # R's 1 / (2**32 - 1) is rounded to 16 digits


class RStream:
    """R's stream after ``set.seed(seed)``; every call advances it as in R.

    Parameters
    ----------
    seed : int
        As R takes it, from -2147483647 to 2147483647.

    Examples
    --------
    >>> r = RStream(1)
    >>> (r.sample(10) + 1).tolist()  # set.seed(1); sample(10)
    [9, 4, 7, 1, 2, 5, 3, 10, 6, 8]
    """

    def __init__(self, seed: int) -> None:
        self._twister = np.random.MT19937()
        key = _key_of(seed).astype(np.uint32)
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": key, "pos": 624},
        }
        self._ahead: Words = np.empty(0, dtype=np.uint64)

    def _peek(self, n: int) -> Words:
        """Return the next `n` words of 32 bits without advancing the stream."""
        if n > len(self._ahead):
            more = max(n - len(self._ahead), BLOCK)
            self._ahead = np.append(self._ahead, self._twister.random_raw(more))
        return self._ahead[:n]

    def _move(self, n: int) -> None:
        """Advance the stream by `n` words."""
        self._ahead = self._ahead[n:]

    def runif(self, n: int) -> Floats:
        """Return `n` uniform numbers in the open interval (0, 1)."""
        words = self._peek(n)
        self._move(n)
        return np.where(words == 0, SMALLEST, words * 2.0**-32)

    def rnorm(self, n: int) -> Floats:
        """Return `n` standard normal numbers, by inversion of 59 random bits each."""
        coarse, fine = self.runif(2 * n).reshape(n, 2).T
        return _normal_quantile((np.floor(2.0**27 * coarse) + fine) / 2.0**27)

    def sample(
        self, n: int, size: int | None = None, *, replace: bool = False
    ) -> Indexes:
        """Return the result of ``sample.int(n, size, replace) - 1`` in R.

        Parameters
        ----------
        n : int
            Indexes 0 to n - 1 are drawn from.
        size : int, optional
            How many; all `n` in random order by default.
        replace : bool, default False
            Whether an index can come twice.

        Raises
        ------
        ValueError
            If `size` is negative, or more than `n` without replacement.
        """
        k = n if size is None else size
        if k < 0 or (k > n and not replace):
            raise ValueError(
                f"size must be between 0 and {n} without replacement; {k} was given."
            )
        if replace:
            return self._accepted(n, k, falling=False)
        if n > MANY and k <= n / 2:
            return self._distinct(n, k)
        # One index below n, one below n - 1 and so on.
        runs = [self._accepted(m, m - low, falling=True) for m, low in _runs(n, n - k)]
        return _swapped(np.concatenate([np.empty(0, np.int64), *runs]), n)

    def _accepted(self, n: int, k: int, *, falling: bool) -> Indexes:
        """Return the first `k` candidates below their bound, (k,).

        The bound is `n`, and falls by one with each index if `falling`. A candidate
        has as many bits as `n` - 1: the upper halves of one word or more.
        """
        bits = (n - 1).bit_length()
        n_words = bits // 16 + 1
        tries = 2**bits * (log((n + 0.5) / (n - k + 0.5)) if falling else k / n)
        n_candidates = int(tries + 4 * tries**0.5) + 8
        while True:
            words = self._peek(n_candidates * n_words)
            candidates = _upper_halves(words, n_words) & (2**bits - 1)
            places = _below(candidates, n, falling=falling)[:k]
            if len(places) == k:
                break
            n_candidates *= 2
        self._move((int(places[-1]) + 1) * n_words if k else 0)
        return candidates[places]

    def _distinct(self, n: int, k: int) -> Indexes:
        """Return the first `k` distinct indexes below `n`, like R's hash table."""
        indexes = self._accepted(n, k, falling=False)
        while True:
            indexes = indexes[np.sort(np.unique(indexes, return_index=True)[1])]
            if len(indexes) == k:
                return indexes
            more = self._accepted(n, k - len(indexes), falling=False)
            indexes = np.append(indexes, more)


def _key_of(seed: int) -> Indexes:
    """Return the 624 words of the twister's state after `set.seed`."""
    words, word = [], seed % 2**32
    for _ in range(50 + 1 + 624):
        word = (69069 * word + 1) % 2**32
        words.append(word)
    return np.array(words[-624:], dtype=np.int64)


def _runs(n: int, stop: int) -> list[tuple[int, int]]:
    """Return (first, last - 1) of each run of bounds of equal bit length."""
    runs = []
    while n > stop:
        low = max(stop, (1 << (n - 1).bit_length()) >> 1)
        runs.append((n, low))
        n = low
    return runs


def _upper_halves(words: Words, n_words: int) -> Indexes:
    """Return the upper 16 bits of `n_words` words each, joined, high part first."""
    halves = words >> np.uint64(16)
    joined = halves[::n_words]
    for part in range(1, n_words):
        joined = joined << np.uint64(16) | halves[part::n_words]
    return joined.astype(np.int64)


def _below(candidates: Indexes, n: int, *, falling: bool) -> Indexes:
    """Return the positions of the candidates below their bound, (n_accepted,).

    A falling bound is `n` minus the number accepted before. Acceptance depends on
    earlier candidates only, so iterating the comparison with its own counts has one
    fixed point, reached in two to four passes.
    """
    accepted = candidates < n
    while falling:
        before: Indexes = np.cumsum(accepted) - accepted
        again = candidates < n - before
        if np.array_equal(again, accepted):
            break
        accepted = again
    return np.flatnonzero(accepted)


def _swapped(slots: Indexes, n: int) -> Indexes:
    """Return the draws if each drawn slot is refilled from the last slot, (k,).

    Of x = 0 … n - 1, step i takes x[drawn[i]] and puts x[n - 1 - i] in its place. So it
    takes the value that the previous step at the same slot had put there. That value
    came from slot n - 1 - i, where the latest earlier step had put it, and so on back
    to a slot that had not been drawn.
    """
    steps = np.arange(len(slots))
    order = _stable_order(slots, n)
    ranked = slots.take(order)
    previous = np.full(len(slots), -1)  # the previous step at the same slot
    previous[order[1:]] = np.where(ranked[1:] == ranked[:-1], order[:-1], -1)

    latest = np.full(n, -1)  # the last step at a slot; numpy keeps the last of equals
    latest[slots] = steps
    origin = latest[::-1][: len(slots)].copy()
    untouched = np.flatnonzero(origin < 0)
    origin[untouched] = untouched
    while not np.array_equal(origin, farther := origin.take(origin)):
        origin = farther

    values = slots.copy()
    again = np.flatnonzero(previous >= 0)
    values[again] = n - 1 - origin.take(previous[again])
    return values


def _stable_order(keys: Indexes, n: int) -> Indexes:
    """Return the stable order of keys below `n`, by the radix sort of 16-bit keys."""
    order = np.arange(len(keys))
    for shift in range(0, max((n - 1).bit_length(), 1), 16):
        digits = (keys.take(order) >> shift & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digits, kind="stable")]
    return order


# Wichura (1988), algorithm AS 241, PPND16: numerator and denominator, highest power
# first, around the centre, in the tails and far out.
CENTRE = (
    (
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ),
    (
        5226.495278852854561,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ),
)
TAIL = (
    (
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ),
)
FAR = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        0.0012426609473880784386,
        0.026532189526576123093,
        0.29656057182850489123,
        1.7848265399172913358,
        5.4637849111641143699,
        6.6579046435011037772,
    ),
    (
        2.04426310338993978564e-15,
        1.4215117583164458887e-7,
        1.8463183175100546818e-5,
        7.868691311456132591e-4,
        0.0148753612908506148525,
        0.13692988092273580531,
        0.59983220655588793769,
        1.0,
    ),
)


def _polynomial(coefficients: tuple[float, ...], r: Floats) -> Floats:
    """Return the value of a polynomial by Horner's rule, (n,)."""
    value = np.full_like(r, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * r + coefficient
    return value


def _normal_quantile(p: Floats) -> Floats:
    """Return the standard normal quantiles with R's rounding, (n,).

    The logarithm is that of the C library: numpy's may differ in the last digit.
    """
    q = p - 0.5
    r = 0.180625 - q * q
    value = q * _polynomial(CENTRE[0], r) / _polynomial(CENTRE[1], r)

    is_tail = np.abs(q) > 0.425
    tail = np.where(q < 0, p, 1 - p)[is_tail]
    r = np.sqrt([-log(share) for share in tail.tolist()])
    near = _polynomial(TAIL[0], r - 1.6) / _polynomial(TAIL[1], r - 1.6)
    far = _polynomial(FAR[0], r - 5.0) / _polynomial(FAR[1], r - 5.0)
    value[is_tail] = np.copysign(np.where(r <= 5.0, near, far), q[is_tail])
    return value
