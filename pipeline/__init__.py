"""Audit the variable importances of fitted models, in Python and in R.

Import the public names from here; each is loaded at its first use:

    import importance_audit as ia

    result = ia.audit(model, X_test, y_test)

The packages from the top down, each of which imports only from those below it: `cli`
(commands), `operate` (the work of a command), `report` (pages), `auditing` (the
function `audit`) and `runs` (run folders over time), `config` (audit.toml), `assess`
(checks, claims and stability), `engines` (vip, DALEX and others in R), `methods`
(importances and curves), `models`, `data`, `records`; `r_bridge` is below all of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importance_audit.r_bridge.errors import (
        RBridgeError,
        RDied,
        RError,
        RTimeout,
        RUnavailable,
    )

    from .config.load import load_config, parse_config
    from .data.datasets import dataset
    from .models.fit import wrap
    from .operate.audit import Audit, load
    from .operate.call import audit, r_model
    from .records.errors import (
        AuditError,
        ConfigError,
        DataError,
        LockedError,
        ModelError,
        NotApplicable,
    )

__all__ = [
    "Audit",
    "AuditError",
    "ConfigError",
    "DataError",
    "LockedError",
    "ModelError",
    "NotApplicable",
    "RBridgeError",
    "RDied",
    "RError",
    "RTimeout",
    "RUnavailable",
    "audit",
    "dataset",
    "load",
    "load_config",
    "parse_config",
    "r_model",
    "wrap",
]

_PLACES = {
    "Audit": "operate.audit",
    "audit": "operate.call",
    "dataset": "data.datasets",
    "load": "operate.audit",
    "load_config": "config.load",
    "parse_config": "config.load",
    "r_model": "operate.call",
    "wrap": "models.fit",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use: most commands need few of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    errors = "r_bridge.errors" if name.startswith("R") else "records.errors"
    module = import_module(f"importance_audit.{_PLACES.get(name, errors)}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
