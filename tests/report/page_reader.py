"""How the tests read a page: its elements as a tree, every open tag closed."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "col", "img", "br", "hr", "link", "wbr"}


@dataclass
class Node:
    """One element: its name, its attributes, and what stands inside it."""

    tag: str
    attributes: dict[str, str]
    inside: list["Node | str"] = field(default_factory=list)

    def all(self, *tags: str) -> list["Node"]:
        """Return the elements with these names below this one, in order."""
        nodes = []
        for item in self.inside:
            if isinstance(item, Node):
                nodes += [item] if item.tag in tags else []
                nodes += item.all(*tags)
        return nodes

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
            raise ValueError(f"<{node.tag}> is not closed; </{tag}> was met.")

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def parse_page(page: str) -> Node:
    """Return a page as a tree; a tag that is not closed raises ValueError."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    (root,) = reader.open
    return root


def traces_of(page):
    """Return the attributes of every element of a page that carries a number.

    A cell without a place has that of its column's head, at the number of its row.
    """
    tree = parse_page(page)
    for table in tree.all("table"):
        heads = [
            head.attributes
            for head in table.all("th")
            if head.attributes.get("scope") == "col"
        ]
        for row in table.all("tr")[1:] if heads else ():
            number = row.attributes.get("data-r", "")
            for head, cell in zip(heads, row.all("th", "td"), strict=True):
                trace = {k: v for k, v in head.items() if k in ("data-p", "data-d")}
                trace |= {"data-p": head.get("data-p", "").replace("[]", f"[{number}]")}
                for node in (cell, *cell.all("span")):
                    if "data-v" in node.attributes and "data-p" not in node.attributes:
                        node.attributes.update(trace)
    nodes = [node.attributes for node in tree.all("td", "span")]
    return [node for node in nodes if "data-v" in node]


def nodes_of(tree):
    """Yield every element of a page, in order."""
    for item in tree.inside:
        if not isinstance(item, str):
            yield item
            yield from nodes_of(item)


def having(tree, name, value=None):
    """Return the elements that have an attribute, of this value if one is given."""
    nodes = (node for node in nodes_of(tree) if name in node.attributes)
    return [node for node in nodes if value in (None, node.attributes[name])]


def dead_links(tree):
    """Return the addresses inside a page that no element has."""
    ids = {node.attributes["id"] for node in having(tree, "id")}
    links = {a.attributes["href"] for a in tree.all("a")}
    return {link for link in links if link.startswith("#")} - {f"#{id_}" for id_ in ids}
