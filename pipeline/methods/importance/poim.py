"""FIRM of oligomers at positions, exact under a Markov background: POIM.

`firm` measures a score on rows.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import Floats
from ...records.errors import quote

Weights: TypeAlias = Mapping[tuple[str, int], float] | Sequence[npt.ArrayLike]
_ROUNDING = 1e-9


class _Chain(NamedTuple):
    """The background, a Markov chain of letters.

    Attributes
    ----------
    shares : ndarray of shape (n_positions, n_letters)
        The probability of each letter at each position.
    steps : ndarray of shape (n_positions + reach - 1, n_letters, n_letters)
        The transition probabilities from each position to the next. Letters that no
        term reads follow the last position, so that every window is full.
    """

    shares: Floats
    steps: Floats


def poim(
    weights: Weights,
    *,
    n_positions: int,
    length: int,
    alphabet: str = "ACGT",
    probabilities: npt.ArrayLike | None = None,
    transitions: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    r"""Return the importance of every oligomer of a length at every position.

    A score of sequences is linear in positional oligomers,
    :math:`s(x) = b + \sum_{u,i} w_{u,i} 1\{x_{i \ldots i+|u|-1} = u\}`, as that of a
    machine with a weighted-degree kernel is. For an oligomer *z* at position *j*, of
    probability *p* in the background, the positional oligomer importance [1]_ is

    .. math::
        Q_{z,j} = \bigl(E[s \mid z \text{ at } j] - E[s]\bigr) \sqrt{p / (1 - p)}
                = \bigl(E[s \mid z \text{ at } j] - E[s \mid \text{not}]\bigr)
                  \sqrt{p (1 - p)},

    the FIRM [2]_ of the feature "*z* is at *j*". It is exact: expectations are over all
    sequences of the background, not over rows. An oligomer shares in the weights of all
    its parts and of all that overlap it, so it may matter without a weight of its own.

    Parameters
    ----------
    weights : mapping or sequence of array-like
        ``{(oligomer, position): weight}``, where the first position is 1 and oligomers
        may differ in length; or one array per length 1, 2, …, of shape
        (n_positions - length + 1, n_letters ** length), oligomers in the order of the
        alphabet, the last letter changing fastest. A constant term changes nothing.
    n_positions : int
        Length of the sequences.
    length : int
        Length of the oligomers that are measured; they need no weight.
    alphabet : str, default "ACGT"
        The letters.
    probabilities : array-like of shape (n_letters,) or (n_positions, n_letters)
        Probabilities of the letters, at every position or at each; letters are
        independent. With `transitions`, (n_letters,), at the first position. By default
        all letters are equally probable.
    transitions : array-like of shape (n_letters, n_letters), optional
        The probability of each letter (column) after each letter (row); or one such
        matrix per step, (n_positions - 1, n_letters, n_letters).

    Returns
    -------
    DataFrame of shape (n_positions - length + 1, n_letters ** length)
        Signed, in units of the score. The index is the position of the first letter,
        from 1; a column is an oligomer. NaN for an oligomer that is never or always
        there.

    Raises
    ------
    ValueError
        If an oligomer does not fit the positions or holds other letters, weights have
        another shape or are not finite, or probabilities are negative or do not sum
        to 1.

    Warnings
    --------
    It depends on the background that is given, not on the rows that were fitted. Time
    and memory grow with n_letters ** length, of the measured and of the longest
    weighted oligomers.

    References
    ----------
    .. [1] Sonnenburg, Zien, Philips and Rätsch (2008). POIMs: positional oligomer
       importance matrices. Bioinformatics 24(13), i6-i14.
       doi:10.1093/bioinformatics/btn170
    .. [2] Zien, Krämer, Sonnenburg and Rätsch (2009). The Feature Importance Ranking
       Measure. ECML PKDD, LNCS 5782, 694-709. doi:10.48550/arXiv.0906.4258

    Examples
    --------
    One letter of weight 8: the oligomer "CG" shares in it, two positions on.

    >>> found = poim({("C", 2): 8.0}, n_positions=3, length=2)
    >>> found["CG"].round(3).to_dict()
    {1: -0.516, 2: 1.549}
    """
    letters = tuple(alphabet)
    if len(set(letters)) < max(len(letters), 2):
        raise ValueError(
            f"alphabet must hold two letters or more, each once; {quote(alphabet)} was "
            "given."
        )
    if not 1 <= length <= n_positions:
        raise ValueError(
            f"length must be between 1 and n_positions, {n_positions}; {length} "
            "was given."
        )
    arrays = _arrays(weights, letters, n_positions)
    reach = max(len(arrays) - 1, 1)
    chain = _chain(probabilities, transitions, len(letters), n_positions, reach)
    windows = _windows(arrays, len(letters), n_positions, reach)
    before, behind = _before(windows, chain), _behind(windows, chain)
    values = []
    for j in range(n_positions - length + 1):
        expected = _expected_given(j, length, windows, before, behind, chain)
        values.append(_importance(expected, _probability(j, length, chain)))
    columns = ["".join(word) for word in product(letters, repeat=length)]
    positions = pd.RangeIndex(1, len(values) + 1, name="position")
    return pd.DataFrame(np.stack(values), index=positions, columns=columns)


def _importance(expected: Floats, p: Floats) -> Floats:
    """Return POIM's formula from the expected score and probability by oligomer."""
    is_open = (p > 0) & (p < 1)
    odds = np.divide(p, 1 - p, out=np.full(len(p), np.nan), where=is_open)
    return np.asarray((expected - p @ expected) * np.sqrt(odds))


def _windows(
    arrays: Sequence[Floats], n_letters: int, n_positions: int, reach: int
) -> Floats:
    """Return the weights of all terms that begin at each position.

    They are a function of the `reach` + 1 letters from there: (n_positions, n_letters
    ** (reach + 1)). Terms that run over the end have no weight.
    """
    windows = np.zeros((n_positions, n_letters ** (reach + 1)))
    for degree, array in enumerate(arrays, start=1):
        shape = (len(array), n_letters**degree, -1)
        windows[: len(array)].reshape(shape)[...] += array[:, :, np.newaxis]
    return windows


def _before(windows: Floats, chain: _Chain) -> Floats:
    """Return the expected contribution of terms that begin before *j*.

    Given the `reach` letters from *j* on: (n_positions, n_letters ** reach).
    """
    n_letters = chain.shares.shape[1]
    overlap = np.zeros((len(windows), windows.shape[1] // n_letters))
    for j in range(1, len(windows)):
        both = overlap[j - 1][:, np.newaxis] + windows[j - 1].reshape(-1, n_letters)
        joint = chain.shares[j - 1][:, np.newaxis] * chain.steps[j - 1]
        share = chain.shares[j]
        back = np.divide(joint, share, out=np.zeros_like(joint), where=share > 0)
        by_letters = both.reshape(n_letters, n_letters, -1)
        overlap[j] = np.einsum("abr,ab->br", by_letters, back).reshape(-1)
    return overlap


def _behind(windows: Floats, chain: _Chain) -> Floats:
    """Return the expected contribution of terms that begin at *j* or behind.

    Given the `reach` letters from *j* on: (n_positions, n_letters ** reach).
    """
    n_letters = chain.shares.shape[1]
    reach = len(chain.steps) - len(windows) + 1
    overlap = np.zeros((len(windows) + 1, windows.shape[1] // n_letters))
    for j in reversed(range(len(windows))):
        both = windows[j].reshape(n_letters, -1) + overlap[j + 1]
        overlap[j] = _forget_last(both.reshape(-1), chain.steps[j + reach - 1])
    return overlap


def _forget_last(values: Floats, step: Floats) -> Floats:
    """Return the expectation over the last letter, given the one before it."""
    by_letters = values.reshape(-1, *step.shape)
    return np.asarray(np.einsum("rbc,bc->rb", by_letters, step).reshape(-1))


def _expected_given(
    j: int,
    length: int,
    windows: Floats,
    before: Floats,
    behind: Floats,
    chain: _Chain,
) -> Floats:
    """Return the expected score given each oligomer at *j*, without the constant.

    The letters of a long oligomer are known to every window inside it; a short one is
    extended to `reach` letters, over which the expectation is then taken.
    """
    n_letters = chain.shares.shape[1]
    reach = len(chain.steps) - len(windows) + 1
    if length < reach:
        expected = before[j] + behind[j]
        for last in range(reach - 1, length - 1, -1):
            expected = _forget_last(expected, chain.steps[j + last - 1])
        return expected
    expected = np.zeros(n_letters**length)
    expected.reshape(n_letters**reach, -1)[...] += before[j][:, np.newaxis]
    for k in range(length - reach):
        inside = expected.reshape(n_letters**k, n_letters ** (reach + 1), -1)
        inside += windows[j + k][:, np.newaxis]
    expected.reshape(-1, n_letters**reach)[...] += behind[j + length - reach]
    return expected


def _probability(j: int, length: int, chain: _Chain) -> Floats:
    """Return the probability of each oligomer at *j*."""
    p = chain.shares[j]
    for k in range(j, j + length - 1):
        by_last = p.reshape(-1, len(chain.steps[k]), 1)
        p = (by_last * chain.steps[k]).reshape(-1)
    return p


def _chain(
    probabilities: npt.ArrayLike | None,
    transitions: npt.ArrayLike | None,
    n_letters: int,
    n_positions: int,
    reach: int,
) -> _Chain:
    """Return the background, validated."""
    even = np.full(n_letters, 1 / n_letters)
    distributions = even if probabilities is None else probabilities
    each = (n_positions, n_letters)
    shapes: list[tuple[int, ...]] = [(n_letters,)]
    shapes += [each] if transitions is None else []
    first = _distribution("probabilities", distributions, shapes)
    behind = np.broadcast_to(even, (reach, n_letters, n_letters))
    if transitions is None:
        shares = np.array(np.broadcast_to(first, each))
        steps = np.repeat(shares[1:, np.newaxis], n_letters, axis=1)
        return _Chain(shares, np.concatenate([steps, behind]))
    square = (n_letters, n_letters)
    every = (n_positions - 1, *square)
    steps = _distribution("transitions", transitions, [square, every])
    steps = np.broadcast_to(steps, every)
    chain = [first]
    for step in steps:
        chain.append(chain[-1] @ step)
    return _Chain(np.stack(chain), np.concatenate([steps, behind]))


def _distribution(
    name: str, values: npt.ArrayLike, shapes: Sequence[tuple[int, ...]]
) -> Floats:
    """Return probabilities, validated."""
    distribution = np.array(values, dtype=np.float64)
    if distribution.shape not in shapes:
        rule = " or ".join(map(str, shapes))
        raise ValueError(
            f"{name} must have shape {rule}; {distribution.shape} was given."
        )
    if not (distribution >= 0).all():
        raise ValueError(
            f"{name} must be 0 or above; "
            f"{distribution[~(distribution >= 0)][0]:g} was given."
        )
    if not distribution.size:  # one position: there is no step to the next
        return distribution
    sums = distribution.sum(axis=-1, keepdims=True)
    farthest = sums.flat[np.argmax(np.abs(sums - 1))]
    if abs(farthest - 1) > _ROUNDING:
        raise ValueError(
            f"{name} must sum to 1 over the letters; a sum is {farthest:g}. Divide "
            "them by their sum."
        )
    return np.asarray(distribution / sums)


def _arrays(
    weights: Weights, letters: tuple[str, ...], n_positions: int
) -> list[Floats]:
    """Return one array of weights per length, from 1 to the longest."""
    if isinstance(weights, Mapping):
        arrays = _of_mapping(weights, letters, n_positions)
    else:
        arrays = [np.array(array, dtype=np.float64) for array in weights]
    if len(arrays) > n_positions:
        raise ValueError(
            f"weights must be of oligomers within {n_positions} positions; some "
            f"have {len(arrays)} letters."
        )
    for degree, array in enumerate(arrays, start=1):
        shape = (n_positions - degree + 1, len(letters) ** degree)
        if array.shape != shape:
            raise ValueError(
                f"weights of oligomers of length {degree} must have shape {shape}; "
                f"{array.shape} was given."
            )
        if not np.isfinite(array).all():
            raise ValueError(f"weights must be finite; one of length {degree} is not.")
    return arrays


def _of_mapping(
    weights: Mapping[tuple[str, int], float],
    letters: tuple[str, ...],
    n_positions: int,
) -> list[Floats]:
    """Return the arrays of weights, from a mapping."""
    place = {letter: code for code, letter in enumerate(letters)}
    for oligomer, position in weights:
        if not oligomer or set(oligomer) - set(letters):
            raise ValueError(
                "weights must be of oligomers of the letters "
                f"{quote(''.join(letters))}; {quote(oligomer)} was given."
            )
        if not 1 <= position <= n_positions - len(oligomer) + 1:
            raise ValueError(
                f"weights must be of oligomers within {n_positions} positions; "
                f"{quote(oligomer)} at {position} is not."
            )
    longest = max((len(oligomer) for oligomer, _ in weights), default=0)
    arrays = [
        np.zeros((n_positions - degree + 1, len(letters) ** degree))
        for degree in range(1, longest + 1)
    ]
    for (oligomer, position), weight in weights.items():
        code = 0
        for letter in oligomer:
            code = code * len(letters) + place[letter]
        arrays[len(oligomer) - 1][position - 1, code] = weight
    return arrays
