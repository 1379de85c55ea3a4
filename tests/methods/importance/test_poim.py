"""POIM: every sequence enumerated, FIRM of the same features, what must not matter."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.methods.importance.toys import rows_of, score_of

from importance_audit.methods.importance.firm import firm
from importance_audit.methods.importance.poim import poim

LETTERS = "ACG"
N = 5


def drawn_weights(longest, seed=1):
    """Return one array of weights per length up to `longest`."""
    random = np.random.default_rng(seed)
    return [random.normal(size=(N - d + 1, 3**d)) for d in range(1, longest + 1)]


def as_mapping(arrays):
    words = [["".join(w) for w in product(LETTERS, repeat=d)] for d in range(1, 9)]
    return {
        (word, i + 1): array[i, k]
        for d, array in enumerate(arrays)
        for i in range(len(array))
        for k, word in enumerate(words[d])
    }


def enumerated(weights, length, first, steps, n=N, letters=LETTERS):
    """Return (q_z - q_notz) sqrt(p (1 - p)) over every sequence."""
    sequences = ["".join(word) for word in product(letters, repeat=n)]
    words = np.array([[x[i:] for i in range(n)] for x in sequences])
    codes = np.array([[letters.index(letter) for letter in x] for x in sequences])
    p = first[codes[:, 0]] * np.prod(
        [steps[i][codes[:, i], codes[:, i + 1]] for i in range(n - 1)], axis=0
    )
    s = sum(w * np.char.startswith(words[:, i - 1], u) for (u, i), w in weights.items())
    scores = {}
    for word in map("".join, product(letters, repeat=length)):
        for i in range(n - length + 1):
            has = np.char.startswith(words[:, i], word)
            share = p @ has
            gap = (p * has) @ s / share - (p * ~has) @ s / (1 - share)
            scores[word, i + 1] = gap * np.sqrt(share * (1 - share))
    return scores


EVEN = np.full(3, 1 / 3)
SHARES = np.array([0.5, 0.3, 0.2])
STEPS = np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
CHANGING = np.random.default_rng(4).dirichlet(np.ones(3), size=(N - 1, 3))
PLACED = np.random.default_rng(5).dirichlet(np.ones(3), size=N)
BACKGROUNDS = {
    "even": ({}, EVEN, [np.tile(EVEN, (3, 1))] * (N - 1)),
    "one distribution": (
        {"probabilities": SHARES},
        SHARES,
        [np.tile(SHARES, (3, 1))] * (N - 1),
    ),
    "one per position": (
        {"probabilities": PLACED},
        PLACED[0],
        [np.tile(row, (3, 1)) for row in PLACED[1:]],
    ),
    "a chain": (
        {"probabilities": SHARES, "transitions": STEPS},
        SHARES,
        [STEPS] * (N - 1),
    ),
    "a changing chain": ({"transitions": CHANGING}, EVEN, CHANGING),
}


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize(
    ("longest", "length"), [(1, 1), (1, 3), (3, 1), (3, 2), (3, 4), (5, 2), (2, 5)]
)
def test_it_is_the_difference_of_means_over_every_sequence(background, longest, length):
    options, first, steps = BACKGROUNDS[background]
    arrays = drawn_weights(longest)
    table = poim(arrays, n_positions=N, length=length, alphabet=LETTERS, **options)
    truth = enumerated(as_mapping(arrays), length, first, steps)
    by_name = {(z, j): table.loc[j, z] for z in table for j in table.index}
    assert by_name == pytest.approx(truth, abs=1e-12)


def test_it_is_firm_of_the_same_features_on_every_sequence_once():
    """In an audit: columns of letters, and oligomers as columns made of them."""
    weights = {("A", 1): 2.0, ("CG", 2): -1.0, ("ACA", 1): 0.5}
    X = pd.DataFrame(list(product(LETTERS, repeat=3)), columns=["p1", "p2", "p3"])
    whole = X.p1 + X.p2 + X.p3
    features = pd.DataFrame({"CG": whole.str[1:] == "CG", "AC": whole.str[1:] == "AC"})
    s = 2.0 * (X.p1 == "A") - (whole.str[1:] == "CG") + 0.5 * (whole == "ACA")
    model = score_of(lambda X: s.loc[X.index], ["CG"])
    raw, _ = firm(model, rows_of(features), seed=1, estimator="binary")
    exact = poim(weights, n_positions=3, length=2, alphabet=LETTERS)
    assert raw[:, 0, 0] == pytest.approx(exact.loc[2, ["CG", "AC"]], abs=1e-12)


def test_what_never_or_always_stands_there_has_no_answer():
    options = {"alphabet": "AC", "probabilities": [[1, 0], [0.5, 0.5]]}
    table = poim({("A", 2): 1.0}, n_positions=2, length=1, **options)
    assert table.isna().to_numpy().tolist() == [[True, True], [False, False]]
    assert table.loc[2].tolist() == pytest.approx([0.5, -0.5])


def test_what_is_given_stays_as_it_was():
    arrays = drawn_weights(2)
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.setflags(write=False)
    poim(arrays, n_positions=N, length=2, alphabet=LETTERS)
    assert all((a == b).all() for a, b in zip(arrays, copies, strict=True))


USUAL = {"n_positions": 3, "length": 2}
WEIGHTS = {("AC", 1): 1.0}
EVEN_STEPS = np.full((4, 4), 0.2)
REFUSED = [
    (WEIGHTS, {"length": 4}, "length must be between 1 and n_positions, 3; 4"),
    ({("ACGT", 1): 1}, {}, "must be of oligomers within 3 positions; "),
    ({("", 1): 1.0}, {}, "weights must be of oligomers of the letters"),
    ([np.zeros((3, 4))] * 4, {}, "4 letters."),
    (WEIGHTS, {"probabilities": [1.5, -0.5, 0, 0]}, "must be 0 or above; -0.5 was"),
    ({("AX", 1): 1.0}, {}, "of the letters 'ACGT'; 'AX' was given."),
    ([np.zeros((3, 4)), np.zeros((3, 16))], {}, "(2, 16); (3, 16) was given."),
    ({("AC", 1): np.nan}, {}, "must be finite; one of length 2 is not."),
    (WEIGHTS, {"alphabet": "ACC"}, "alphabet must hold two letters or more"),
    (WEIGHTS, {"probabilities": [0.5, 0.25, 0.25, 0.25]}, "a sum is 1.25. Divide"),
    (WEIGHTS, {"probabilities": [0.5, 0.5]}, "(4,) or (3, 4); (2,) was given."),
    (WEIGHTS, {"transitions": EVEN_STEPS}, "transitions must sum to 1"),
]


@for_each(REFUSED)
def test_what_cannot_be_asked_says_why(case):
    weights, options, words = case
    with pytest.raises(ValueError, match=re.escape(words)):
        poim(weights, **(USUAL | options))


def test_one_position_has_no_step_to_the_next():
    usual = USUAL | {"n_positions": 1, "length": 1}
    table = poim({("A", 1): 1.0}, **usual, transitions=np.zeros((0, 4, 4)))
    pd.testing.assert_frame_equal(table, poim({("A", 1): 1.0}, **usual))
