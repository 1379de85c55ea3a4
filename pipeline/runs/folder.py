"""Run folders: ``<audit>/runs/<run_id>/``. The only writer of files.

A run is written in three steps, while nobody else adds to the log of the audit: the
folder under a hidden name, whole, with SHA256SUMS last; its line in the log; then the
folder takes its name. `recover` finishes what a killed writer began. A folder is never
written to again. Not: what is in it (`files`), what a run says (`as_json`, `as_csv`),
or how it looks (`report`).
"""

import errno
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from ..records import as_json
from ..records.errors import AuditError, DataError, quote
from ..records.result import AuditResult
from .audit_log import open_log
from .digests import LIST, compare_folder, digest_of_file, sha256, write_list
from .files import HEAD, Files, as_bytes, data_files, is_data, log_file

PART = re.compile(r"\.(.+)\.[0-9a-f]{8}\.part", re.DOTALL)
"""The name of what is being written, until it takes its own."""


class _TakenError(Exception):
    """Another run has the name."""


def with_free_name(
    result: AuditResult, folder: Path, used: Collection[str] = ()
) -> AuditResult:
    """Return a result under a run_id that no run in `folder` has, nor any in `used`.

    The same question asked twice within a second gets "-2", "-3", … at its end. Ask
    before rendering, so that the report prints the name of its folder.
    """
    run_id = str(result.run.volatile["run_id"])
    name, n = run_id, 1
    while name in used or (folder / "runs" / name).exists():
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
    data: Mapping[str, bytes] | None = None,
    log: Iterable[Mapping[str, Any]] = (),
    message: str = "",
    r_failed: bool = False,
) -> Path:
    """Write a run into a new folder ``runs/<run_id>`` and return it.

    Besides `files` it holds `data`, SHA256SUMS with the digests of all, and in
    log-head.json the line of the audit log that it follows.

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
    data : mapping of str to bytes, optional
        `files.data_files` of the result and `files`, if that was called already.
    log : iterable of mapping
        The lines of log.jsonl since the result was gathered.
    message : str
        What else the audit log says of the run.
    r_failed : bool
        Whether R is why numbers are missing: another try may have them.

    Raises
    ------
    AuditError
        If the files cannot be written; nothing is left behind.
    ValueError
        If a path leads out of the folder, or is that of a file written here.
    """
    data = data_files(result, files) if data is None else data
    with _made(folder), open_log(folder) as audit_log:
        before = audit_log.read()
        used = {run["run"] for run in before.of("run")}
        named_result = with_free_name(result, folder, used)
        name = str(named_result.run.volatile["run_id"])
        if named_result is not result:
            data = data_files(named_result, files)
        content = {
            **data,
            **{path: as_bytes(d) for path, d in files.items() if not is_data(path)},
            **short_views(named_result),
            **log_file(named_result, log),
        }
        content[HEAD] = as_bytes(f"{json.dumps(before.head)}\n")
        digests = {path: sha256(whole) for path, whole in content.items()}
        content[LIST] = write_list(digests)

        def add_line() -> None:
            audit_log.append(
                "run",
                run=name,
                list=sha256(content[LIST]),
                bytes=sum(len(content[path]) for path in digests),
                content_digest=as_json.content_digest(named_result),
                exit_code=exit_code,
                verdict=named_result.verdict,
                message=message,
                r_failed=r_failed,
            )

        target = folder / "runs" / name
        with _whole(target, then=add_line) as part:
            _write_files(part, content)
    return target


def recover(folder: Path) -> tuple[str, ...]:
    """Finish what killed writers of an audit began; return what was done, in words.

    A run, or the page of a sign-off, that its line names gets its name; what has no
    line, and what retention was removing, is deleted.
    """
    done = []
    with open_log(folder) as audit_log:
        entries = audit_log.read()
        parts = [*folder.glob("runs/.*.part"), *folder.glob("signoffs/.*.part")]
        for part in sorted(path for path in parts if PART.fullmatch(path.name)):
            name = part.name[1 : -len(".01234567.part")]
            target, is_whole = part.with_name(name), False
            if part.parent.name == "runs":
                what = f"Run {quote(name)}"
                digests = {e["run"]: e["list"] for e in entries.of("run")}
                if name in digests and not part.is_symlink():
                    is_whole = not compare_folder(part, "", digests[name])[2]
            else:
                what = f"The page {name} of a sign-off"
                digests = {f"{e['n']}.html": e["page"] for e in entries.of("signoff")}
                with suppress(OSError):
                    is_whole = digest_of_file(part) == digests.get(name)
            if is_whole and not target.exists():
                _take(part, target)
                _sync(target.parent)
                done.append(
                    f"{what}, which a killed process had written, was given its name."
                )
            else:
                _remove(part, ())
        for hidden in folder.glob("runs/.*.removed"):
            _remove(hidden, ())
    return tuple(done)


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


def write_file(
    path: Path, content: bytes | str, add_line: Callable[[], Any] | None = None
) -> None:
    """Write one file whole or not at all; a file of that name is replaced.

    Parameters
    ----------
    path : Path
    content : bytes or str
    add_line : callable, optional
        Adds the line of the audit log that names the file, before it takes its name.

    Raises
    ------
    AuditError
        If it cannot be written; nothing is left behind.
    """
    with _whole(path, then=add_line) as part:
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
            _write_files(part, files)
    except _TakenError as error:
        raise AuditError(f"{folder} already exists. Choose another folder.") from error


def remove_parts(folder: Path, name: str) -> None:
    """Remove what writers of a file that were killed left half-written in its folder.

    To be called under a lock that lets nobody else write there.

    Parameters
    ----------
    folder : Path
    name : str
        What they were to become.
    """
    for path in folder.glob(f".{escape(name)}.*.part"):
        if PART.fullmatch(path.name):
            _remove(path, ())


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder, and remove it again if what follows fails and leaves it empty."""
    new_folders = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        _remove(None, new_folders)
        if isinstance(error, OSError):
            raise _refused(folder / "runs", error) from error
        raise


@contextmanager
def _whole(target: Path, then: Callable[[], Any] | None = None) -> Iterator[Path]:
    """Give a name beside `target` to write to, which takes its place at the end.

    On any fault what was written is removed, folders made for it too. `then` is called
    before it takes its place; once that is done, `recover` can finish.
    """
    new_folders: list[Path] = []
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    is_named = False
    try:
        new_folders += [folder for folder in target.parents if not folder.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        if then is not None:
            then()
            is_named = True
        _take(part, target)
        _sync(target.parent)
    except BaseException as error:
        if not is_named:
            _remove(part, new_folders)
        if not isinstance(error, OSError):
            raise
        raise _refused(target, error) from error


def _refused(target: Path, error: OSError) -> AuditError:
    return AuditError(
        f"Folder {str(target.parent)!r} cannot take {quote(target.name)}: "
        f"{error.strerror}. Nothing was written."
    )


def _take(part: Path, target: Path) -> None:
    """Rename; a file gives way, a folder with files in it does not."""
    try:
        os.replace(part, target)
    except OSError as error:
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
            raise _TakenError from error
        raise


def _remove(part: Path | None, new_folders: Iterable[Path]) -> None:
    """Remove a half-written file or folder, and the folders made for it."""
    if part is not None:
        with suppress(OSError, RecursionError):  # folders without end inside it
            shutil.rmtree(part, ignore_errors=True)
            part.unlink(missing_ok=True)
    for folder in new_folders:
        with suppress(OSError):
            folder.rmdir()


def _write_files(part: Path, files: Files) -> None:
    """Write the files of a folder through to the disk, in their order."""
    for path, content in files.items():
        _write(part / path, as_bytes(content))
    for inner in (*filter(Path.is_dir, part.rglob("*")), part):
        _sync(inner)


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
