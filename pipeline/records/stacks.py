"""Software and hardware that can change numbers, and the tolerances that they need."""

from collections.abc import Iterator

from .result import RunInfo

SAME_STACK = 1e-9
"""Largest relative difference where versions, BLAS and processor are the same."""
OTHER_STACK = 1e-6
"""Largest relative difference otherwise: sums are taken in a different order there."""
FLOOR = 1e-3
"""Floor of the tolerance, relative to the largest number of the same array: a
difference of nearly equal losses has few digits of its own."""
RENDERERS = {"jinja2", "matplotlib", "weasyprint"}
"""Packages that do not affect the numbers of a result."""
MACHINE = ("BLAS", "architecture", "byte order")


def changes(stored_run: RunInfo, now: RunInfo) -> Iterator[str]:
    """Yield each difference that can change a number: name, stored, present."""
    old, new = _stack(stored_run), _stack(now)
    for name in sorted({*old, *new} - RENDERERS):
        if old.get(name) != new.get(name):
            yield f"{name} {old.get(name, 'not there')} → {new.get(name, 'not there')}"


def _stack(run: RunInfo) -> dict[str, str]:
    """Return versions, linear algebra and processor by name."""
    machine = {name: run.environment.get(name, "") for name in MACHINE}
    return {**run.versions, **machine}
