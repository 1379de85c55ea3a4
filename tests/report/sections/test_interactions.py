"""The map of pairs: what stands where, how dark, and in which words."""

from itertools import combinations
from math import nan

import numpy as np
import pytest
from tests.report.made_records import made_importance
from tests.report.made_variants import plain_view
from tests.report.reading import drawn
from tests.report.svg_reader import SVG, contrast, groups, points, texts, words

from importance_audit.report.figures.drawing import INK
from importance_audit.report.figures.interactions import draw_interactions, tint
from importance_audit.report.text.blocks import plain


def pairs_map(names, strength, text="{:.2f}"):
    """Return the map of features whose pairs have these strengths, by place."""
    rows = [[strength(n, m) for m in range(n)] for n in range(len(names))]
    cell_texts = [[text.format(value) for value in row] for row in rows]
    return draw_interactions(names, rows, cell_texts, axis_label="strength").svg("s")


def faces(svg):
    return {
        group.get("id"): next(group.iter(f"{SVG}path")).get("fill")
        for group in groups(svg, "pair-")
    }


def pair_figures(features, values, pairs=None, models=("forest",)):
    """Return the figures of a ranking of all pairs of some features."""
    pairs = tuple(pairs or combinations(features, 2))
    fields = {
        **{"method": "h_statistic", "of": "pairs", "form": "raw", "columns": pairs},
        **{"loss": "", "stream": "", "repeats": 1, "options": {"n_rows": 500}},
    }
    names = tuple(map(" : ".join, pairs))
    records = tuple(made_importance(m, names, values, **fields) for m in models)
    view = plain_view(features, importances=records)
    return drawn(view, draw_interactions)


def test_a_pair_stands_left_of_one_feature_and_below_the_other():
    svg = pairs_map("abc", lambda n, m: 1.0 + n + m)
    places = {text: (x, y) for text, x, y, _ in texts(svg) if text in "abc"}
    (square,) = (points(g) for g in groups(svg, "pair-2-1"))
    (left, top), (right, bottom) = np.min(square, axis=0), np.max(square, axis=0)
    assert top < places["c"][1] < bottom
    assert left < places["b"][0] < right < places["c"][0]
    assert places["b"][1] < top


def test_shades_run_from_white_at_zero_to_the_darkest_at_the_largest():
    svg = pairs_map("abc", lambda n, m: [[], [0.0], [2.0, 4.0]][n][m])
    shade = faces(svg)
    assert shade["pair-1-0"] == "#ffffff"
    assert shade["pair-2-0"] == tint(0.5)
    assert shade["pair-2-1"] == tint(1.0)
    assert [g.get("id") for g in groups(svg, "strongest")] == ["strongest-2-1"]


def test_numbers_are_readable_on_every_shade_and_shades_are_told_apart_in_grey():
    shades = [tint(share) for share in np.linspace(0, 1, 11)]
    assert min(contrast(INK, shade) for shade in shades) >= 4.5
    on_paper = [contrast(shade) for shade in shades]
    assert all(np.diff(on_paper) > 0.02)
    assert on_paper[-1] > 3.0


def test_what_was_not_measured_is_a_dash_and_has_no_shade():
    rows, cell_texts = [[], [nan], [1.0, 2.0]], [[], ["–"], ["1", "2"]]
    svg = draw_interactions("abc", rows, cell_texts, axis_label="").svg("s")
    assert faces(svg)["pair-1-0"] == "none"
    assert words(svg).count("–") == 1


def test_features_stand_in_the_order_of_what_their_pairs_measure_together():
    (figure,) = pair_figures("abcd", (1.0, 0.0, 0.0, 0.0, 0.0, 5.0))
    assert figure.data["names"] == ("c", "d", "a", "b")
    assert plain(figure.headline) == (
        "c and d interact most, 5.0 times as strongly as the next pair."
    )
    assert figure.alt.endswith(plain(figure.headline))


@pytest.mark.parametrize(
    ("values", "headline"),
    [
        ((0.0, 0.0, 0.0), "No two features interact."),
        ((0.0, 0.0, 2.0), "b and c interact most."),
        ((2.0, 1.95, 0.0), "a and b interact most, with the next pair close behind."),
    ],
)
def test_the_headline_says_how_far_the_first_pair_leads(values, headline):
    (figure,) = pair_figures("abc", values)
    assert plain(figure.headline) == headline


def test_of_many_features_the_first_twelve_are_drawn_and_the_caption_says_so():
    names = [f"x{i:02}" for i in range(14)]
    values = [float(i + j) for i, j in combinations(range(14), 2)]
    (figure,) = pair_figures(names, values)
    assert figure.data["names"] == tuple(reversed(names[2:]))
    assert plain(figure.caption).endswith("Drawn: 12 of 14 features.")


def test_of_many_models_the_first_three_are_drawn_and_the_others_counted():
    maps = pair_figures("abc", (1.0, 2.0, 3.0), models=("k", "l", "m", "n", "o"))
    assert len(maps) == 3
    ending = "Not drawn: 2 more rankings by this measure."
    assert plain(maps[0].caption).endswith(ending)


def test_one_pair_needs_no_map():
    assert pair_figures("ab", (1.0,)) == []


def test_a_pair_that_nobody_asked_for_is_not_taken_for_one_without_strength():
    (figure,) = pair_figures("abc", (1.0, 2.0), pairs=(("a", "b"), ("b", "c")))
    assert figure.data["names"] == ("b", "c", "a")
    assert figure.data["texts"] == ((), ("2",), ("1", "–"))
