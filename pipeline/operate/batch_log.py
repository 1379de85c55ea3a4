"""batch.jsonl: how far the audits of a folder came, so that a batch can be taken up.

One JSON object per line, only ever added to, as in `events`:

    batch_began    pid, host
    batch_resumed  pid, host
    audit_began    audit
    audit_ended    audit, exit_code, run_id, verdict, message, seconds
    batch_stopped                    by Ctrl-C or SIGTERM
    batch_ended    exit_code

Not: running an audit (`batch`).
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..records.errors import several
from ..runs.events import read_events

LOG = "batch.jsonl"
RESUMED_WITHIN = timedelta(hours=24)
"""A batch that began longer ago asked about data of another day."""
FINISHED = (0, 1, 4)
"""Codes of a run that came to its end and left its folder: not run again."""
FIELDS = {
    "audit_began": ("audit",),
    "audit_ended": ("audit", "exit_code", "run_id", "verdict", "message", "seconds"),
}
"""What a line must hold besides its time."""

Line: TypeAlias = Mapping[str, Any]
Tell: TypeAlias = Callable[[str], object]


class Outcome(NamedTuple):
    """What became of one audit of a batch.

    Attributes
    ----------
    audit : str
        The name of its folder.
    exit_code : int or None
        None if the batch was stopped before its turn.
    run_id, verdict : str
        Empty if it left no run folder.
    message : str
        Why there is none, or what else went wrong; empty if nothing did.
    seconds : float
        How long it took.
    """

    audit: str
    exit_code: int | None = None
    run_id: str = ""
    verdict: str = ""
    message: str = ""
    seconds: float = 0.0


class UnfinishedBatch(NamedTuple):
    """A batch that did not come to its end.

    Attributes
    ----------
    began : str
        An ISO text in UTC.
    started : frozenset of str
        Audits that had their turn.
    finished : tuple of Outcome
        Of those that are not to be run again.
    """

    began: str
    started: frozenset[str]
    finished: tuple[Outcome, ...]


def find_unfinished_batch(folder: Path, tell: Tell) -> UnfinishedBatch | None:
    """Return the last batch of a folder if it is to be taken up.

    Parameters
    ----------
    folder : Path
    tell : callable
        Gets why one that was cut short is not, and what of the log nobody can read.
    """
    lines = _last(_sound(read_events(folder, of=LOG), tell))
    if not lines:
        return None
    age = datetime.now(UTC) - datetime.fromisoformat(lines[0]["time"])
    if not timedelta() <= age <= RESUMED_WITHIN:
        why = "more than 24 h ago" if age > timedelta() else "in what is now the future"
        tell(
            f"The batch begun at {lines[0]['time']} was interrupted and is not "
            f"resumed, because it began {why}. All audits are run."
        )
        return None
    began = {e["audit"]: e["time"] for e in lines if e["event"] == "audit_began"}
    ended = {e["audit"]: _outcome(e) for e in lines if e["event"] == "audit_ended"}
    for name in began.keys() - ended.keys():
        ended[name] = _interrupted_outcome(
            folder / name, datetime.fromisoformat(began[name])
        )
    finished = (o for o in ended.values() if o.run_id and o.exit_code in FINISHED)
    return UnfinishedBatch(lines[0]["time"], frozenset(began), tuple(finished))


def run_names(audit: Path) -> set[str]:
    """Return the names of the run folders of an audit."""
    try:
        return {n for n in os.listdir(audit / "runs") if not n.startswith(".")}
    except OSError:
        return set()


def newest_manifest(audit: Path, names: Iterable[str]) -> Line:
    """Return the manifest of the newest of these runs that has one, or nothing."""
    for name in sorted(names, reverse=True):
        with suppress(OSError, ValueError, TypeError):
            manifest = json.loads(
                (audit / "runs" / name / "manifest.json").read_bytes()
            )
            if {"run_id", "verdict", "exit_code"} <= {*manifest}:
                return dict(manifest)
    return {}


def _sound(lines: Iterable[Line], tell: Tell) -> list[Line]:
    """Return the lines that say what they should; of the others, how many there are."""
    sound, n_others = [], 0
    for line in lines:
        if _is_sound(line):
            sound.append(line)
        else:
            n_others += 1
    if n_others:
        words = "cannot be read; the audits recorded there are run again."
        tell(f"Of {LOG} {several(n_others, 'line')} {words}")
    return sound


def _is_sound(line: Line) -> bool:
    """Return whether a line has what it must, as one that a person wrote may not."""
    try:
        is_aware = datetime.fromisoformat(line["time"]).utcoffset() is not None
    except (KeyError, TypeError, ValueError):
        return False
    return is_aware and all(name in line for name in FIELDS.get(line["event"], ()))


def _last(lines: Sequence[Line]) -> Sequence[Line]:
    """Return what the log says of the last batch, nothing if that is done."""
    starts = [n for n, line in enumerate(lines) if line["event"] == "batch_began"]
    last = lines[starts[-1] :] if starts else ()
    is_done = any(line["event"] == "batch_ended" for line in last)
    return () if is_done else last


def _outcome(line: Line) -> Outcome:
    """Return what a line of the log says of an audit."""
    return Outcome(**{name: line[name] for name in Outcome._fields})


def _interrupted_outcome(audit: Path, began: datetime) -> Outcome:
    """Return what a run left that was under way when its batch was cut short."""
    second = f"{began.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    run = newest_manifest(audit, {name for name in run_names(audit) if name >= second})
    if not run:
        return Outcome(audit.name)
    return Outcome(audit.name, run["exit_code"], run["run_id"], run["verdict"])
