"""What a number may depend on besides what was asked, and how much it may differ."""

from collections.abc import Iterator

from .result import RunInfo

SAME_STACK = 1e-9
"""Largest relative difference where versions, BLAS and processor are the same."""
OTHER_STACK = 1e-6
"""Largest relative difference elsewhere: sums are taken in another order there."""
FLOOR = 1e-3
"""Of the tolerance, relative to the largest number of the same array: what is left of
a difference of nearly equal losses has no digits of its own."""
RENDERERS = {"jinja2", "matplotlib", "weasyprint"}
"""Packages that no number of a result depends on."""
MACHINE = ("BLAS", "architecture", "byte order")


def changes(stored_run: RunInfo, now: RunInfo) -> Iterator[str]:
    """Yield what can change a number and is not the same: name, stored, present."""
    old, new = _stack(stored_run), _stack(now)
    for name in sorted({*old, *new} - RENDERERS):
        if old.get(name) != new.get(name):
            yield f"{name} {old.get(name, 'not there')} → {new.get(name, 'not there')}"


def _stack(run: RunInfo) -> dict[str, str]:
    """Return versions, linear algebra and processor."""
    machine = {name: run.environment.get(name, "") for name in MACHINE}
    return {**run.versions, **machine}
