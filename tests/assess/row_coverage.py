"""How often a 95 % interval over other rows holds the true importance, loss by loss.

python -m tests.assess.row_coverage 1000

Two features and models whose importances are known: of a linear model in closed form;
of a class with p(x) = 1 / (1 + exp(-d x)), x normal about ±d/2, by the normal
distribution and by integration.
"""

import sys

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import norm
from tests.assess.measured import importance_of

from importance_audit.assess.row_intervals import row_intervals
from importance_audit.data.datasets import dataset
from importance_audit.methods.importance.permutation import permutation
from importance_audit.models.fit import wrap

B, D = 1.5, 2.0
LOSSES = {
    "regression": ("mse", "rmse", "mae"),
    "binary": ("log_loss", "brier", "one_minus_auc"),
}


def probability(x):
    return 1 / (1 + np.exp(-D * x))


def made(task, n, seed, weights=None):
    """Return rows of x1, which the target follows, and x2; and the model that did."""
    draws = np.random.default_rng(seed)
    x1, x2, noise = draws.normal(size=(3, n))
    if task == "regression":
        y = B * x1 + noise
    else:
        y = draws.integers(2, size=n)
        x1 = x1 + D * (y - 0.5)
    X = pd.DataFrame({"x1": x1, "x2": x2})
    data = dataset(X, y, task=task, name="made", weights=weights)
    predict = {
        "regression": lambda X: B * X["x1"].to_numpy(),
        "binary": lambda X: probability(X["x1"].to_numpy()),
    }[task]
    return model_of(predict, data, LOSSES[task]), data


def model_of(predict, data, losses):
    """Return a function as a model that is judged by these losses."""
    facts = {"name": "model", "task": data.task, "features": data.features}
    if data.classes:
        facts["classes"] = data.classes
    return wrap(predict, **facts).with_losses(losses)


def measured(model, data, *, seed=1, form="difference", **options):
    """Return a record per loss of the model, and what each row adds to them."""
    answer = permutation(
        model, data, seed=seed, form=form, keep=("row_terms",), **options
    )
    raw, baseline = answer
    fields = {"data": data, "form": form, "options": options}
    records = [
        importance_of(raw[:, :, k], baseline[:, k], loss=loss, **fields)
        for k, loss in enumerate(model.losses)
    ]
    return records, answer.row_terms


def true_importances():
    """Return the importance of x1 by loss, over all rows there could be."""
    root = np.sqrt(1 + 2 * B**2)
    values = {"mse": 2 * B**2, "rmse": root - 1, "mae": np.sqrt(2 / np.pi) * (root - 1)}
    values["one_minus_auc"] = norm.cdf(D / np.sqrt(2)) - 0.5

    def mean(of_class, other):
        """Integrate a loss of x where x and its class are drawn apart, or together."""
        apart = lambda x: 0.5 * (of_class(x) + other(x))  # noqa: E731
        density = lambda x: 0.5 * (norm.pdf(x - D / 2) + norm.pdf(x + D / 2))  # noqa: E731
        together = lambda x: of_class(x) * norm.pdf(x - D / 2)  # noqa: E731
        permuted = quad(lambda x: apart(x) * density(x), -12, 12)[0]
        return permuted - quad(together, -12, 12)[0]

    values["brier"] = mean(
        lambda x: probability(-x) ** 2, lambda x: probability(x) ** 2
    )
    values["log_loss"] = mean(
        lambda x: np.logaddexp(0, -D * x), lambda x: np.logaddexp(0, D * x)
    )
    return values


def coverage(task, n_tables, n=300, n_repeats=5, resamples=1000):
    """Return which share of the intervals holds the true importance, by loss."""
    true, hits = true_importances(), dict.fromkeys(LOSSES[task], 0)
    for seed in range(n_tables):
        model, data = made(task, n, seed)
        records, terms = measured(model, data, seed=seed, n_repeats=n_repeats)
        for record in records:
            row = row_intervals(
                record, terms, record=0, resamples=resamples, top_k=1, seed=seed
            )[0]
            hits[record.loss] += row["low"] <= true[record.loss] <= row["high"]
    return {loss: count / n_tables for loss, count in hits.items()}


if __name__ == "__main__":
    for task in LOSSES:
        print(coverage(task, int(sys.argv[1])))
