"""Sentences, numbers and names as HTML; names and texts of users are escaped here."""

import re
from collections.abc import Callable
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

from ..text.blocks import Badge, FileLink, Link, Name, Styled, Value
from ..text.wording import is_right_to_left, pieces_of, show_hidden

NARROW = 12
"""Characters that fit into the narrowest column of names."""
PIECE = 14
"""Most characters of a piece of a name that is never broken."""
LONG_WORD = 27
"""Least characters of a word that may break in a sentence; ids of runs are shorter."""
ELEMENTS = ("strong", "em", "sub", "code")
JOINT = Markup("<wbr>")
_LONG_WORD = re.compile(rf"(\S{{{LONG_WORD},}})")
_LINK_TAG = re.compile(r"</?a\b[^>]*>")


def html_of(
    item: Any, *, path: Callable[[str], str] = str, printing: bool = False
) -> Any:
    """Return a sentence, or a part of one, as HTML; anything else unchanged.

    Parameters
    ----------
    item : Sentence, Value, Name, Link, FileLink, Badge, Styled or other
    path : callable
        From the path of a value to its path in the stored result: `ReportView.path`.
    printing : bool
        Without links to files and attributes of numbers, which paper cannot use.
    """
    if isinstance(item, tuple):
        return Markup("").join(
            _breaking(show_hidden(part))
            if isinstance(part, str) and not isinstance(part, Markup)
            else html_of(part, path=path, printing=printing)
            for part in item
        )
    if isinstance(item, Value):
        unit = f" {item.unit}" if item.unit else ""
        start = "" if printing else number_attributes(item, path)
        return Markup("<span{}>{}</span>{}").format(start, item.text, unit)
    if isinstance(item, Name):
        title = Markup(' title="{}"').format(item.whole) if item.whole else ""
        if printing and len(item.text) <= NARROW:  # WeasyPrint would break inside
            title += Markup(' class="joints"')
        return Markup("<bdi{}>{}</bdi>").format(title, breakable(item.text))
    if isinstance(item, Link):
        text = item.text or marker("reference", item.target)
        return Markup('<a href="#{}">{}</a>').format(item.target, text)
    if isinstance(item, FileLink):
        name = Markup("<bdi>{}</bdi>").format(breakable(item.text))
        link = Markup('<a href="{}">{}</a>').format(item.file, name)
        return name if printing else link
    if isinstance(item, Badge):
        return Markup(
            '<span class="v v-{}"><span class="shape" aria-hidden="true">{}</span>'
            " {}</span>"
        ).format(item.word, item.shape, item.label)
    if isinstance(item, Styled):
        inside = html_of(item.parts, path=path, printing=printing)
        if item.style in ELEMENTS:
            return Markup("<{0}>{1}</{0}>").format(item.style, inside)
        return Markup('<span class="{}">{}</span>').format(item.style, inside)
    return item


def number_attributes(value: Value, path: Callable[[str], str]) -> Markup:
    """Return the attributes of a number: full precision, path, derivation."""
    if not value.exact:
        return Markup("")
    derived = Markup(' data-d="{}"').format(value.derived) if value.derived else ""
    text = Markup(' data-v="{}" data-p="{}"{}')
    return text.format(value.exact, path(value.path), derived)


def marker(kind: str, target: str) -> str:
    """Return a placeholder, replaced by `compose.filled` when the page is complete.

    It is delimited by two private-use characters, which shown names never contain.
    """
    return f"\ue000{kind}:{target}\ue001"


def breakable(name: str) -> str:
    """Return a name with line break opportunities between its words, if it is long."""
    # WeasyPrint sets texts between two break opportunities from left to right.
    if len(name) <= NARROW or is_right_to_left(name):
        return name
    # WeasyPrint also breaks inside pieces; a class prevents it, for short ones only.
    whole = Markup('<span class="joints">{}</span>')
    runs = [
        whole.format(JOINT.join(run)) if is_short else JOINT.join(run)
        for is_short, run in groupby(pieces_of(name), lambda piece: len(piece) <= PIECE)
    ]
    return JOINT.join(runs)


def _breaking(text: str) -> Markup:
    """Return a text as HTML with line break opportunities in long words."""
    return Markup("").join(
        JOINT.join(pieces_of(word))
        if n % 2 and not is_right_to_left(word)
        else escape(word)
        for n, word in enumerate(_LONG_WORD.split(text))
    )


def unlinked(item: Any) -> Markup:
    """Return a sentence as HTML without links, which a button must not contain."""
    return Markup(_LINK_TAG.sub("", html_of(item)))
