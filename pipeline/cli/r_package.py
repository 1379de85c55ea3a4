"""r-package: where the R package lies that starts audits from R."""

from importlib.resources import files

import click


@click.command("r-package")
def r_package() -> None:
    """Print where the R package importanceaudit lies; R CMD INSTALL takes that path."""
    click.echo(str(files("importance_audit.r_bridge") / "importanceaudit"))
