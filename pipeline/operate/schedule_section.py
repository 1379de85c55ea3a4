"""The section [schedule] of an audit, also where the rest of its file is not sound.

Who is to be told of a fault must be known in spite of it.
"""

import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..config.load import FILE_NAME, parse_config
from ..config.settings import ScheduleSection
from ..records.errors import ConfigError


class ScheduleSource(NamedTuple):
    """A section [schedule], and in words where else it was found; usually ""."""

    section: ScheduleSection
    note: str = ""


def read_schedule(file: Path) -> ScheduleSource:
    """Return when an audit runs and who is told: from its file, or from its last run.

    Parameters
    ----------
    file : Path
        Its audit.toml; each run keeps a copy of it.
    """
    section = _read(file)
    if section is not None:
        return ScheduleSource(section)
    broken = f"[schedule] of {file.name} cannot be read"
    for copy in _copies(file.parent):
        section = _read(copy)
        if section is not None:
            return ScheduleSource(
                section, f"{broken}: that of run {copy.parent.name!r} holds."
            )
    return ScheduleSource(
        ScheduleSection(), f"{broken}, nor that of any run: nobody is told."
    )


def _read(file: Path) -> ScheduleSection | None:
    """Return the section of a file, None if the file or the section is not sound."""
    with suppress(OSError, ValueError, RecursionError, ConfigError):
        document = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
        return parse_config({"schedule": document.get("schedule", {})}).schedule
    return None


def _copies(folder: Path) -> Iterator[Path]:
    """Yield the copies that runs keep, the newest first."""
    runs = sorted((folder / "runs").glob("*"), reverse=True)
    return (run / FILE_NAME for run in runs)
