"""The pages that people read first, and the code blocks in them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A code block of a page, by the number of its first line."""

    page: str
    line: int
    language: str
    text: str


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(language):
    """Return every block in one language, in the order of the pages."""
    return [block for block in all_blocks() if block.language == language]


def all_blocks():
    page_blocks = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            name = page.relative_to(ROOT).as_posix()
            page_blocks.append(Block(name, line, match[1], match[2]))
    return page_blocks


def name_of(block):
    return f"{block.page}:{block.line}"


def rows_of(page, heading):
    """Return the cells of the rows of the table whose first head cell is `heading`."""
    lines = iter(text_of(page).splitlines())
    for line in lines:
        if line.startswith(f"| {heading} |"):
            break
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def codes(text):
    """Return what stands in backquotes."""
    return re.findall(r"`([^`\n]+)`", text)
