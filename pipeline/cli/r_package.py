"""r-package: the path of the R package that starts audits from R."""

import shutil
import sys
from importlib.resources import files
from pathlib import Path

import click


@click.command("r-package")
def r_package() -> None:
    """Print the path of the R package importanceaudit.

    Install it with R CMD INSTALL.
    """
    click.echo(str(files("importance_audit.r_bridge") / "importanceaudit"))
    if shutil.which("importance-audit") is None:
        command = Path(sys.executable).with_name("importance-audit")
        click.echo(
            "importance-audit is not on PATH, so R needs a line in the file .Renviron "
            f"of your home folder: IMPORTANCE_AUDIT={command}",
            err=True,
        )
