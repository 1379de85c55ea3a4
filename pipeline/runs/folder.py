"""Run folders: ``<audit>/runs/<run_id>/``. The only writer of files.

A folder appears whole or not at all and is never written to again. Not: what is in it
(`files`), what a run says (`as_json`, `as_csv`), or how it looks (`report`).
"""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from ..records import as_json
from ..records.errors import AuditError, DataError, quote
from ..records.result import AuditResult
from .chain import read_chain
from .files import Files, as_bytes, data_files, log_file, run_files
from .manifest import manifest

PART = re.compile(r"\..+\.[0-9a-f]{8}\.part", re.DOTALL)
"""The name of what is being written, until it takes its own."""


class _TakenError(Exception):
    """Another run has the name."""


def with_free_name(result: AuditResult, folder: Path) -> AuditResult:
    """Return a result under a run_id that no run in `folder` has yet.

    The same question asked twice within a second gets "-2", "-3", … at its end. Ask
    before rendering, so that the report prints the name of its folder.
    """
    run_id = str(result.run.volatile["run_id"])
    name, n = run_id, 1
    while (folder / "runs" / name).exists():
        n += 1
        name = f"{run_id}-{n}"
    if name == run_id:
        return result
    volatile = {**result.run.volatile, "run_id": name}
    return replace(result, run=replace(result.run, volatile=volatile))


def write_run(
    result: AuditResult,
    folder: Path,
    files: Files,
    *,
    exit_code: int,
    short_views: Callable[[AuditResult], Mapping[str, bytes]],
    renderer: Mapping[str, Any] | None,
    data: Mapping[str, bytes] | None = None,
    log: Iterable[Mapping[str, Any]] = (),
) -> Path:
    """Write a run into a new folder ``runs/<run_id>`` and return it.

    Beside `files` it holds `data`, and manifest.json with the digests of all, linked
    to the run before.

    Parameters
    ----------
    result : AuditResult
    folder : Path
        The folder of the audit; made if it is not there.
    files : mapping of str to bytes or str
        Path below the run folder and content: audit.toml, report.html, figures/….
    exit_code : int
        What the command line will return.
    short_views : callable
        ``short_views(result)`` returns summary.txt and its like, by path; they print
        the name that the run has in the end.
    renderer : mapping, or None
        What the renderings were made with; the manifest holds it.
    data : mapping of str to bytes, optional
        `files.data_files` of the result and `files`, if that was called already.
    log : iterable of mapping
        The lines of log.jsonl since the result was gathered.

    Raises
    ------
    AuditError
        If the files cannot be written; nothing is left behind.
    ValueError
        If a path leads out of the folder, or is that of a file written here.
    """
    lines = tuple(log)
    while True:
        named_result = with_free_name(result, folder)
        target = folder / "runs" / str(named_result.run.volatile["run_id"])
        if data is None or named_result is not result:
            result, data = named_result, data_files(named_result, files)
        short = {**short_views(named_result), **log_file(named_result, lines)}
        content = run_files(data, files, short)
        content["manifest.json"] = manifest(
            named_result,
            content,
            folder=folder,
            previous=_previous(folder),
            exit_code=exit_code,
            renderer=renderer,
        )
        with suppress(_TakenError):  # by a run of the same second: try the next name
            with _whole(target) as part:
                for path, whole in content.items():
                    _write(part / path, whole)
                for inner in (*filter(Path.is_dir, part.rglob("*")), part):
                    _sync(inner)
            return target


def load_run(folder: Path) -> AuditResult:
    """Return the result stored in a run folder.

    Raises
    ------
    DataError
        If there is none, or it cannot be read.
    """
    document = load_document(folder)
    return as_json.from_dict(document, name=str(folder / "result.json"))


def load_document(folder: Path) -> dict[str, Any]:
    """Return the result stored in a run folder as the JSON has it.

    Raises
    ------
    DataError
        If there is none, or it cannot be read.
    """
    path = folder / "result.json"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. Name a folder below runs/."
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}.") from error
    return as_json.document_in(text, name=str(path))


def write_file(path: Path, content: bytes | str) -> None:
    """Write one file whole or not at all; a file of that name is replaced.

    Raises
    ------
    AuditError
        If it cannot be written; nothing is left behind.
    """
    with _whole(path) as part:
        _write(part, as_bytes(content))


def write_folder(folder: Path, files: Files) -> None:
    """Write a folder that is not there yet, with all its files or not at all.

    Raises
    ------
    AuditError
        If there is something of that name, or it cannot be written; nothing is left.
    """
    try:
        if folder.exists():
            raise _TakenError
        with _whole(folder) as part:
            for path, data in files.items():
                _write(part / path, as_bytes(data))
            for inner in (*filter(Path.is_dir, part.rglob("*")), part):
                _sync(inner)
    except _TakenError as error:
        raise AuditError(f"{folder} already exists. Choose another folder.") from error


def remove_parts(folder: Path, name: str = "") -> None:
    """Remove what writers that were killed left half-written in a folder.

    To be called under a lock that lets nobody else write there.

    Parameters
    ----------
    folder : Path
    name : str
        What they were to become; by default anything.
    """
    for path in folder.glob(f".{escape(name) or '*'}.*.part"):
        if PART.fullmatch(path.name):
            _remove(path, ())


def _previous(folder: Path) -> dict[str, str] | None:
    """Return name and manifest digest of the run that ends the chain of the audit.

    Not of the greatest name: after a clock that went back, that names another run.
    """
    order = read_chain(folder).order
    if not order:
        return None
    return {"run_id": order[-1].run_id, "manifest_sha256": order[-1].manifest_sha256}


@contextmanager
def _whole(target: Path) -> Iterator[Path]:
    """Give a name beside `target` to write to, which takes its place at the end.

    On any fault what was written is removed, folders made for it too.
    """
    new_folders: list[Path] = []
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        new_folders += [folder for folder in target.parents if not folder.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        _take(part, target)
        _sync(target.parent)
    except BaseException as error:
        _remove(part, new_folders)
        if not isinstance(error, OSError):
            raise
        raise AuditError(
            f"Folder {str(target.parent)!r} cannot take {quote(target.name)}: "
            f"{error.strerror}. Nothing was written."
        ) from error


def _take(part: Path, target: Path) -> None:
    """Rename; a file gives way, a folder with files in it does not."""
    try:
        os.replace(part, target)
    except OSError as error:
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
            raise _TakenError from error
        raise


def _remove(part: Path, new_folders: Iterable[Path]) -> None:
    """Remove a half-written file or folder, and the folders made for it."""
    shutil.rmtree(part, ignore_errors=True)
    with suppress(OSError):
        part.unlink()
    for folder in new_folders:
        with suppress(OSError):
            folder.rmdir()


def _write(path: Path, data: bytes) -> None:
    """Write a file through to the disk, in folders made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Write the entries of a folder through to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
