"""Immutable records."""

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np


class Frozen:
    """A frozen dataclass whose arrays and mappings are read-only copies."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value: Any = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.flags.writeable = False
            elif isinstance(value, Mapping):
                value = MappingProxyType(dict(value))
            elif isinstance(value, list):
                value = tuple(value)
            object.__setattr__(self, item.name, value)
