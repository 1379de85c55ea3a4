"""Permutation importances with losses that a test gives, and small audits."""

from dataclasses import replace

import numpy as np
from tests.report.made_records import made_importance

from importance_audit.assess import checks
from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config


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


def checked_columns(train, test, grouped=(), limits=checks.DEFAULTS):
    """Return the answers of the checks of columns."""
    rows = {"train": train, "test": test, "grouped": grouped}
    return checks.run("columns", test.name, limits, **rows)


def checked_model(model, data):
    """Return the answers of the checks of predict."""
    return checks.run("model", model.name, model=model, data=data, train=None, seed=1)


def checked_importance(importance, data, error):
    """Return the answers of the checks of one importance."""
    facts = {"importance": importance, "data": data, "error": error}
    subject = checks.importances.question_and_engine(importance)
    return checks.run("importance", subject, **facts)


def audited(model, data, *entries, train=None, on_step=None, **config):
    """Return the audit of models by these questions, by default permutation."""
    entries = entries or ({"method": "permutation"},)
    config = parse_config({"importance": list(entries), **config})
    models = model if isinstance(model, tuple) else (model,)
    return audit(train, data, config, models=models, on_step=on_step)


def finding_of(result, check):
    """Return the only finding of a check in an audit."""
    (finding,) = (f for f in result.findings if f.check == check)
    return finding
