"""Sentences, numbers and names as HTML: what others wrote is escaped here."""

import re
from collections.abc import Callable
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

from ..text.blocks import Badge, FileLink, Link, Name, Styled, Value
from ..text.wording import is_right_to_left, pieces_of, show_hidden

NARROW = 12
"""Characters that the narrowest column of names has room for."""
PIECE = 14
"""Characters of a name that any column can keep in one line."""
LONG_WORD = 27
"""Characters of a word that may break in a sentence: more than an id of a run has."""
ELEMENTS = ("strong", "em", "sub", "code")
JOINT = Markup("<wbr>")
_LONG_WORD = re.compile(rf"(\S{{{LONG_WORD},}})")
_LINK_TAG = re.compile(r"</?a\b[^>]*>")


def html_of(
    item: Any, *, path: Callable[[str], str] = str, printing: bool = False
) -> Any:
    """Return a sentence, or a part of one, as HTML; anything else as it is.

    Parameters
    ----------
    item : Sentence, Value, Name, Link, FileLink, Badge, Styled or other
    path : callable
        Where a number of the page stands in the stored result: `ReportView.path`.
    printing : bool
        Paper follows no link to a file and looks up no number.
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
    """Return what an element tells of its number: full precision, place, derivation."""
    if not value.exact:
        return Markup("")
    derived = Markup(' data-d="{}"').format(value.derived) if value.derived else ""
    text = Markup(' data-v="{}" data-p="{}"{}')
    return text.format(value.exact, path(value.path), derived)


def marker(kind: str, target: str) -> str:
    """Return what stands for a text that is known when the whole page is composed.

    Its two characters are for private use: shown names never hold any.
    """
    return f"\ue000{kind}:{target}\ue001"


def breakable(name: str) -> str:
    """Return a name that a narrow column may break between its words."""
    # WeasyPrint puts what stands between two joints from left to right.
    if len(name) <= NARROW or is_right_to_left(name):
        return name
    # Paper breaks inside pieces too unless told not to, which only short ones bear.
    whole = Markup('<span class="joints">{}</span>')
    runs = [
        whole.format(JOINT.join(run)) if is_short else JOINT.join(run)
        for is_short, run in groupby(pieces_of(name), lambda piece: len(piece) <= PIECE)
    ]
    return JOINT.join(runs)


def _breaking(text: str) -> Markup:
    """Return a text as HTML whose long words, names above all, break as names do."""
    return Markup("").join(
        JOINT.join(pieces_of(word))
        if n % 2 and not is_right_to_left(word)
        else escape(word)
        for n, word in enumerate(_LONG_WORD.split(text))
    )


def unlinked(item: Any) -> Markup:
    """Return a sentence as HTML without its links, for a button, which has none."""
    return Markup(_LINK_TAG.sub("", html_of(item)))
