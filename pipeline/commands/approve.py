"""approve: to come."""

import click


@click.command()
def approve() -> None:
    """To come."""
