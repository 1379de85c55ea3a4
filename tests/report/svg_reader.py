"""Reads back what a figure drew: groups, marks, paths and texts in millimetres."""

import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np

from importance_audit.report.figures import typeface

MM = 25.4 / 72
SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"

ROUNDED = 0.005 * MM
"""How far a coordinate may lie from where it belongs: half a hundredth of a point."""


def groups(svg, prefix):
    """Return the SVG groups whose id begins so, in the order they are drawn."""
    elements = ElementTree.fromstring(svg).iter(f"{SVG}g")
    return [group for group in elements if group.get("id", "").startswith(prefix)]


def mark(svg, name):
    """Return the place of the one mark of this id, in millimetres."""
    (group,) = [group for group in groups(svg, name) if group.get("id") == name]
    (use,) = group.iter(f"{SVG}use")
    return float(use.get("x")) * MM, float(use.get("y")) * MM


def points(group):
    """Return the corners of the one path of a group, in millimetres."""
    (path,) = group.iter(f"{SVG}path")
    numbers = re.findall(r"[ML] ([-\d.e]+) ([-\d.e]+)", path.get("d"))
    return [(float(x) * MM, float(y) * MM) for x, y in numbers]


def texts(svg):
    """Return (words, x, y, attributes) of every text, places in millimetres."""
    return [
        (
            node.text,
            float(node.get("x")) * MM,
            float(node.get("y")) * MM,
            node.attrib,
        )
        for node in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ]


def titles(svg):
    """Return what the marks of a figure tell, in the order they are drawn."""
    return [node.text for node in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def words(svg):
    return [text for text, *_ in texts(svg)]


def height(svg):
    return float(re.search(r'height="([\d.]+)pt"', svg)[1]) * MM


def x_axis(svg, panel=0):
    """Return number → millimetres as the tick labels of the axis of a panel say."""
    ticks = [
        (float(text.replace("−", "-").replace("\u202f", "")), x)
        for text, x, _, style in texts(svg)
        if style["text-anchor"] == "middle"
    ]
    starts = [n for n in range(1, len(ticks)) if ticks[n][0] <= ticks[n - 1][0]]
    first, last = [0, *starts, None][panel : panel + 2]
    slope, start = np.polyfit(*np.transpose(ticks[first:last]), 1)
    return lambda number: start + slope * number


def y_axis(svg):
    """Return number → millimetres as the labels of the values say."""
    ticks = [
        (float(text.replace("−", "-")), y)
        for text, _, y, style in texts(svg)
        if style["text-anchor"] == "end"
    ]
    slope, start = np.polyfit(*np.transpose(ticks), 1)
    return lambda number: start - 0.36 * 7.5 * MM + slope * number


def shown_box(words_, x, style):
    """Return the left and the right end of a text in millimetres."""
    bold = style.get("font-weight") == "700"
    wide = typeface.width(words_, size_of(style), bold=bold)
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[style["text-anchor"]]
    return x - shift * wide, x + (1 - shift) * wide


def size_of(style):
    """Return the size of a text in points."""
    return float(style["font-size"].removesuffix("px"))


def boxes(svg):
    """Return (words, left, right, top, bottom) of every text in millimetres."""
    text_boxes = []
    for text, x, y, style in texts(svg):
        size = size_of(style)
        span = y - 0.7 * size * MM, y + 0.1 * size * MM
        text_boxes.append((text, *shown_box(text, x, style), *span))
    return text_boxes


def collisions(svg):
    """Return every pair of texts that overlap."""
    return [
        (one[0], two[0])
        for one, two in combinations(boxes(svg), 2)
        if one[1] < two[2] and two[1] < one[2] and one[3] < two[4] and two[3] < one[4]
    ]


def off_sheet(svg):
    """Return the texts that leave the sheet."""
    tall = height(svg)
    return [
        text
        for text, left, right, top, bottom in boxes(svg)
        if left < -0.01 or right > 174.01 or top < 0 or bottom > tall
    ]


def contrast(colour, paper="#ffffff"):
    """Return the WCAG 2 contrast ratio of two colours."""

    def luminance(text):
        parts = [int(text[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(colour), luminance(paper)])
    return (high + 0.05) / (low + 0.05)
