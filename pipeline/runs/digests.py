"""SHA256SUMS: the digests of all files of a run, in the format of ``sha256sum -c``.

A line has 64 hex digits, two blanks and the path relative to the folder. Lines are
sorted by the bytes of the paths. As in coreutils, a backslash, line feed or carriage
return in a path is escaped, and the line then begins with a backslash.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..records.errors import DataError

LIST = "SHA256SUMS"
LARGEST_LIST = 64_000_000
"""Maximum size in bytes of a list that is read."""
_LINE = re.compile(rb"(\\?)([0-9a-f]{64})  (.+)", re.DOTALL)
_ESCAPES = {b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r"}
_PLAIN = {escaped: plain for plain, escaped in _ESCAPES.items()}
KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
"""Types of non-regular files, which are not opened: opening could block forever."""


class Mismatch(NamedTuple):
    """One difference between the expected and the actual state.

    Attributes
    ----------
    file : str
        Path relative to the verified folder, a line of the log, or the name of an
        embedded file.
    expected, actual : str
    """

    file: str
    expected: str
    actual: str

    def __str__(self) -> str:
        """Return the mismatch in one line."""
        return f"{self.file}: expected {self.expected}, found {self.actual}"


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes, as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def open_regular(path: Path, largest: int | None = None) -> int:
    """Return the descriptor of a regular file opened for reading; links are refused.

    Raises
    ------
    OSError
        If it cannot be read, is not a regular file, or has more than `largest` bytes.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    kind = KINDS.get(stat.S_IFMT(path.lstat().st_mode), "")
    if kind:
        raise OSError(errno.EINVAL, kind, str(path))
    number = os.open(path, flags)
    status = os.fstat(number)
    if stat.S_ISREG(status.st_mode) and status.st_size <= (largest or status.st_size):
        return number
    os.close(number)
    raise OSError(errno.EINVAL, f"a file of {status.st_size} bytes", str(path))


def read_regular(path: Path, largest: int | None = None) -> bytes:
    """Return the content of a file, opened by `open_regular`."""
    with open(open_regular(path, largest), "rb") as file:
        return file.read()


def digest_of_file(path: Path, largest: int | None = None) -> str:
    """Return the SHA-256 of a file, opened by `open_regular` and read in chunks."""
    with open(open_regular(path, largest), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def walk(folder: Path) -> Iterator[str]:
    """Yield the relative paths of all files below a folder, and of other non-folders.

    Raises
    ------
    OSError
        If a folder cannot be read.
    """
    to_do = [""]
    while to_do:
        start = to_do.pop()
        with os.scandir(folder / start) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    to_do.append(f"{start}{entry.name}/")
                else:
                    yield start + entry.name


def write_list(digests: Mapping[str, str]) -> bytes:
    r"""Return the bytes of a list of digests, given by path.

    Examples
    --------
    >>> print(write_list({"a\nb": "0" * 64}).decode()[:16])
    \000000000000000
    """
    lines = []
    for path in sorted(map(os.fsencode, digests)):
        name = re.sub(rb"[\\\n\r]", lambda match: _ESCAPES[match[0]], path)
        digest = digests[os.fsdecode(path)].encode()
        lines.append(b"\\" * (name != path) + digest + b"  " + name + b"\n")
    return b"".join(lines)


def read_list(data: bytes) -> dict[str, str]:
    """Return the digest of each path of a list.

    Raises
    ------
    ValueError
        If it is not in the form of `write_list`, or has a path outside the folder.
    """
    digests: dict[str, str] = {}
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        match = _LINE.fullmatch(line)
        if not match:
            raise ValueError(f"line {number}, which is none of {LIST}")
        name = match[3]
        if match[1]:
            name = re.sub(rb"\\.", lambda m: _PLAIN.get(m[0], b"\0"), name)
        path = os.fsdecode(name)
        if path.startswith("/") or {"", ".", ".."} & {*path.split("/")}:
            raise ValueError(f"line {number}, which names {path!r} outside the folder")
        digests[path] = match[2].decode()
    if write_list(digests) != data:
        raise ValueError("lines that are not in the one way to write them")
    return digests


def list_of(run: Path) -> dict[str, str]:
    """Return the digests in the list of a run, by path.

    Raises
    ------
    DataError
        If its list cannot be read.
    """
    try:
        return read_list(read_regular(run / LIST, LARGEST_LIST))
    except (OSError, ValueError) as error:
        raise DataError(
            f"{LIST} of run {run.name!r} cannot be read: {why(error)}."
        ) from error


def compare_folder(
    folder: Path, where: str, digest: str = "", largest: int | None = None
) -> tuple[dict[str, str], set[str], list[Mismatch]]:
    """Return the listed digests of a folder, its intact files, and the mismatches.

    Parameters
    ----------
    folder : Path
    where : str
        Prefix of the paths in mismatches: "", or a path that ends with "/".
    digest : str
        The expected SHA-256 of the list; "" if it is not known.
    largest : int, optional
        Total size of the files in bytes; a larger file is not read.
    """
    try:
        data = read_regular(folder / LIST, LARGEST_LIST)
        listed = read_list(data)
    except (OSError, ValueError) as error:
        expected = f"the list of its files{f', SHA-256 {digest}' if digest else ''}"
        return {}, set(), [Mismatch(f"{where}{LIST}", expected, why(error))]
    wrong, intact = [], set()
    if digest and sha256(data) != digest:
        wrong.append(Mismatch(f"{where}{LIST}", f"SHA-256 {digest}", sha256(data)))
    try:
        here = {*walk(folder)} - {LIST}
    except OSError as error:
        unreadable = Mismatch(
            where or str(folder), "a folder that can be read", why(error)
        )
        return listed, set(), [*wrong, unreadable]
    for path in sorted(here - listed.keys()):
        try:
            kind = stat.S_IFMT((folder / path).lstat().st_mode)
            found = KINDS.get(kind, "a file")
        except OSError as error:
            found = why(error)
        expected = f"nothing that {LIST} lacks"
        wrong.append(Mismatch(f"{where}{path}", expected, found))
    for path, stated in listed.items():
        try:
            found = digest_of_file(folder / path, largest)
        except OSError as error:
            found = why(error)
        if found == stated:
            intact.add(path)
        else:
            wrong.append(Mismatch(f"{where}{path}", f"SHA-256 {stated}", found))
    return listed, intact, wrong


def why(error: Exception) -> str:
    """Return the reason why a file cannot be read, in a few words."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return (isinstance(error, OSError) and error.strerror) or str(error)
