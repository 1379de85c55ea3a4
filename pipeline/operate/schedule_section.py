"""What [schedule] says of an audit, also where the rest of its file is not sound.

Who is to be told of a fault must be known in spite of it.
"""

import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..config.load import FILE_NAME, parse_config
from ..config.settings import ScheduleSection
from ..records.errors import ConfigError


class ScheduleSource(NamedTuple):
    """A section [schedule], the time limit of an unattended run, and in words where
    else they were found; usually "".
    """

    section: ScheduleSection
    minutes: float
    note: str = ""


def read_schedule(file: Path) -> ScheduleSource:
    """Return when an audit runs and who is told: from its file, or from its last run.

    Parameters
    ----------
    file : Path
        Its audit.toml; each run keeps a copy of it.
    """
    if (source := _read(file)) is not None:
        return source
    broken = f"[schedule] of {file.name} cannot be read"
    for run in sorted((file.parent / "runs").glob("*"), reverse=True):
        if (source := _read(run / FILE_NAME)) is not None:
            words = f"{broken}: that of run {run.name!r} holds."
            return source._replace(note=words)
    words = f"{broken}, nor in any run, so no notification is sent."
    return ScheduleSource(ScheduleSection(), ScheduleSection().minutes, words)


def has_schedule(text: str) -> bool:
    """Return whether an audit.toml that can be read has a section [schedule]."""
    return "schedule" in tomllib.loads(text)


def _read(file: Path) -> ScheduleSource | None:
    """Return what a file says, None if it or its section [schedule] is not sound."""
    with suppress(OSError, ValueError, RecursionError, ConfigError):
        document = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
        config = parse_config({"schedule": document.get("schedule", {})})
        with suppress(ConfigError):  # the run that begins says so
            limits = parse_config({"limits": document.get("limits", {})}).limits
            config = replace(config, limits=limits)
        return ScheduleSource(config.schedule, config.unattended_minutes)
    return None
