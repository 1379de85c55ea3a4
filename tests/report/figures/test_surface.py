"""The maps of two features."""

import numpy as np
import pytest
from tests.report.svg_reader import words

from importance_audit.report.figures.surface import SurfacePanel, draw_surface

LONG = ("engineering and maintenance crew", "restaurant and victualling staff")


@pytest.mark.parametrize("is_upright", [True, False])
def test_a_long_level_takes_two_lines_before_it_is_cut(is_upright):
    grids = ((0.0, 1.0), LONG) if is_upright else (LONG, (0.0, 1.0))
    values = np.array([(1.0, 2.0)] * 2)
    panel = SurfacePanel("forest", *grids, values, np.full((2, 2), True))
    labels = {"first": "a", "second": "b", "axis_label": "mean", "masked_text": "none"}
    texts = words(draw_surface([panel], **labels).svg("s"))
    assert all(word in " ".join(texts) for level in LONG for word in level.split())
