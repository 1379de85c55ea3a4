"""diff: two stored runs held against each other."""

from pathlib import Path

import click

from .shared import FOLDER, faults


@click.command()
@click.argument("baseline", type=FOLDER)
@click.argument("run", type=FOLDER)
def diff(baseline: Path, run: Path) -> None:
    """Say what differs between two stored runs and which importances moved."""
    from ..report.pages.plain_text import to_text
    from ..report.sections.change import section_of
    from ..runs.load import load_whole_run

    with faults():
        runs = load_whole_run(run), load_whole_run(baseline)
        click.echo(to_text(section_of(*runs)), nl=False)
