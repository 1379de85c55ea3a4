"""The typeface of the reports, DejaVu of matplotlib: files, widths, missing characters.

The same files are used on every machine, for the widths here and in the PDF. Not:
drawing, rendering.
"""

import base64
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path

from ..text.wording import end_of_words, is_right_to_left, pieces_of, start_of_words

# (family, weight, style) in the terms of CSS, and the file.
FACES = {
    ("DejaVu Sans", "normal", "normal"): "DejaVuSans.ttf",
    ("DejaVu Sans", "bold", "normal"): "DejaVuSans-Bold.ttf",
    ("DejaVu Sans", "normal", "italic"): "DejaVuSans-Oblique.ttf",
    ("DejaVu Sans Mono", "normal", "normal"): "DejaVuSansMono.ttf",
    ("DejaVu Sans Mono", "bold", "normal"): "DejaVuSansMono-Bold.ttf",
}
MM_PER_POINT = 25.4 / 72
_ROUNDING = 1e-6  # millimetres: tolerance for a text exactly as wide as its column
_LAYOUT_ONLY = frozenset("\t\n\r")
_UNDRAWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_SVG_URI = re.compile(r"(?<=data:image/svg\+xml;base64,)[A-Za-z0-9+/=]+")


def font_file(face: tuple[str, str, str]) -> Path:
    """Return the path of one face of `FACES`."""
    import matplotlib

    return Path(matplotlib.get_data_path(), "fonts", "ttf", FACES[face])


def font_files(more: Sequence[str] = ()) -> dict[str, str]:
    """Return the paths of all faces and `more` files by address in `font_face_css`."""
    ours = {f"font:{file}": str(font_file(face)) for face, file in FACES.items()}
    return {**ours, **{f"font:more-{n}": path for n, path in enumerate(more)}}


def font_face_css(more: Sequence[str] = ()) -> str:
    """Return one `@font-face` rule per face, with the address "font:" and file name.

    Addresses are not data URIs, since WeasyPrint takes 4 s to read five of those. Each
    path of `more` becomes a family of its own: a glyph is looked up in every family.
    """
    rules = [
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; '
        f"font-style: {style}; src: url(font:{file}) }}"
        for (family, weight, style), file in FACES.items()
    ]
    extra_rules = [
        f'@font-face {{ font-family: "more-{n}"; src: url(font:more-{n}) }}'
        for n in range(len(more))
    ]
    return "\n".join([*rules, *extra_rules])


def uncovered(text: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the distinct characters that no face and no file of `more` has."""
    return tuple(sorted(set(text) - _covered(tuple(more)) - _LAYOUT_ONLY))


def escape_uncovered(html: str, more: Sequence[str] = ()) -> str:
    """Return the page with an escape such as ⟨U+5E74⟩ for each missing character.

    Missing are those that no face has, in the text and in the SVG images of the page. A
    renderer would leave them out, or print other glyphs in their place.
    """

    def escaped(match: re.Match[str]) -> str:
        svg = base64.b64decode(match.group()).decode()
        return base64.b64encode(_escaped(svg, more).encode()).decode()

    return _SVG_URI.sub(escaped, _escaped(html, more))


def drawable(text: str) -> str:
    """Return a text with escapes for characters that XML forbids and line breaks."""
    return _UNDRAWABLE.sub(_escape, text)


def in_drawing_order(text: str) -> str:
    """Return a text in visual order, to be drawn letter by letter from left to right.

    Arabic and Hebrew letters are reordered and joined here, since neither matplotlib
    nor WeasyPrint's SVG does it. The control characters around them keep a browser from
    reordering them again.
    """
    if not is_right_to_left(text):
        return text
    from arabic_reshaper import reshape
    from bidi.algorithm import get_display

    return f"\u202d{get_display(reshape(text), base_dir='L')}\u202c"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the advance width of a text in millimetres, at `size` points.

    A missing character counts as one em, the width of CJK glyphs.
    """
    return _ems(text, bold) * size * MM_PER_POINT


def shortened(
    names: Sequence[str], limit: float, size: float, *, lines: int = 1
) -> tuple[tuple[str, ...], ...]:
    """Return the lines of each name, none wider than `limit` millimetres.

    A name that does not fit `lines` lines is cut in the middle. Names that would be cut
    to the same text get their place in `names`, counted from 1, as in "income of …and
    over #3", so that they can be distinguished.
    """
    texts = [_cut(name, limit, size, lines) for name in names]
    return tuple(
        _lines(
            text
            if text == name or texts.count(text) == 1
            else _cut(name, limit, size, lines, f" #{place}"),
            limit,
            size,
            lines,
        )
        for place, (name, text) in enumerate(zip(names, texts, strict=True), start=1)
    )


def _cut(text: str, limit: float, size: float, lines: int, tail: str = "") -> str:
    """Return the text, its middle replaced by "…" as far as needed to fit."""

    def keeping(n_chars: int) -> str:
        end = end_of_words(text, (n_chars + 1) // 2)
        return f"{text[:end]}…{text[start_of_words(text, n_chars // 2) :]}{tail}"

    def fits(words: str) -> bool:
        broken = _lines(words, limit, size, lines)
        return width(broken[-1], size) <= limit + _ROUNDING

    if not tail and fits(text):
        return text
    n_chars = bisect_left(
        range(len(text)), True, key=lambda n_chars: not fits(keeping(n_chars))
    )
    return keeping(max(n_chars - 1, 0))


def _lines(text: str, limit: float, size: float, lines: int) -> tuple[str, ...]:
    """Return the text broken at ends of words; the last line may be too wide."""
    if lines == 1 or width(text, size) <= limit + _ROUNDING:
        return (text,)
    fitting = bisect_right(
        range(1, len(text)), limit, key=lambda n: width(text[:n], size)
    )
    ends = accumulate(map(len, pieces_of(text)))
    breaks = [n for n in ends if fitting // 3 <= n <= fitting]
    # At a blank if possible, so that a version such as 0.5.0 is not broken.
    spaces = [n for n in breaks if text[n - 1] == " "]
    end = (spaces or breaks or [max(fitting, 1)])[-1]
    return (text[:end].rstrip(), *_lines(text[end:], limit, size, lines - 1))


def _escape(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match.group()):04X}⟩"


def _escaped(text: str, more: Sequence[str]) -> str:
    missing = uncovered(text, more)
    return (
        re.sub(f"[{re.escape(''.join(missing))}]", _escape, text) if missing else text
    )


@cache
def _covered(more: tuple[str, ...]) -> frozenset[str]:
    """Return all characters that some face or file of `more` has a glyph for."""
    files = (*(str(font_file(face)) for face in FACES), *more)
    return frozenset(chr(code) for file in files for code in character_map(file))


@cache
def character_map(file: str) -> Mapping[int, str]:
    """Return the glyph names of a font file by code point."""
    from fontTools.ttLib import TTFont

    # Opened here, since TTFont does not close a file that is no font.
    with Path(file).open("rb") as stream, TTFont(stream, lazy=True) as font:
        return dict(font.getBestCmap())


@lru_cache(maxsize=4096)
def _ems(text: str, bold: bool) -> float:
    """Return the advance width of a text in em, cached: names are measured often."""
    advances = _advances(bold)
    return sum(advances.get(ord(char), 1.0) for char in text)


@cache
def _advances(bold: bool) -> dict[int, float]:
    """Return advance widths in em by code point, of the regular or the bold sans."""
    from fontTools.ttLib import TTFont

    face = ("DejaVu Sans", "bold" if bold else "normal", "normal")
    cmap = character_map(str(font_file(face)))
    with TTFont(font_file(face), lazy=True) as font:
        metrics, em = font["hmtx"].metrics, font["head"].unitsPerEm
        return {code: metrics[name][0] / em for code, name in cmap.items()}
