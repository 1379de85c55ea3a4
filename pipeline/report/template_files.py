"""Which templates, words and styles a page was made with, as one digest."""

import hashlib
from functools import cache

from pipeline.report.wording import templates


@cache
def templates_sha256() -> str:
    """Return the SHA-256 of every file below ``templates/``, by path and content.

    For each file, in the order of the paths: path with ``/`` in UTF-8, a zero byte,
    and the SHA-256 of the content as 32 bytes. Byte code is left out.
    """
    folder, digest = templates(), hashlib.sha256()
    paths = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for name in sorted(paths):
        digest.update(name.encode() + b"\0")
        digest.update(hashlib.sha256(paths[name].read_bytes()).digest())
    return digest.hexdigest()
