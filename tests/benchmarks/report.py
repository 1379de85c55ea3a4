"""Time the report at 30 features: HTML below 1 s, PDF below 5 s, each figure alone.

Run from the project's root: ``python3 -m tests.benchmarks.report``. Prints one table:
medians by the clock, and of what processors spent on it, the child's included, which
says more where others share the machine.
"""

import os
from datetime import datetime
from functools import partial
from statistics import median
from time import perf_counter

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import read_datasets
from importance_audit.report.pages.html import own_file, print_html, to_html
from importance_audit.report.pages.pdf import conformity_statement, to_pdf
from importance_audit.report.pages.view import build_view

ROUNDS = 3
GIVEN = {
    "data": {
        "train": {"sklearn": "load_breast_cancer"},
        "test": {"fraction": 0.33},
        "target": "target",
        "task": "binary",
    },
    "models": [
        {
            "name": "forest",
            "estimator": "sklearn.ensemble.RandomForestClassifier",
            "parameters": {"n_estimators": 20, "random_state": 1},
        },
        {
            "name": "bayes",
            "estimator": "sklearn.naive_bayes.GaussianNB",
            "parameters": {},
        },
    ],
    "importance": [
        {"method": "permutation", "n_repeats": 10},
        {"method": "partial_dependence", "n_grid": 21},
        {"method": "impurity", "models": ["forest"]},
    ],
}


def timed(function):
    """Return the median seconds of a call, by the clock and of all processors."""
    function()
    clock, processor = [], []
    for _ in range(ROUNDS):
        start, used = perf_counter(), sum(os.times()[:4])
        function()
        clock.append(perf_counter() - start)
        processor.append(sum(os.times()[:4]) - used)
    return median(clock), median(processor)


def audited():
    """Return the audit of two models of 30 features."""
    config = parse_config(GIVEN)
    return audit(*read_datasets(**config.data_arguments), config)


def html(result):
    """Return the page from the result: view, figures and all."""
    return to_html(build_view(result))


def drawn(figure):
    """Return a figure as SVG, drawn anew."""
    return figure.draw(**figure.data).svg(figure.id)


def main():
    """Print one line per rendering and one per figure."""
    result = audited()
    view = build_view(result)
    page = print_html(view, conformity=conformity_statement())
    printed = partial(
        to_pdf,
        page,
        print_css=own_file("print.css"),
        created=datetime.fromisoformat(view.created.replace("Z", "+00:00")),
        identifier=b"0123456789abcdef",
    )
    rows = [("HTML", 1.0, partial(html, result)), ("PDF", 5.0, printed)]
    for figure in view.figures:
        rows.append((figure.id, None, partial(drawn, figure)))
    print(f"{'what':44} {'budget':>7} {'clock':>7} {'spent':>7}")
    for name, budget, function in rows:
        clock, spent = timed(function)
        limit = f"{budget:.1f}" if budget else ""
        print(f"{name:44} {limit:>7} {clock:7.3f} {spent:7.3f}")


if __name__ == "__main__":
    main()
