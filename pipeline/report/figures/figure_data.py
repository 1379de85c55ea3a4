"""What a figure is drawn from: plain view data, already sorted, cut and worded.

Names are as the page shows them, except that a figure may shorten a long one; the
field `text` is the number beside a mark, rounded like the table below the figure.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RankingRow:
    """One feature of one model: the mean and its interval, best first.

    Attributes
    ----------
    name : str
    estimate, low, high : float
        `low` and `high` equal `estimate` where nothing is drawn, and are NaN where
        one repeat gives no interval.
    text : str
        The estimate as printed.
    repeats : tuple of float
        What each repeat measured, if they are to be shown.
    """

    name: str
    estimate: float
    low: float
    high: float
    text: str
    repeats: tuple[float, ...] = ()


@dataclass(frozen=True)
class ModelRow:
    """The loss of one model with one feature permuted.

    Attributes
    ----------
    name : str
    mean : float
    repeats : tuple of float
        The loss in each repeat, for the box plot; empty if nothing is drawn.
    text : str
    mark, note : str
        A sign at the right end of the plot, and words beside the bar; may be empty.
    """

    name: str
    mean: float
    repeats: tuple[float, ...]
    text: str
    mark: str = ""
    note: str = ""


@dataclass(frozen=True)
class ModelPanel:
    """One model; the rows of all panels stand in the same order.

    Attributes
    ----------
    name : str
    baseline : float
        The loss of the model as it is, drawn dashed: where the bars start.
    baseline_text : str
    rows : tuple of ModelRow
    """

    name: str
    baseline: float
    baseline_text: str
    rows: tuple[ModelRow, ...]


@dataclass(frozen=True)
class Curve:
    """One line, or one row of dots, of a panel.

    Attributes
    ----------
    label : str
    grid : tuple
        Numbers, or the levels as text; curves of a panel may differ in it.
    values : tuple of float
    lead : bool
        The curve that leads the reading; the others are drawn thinner.
    """

    label: str
    grid: tuple[float | str, ...]
    values: tuple[float, ...]
    lead: bool


@dataclass(frozen=True)
class EffectPanel:
    """One feature, the curves of all models.

    Attributes
    ----------
    feature : str
    kind : {"number", "category"}
    curves : tuple of Curve
    counts : tuple of (float or str, float)
        Rows, or their weight, at each position or level, for the foot of the panel;
        may be empty.
    lines : tuple of (float, float)
        Intercept and slope of each straight line that the curves are held against.
    """

    feature: str
    kind: Literal["number", "category"]
    curves: tuple[Curve, ...]
    counts: tuple[tuple[float | str, float], ...] = ()
    lines: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class SurfacePanel:
    """The surface of one model over two features.

    Attributes
    ----------
    name : str
    first, second : tuple of float or str
        The grids: numbers, or the levels as text.
    values : tuple of tuple of float
        One row per entry of `first`; what is not finite is not drawn.
    within : tuple of tuple of bool
        Whether rows lie around the point.
    """

    name: str
    first: tuple[float | str, ...]
    second: tuple[float | str, ...]
    values: tuple[tuple[float, ...], ...]
    within: tuple[tuple[bool, ...], ...]


@dataclass(frozen=True)
class EngineRow:
    """One feature as each engine measured it.

    Attributes
    ----------
    name : str
    points : tuple of (engine, mean, low, high)
        Engines that gave no answer for this feature are left out.
    """

    name: str
    points: tuple[tuple[str, float, float, float], ...]


@dataclass(frozen=True)
class BandRow:
    """The difference between two engines on one feature.

    Attributes
    ----------
    name : str
    difference, half_width : float
        Zero is the middle of the band from -half_width to half_width.
    inside : bool
    text : str
    """

    name: str
    difference: float
    half_width: float
    inside: bool
    text: str


@dataclass(frozen=True)
class BandPanel:
    """One pair of engines.

    Attributes
    ----------
    title : str
        The model.
    verdict : str
        The word of the ladder.
    rows : tuple of BandRow
    engines : str
        The pair, on lines of its own; may be empty.
    """

    title: str
    verdict: str
    rows: tuple[BandRow, ...]
    engines: str = ""
