"""Rows and models of a few lines, and the cases recorded from R as these."""

from dataclasses import replace

import numpy as np
from tests.methods.recorded import evaluated, frame_of

from importance_audit.methods.known_answers import linear_model, normal_data


def rows_of(X, weights=None):
    """Return rows without a target."""
    weights = np.ones(len(X)) if weights is None else np.array(weights, dtype=float)
    groups = {name: (name,) for name in X}
    made = {"X": X, "y": np.zeros(len(X)), "weights": weights, "groups": groups}
    return replace(normal_data(), **made)


def model_of(predict, features=("x",), **facts):
    """Return a function of a frame as a model."""
    toy = replace(linear_model(1), name="toy", predict=predict, features=features)
    return replace(toy, **facts)


def as_given(X):
    """Return the column x, whatever the rest."""
    return X["x"].to_numpy(dtype=float)


def recorded_model(case, source):
    """Return the model and the rows of a recorded case."""
    formulas = case["model"] if isinstance(case["model"], dict) else {"": case["model"]}
    facts = {}
    if len(formulas) > 1:
        facts = {"task": "multiclass", "classes": tuple("ABC")}
    elif "exp(" in case["model"]:
        facts = {"task": "binary", "classes": ("no", "yes")}

    def predict(X):
        columns = [evaluated(formula, X) for formula in formulas.values()]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    X = frame_of(source["data"][case["data"]])
    if "rows 2 and 5" in case.get("note", ""):
        X.loc[[1, 4], "x3"] = np.nan
    return model_of(predict, tuple(X), **facts), rows_of(X)


def is_recorded_grid(grid, recorded):
    """Return whether a grid is the recorded one: levels, or numbers to rounding."""
    if isinstance(recorded[0], str):
        return grid.tolist() == recorded
    return np.allclose(grid, np.array(recorded, dtype=float), rtol=1e-12, atol=0)
