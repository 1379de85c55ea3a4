"""compile: the loops over trees, so that no audit waits for it."""

import sys

import click

from .shared import faults, say


@click.command("compile")
def compile_() -> None:
    """Compile the loops over trees once.

    No audit waits for it then. Without numba there is nothing to compile: predict
    answers, with the same numbers.
    """
    with faults():
        from ..operate.doctor import compile_trees

        if not compile_trees(lambda line: say(line, err=True)):
            sys.exit(1)
