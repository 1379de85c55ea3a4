"""Records that nobody can change."""

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np


def freeze(record: Any) -> None:
    """Replace the arrays and mappings of a record by read-only copies."""
    for item in fields(record):
        value = getattr(record, item.name)
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        elif isinstance(value, Mapping):
            value = MappingProxyType(dict(value))
        elif isinstance(value, list):
            value = tuple(value)
        object.__setattr__(record, item.name, value)
