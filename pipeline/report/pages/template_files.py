"""Which templates, words, styles and script a page was made with, as one digest."""

import hashlib
from functools import cache

from ..text.wording import templates

KINDS = (".j2", ".css", ".js", ".toml")


@cache
def templates_sha256() -> str:
    """Return one SHA-256 of all templates, styles, words and scripts of the report.

    That of one line per file below ``templates/`` in UTF-8, in the order of the paths:
    the path, a space, and the SHA-256 of the content.
    """
    folder = templates()
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    lines = (
        f"{name} {hashlib.sha256(paths[name].read_bytes()).hexdigest()}\n"
        for name in sorted(paths)
        if paths[name].suffix in KINDS
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()
