"""ROC curves, calibration and residuals, by the numbers they draw."""

from itertools import pairwise

import numpy as np
import pytest
from tests.report.svg_reader import groups, mark, points, words

from importance_audit.report.figures.performance import draw_classes, draw_residuals

RATES = ((0.0, 0.0), (0.0, 0.5), (0.25, 1.0), (1.0, 1.0))
POINTS = [{"false_rate": x, "true_rate": y} for x, y in RATES]
CURVE = ("forest, AUC 0.875", POINTS)
DECILES = [
    {"predicted": p, "observed": p + 0.02, "low": p - 0.05, "high": p + 0.1}
    for p in np.arange(1, 11) / 20
]


def classes(n_models=1, curves=None, *, deciles=(DECILES,) * 6, name="model {n}"):
    names = [name.format(n=n) for n in range(n_models)]
    lines = [(each, POINTS) for each in names]
    return draw_classes(
        lines if curves is None else curves,
        [*zip(names, deciles, strict=False)],
        roc_title="ROC curves",
        roc_labels=("true positive rate", "false positive rate"),
        labels=("share of class 1", "decile of predicted probability"),
    ).svg("fig-performance")


def residuals(n_models=1, name="model {n}", scale=1.0):
    some = [part(i, i + 1, i + 0.5, scale=scale) for i in range(20)]
    panels = [(name.format(n=n), some) for n in range(n_models)]
    labels = ("observed − predicted", "prediction")
    return draw_residuals(panels, labels=labels).svg("fig-performance")


def part(*ends, scale=1.0):
    """Return a part of the rows from its lowest, highest and mean prediction."""
    numbers = (*ends, -3.0, -1.0, 0.5, 1.0, 4.0)
    names = ("lowest", "highest", "fitted", "q05", "q25", "q50", "q75", "q95")
    return {name: scale * at for name, at in zip(names, numbers, strict=True)}


def test_a_curve_goes_through_its_points_on_the_scale_of_the_diagonal():
    svg = classes(curves=[CURVE])
    ((x0, y0), (x1, y1)) = points(groups(svg, "chance")[0])
    (line,) = groups(svg, "roc-")
    rates = [((x - x0) / (x1 - x0), (y - y0) / (y1 - y0)) for x, y in points(line)]
    np.testing.assert_allclose(rates, RATES, atol=1e-3)


def test_observed_stands_above_predicted_by_their_difference():
    svg = classes()
    gaps = [
        mark(svg, f"predicted-0-{n}")[1] - mark(svg, f"observed-0-{n}")[1]
        for n in range(1, 11)
    ]
    step = mark(svg, "predicted-0-1")[1] - mark(svg, "predicted-0-2")[1]
    np.testing.assert_allclose(gaps, step * 0.02 / 0.05, atol=0.02)
    across = [mark(svg, f"observed-0-{n}")[0] for n in range(1, 11)]
    assert np.ptp(np.diff(across)) < 0.02


def test_all_calibrations_have_one_scale():
    low = [{**decile, "predicted": decile["predicted"] / 2} for decile in DECILES]
    svg = classes(2, [], deciles=(DECILES, low))
    for n in range(1, 11):
        heights = [mark(svg, f"observed-{panel}-{n}")[1] for panel in (0, 1)]
        assert heights[0] == pytest.approx(heights[1], abs=0.01)


def test_without_curves_there_is_no_panel_for_them():
    svg = classes(curves=[])
    assert "ROC curves" not in words(svg)
    assert not groups(svg, "chance")


def test_the_median_of_a_part_reaches_from_its_smallest_to_its_largest_prediction():
    svg = residuals()
    lines = [points(group) for group in groups(svg, "residuals-0-")]
    ends = [(line[0][0], line[1][0]) for line in lines]
    for (_, right), (left, _) in pairwise(ends):
        assert right == pytest.approx(left, abs=0.02)
    (zero,) = groups(svg, "zero")
    assert points(zero)[0][1] > lines[0][0][1]  # a positive median stands above 0


def test_parts_without_width_still_have_a_median():
    flat = part(2.0, 2.0, 2.0)
    svg = draw_residuals([("stump", [flat])], labels=("residual", "fit")).svg("s")
    ((left, _), (right, _)) = points(groups(svg, "residuals-0-0")[0])
    assert right - left == pytest.approx(0.8, abs=0.02)
