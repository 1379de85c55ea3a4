"""Our own HTML as a tree, and its text in pieces of one look. Not: any other HTML.

Renderers that know no HTML start here, so that the templates alone decide what stands
where.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, NamedTuple

VOID = {"meta", "img", "col", "wbr", "br", "link"}
INLINE = {"a", "b", "bdi", "br", "code", "em", "i", "span", "strong", "sub", "wbr"}
JOINT = "\u200b"
"""Where a name may break; no text of a page has one of its own."""
_BLANKS = re.compile(r"[ \t\r\n]+")


class Piece(NamedTuple):
    """Text of one look, and where it leads to inside the report."""

    text: str
    look: frozenset[str]
    target: str = ""


@dataclass
class Node:
    """An element of a page, or what is left of it: tag, attributes, contents."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: "list[str | Node]" = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        """The words of its class."""
        return set(self.attributes.get("class", "").split())

    def all(self, *tags: str) -> "Iterator[Node]":
        """Yield every element below this one that has one of these tags."""
        for item in self.inside:
            if isinstance(item, Node):
                if item.tag in tags:
                    yield item
                yield from item.all(*tags)


class _Reader(HTMLParser):
    """Makes a tree of a page of ours, in which every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Node("")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Begin an element inside the one that is open."""
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].inside.append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        """Close the element that is open."""
        if tag not in VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Add a text to the element that is open."""
        self._open[-1].inside.append(data)


def body_of(html: str) -> Node:
    """Return the body of a page of ours, in which every element is closed."""
    reader = _Reader()
    reader.feed(html)
    (body,) = reader.root.all("body")
    return body


def inline_of(node: Node) -> list[str | Node]:
    """Return what an item of a list holds, as one line."""
    return [
        Node("span", inside=inline_of(item))
        if isinstance(item, Node) and item.tag not in INLINE
        else item
        for item in node.inside
    ]


def pieces_in(nodes: Iterable[str | Node]) -> list[Piece]:
    """Return the text of nodes in pieces of one look, blanks as browsers show them."""
    pieces: list[Piece] = []
    is_blank = True
    for piece in _raw_pieces(nodes, frozenset(), ""):
        text = piece.text if piece.text == "\n" else _BLANKS.sub(" ", piece.text)
        text = text.removeprefix(" ") if is_blank else text
        if text and (pieces or text != "\n"):
            pieces.append(piece._replace(text=text))
            is_blank = text[-1] in " \n"
    while pieces and not (text := pieces[-1].text.rstrip(" \n")):
        pieces.pop()
    return [*pieces[:-1], pieces[-1]._replace(text=text)] if pieces else []


def _raw_pieces(
    nodes: Iterable[str | Node], look: frozenset[str], target: str
) -> Iterator[Piece]:
    for node in nodes:
        if isinstance(node, str):
            yield Piece(node, look, target)
        elif node.tag == "wbr":
            yield Piece(JOINT, look, target)
        elif node.tag != "i":
            if node.tag == "br" or {"line", "entry"} & node.classes:
                yield Piece("\n", look)
            more = {"strong": "b"}.get(node.tag, node.tag)
            more = "code" if "hash" in node.classes else more
            more = "b" if "v" in node.classes else more
            href = node.attributes.get("href", "")
            leads = href[1:] if href.startswith("#") else target
            yield from _raw_pieces(node.inside, look | {more}, leads)
