"""How the tests read a page: its elements as a tree, every open tag closed."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "col", "img", "br", "hr", "link"}


@dataclass
class Node:
    """One element: its name, its attributes, and what stands inside it."""

    tag: str
    attributes: dict[str, str]
    inside: list["Node | str"] = field(default_factory=list)

    def all(self, *tags: str) -> list["Node"]:
        """Return the elements with these names below this one, in order."""
        found = []
        for item in self.inside:
            if isinstance(item, Node):
                found += [item] if item.tag in tags else []
                found += item.all(*tags)
        return found

    @property
    def text(self) -> str:
        """All text below, blanks as a reader sees them."""
        parts = (i if isinstance(i, str) else i.text for i in self.inside)
        return " ".join("".join(parts).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        node = self.open.pop()
        if node.tag != tag:
            raise ValueError(f"<{node.tag}> must be closed, but </{tag}> was met.")

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read(page: str) -> Node:
    """Return a page as a tree; a tag that is not closed raises ValueError."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    (root,) = reader.open
    return root
