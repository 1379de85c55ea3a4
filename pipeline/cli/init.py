"""init: write a configuration to start from."""

from pathlib import Path

import click

from .shared import FOLDER, faults, say, stop, write


@click.command()
@click.argument("folder", type=FOLDER, default=Path())
@click.option(
    "--data", type=FOLDER, help="A CSV file from which to fill in the configuration."
)
@click.option("--target", help="The column that the models predict; requires --data.")
def init(folder: Path, data: Path | None, target: str | None) -> None:
    """Write a commented audit.toml into FOLDER (default: here)."""
    from ..config.init_file import starter, starter_from
    from ..records.errors import printable

    if (data is None) != (target is None):
        raise click.UsageError("--data and --target must be given together.")
    with faults():
        file = folder / "audit.toml"
        if file.exists():
            stop(
                2,
                f"{file} exists already. Choose another folder.",
            )
        text = starter() if data is None else starter_from(data, str(target), folder)
        write(file, text)
    for line in text.splitlines():
        if "  # left out: " in line:
            click.echo(printable(line.strip().removeprefix("# ")))
    say(f"{file} was written. Read it, then: importance-audit run {folder}")
