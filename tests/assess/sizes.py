"""How often each test of an importance rejects at 5 %, where it should not and should.

python -m tests.assess.sizes 2000

y = b1 x1 + b2 x2 + noise, by least squares with both; x2 is tested. A table is drawn
anew each time, training rows and evaluation rows.
"""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from importance_audit.assess.paired_tests import (
    STATISTICS,
    sign_flip_test,
    signs_of,
    t_test,
)
from importance_audit.assess.significance import p_values
from importance_audit.auditing.measure import Question, importances
from importance_audit.auditing.steps.shuffled_targets import shuffled
from importance_audit.config.load import parse_config
from importance_audit.engines import describe_engine
from importance_audit.methods.importance.drop_column import drop_column
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.samplers import NAMES
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection

LEVEL = 0.05
TESTS = (*STATISTICS, "fisher")
OLS = ModelSection(name="ols", estimator="sklearn.linear_model.LinearRegression")
FITTED, JUDGED = 100, 300
"""Training and evaluation rows; the latter so many that the sign test can come near."""
LEI_ROWS = 20 * JUDGED
"""Training rows of Lei's test. The fewer, the more it costs to estimate the effect of
noise, so leaving it out helps, and the test rejects less often than it may."""
K, HELD_OUT = 15, 0.2
SHUFFLES = 19
BALANCE = 1 / np.sqrt((1 - HELD_OUT) * FITTED - 4)
"""The effect of x2 that is worth as much as it costs to estimate, of two features:
b2**2 = 1 / (n - p - 2) for n normal rows and p features."""


def table(seed, n, b2=0.0, correlation=0.0, split="test"):
    """Return rows of x1 and x2, and of y = x1 + b2 x2 + noise."""
    draws = np.random.default_rng([seed, n, split == "test"])
    x1, x2, noise = draws.normal(size=(3, n))
    x2 = correlation * x1 + np.sqrt(1 - correlation**2) * x2
    X = pd.DataFrame({"x1": x1, "x2": x2})
    data = normal_data(1, 0, n_samples=n)
    return replace(data, X=X, y=x1 + b2 * x2 + noise, split=split)


def fitted(train, loss="mse"):
    return fit(OLS, train).with_losses((loss,))


def p_of(statistic, differences, seed):
    """Return the p-value of some differences."""
    if statistic == "fisher":
        flips = signs_of(seed, "x2", len(differences))
        return sign_flip_test(differences, flips).p_value
    return STATISTICS[statistic](differences).p_value


def of_permutation(seed, *, n_repeats, within="none", **made):
    """Return the p-values of permuting x2, by test."""
    model = fitted(table(seed, FITTED, split="train", **made))
    answer = permutation(
        model,
        table(seed, JUDGED, **made),
        seed=seed,
        n_repeats=n_repeats,
        within=within,
        keep=("paired_losses",),
    )
    differences = answer.paired_losses.differences("mse", 1)
    return {name: p_of(name, differences, seed) for name in TESTS}


def of_refit(seed, *, n_train=LEI_ROWS, **made):
    """Return the p-values of leaving x2 out, by test."""
    model = fitted(table(seed, n_train, split="train", **made), "mae")
    test = table(seed, JUDGED, **made)
    answer = drop_column(model, test, seed=seed, n_repeats=1, keep=("paired_losses",))
    differences = answer.paired_losses.differences("mae", 1)
    return {name: p_of(name, differences, seed) for name in TESTS}


def of_splits(seed, **made):
    """Return the p-values of leaving x2 out over random splits, by variance."""
    train = table(seed, FITTED, split="train", **made)
    raw, baseline = drop_column(
        fitted(train), train, seed=seed, n_repeats=K, held_out=HELD_OUT
    )
    rises = (raw - baseline)[1, :, 0]
    share = HELD_OUT / (1 - HELD_OUT)
    overlaps = {"nadeau_bengio": share, "uncorrected": 0.0}
    return {k: t_test(rises, overlap=v).p_value for k, v in overlaps.items()}


def of_shuffles(seed, *, b1=0.0, **made):
    """Return the p-value of the weight of x2 by refits to shuffled targets."""
    train = table(seed, FITTED, split="train", **made)
    train = replace(train, y=train.y + (b1 - 1) * train.X["x1"].to_numpy())
    entry = {"method": "raw_weights"}
    section = parse_config({"importance": [entry]}).importance[0]
    question = Question(fitted(train), train, section, describe_engine("python"))
    (record,) = importances(question, seed=seed, stream="")
    again = shuffled(
        question, seed=seed, shuffles=SHUFFLES, report_progress=str, refits=True
    )
    null = np.array([one.mean for (one,) in again])
    return {"altmann": p_values(record.mean, null)[1]}


def rates(measure, n_tables):
    """Return the share of tables in which each test rejects."""
    p = pd.DataFrame([measure(seed) for seed in range(n_tables)])
    return (p <= LEVEL).mean()


NULL = {
    "cpi, 1 repeat": partial(of_permutation, n_repeats=1),
    "cpi, 10 repeats": partial(of_permutation, n_repeats=10),
    **{
        f"cpi, 1 repeat, x2 goes with x1, within {within}": partial(
            of_permutation, n_repeats=1, within=within, correlation=0.8
        )
        for within in NAMES["within"]
    },
    "lei": of_refit,
    f"lei, {JUDGED} training rows": partial(of_refit, n_train=JUDGED),
    "refits, x2 worth its cost": partial(of_splits, b2=BALANCE),
    "refits": of_splits,
    "shuffled targets, y is noise": of_shuffles,
    "shuffled targets, x1 matters": partial(of_shuffles, b1=1.0),
}
"""x2 has no effect, or of refits one that is worth no more than it costs."""
POWER = {
    "cpi, 1 repeat, b2 = 0.2": partial(of_permutation, n_repeats=1, b2=0.2),
    "cpi, 10 repeats, b2 = 0.2": partial(of_permutation, n_repeats=10, b2=0.2),
    "lei, b2 = 0.2": partial(of_refit, b2=0.2),
    "refits, b2 = 0.4": partial(of_splits, b2=0.4),
    "shuffled targets, b2 = 0.4": partial(of_shuffles, b2=0.4),
}


if __name__ == "__main__":
    for title, questions in (("null", NULL), ("alternative", POWER)):
        for name, measure in questions.items():
            shares = rates(measure, int(sys.argv[1]))
            shown = ", ".join(f"{test} {share:.1%}" for test, share in shares.items())
            print(f"{title}: {name}: {shown}", flush=True)
