"""The environment of the templates, and their digest."""

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from ...records.template_folder import templates
from .column_widths import column_widths
from .inline import html_of, marker, number_attributes, unlinked

if TYPE_CHECKING:
    from jinja2 import Environment

KINDS = (".j2", ".css", ".js", ".toml")


@cache
def templates_sha256() -> str:
    """Return one SHA-256 of all templates, style sheets, catalogues and scripts.

    The hashed text in UTF-8 has one line per file below ``templates/``, in the order of
    the paths: the path, a space, and the SHA-256 of the content.
    """
    folder = templates()
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    lines = (
        f"{name} {hashlib.sha256(paths[name].read_bytes()).hexdigest()}\n"
        for name in sorted(paths)
        if paths[name].suffix in KINDS
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def environment() -> "Environment":
    """Return the environment of the templates.

    In HTML and XML all output is escaped, and sentences become HTML by `html_of`.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context

    @pass_context
    def finalize(context: Any, item: Any) -> Any:
        return html_of(item, path=context["path"], printing=context["printing"])

    filled = Environment(
        loader=FileSystemLoader(templates()),
        autoescape=lambda name: not str(name).endswith((".txt.j2", ".md.j2")),
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filled.globals |= {
        "path": str,
        "printing": False,
        "marker": marker,
        "column_widths": column_widths,
        "number_attributes": number_attributes,
        "unlinked": unlinked,
    }
    return filled
