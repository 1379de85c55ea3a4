"""init: write an initial configuration."""

import re
from collections.abc import Mapping
from pathlib import Path

import click

from .shared import FOLDER, faults, say, stop


@click.command()
@click.argument("folder", type=FOLDER, default=Path())
@click.option(
    "--data", type=FOLDER, help="A table from which to fill in the configuration."
)
@click.option("--target", help="The column that the models predict; requires --data.")
@click.option(
    "--separator", help='The character between the cells of a CSV file, or "tab".'
)
@click.option("--decimal", type=click.Choice([".", ","]), help="The decimal mark.")
@click.option(
    "--thousands",
    type=click.Choice([".", ",", " ", "'"]),
    help="The thousands separator.",
)
@click.option("--encoding", help="The encoding of a CSV file, such as cp1252.")
@click.option("--sheet", help="The sheet of an Excel file: a name, or a number from 1.")
@click.option("--every-key", is_flag=True, help="Write every key and its default.")
@click.option(
    "--strings",
    "language",
    help="Write the texts of the report for translation into a language, such as de, "
    "instead; if that file exists, check it.",
)
def init(
    folder: Path,
    data: Path | None,
    target: str | None,
    every_key: bool,
    language: str | None,
    **keys: str | None,
) -> None:
    """Write a commented audit.toml into FOLDER.

    FOLDER is the current folder by default.

    If --separator, --decimal, --thousands or --encoding is not given, it is guessed for
    a CSV file and written into the configuration.
    """
    from ..config.init_file import starter, starter_from
    from ..records.errors import printable
    from ..runs.folder import write_file

    if (data is None) != (target is None):
        raise click.UsageError("--data and --target must be given together.")
    if every_key and data is not None:
        raise click.UsageError("--every-key does not work with --data.")
    options: dict[str, object] = {"data": data, "every-key": every_key or None, **keys}
    other = next((name for name, value in options.items() if value is not None), "")
    if language is not None and other:
        raise click.UsageError(f"--{other} does not work with --strings.")
    given = _file_keys(keys)
    if given and data is None:
        raise click.UsageError(f"--{next(iter(given))} requires --data.")
    if language is not None:
        with faults():
            _write_or_check_words(folder, language)
        return
    with faults():
        file = folder / "audit.toml"
        if file.exists():
            stop(
                2,
                f"{file} exists already. Choose another folder.",
            )
        text = (
            starter(every_key=every_key)
            if data is None
            else starter_from(data, str(target), folder, given)
        )
        write_file(file, text)
    for line in text.splitlines():
        if "  # left out: " in line or line.startswith("# Guessed: "):
            click.echo(printable(line.strip().removeprefix("# ")))
    say(f"{file} was written. Read it, then: importance-audit run {folder}")


def _file_keys(options: Mapping[str, str | None]) -> dict[str, str | int]:
    """Return the options on the format of a file as keys of the configuration."""
    given: dict[str, str | int] = {k: v for k, v in options.items() if v is not None}
    if given.get("separator") in ("tab", "\\t"):
        given["separator"] = "\t"
    separator = str(given.get("separator", ";"))
    if len(separator) != 1 or separator in '\r\n"':
        raise click.UsageError(
            f"--separator must be one character, or tab; {separator!r} was given."
        )
    if str(given.get("sheet", "")).isdecimal():
        given["sheet"] = int(given["sheet"])
    return given


def _write_or_check_words(folder: Path, language: str) -> None:
    """Write the texts of the report for a translator, or check an existing file."""
    from ..config import own_words
    from ..config.settings import LANGUAGE
    from ..runs.folder import write_file

    if not re.fullmatch(LANGUAGE, language):
        stop(2, f"--strings must be a language such as 'de'; {language!r} was given.")
    file = folder / own_words.file_of(language)
    if not file.exists():
        write_file(file, own_words.words_to_translate(language))
        say(
            f"{file} was written. Translate its texts, and set language = "
            f'"{language}" under [report].'
        )
        return
    text = file.read_text(encoding="utf-8-sig")
    if problems := own_words.problems_of(text):
        stop(2, "\n".join(f"{file}: {problem}" for problem in problems))
    say(f"{file}: {own_words.describe_missing(own_words.missing_in(text))}")
