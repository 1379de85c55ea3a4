"""SAGE against the numbers of R's xplainfi: every recorded case, drawn in its order."""

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.engines.test_xplainfi import CASES, SCORES, XPLAINFI, model_of, rows_of

from importance_audit.methods.importance.coalitions import (
    Coalitions,
    row_sampler,
    rows_for_model,
)
from importance_audit.methods.importance.sage import (
    Stop,
    reference_rows,
    replayed,
    sage,
)
from importance_audit.records.r_rng import RStream

CASES = {name: case for name, case in CASES.items() if name.startswith("sage-")}
EXACT = {"rel": 1e-12, "abs": 1e-12}


def is_compared(case):
    """Return whether a case is of SAGE."""
    return case.startswith("sage-")


def history(case):
    """Return at which orders R looked, and its means and errors there, by feature."""
    table = pd.DataFrame(case["result"]["history"])
    cells = [
        table.pivot(index="n_permutations", columns="feature", values=v)
        for v in ("importance", "se")
    ]
    means, errors = (cell[sorted(cell)].to_numpy() for cell in cells)
    return cells[0].index.to_numpy(), means, errors


def check(case, gains):
    """Compare the gains of each order, (n_orders, n_features), with R's history."""
    sign = SCORES[case["options"]["measure"]][1] or -1  # of the AUC itself
    looked, means, errors = history(case)
    assert len(gains) == case["result"]["n_permutations_used"] == looked[-1]
    for n, mean, error in zip(looked, means, errors, strict=True):
        assert sign * gains[:n].mean(axis=0) == pytest.approx(mean, **EXACT)
        assert gains[:n].std(axis=0) / np.sqrt(n) == pytest.approx(error, **EXACT)
    final = case["result"]["importance"]["importance"]
    assert sign * gains.mean(axis=0) == pytest.approx(final, **EXACT)


@for_each(CASES)
def test_values_are_those_of_xplainfi(name):
    case = CASES[name]
    data, options = rows_of({**case, "options": {}}), case["options"]
    model = model_of(case)
    n_orders, n_draws = options["n_permutations"], options["n_samples"]
    if "KNN" in (options["sampler"] or ""):
        sampler = neighbours(data, n_draws)
        game, stop = game_of(model, data, sampler, n_draws), Stop(0, every=1, ddof=0)
        gains = replayed(game, RStream(case["seed"]), n_orders, stop)
    elif options.get("early_stopping"):
        r = RStream(case["seed"])
        drawn = reference_rows(r, data.n_samples, n_draws)
        sampler = row_sampler(data, data.features, drawn)
        rule = [options[k] for k in ("se_threshold", "min_permutations")]
        stop = Stop(*rule, every=options["check_interval"], ddof=0)
        gains = replayed(game_of(model, data, sampler, n_draws), r, n_orders, stop)
        assert len(gains) < n_orders
    else:
        raw, baseline = sage(
            model,
            data.with_groups({name: (name,) for name in sorted(data.features)}),
            seed=case["seed"],
            stream="xplainfi",
            n_repeats=n_orders,
            tolerance=0,
            background="gaussian" if options["sampler"] else "rows",
            n_background=n_draws,
        )
        assert not baseline.any()
        gains = raw.transpose(1, 0, 2)
    check(case, gains[:, :, 0])


def game_of(model, data, sampler, n_draws):
    """Return what is asked, the features in the order of the alphabet."""
    return Coalitions(
        model=model,
        rows=rows_for_model(model, data, np.arange(data.n_samples)),
        players=tuple((name,) for name in sorted(data.features)),
        sampler=sampler,
        shares=np.full(n_draws, 1 / n_draws),
        seed=0,
    )


def neighbours(data, n_draws, k=5):
    """Return a sampler of rows near by what is known, drawn as xplainfi draws them.

    A row is its own first neighbour. If nothing is known each column is drawn alone.
    """
    X = data.X
    scaled = ((X - X.mean()) / X.std())[sorted(X)]

    def sampler(known, rows, r):
        rest, n = [name for name in scaled if name not in known], len(X)
        if not known:
            draws = {q: r.sample(n, n * n_draws, replace=True) for q in rest}
            return {
                q: X[q].to_numpy()[draw.reshape(n_draws, n).T.ravel()]
                for q, draw in draws.items()
            }
        z = scaled[[*known]].to_numpy()
        distances = np.sqrt(((z[rows, np.newaxis] - z) ** 2).sum(axis=2))
        near = []
        for row in distances:
            candidates = np.flatnonzero(row <= np.sort(row)[k - 1])
            near.append(candidates[r.sample(len(candidates), n_draws, replace=True)])
        return {name: X[name].to_numpy()[np.concatenate(near)] for name in rest}

    return sampler


def test_every_recorded_case_of_sage_is_compared():
    of_sage = [c["id"] for c in XPLAINFI["cases"] if "SAGE" in c["call"]]
    assert of_sage == list(CASES)
    assert len(of_sage) == 8
