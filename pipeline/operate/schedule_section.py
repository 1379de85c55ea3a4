"""Reading [schedule] of an audit, even if the rest of audit.toml is not valid.

The commands for notifications are needed to report exactly such an error.
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
    """A section [schedule] and the time limit of an unattended run.

    `note` is a sentence on their source if that is not audit.toml, else "".
    """

    section: ScheduleSection
    minutes: float
    note: str = ""


def read_schedule(file: Path) -> ScheduleSource:
    """Return the section [schedule] of an audit, from its file or its last run.

    Parameters
    ----------
    file : Path
        The audit.toml; each run has a copy of it.
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
    """Return the section of a file, None if it cannot be read or is not valid."""
    with suppress(OSError, ValueError, RecursionError, ConfigError):
        document = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
        config = parse_config({"schedule": document.get("schedule", {})})
        with suppress(ConfigError):  # the run reports it
            limits = parse_config({"limits": document.get("limits", {})}).limits
            config = replace(config, limits=limits)
        return ScheduleSource(config.schedule, config.unattended_minutes)
    return None
