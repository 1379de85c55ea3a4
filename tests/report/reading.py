"""How the tests read a view: its pieces, its tables by name, its sentences."""

import os
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import pandas as pd

from importance_audit.report.pages.compose import compose
from importance_audit.report.pages.html import (
    FIGURES,
    figure_files,
    html_files,
    pdf_files,
)
from importance_audit.report.pages.report_views import report_views
from importance_audit.report.text.blocks import Figure, Name, Table, Value, plain


def page_files(result, *, pdf=True, attachments=(), figures=FIGURES, **about):
    """Return the renderings of a result by their paths, as `render` writes them."""
    attachments = dict(attachments)
    document = attachments.get("result.json", b"")
    views = report_views(result, document=document, **about)
    files = html_files(views, figures)
    files |= figure_files(views, figures)
    return files | (pdf_files(views, result, attachments) if pdf else {})


def written_elsewhere(code, **variables):
    """Return what some code writes in another process, under these variables."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, **variables, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment, capture_output=True, check=True
    ).stdout


def pieces(block):
    """Yield everything a view is made of, down to the parts of its sentences."""
    yield block
    if isinstance(block, dict):
        block = tuple(block.values())
    if isinstance(block, tuple | list):
        inside = block
    elif is_dataclass(block):
        inside = [getattr(block, item.name) for item in fields(block)]
    else:
        return
    for item in inside:
        yield from pieces(item)


def parts_of(block, kind):
    """Yield every part of one kind in what is shown of `block`, of tables what is cut
    left out; drawings are passed over: a table holds their names and numbers too.
    """
    if isinstance(block, kind):
        yield block
    elif isinstance(block, tuple):
        for item in block:
            yield from parts_of(item, kind)
    elif isinstance(block, dict):
        yield from parts_of(tuple(block.values()), kind)
    elif is_dataclass(block):
        for item in fields(block):
            if item.name not in ("everything", "data"):
                yield from parts_of(getattr(block, item.name), kind)


def section(view, letter):
    return next(part for part in view.sections if part.letter == letter)


def said_in(view, letter):
    """Return all sentences of a section as one text."""
    return words(section(view, letter))


def lede_of(view, letter):
    return plain(section(view, letter).lede)


def heads_of(item):
    """Return the heads of the columns of a table."""
    return [plain(head.label) for head in item.columns]


def cells_of(row):
    return [plain(cell.parts) for cell in row.cells]


def figure(view, start):
    """Return the first figure whose id begins so, or None."""
    return next((f for f in view.figures if f.id.startswith(start)), None)


def blocks(view, letter):
    """Return the tables and figures of a section, in the order of the page."""
    composed = compose([section(view, letter)])
    body = composed.bodies[letter]
    shown = (*composed.tables, *composed.figures)
    return sorted(shown, key=lambda block: body.index(f'id="{block.id}"'))


def parts(view, letter):
    """Return the parts of a section, those that it reads off the others included."""
    found = section(view, letter).parts
    if not callable(found):
        return found
    rest = [part for part in view.sections if not callable(part.parts)]
    return found(compose(rest).bodies)


def fact(view, card, label):
    """Return one line of a card, by its label."""
    (item,) = (c for c in section(view, "E").parts["cards"] if c.id == card)
    lines = (*item.facts.rows, *item.on_screen)
    return next(plain(text) for head, text in lines if plain(head) == label)


def entries(view):
    """Return the findings as section K shows them."""
    return section(view, "K").parts["entries"]


def rows_of(facts):
    """Return a short table of labels as plain texts."""
    return {plain(label): plain(content) for label, content in facts.rows}


def _held(view, is_meant):
    """Yield some tables and figures, of sections that read nothing off the others.

    Only the sections that hold one are composed: to compose all takes long.
    """
    for part in view.sections:
        if not callable(part.parts) and any(map(is_meant, pieces(part.parts))):
            composed = compose([part])
            yield from filter(is_meant, (*composed.tables, *composed.figures))


def table(view, id_):
    """Return a table by its id."""
    held = _held(view, lambda item: isinstance(item, Table) and item.id == id_)
    return next(held, None) or next(item for item in view.tables if item.id == id_)


def drawn(view, draw):
    """Return the figures that a function draws, in the order of the page."""
    is_meant = lambda item: isinstance(item, Figure) and item.draw is draw  # noqa: E731
    return list(_held(view, is_meant))


def column(item, label):
    """Return the plain texts of one column of a table."""
    place = heads_of(item).index(label)
    return [plain(row.cells[place].parts) for row in item.rows]


def words(block):
    """Return all sentences of a block as one text."""
    return " ".join(
        plain(piece)
        for piece in pieces(block)
        if isinstance(piece, tuple)
        and piece
        and isinstance(piece[0], str | Name | Value)
        and not any(isinstance(part, tuple | list | pd.DataFrame) for part in piece)
    )


def value_at(result, path):
    """Return what stands at the path of a Value."""
    frame = re.fullmatch(r"(\w+)\[(\d+)\]\.(\w+)", path)
    if frame and isinstance(getattr(result, frame[1]), pd.DataFrame):
        return getattr(result, frame[1])[frame[3]].iloc[int(frame[2])]
    return eval(f"result.{path}", {"result": result})
