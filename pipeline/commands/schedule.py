"""schedule: to come."""

import click


@click.command()
def schedule() -> None:
    """To come."""
