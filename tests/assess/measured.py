"""Permutation importances with losses that a test gives."""

from dataclasses import replace

import numpy as np
from tests.report.made_records import made_importance


def importance_of(raw, baseline, *, data=None, **fields):
    """Return a record of losses (n_features, n_repeats), by default of x1, x2, … ."""
    raw = np.asarray(raw, dtype=float)
    names = tuple(f"x{j + 1}" for j in range(len(raw)))
    columns = tuple((name,) for name in names)
    if data is not None:
        names, columns = tuple(data.groups), tuple(data.groups.values())
        fields = {"n_samples": data.n_samples, **fields}
    plain = {"options": {"n_rows": None}, "stream": "numpy", "loss": "mse", "unit": "1"}
    record = made_importance("linear", names, np.zeros(len(names)), **plain)
    baseline = np.broadcast_to(np.asarray(baseline, dtype=float), raw.shape[1:])
    given = {"raw": raw, "baseline": baseline, "columns": columns, **fields}
    return replace(record, **given)
