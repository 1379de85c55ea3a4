"""What R's packages answered, as recorded in `tests/reference`."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

REFERENCE = Path(__file__).parents[1] / "reference"
KINDS = {"numeric": float, "integer": np.int64, "logical": bool}


def recorded(name):
    """Return a file of `tests/reference`."""
    return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf8"))


def frame_of(block, names=None):
    """Return recorded columns with the types that they had in R."""
    types, levels = block.get("types", {}), block.get("levels", {})
    X = pd.DataFrame({name: block["columns"][name] for name in names or types})
    for name in X:
        kind = KINDS.get(types.get(name, "numeric"))
        is_category = kind is None or name in levels
        X[name] = X[name].astype(
            pd.CategoricalDtype(levels.get(name)) if is_category else kind
        )
    return X


def evaluated(formula, X):
    """Return a formula of columns, which R and numpy read alike, (n_samples,)."""
    is_level = {name: X[name].dtype == "category" for name in X}
    columns = {n: X[n].astype(object if is_level[n] else X[n].dtype) for n in X}
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    return np.broadcast_to(eval(formula, {"exp": np.exp}, arrays), len(X)) * 1.0
