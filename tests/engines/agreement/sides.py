"""Two sides of a comparison, as small as they can be."""

import numpy as np

from importance_audit.engines.agreement import compare
from importance_audit.records.importance_record import Effect, Importance

LIMITS = {"resolution": 0.1, "max_rank_shift": 2, "top_k": 3}
LOSSES = np.array([[12.0, 12.5, 13.0, 12.2, 12.8], [10.1, 10.2, 10.0, 10.3, 10.1]])


def importance(raw=LOSSES, *, baseline=10.0, **changes):
    """Return an importance of x1, x2, …; ours, in DALEX's draw order."""
    raw = np.asarray(raw, dtype=float)
    names = tuple(f"x{j + 1}" for j in range(len(raw)))
    fields = {
        "model": "forest",
        "method": "permutation",
        "engine": "python",
        "engine_version": "1",
        "of": "features",
        "form": "difference",
        "loss": "rmse",
        "scale": "response",
        "split": "test",
        "unit": "y",
        "options": {"n_repeats": raw.shape[1], "n_rows": None},
        "n_samples": 100,
        "stream": "DALEX",
        "seed": 1,
        "features": names,
        "columns": tuple((name,) for name in names),
        "raw": raw,
        "baseline": np.broadcast_to(np.asarray(baseline, dtype=float), raw.shape[1]),
    }
    return Importance(**{**fields, **changes})


def curve(values, **changes):
    """Return a curve of ours on a grid from 0 to 1; nothing is drawn."""
    fields = {
        "model": "forest",
        "method": "partial_dependence",
        "engine": "python",
        "engine_version": "1",
        "scale": "response",
        "split": "test",
        "unit": "y",
        "options": {"grid": "even", "n_grid": len(values)},
        "n_samples": 100,
        "seed": 1,
        "feature": "size",
        "kind": "number",
        "grid": np.linspace(0, 1, len(values)),
        "values": np.asarray(values, dtype=float),
    }
    return Effect(**{**fields, **changes})


def peer_importance(raw=LOSSES, **changes):
    return importance(raw, **{"engine": "DALEX", **changes})


def row_of(a, b, **changes):
    return compare(a, b, **{**LIMITS, **changes})[0]


def outcome(a, b, **changes):
    row = row_of(a, b, **changes)
    return row["verdict"], row["reasons"]


def noisy_losses(means, spread, *, n_repeats=8, seed=0):
    """Return losses around 10 + means, one row per feature."""
    noise = np.random.default_rng(seed).normal(0, spread, (len(means), n_repeats))
    return 10 + np.array(means, dtype=float)[:, None] + noise
