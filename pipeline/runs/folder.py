"""Run folders, ``<audit>/runs/<run_id>/``. All files are written here.

A run is written in three steps, while the log of the audit is locked: all files into a
folder with a hidden name, SHA256SUMS last; the line in the log; then the folder is
renamed. `recover` completes or removes the work of a killed writer. A finished folder
is never changed. Not: the files (`files`), their formats (`as_json`, `as_csv`), or
the report (`report`).
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..records import as_json
from ..records.errors import AuditError, DataError, quote
from ..records.result import AuditResult
from .audit_log import SEE_VERIFY, open_log
from .digests import LIST, compare_folder, digest_of_file, sha256, write_list
from .files import HEAD, Files, as_bytes, data_files, is_data, log_file

PART = re.compile(r"\.(.+)\.[0-9a-f]{8}\.part", re.DOTALL)
"""The temporary name of a file or folder that is being written."""


def with_free_name(
    result: AuditResult, folder: Path, used: Collection[str] = ()
) -> AuditResult:
    """Return a result with a run_id that no run in `folder` has, nor any in `used`.

    A run_id that is taken gets "-2", "-3", … at its end. Call this before rendering,
    so that the report prints the name of its folder.
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
    """Write a run into a new folder ``runs/<run_id>`` and return its path.

    Besides `files` it gets `data`, SHA256SUMS with the digests of all files, and
    log-head.json with the last line of the audit log before the run.

    Parameters
    ----------
    result : AuditResult
    folder : Path
        The folder of the audit.
    files : mapping of str to bytes or str
        Path in the run folder and content: audit.toml, report.html, figures/….
    exit_code : int
        The exit code of the command.
    short_views : callable
        ``short_views(result)`` returns summary.txt and similar files by path; they
        print the final name of the run.
    data : mapping of str to bytes, optional
        `files.data_files` of the result and `files`, if already computed.
    log : iterable of mapping
        The lines of log.jsonl after those in the result.
    message : str
        The message in the line of the audit log.
    r_failed : bool
        Whether numbers are missing because R failed: another attempt may have them.

    Raises
    ------
    AuditError
        If the files cannot be written; none are left.
    ValueError
        If a path leads out of the folder, or is that of a file written here.
    """
    data = data_files(result, files) if data is None else data
    with open_log(folder) as audit_log:
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
    """Complete or remove the work of killed writers.

    A run, or the page of a sign-off, with a line in the log is renamed to its final
    name. Without a line it is deleted, and so is a run that retention was removing.
    What differs from its line was altered and is left. Returns one sentence for each
    that was completed or left.
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
                os.replace(part, target)
                _sync(target.parent)
                done.append(
                    f"{what}, which a killed process had written, was given its name."
                )
            elif name in digests and not target.exists():
                done.append(
                    f"{what} is not as its line in the log says and was left as "
                    f"{quote(part.name)}. {SEE_VERIFY} {folder}"
                )
            else:
                _remove(part)
        for hidden in folder.glob("runs/.*.removed"):
            _remove(hidden)
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
    """Return the result stored in a run folder as a JSON document.

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
    """Write one file whole or not at all, replacing a file of that name.

    Parameters
    ----------
    path : Path
    content : bytes or str
    add_line : callable, optional
        Appends the line of the file to the audit log, before the file gets its name.

    Raises
    ------
    AuditError
        If it cannot be written; nothing is left.
    """
    with _whole(path, then=add_line) as part:
        _write(part, as_bytes(content))


def write_folder(folder: Path, files: Files) -> None:
    """Write a new folder with all its files or not at all.

    Raises
    ------
    AuditError
        If the name is taken, or it cannot be written; nothing is left.
    """
    if folder.exists():
        raise AuditError(f"{folder} already exists. Choose another folder.")
    with _whole(folder) as part:
        _write_files(part, files)


@contextmanager
def _whole(target: Path, then: Callable[[], Any] | None = None) -> Iterator[Path]:
    """Yield a temporary path in the folder of `target`, renamed to it at the end.

    On an error the path is removed, with the folders created for it. `then` is called
    before the renaming; after it the path stays, because `recover` can complete it.
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
        os.replace(part, target)  # refused for a folder that is there and not empty
        _sync(target.parent)
    except BaseException as error:
        if not is_named:
            _remove(part, new_folders)
        if not isinstance(error, OSError):
            raise
        raise AuditError(
            f"Folder {str(target.parent)!r} cannot take {quote(target.name)}: "
            f"{error.strerror}. Nothing was written."
        ) from error


def _remove(part: Path, new_folders: Iterable[Path] = ()) -> None:
    """Remove an incomplete file or folder, and the folders created for it."""
    with suppress(OSError, RecursionError):  # folders nested too deeply
        shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)
    for folder in new_folders:
        with suppress(OSError):
            folder.rmdir()


def _write_files(part: Path, files: Files) -> None:
    """Write the files of a folder in their order, flushed to the disk."""
    for path, content in files.items():
        _write(part / path, as_bytes(content))
    for inner in (*filter(Path.is_dir, part.rglob("*")), part):
        _sync(inner)


def _write(path: Path, data: bytes) -> None:
    """Write a file, flushed to the disk, and create its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Flush the entries of a folder to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
