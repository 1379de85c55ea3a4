"""install-r: installation of the R packages of the engines."""

import sys
from pathlib import Path

import click

from .shared import FOLDER, faults


@click.command("install-r")
@click.argument("what", nargs=-1)
@click.option(
    "--library",
    type=FOLDER,
    help="The library to install into (default: the project's own).",
)
def install_r(what: tuple[str, ...], library: Path | None) -> None:
    """Install R packages that engines compare with.

    Without WHAT: DALEX and pdp, and vip and fastshap where available.

    WHAT names others: DALEX, vip, pdp, fastshap, hstats, iml, xplainfi, nanoparquet, or
    "models" for randomForest, ranger, gbm, rpart, nnet, e1071 and earth.
    """
    from importance_audit.r_bridge.install import (
        PACKAGES,
        SETS,
        default_library,
        install,
    )

    unknown = [name for name in what if name not in SETS]
    if unknown:
        raise click.UsageError(
            f"WHAT must be one of {', '.join(SETS)}; {unknown[0]!r} was given."
        )
    packages = tuple(dict.fromkeys(p for name in what for p in SETS[name]))
    with faults():
        sys.exit(install(library or default_library(), packages or PACKAGES))
