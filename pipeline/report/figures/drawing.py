"""The look of every figure of the report: palette, sheet, scales.

A sheet is 174 mm wide; its origin is the upper left corner. Positions are millimetres;
sizes of type, lines and marks are points. matplotlib draws and writes the SVG; the
layout is computed here, so that every version of matplotlib draws the same.
"""

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from math import ceil, floor, isfinite, log10, nan
from typing import Any, Literal, NamedTuple
from xml.sax.saxutils import escape

from . import typeface

WIDTH = 174.0

INK = "#15191d"  # text, baselines
SOFT = "#4a5057"  # labels
AXIS = "#6b737b"  # axes, third series
BLUE = "#0b4f79"  # marks
RED = "#8c1d18"  # failures only: outside the band, not confirmed, no run
FILL = "#c3d8e8"  # bars, with ends in blue
BAND = "#dfe3e6"  # bands, with edges in the colour of axes
FOOT = "#b9c1c8"  # distributions
HAIR = "#d5dade"
GRID = "#e3e7ea"

NAME, SMALL, TITLE = 8.0, 7.5, 8.5  # points
DASHED, DOTTED = (4.0, 2.0), (1.0, 1.6)

# Without DejaVu a browser uses Verdana, whose widths are the same, or its default.
_FAMILY = "'DejaVu Sans',Verdana,sans-serif"
# From the middle of a line of text down to its baseline, in em of DejaVu.
_DROP = 0.36

_TITLED = "~"  # in the id of a mark, before the index of its title

_NEEDLESS_GROUPS = (
    (r' id="text_\d+"', r"<text [^>]*>[^<]*</text>"),
    (r' id="(?:line2d|patch)_\d+"', r"<path [^>]*/>"),
    ("", r"<use [^>]*/>"),
)

Anchor = Literal["left", "center", "right"]


class Look(NamedTuple):
    """The look of a series: its line (width 0: none) and its mark."""

    colour: str = BLUE
    width: float = 0.9
    dashes: tuple[float, ...] = ()
    mark: str = "o"
    size: float = 4.2


_GRID = Look(GRID, 0.5)

SERIES = (
    Look(BLUE, 1.7, (), "o", 4.2),
    Look(AXIS, 0.9, (), "|", 5.6),
    Look(INK, 0.9, (3.0, 1.5), "x", 3.6),
    Look(AXIS, 1.1, (1.0, 1.2), "v", 3.8),
    Look(INK, 0.9, (5.0, 1.2, 1.0, 1.2), "+", 4.6),
    Look(BLUE, 0.9, (1.5, 1.5), "D", 3.2),
    Look(INK, 0.9, (1.0, 1.5), ">", 3.8),
    Look(BLUE, 0.9, DASHED, "^", 3.8),
    Look(AXIS, 0.9, (6.0, 1.5), "S", 3.4),
)
"""The look of each curve, the leading one first; they differ even without colour."""


class Scale(NamedTuple):
    """The linear map of numbers from `low` to `high` to millimetres from `left` on."""

    low: float
    high: float
    left: float
    width: float

    @property
    def right(self) -> float:
        """Right end in millimetres."""
        return self.left + self.width

    def at(self, number: float) -> float:
        """Return the position of a number in millimetres."""
        return self.left + (number - self.low) / (self.high - self.low) * self.width


def limits(
    numbers: Sequence[float], *, include: Sequence[float] = (), pad: float = 0.04
) -> tuple[float, float]:
    """Return the ends of an axis that shows every finite number.

    An end given by `include` (a baseline) gets no padding; other ends get `pad` of
    the range. If all numbers are equal, the axis reaches one unit to either side.
    """
    finite = [float(number) for number in (*numbers, *include) if isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    if low == high:
        return low - 1.0, high + 1.0
    room = pad * (high - low)
    return (low if low in include else low - room), (
        high if high in include else high + room
    )


def ticks(low: float, high: float, *, most: int) -> tuple[float, ...]:
    """Return evenly spaced round numbers in [`low`, `high`], at most `most` + 1."""
    raw = (high - low) / most
    power = 10.0 ** floor(log10(raw))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return tuple(float(f"{n * step:.12g}") for n in range(first, last + 1))


def tick_texts(numbers: Sequence[float], *, grouped: bool = True) -> tuple[str, ...]:
    """Return evenly spaced numbers as text, all with the same decimals.

    Steps below 1e-5 and numbers from 1e9 are written as in "2·10⁻⁷", all with the
    same power. `grouped` separates thousands, which years should not have.
    """
    largest = max((abs(number) for number in numbers), default=0.0)
    step = numbers[1] - numbers[0] if len(numbers) > 1 else largest or 1.0
    if step >= 1e-5 and largest < 1e9:
        decimals = _decimals(step)
        return tuple(_number(number, decimals, grouped) for number in numbers)
    power = floor(log10(largest) + 1e-9)
    decimals = _decimals(step / 10.0**power)
    tail = "·10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return tuple(
        _number(number / 10.0**power, decimals, False) + tail if number else "0"
        for number in numbers
    )


def _decimals(step: float) -> int:
    return max(0, -floor(log10(step) + 1e-9))


def _number(number: float, decimals: int, grouped: bool) -> str:
    text = f"{number + 0.0:{',' if grouped else ''}.{decimals}f}"
    text = text.lstrip("-") if not text.strip("-0.") else text
    return text.replace(",", "\u202f").replace("-", "−")


def shade(share: float) -> str:
    """Return the colour of a share of the range of a surface, 0 dark to 1 light.

    The map, cividis, is perceptually uniform, also in grey and for the colour-blind.
    """
    from matplotlib import colormaps, colors

    return str(colors.to_hex(colormaps["cividis"](min(max(share, 0.0), 1.0))))


class Sheet:
    """The drawing of a figure; what is added later is drawn on top."""

    def __init__(self) -> None:
        self.height = 0.0
        self._strokes: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self._titles: list[str] = []

    def _add(
        self, artist: str, *args: Any, name: str = "", title: str = "", **options: Any
    ) -> None:
        if title:
            name += f"{_TITLED}{len(self._titles)}"
            self._titles.append(title)
        self._strokes.append((artist, args, {**options, "gid": name or None}))

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float],
        look: Look,
        *,
        name: str = "",
    ) -> None:
        """Draw a line through points, broken where one is not finite.

        `name` becomes the id of its SVG group.
        """
        dashes = tuple(dash / look.width for dash in look.dashes)
        style: dict[str, Any] = {"color": look.colour, "lw": look.width}
        style |= {"ls": (0, dashes) if dashes else "-", "solid_capstyle": "butt"}
        self._add("Line2D", tuple(x), tuple(y), name=name, **style)

    def uprights(
        self,
        x: Iterable[float],
        y: tuple[float, float],
        look: Look = _GRID,
        *,
        name: str = "",
    ) -> None:
        """Draw a vertical line at each finite x, all from one y to the other."""
        across = [n for place in x if isfinite(place) for n in (place, place, nan)]
        if across and all(map(isfinite, y)):
            self.line(across, [*y, nan] * (len(across) // 3), look, name=name)

    def levels(
        self,
        x: tuple[float, float],
        y: Iterable[float],
        look: Look = _GRID,
        *,
        name: str = "",
    ) -> None:
        """Draw a horizontal line at each finite y, all from one x to the other."""
        up = [n for place in y if isfinite(place) for n in (place, place, nan)]
        if up and all(map(isfinite, x)):
            self.line([*x, nan] * (len(up) // 3), up, look, name=name)

    def box(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        face: str = "none",
        edge: str = "none",
        width: float = 0.0,
        name: str = "",
        title: str = "",
    ) -> None:
        """Draw a rectangle between two x and two y, if all of them are finite.

        `title` is its tooltip in a browser and its name for assistive technologies. A
        rectangle without face and edge adds a tooltip to what is drawn below it.
        """
        if not all(map(isfinite, (*x, *y))):
            return
        corners = [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]
        look = {"fc": face, "ec": edge, "lw": width, "joinstyle": "miter"}
        self._add("Polygon", corners, closed=True, name=name, title=title, **look)

    def area(
        self,
        x: Sequence[float],
        low: Sequence[float],
        high: Sequence[float],
        *,
        face: str,
        name: str = "",
    ) -> None:
        """Fill between two lines over the same x, broken where one of them is NaN."""
        edges = list(zip(x, low, high, strict=True))
        for is_whole, run in groupby(edges, lambda edge: all(map(isfinite, edge))):
            if is_whole and len(part := list(run)) > 1:
                corners = [(at, one) for at, one, _ in part]
                corners += [(at, other) for at, _, other in reversed(part)]
                self._add("Polygon", corners, closed=True, name=name, fc=face, lw=0.0)

    def mark(
        self,
        x: float,
        y: float,
        look: Look,
        *,
        name: str = "",
        title: str = "",
    ) -> None:
        """Draw one mark: "o" "s" filled, "O" "S" and "v^><D" open, "|x+" strokes.

        Filled marks have a white rim, open ones a white inside. A mark at a position
        that is not finite is left out.
        """
        if not (isfinite(x) and isfinite(y)):
            return
        if look.mark in "os":
            inside, edge, rim = look.colour, "white", 0.5
        else:
            inside, edge, rim = "white", look.colour, 1.1
        shape = look.mark.replace("O", "o").replace("S", "s")
        style: dict[str, Any] = {"marker": shape, "ms": look.size, "ls": "none"}
        style |= {"mfc": inside, "mec": edge, "mew": rim}
        self._add("Line2D", (x,), (y,), name=name, title=title, **style)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = NAME,
        colour: str = INK,
        anchor: Anchor = "left",
        bold: bool = False,
    ) -> None:
        """Write one line of text, vertically centred at `y`."""
        # The baseline is set here: matplotlib's "center" moves with descenders
        # and with its version.
        baseline = y + _DROP * size * typeface.MM_PER_POINT
        weight = "bold" if bold else "normal"
        look: dict[str, Any] = {"fontsize": size, "color": colour, "weight": weight}
        words = typeface.in_drawing_order(typeface.drawable(words))
        self._add("Text", x, baseline, words, ha=anchor, **look)

    def label(
        self,
        x: float,
        y: float,
        words: str,
        *,
        colour: str = SOFT,
        anchor: Anchor = "left",
    ) -> None:
        """Write a small text, as next to axes and marks."""
        self.text(x, y, words, size=SMALL, colour=colour, anchor=anchor)

    def cut(self, height: float) -> "Sheet":
        """Set the height in millimetres; return this sheet."""
        self.height = height
        return self

    def svg(self, salt: str) -> str:
        """Return the sheet as an SVG, the same bytes for the same drawing and salt."""
        file = io.BytesIO()
        with self._figure(salt) as figure:
            metadata = {"Date": None, "Creator": None}
            figure.savefig(file, format="svg", metadata=metadata, transparent=True)
        return _finished(file.getvalue().decode(), self._titles)

    def png(self, dpi: float) -> bytes:
        """Return the sheet on white paper as a PNG, the same bytes every time."""
        file = io.BytesIO()
        with self._figure() as figure:
            figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
        return file.getvalue()

    @contextmanager
    def _figure(self, salt: str = "") -> Iterator[Any]:
        """Provide the sheet as a matplotlib figure, whatever settings the user has."""
        from matplotlib import style, transforms
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
        from matplotlib.patches import Polygon
        from matplotlib.text import Text

        settings = {
            "svg.fonttype": "none",
            "svg.hashsalt": salt,
            "text.parse_math": False,
            "path.simplify": False,
            "font.family": ["DejaVu Sans"],
        }
        kinds = {artist.__name__: artist for artist in (Line2D, Polygon, Text)}
        with style.context(["default", settings]), warnings.catch_warnings():
            # Widths come from `typeface`; the PDF escapes characters that DejaVu lacks.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            figure = Figure(figsize=(WIDTH / 25.4, self.height / 25.4))
            inches = transforms.Affine2D(
                [[1 / 25.4, 0, 0], [0, -1 / 25.4, self.height / 25.4], [0, 0, 1]]
            )
            places = inches + figure.dpi_scale_trans
            for artist, args, options in self._strokes:
                options = {**options, "zorder": 1, "transform": places}
                figure.add_artist(kinds[artist](*args, **options))
            yield figure


def _finished(svg: str, titles: Sequence[str]) -> str:
    """Return the SVG with titles, without metadata and needless groups.

    Styles become attributes: WeasyPrint below 68 ignores the `font:` shorthand that
    matplotlib 3.6 writes, and reads attributes faster than styles. Regular expressions
    for tags cannot match text, in which "<" is escaped.
    """
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<!DOCTYPE[^>]*>\s*", "", svg, flags=re.S)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, flags=re.S)
    svg = re.sub(r"<\w+ [^>]*>", _plain, svg)
    shared = f'<g stroke-linejoin="round" font-family="{_FAMILY}">'
    svg = svg.replace('<g id="figure_1">', shared, 1)
    for group, content in _NEEDLESS_GROUPS:
        svg = re.sub(rf"<g{group}>\s*({content})\s*</g>", r"\1", svg)

    def titled(group: re.Match[str]) -> str:
        name, title, path = group[1], titles[int(group[2])], group[3]
        id_ = f' id="{name}"' if name else ""
        # An unpainted shape receives no pointer events unless it has this attribute.
        is_bare = 'fill="none"' in path and "stroke" not in path
        all_ = ' pointer-events="all"' if is_bare else ""
        words = escape(typeface.drawable(title))
        return f"<g{id_}{all_}>\n<title>{words}</title>\n{path}"

    svg = re.sub(rf'<g id="([^"]*){_TITLED}(\d+)">\s*(<[^>]*>)', titled, svg)
    return re.sub(r"\n +", "\n", svg)


def _plain(tag: re.Match[str]) -> str:
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", tag.group())
    text = re.sub(
        r"\d+\.\d{3,}",  # to a hundredth of a point, finer than any printer
        lambda length: f"{float(length[0]):.2f}".rstrip("0").rstrip("."),
        text,
    )
    text = re.sub(r"\s+", " ", text)
    return re.sub(r'style="([^"]*)"', _attributes, text)


def _attributes(style: re.Match[str]) -> str:
    values = dict(part.split(": ", 1) for part in style[1].split("; "))
    if font := re.match(r"(?:(\d+) )?([\d.]+px) ", values.pop("font", "")):
        values |= {"font-weight": font[1] or "400", "font-size": font[2]}
    values.pop("font-family", None)
    if values.get("font-weight") == "400":
        del values["font-weight"]
    return " ".join(f'{name}="{value}"' for name, value in values.items())
