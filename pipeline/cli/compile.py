"""compile: the loops over trees, so that no audit waits for it."""

import sys

import click

from .shared import faults, say


@click.command("compile")
def compile_() -> None:
    """Compile the loops over trees once, so that no audit waits for it.

    Without numba there is nothing to compile: predict answers, with the same numbers.
    """
    with faults():
        from ..methods.trees import compiled

        if not compiled.available():
            say("numba is not installed: there is nothing to compile.", err=True)
            return
        if not compiled.can_keep():  # it says why
            sys.exit(1)
        from ..methods.trees.compilation import compile_loops

        with compiled.reporting_compilation(
            lambda words: say(f"{words[0].upper()}{words[1:]}.", err=True)
        ):
            seconds, unread = compile_loops()
        for name, reason in unread.items():
            say(f"Predict answers for {name}, not its trees: {reason}", err=True)
        which = "All other" if unread else "All"
        say(f"{which} loops over trees are compiled, in {seconds:.0f} s.", err=True)
