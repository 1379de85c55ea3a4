"""Section 3.3 of Zien et al. (2009): POIM finds a planted motif, weights do not.

The paper gives neither the length of the sequences, nor the degree and the shift of its
weighted-degree kernel, nor C. Ours are 60, 7, 1 and 1. Such a machine is linear in
positional oligomers, so it is fitted to these themselves, as a sparse matrix. The suite
fits the sequences of one seed. Of seeds 1 to 10 POIM is above the band throughout in
ten, the weight of the motif in one.
"""

import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from importance_audit.methods.importance.poim import poim

ROOT = Path(__file__).parents[2]
DRAWN = runpy.run_path(str(ROOT / "scripts" / "draw_paper_data.py"))
DEGREE, LENGTH = 7, 60
MOTIF = "GATTACA"
WORDS = ["".join(word) for word in product("ACGT", repeat=len(MOTIF))]
EXACT = WORDS.index(MOTIF)
CORE = slice(20 - 1, 50)
"""The positions of which the paper says that the motif stands out."""


def other_letters(number):
    """Return which of all 7-mers differ from the motif in so many letters."""
    each = [sum(map(str.__ne__, word, MOTIF)) for word in WORDS]
    return np.array(each) == number


def shares_of(degree):
    """Return which indicators a column of the machine adds up, (n, n), sparse.

    The indicator of an oligomer at its position, and half of those beside it, by the
    kernel's weight of the degree.
    """
    n = LENGTH - degree + 1
    beta = 2 * (DEGREE - degree + 1) / (DEGREE * (DEGREE + 1))
    near = sparse.diags([0.5, 1.0, 0.5], [-1, 0, 1], shape=(n, n))
    return np.sqrt(beta) * sparse.kron(near, sparse.eye(4**degree), format="csr")


def indicators(letters, degree):
    """Return 1 where an oligomer stands at a position, sparse."""
    n = LENGTH - degree + 1
    codes = sum(letters[:, k : k + n] * 4 ** (degree - 1 - k) for k in range(degree))
    columns = (codes + np.arange(n) * 4**degree).reshape(-1)
    starts = np.arange(len(letters) + 1) * n
    shape = (len(letters), n * 4**degree)
    return sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)


def fitted_weights(letters, y):
    """Return the weight of every oligomer at every position, one array per degree."""
    spread = [shares_of(degree) for degree in range(1, DEGREE + 1)]
    parts = [indicators(letters, k) @ each for k, each in enumerate(spread, start=1)]
    machine = LinearSVC(loss="hinge", max_iter=20_000, random_state=1)
    machine.fit(sparse.hstack(parts, format="csr"), y)
    ends = np.cumsum([each.shape[0] for each in spread])[:-1]
    split = np.split(machine.coef_[0], ends)
    return [
        (each @ w).reshape(-1, 4**degree)
        for degree, (each, w) in enumerate(zip(spread, split, strict=True), start=1)
    ]


@pytest.fixture(scope="module")
def curves():
    """Return POIM and weight of every 7-mer, (n_positions, 4^7) each."""
    weights = fitted_weights(*DRAWN["sequences"](1))
    table = poim(weights, n_positions=LENGTH, length=len(MOTIF))
    assert list(table) == WORDS
    return table.to_numpy(), weights[-1]


def above(curve, every):
    """Return how many positions of the core a curve is above the band of strangers."""
    strangers = every[:, other_letters(len(MOTIF))]
    assert strangers.shape[1] == 2187
    return (curve > strangers.mean(axis=1) + strangers.std(axis=1))[CORE].sum()


@pytest.mark.slow
def test_the_planted_motif_is_above_the_band_everywhere_and_its_weight_is_not(curves):
    every, weights = curves
    assert above(every[:, EXACT], every) == 31
    assert above(weights[:, EXACT], weights) < 31
    # Strings near the motif come next.
    exact, one, two = (every[CORE][:, other_letters(d)].mean() for d in (0, 1, 2))
    assert [other_letters(d).sum() for d in (0, 1, 2)] == [1, 21, 189]
    assert exact > one > two > every[CORE][:, other_letters(7)].mean()


def test_a_quarter_of_the_planted_motifs_is_unchanged():
    """And the others differ in one letter: 1/4 of 2500, give or take 4 SD."""
    letters, y = DRAWN["sequences"](1)
    motif = ["ACGT".index(letter) for letter in MOTIF]
    windows = np.lib.stride_tricks.sliding_window_view(letters[y > 0], 7, axis=1)
    nearest = (windows != motif).sum(axis=2).min(axis=1)
    spread = np.sqrt(2500 * 3 / 16)
    assert abs((nearest == 0).sum() - 625) < 4 * spread + 2500 * 54 / 4**7
    assert nearest.max() == 1
