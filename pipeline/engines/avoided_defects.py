"""Faults of R packages that no question of an audit meets, and how they are avoided.

What touches a number is in `known_defects`. These are told all the same: who asks the
package without the audit meets them.
"""

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .known_defects import is_between

ENGINES = {
    "vip": ("vip",),
    "yardstick": ("vip",),
    "pdp": ("vip", "pdp"),
    "fastshap": ("vip",),
    "DALEX": ("DALEX",),
    "ingredients": ("DALEX",),
    "xplainfi": ("xplainfi",),
}
"""The engines that each package may work for."""


class Avoided(NamedTuple):
    """One fault, and what the audit does instead.

    Attributes
    ----------
    id, package : str
    since, before : str
        As in `known_defects.Defect`.
    methods : tuple of str
        The measures and curves it could touch; empty for all.
    text : str
        Two sentences: what is wrong, and how it is avoided.
    """

    id: str
    package: str
    text: str
    since: str = ""
    before: str = ""
    methods: tuple[str, ...] = ()


@cache
def avoided_defects() -> tuple[Avoided, ...]:
    """Return every fault of the register, which is `avoided_defects.toml`."""
    text = Path(__file__).with_suffix(".toml").read_text("utf8")
    return tuple(
        Avoided(**fault)._replace(methods=tuple(fault.get("methods", ())))
        for fault in tomllib.loads(text)["fault"]
    )


def avoided(
    engines: Collection[str], methods: Collection[str], versions: Mapping[str, str]
) -> tuple[Avoided, ...]:
    """Return the faults that an audit kept clear of, in the order of the register.

    Parameters
    ----------
    engines : collection of str
        Who took part.
    methods : collection of str
        The measures and curves they were asked for.
    versions : mapping of str to str
        Installed version of each R package.
    """
    return tuple(
        fault
        for fault in avoided_defects()
        if not set(ENGINES[fault.package]).isdisjoint(engines)
        and (not fault.methods or not set(fault.methods).isdisjoint(methods))
        and is_between(versions.get(fault.package, ""), fault.since, fault.before)
    )
