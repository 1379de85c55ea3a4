"""A decorator for one test over many cases, which reports all that fail."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any

import pytest

PARAM = type(pytest.param())


def for_each(
    cases: Iterable[Any], name: Callable[[Any], object] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make the test of a case one test of all cases: collecting thousands is slow.

    The first argument of the test is the case; all cases share the fixtures after it.
    """
    named_cases = [
        (case.id, *case.values) if isinstance(case, PARAM) else (name(case), case)
        for case in cases
    ]

    def over_all(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def whole(**fixtures: Any) -> None:
            assert named_cases, "There is no case."
            failures = []
            for case, value in named_cases:
                try:
                    test(value, **fixtures)
                except Exception as error:
                    failures.append((case, error))
            if failures:
                text = "\n".join(f"{case}: {error!r}" for case, error in failures)
                count = f"{len(failures)} of {len(named_cases)} cases failed:"
                raise AssertionError(f"{count}\n{text}") from failures[0][1]

        _, *fixtures = signature(test).parameters.values()
        vars(whole).pop("__wrapped__")
        vars(whole)["__signature__"] = signature(test).replace(parameters=fixtures)
        return whole

    return over_all
