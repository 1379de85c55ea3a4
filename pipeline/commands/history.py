"""history: to come."""

import click


@click.command()
def history() -> None:
    """To come."""
