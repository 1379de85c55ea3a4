"""The figure of the lead ranking, whatever the method that ranks."""

import pytest
from tests.report.made_records import made_importance, row_intervals_frame
from tests.report.made_variants import view_of_records
from tests.report.reading import drawn
from tests.report.svg_reader import titles

from importance_audit.report.figures.ranking import draw_ranking
from importance_audit.report.text.blocks import plain

PERMUTATION = made_importance("forest", "abc", (9.0, 4.0, 2.0), sd=0.1, baseline=50.0)


def permutation_figure(**frames):
    (figure,) = drawn(view_of_records(PERMUTATION, **frames), draw_ranking)
    return figure


def test_intervals_cover_other_rows_where_the_run_has_them():
    frame = row_intervals_frame((PERMUTATION,), 5.0)
    figure = permutation_figure(row_intervals=frame)
    rows = figure.data["rows"]
    assert [row.low for row in rows] == pytest.approx([4.0, -1.0, -3.0])
    assert [row.high for row in rows] == pytest.approx([14.0, 9.0, 7.0])
    assert "line: 95\u202f% interval over resampled rows" in plain(figure.caption)
    assert figure.alt.endswith("a leads with 9.0 (4.0 to 14.0).")
    assert titles(figure.svg)[0] == "forest, a: 9.0 (4.0 to 14.0)"
    # What the draws alone would settle, other rows do not.
    assert "a leads" not in plain(figure.headline)


def test_shuffling_noise_alone_is_called_that_and_has_no_level():
    figure = permutation_figure()
    assert "line: interval of shuffling noise alone" in plain(figure.caption)
    assert "95" not in plain(figure.caption)
    (row, *_) = figure.data["rows"]
    assert row.high - row.low < 1.0
    assert plain(figure.headline).startswith("a leads")
