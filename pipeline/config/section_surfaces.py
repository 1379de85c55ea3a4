"""What a configuration asks about two features together. Its rules: `rules`."""

from dataclasses import dataclass
from typing import Annotated

from ..methods.effects.partial_dependence import Scale
from ..records.value_rules import Range


@dataclass(frozen=True, kw_only=True, eq=False)
class SurfaceSection:
    """A surface: the mean prediction as a function of two features.

    Attributes
    ----------
    features : tuple of str
        The two; by default the first pair of each model, by the first entry about
        pairs.
    models : tuple of str
        Which models are asked; by default all.
    n_grid : int
        Most points of the even grid of a number.
    scale : {"native", "link", "centred_logit"}
        As in `effects.partial_dependence`.
    """

    features: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    n_grid: Annotated[int, Range(least=2, most=50)] = 20
    scale: Scale = "native"
