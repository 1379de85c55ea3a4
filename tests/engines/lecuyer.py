"""R's L'Ecuyer-CMRG streams as package future hands them out: what iml draws by.

MRG32k3a of L'Ecuyer (1999), Operations Research 47, 159-164, and the distances of its
streams and substreams of L'Ecuyer and others (2002), Operations Research 50,
1073-1075. The k-th item of a loop of future draws from the first substream of the k-th
stream after the seed that R makes of one uniform number when it changes its generator.
"""

import numpy as np

from importance_audit.records.r_rng import RStream

MODULI = (4294967087, 4294944443)
A12, A13, A21, A23 = 1403580, 810728, 527612, 1370589
FACTORS = (
    ((0, 1, 0), (0, 0, 1), (-A13, A12, 0)),
    ((0, 1, 0), (0, 0, 1), (-A23, 0, A21)),
)
UNIT = 2.328306549295727688e-10
STREAM, SUBSTREAM = 2**127, 2**76


class LEcuyer:
    """One substream: `state` has three words of each of the two recursions."""

    def __init__(self, state):
        self.state = list(state)

    def uniform(self):
        """Return the next uniform number."""
        x, y = self.state[:3], self.state[3:]
        x = [*x[1:], (A12 * x[1] - A13 * x[0]) % MODULI[0]]
        y = [*y[1:], (A21 * y[2] - A23 * y[0]) % MODULI[1]]
        self.state = x + y
        return ((x[2] - y[2]) % MODULI[0] or MODULI[0]) * UNIT

    def sample(self, n, size=None):
        """Return what sample.int(n, size) - 1 draws by "Rejection"."""
        left, drawn = list(range(n)), []
        for m in range(n, n - (n if size is None else size), -1):
            at = self._below(m)
            drawn.append(left[at])
            left[at] = left[m - 1]
        return np.array(drawn)

    def _below(self, n):
        """Return an index below `n` of at most 16 bits."""
        bits = (n - 1).bit_length()
        while True:
            index = int(self.uniform() * 2**16) % 2**bits
            if index < n:
                return index


def ahead(state, n_steps):
    """Return the state so many steps ahead."""
    ends = []
    for k, modulus in enumerate(MODULI):
        matrix, power = np.array(FACTORS[k], dtype=object), n_steps
        end = np.array(state[3 * k : 3 * k + 3], dtype=object)
        while power:
            if power % 2:
                end = matrix.dot(end) % modulus
            matrix, power = matrix.dot(matrix) % modulus, power // 2
        ends += [int(word) for word in end]
    return ends


def substreams(seed, n):
    """Return what the first `n` items of a loop draw by after ``set.seed(seed)``."""
    word = int(RStream(seed).runif(1)[0] * (2**32 - 1))
    words = []
    for _ in range(56):
        word = (69069 * word + 1) % 2**32
        words.append(word)
    state, found = words[50:], []
    assert max(state[3:]) < MODULI[1]
    for _ in range(n):
        found.append(LEcuyer(ahead(state, SUBSTREAM)))
        state = ahead(state, STREAM)
    return found
