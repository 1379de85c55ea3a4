"""compile: compilation of the loops over trees, so that no audit waits for it."""

import sys

import click

from .shared import faults, say


@click.command("compile")
def compile_() -> None:
    """Compile the loops over trees once.

    Audits then need not wait for it. Without numba nothing is compiled: audits use
    predict, with the same numbers.
    """
    with faults():
        from ..operate.doctor import compile_trees

        if not compile_trees(lambda line: say(line, err=True)):
            sys.exit(1)
