"""Sections that the audit's owner wrote, in a subset of Markdown, after section L."""

import re

from ..text.blocks import Part, Section, Sentence, Styled
from ..text.wording import say, show_hidden
from .facts import Facts, config_of

MARKS = {"**": "strong", "*": "em", "`": "code"}
TOKEN = re.compile(r"(\*\*\S(?:.*?\S)?\*\*|\*[^\s*](?:[^*]*[^\s*])?\*|`[^`]+`)")
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")
ITEM = re.compile(r"\s*(?:([-*+])|\d+[.)])\s+(.*)")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*")


def own_sections(facts: Facts) -> tuple[Section, ...]:
    """Return the sections of ``[[report.section]]``: L1, L2, and so on."""
    files = config_of(facts, "files")
    entries = config_of(facts, "report").get("section", ())
    return tuple(
        Section(
            f"L{n}",
            "own",
            show_hidden(entry["title"]),
            say("own_section.lede"),
            {"text": blocks_of(files.get(entry["file"], {}).get("text", ""))},
        )
        for n, entry in enumerate(entries, start=1)
    )


def blocks_of(text: str) -> tuple[Sentence, ...]:
    """Return Markdown as blocks, each of one kind of `Styled`.

    Headings ("title"), paragraphs ("text") and lists ("item", "number"), with strong,
    em and code inside. Everything else is text: HTML is not interpreted, and a link
    becomes its text and its address.
    """
    blocks: list[tuple[Styled, ...]] = []
    kind = ""
    for line in text.splitlines():
        item, heading = ITEM.fullmatch(line), HEADING.fullmatch(line.strip())
        if not line.strip():
            kind = ""
        elif heading:
            blocks.append((Styled("title", _inline(heading[1])),))
            kind = ""
        elif item:
            style = "item" if item[1] else "number"
            new = Styled(style, _inline(item[2]))
            is_next = bool(blocks) and blocks[-1][0].style == style
            blocks[-1:] = [(*blocks[-1], new)] if is_next else [*blocks[-1:], (new,)]
            kind = style
        elif kind:  # continues the previous line
            *before, last = blocks[-1]
            longer = Styled(last.style, (*last.parts, " ", *_inline(line)))
            blocks[-1] = (*before, longer)
        else:
            blocks.append((Styled("text", _inline(line)),))
            kind = "text"
    return tuple(blocks)


def _inline(line: str) -> Sentence:
    text = LINK.sub(lambda link: f"{link[1]} ({link[2]})", line.strip())
    parts: list[Part] = []
    for token in TOKEN.split(show_hidden(text)):
        mark = next((mark for mark in MARKS if token.startswith(mark)), "")
        if mark and len(token) > 2 * len(mark) and TOKEN.fullmatch(token):
            parts.append(Styled(MARKS[mark], (token[len(mark) : -len(mark)],)))
        elif token:
            parts.append(token)
    return tuple(parts)
