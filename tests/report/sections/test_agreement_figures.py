"""Comparable pairs in the figure of bands, and the pairs that have no place in it."""

from dataclasses import replace

import pytest
from tests.report.made_records import made_frame, made_importance, made_pair
from tests.report.made_variants import view_of_records
from tests.report.reading import drawn
from tests.report.svg_reader import SVG, groups

from importance_audit.report.figures.bands import BandPanel, BandRow, draw_bands
from importance_audit.report.figures.drawing import BLUE, INK, RED
from importance_audit.report.text.blocks import plain

ROWS = (BandRow("a", 1.0, 5.0, True, "1.0"), BandRow("b", 9.0, 5.0, False, "9.0"))


def look(svg, name):
    """Return the fill and the edge of the one mark of this id."""
    (group,) = (g for g in groups(svg, name) if g.get("id") == name)
    (use,) = group.iter(f"{SVG}use")
    return use.get("fill"), use.get("stroke")


def pair(verdict):
    panel = BandPanel("forest", verdict, ROWS, engines="Python − vip")
    return draw_bands([panel], unit_label="difference").svg("b")


def test_comparable_pairs_are_hollow_and_never_red():
    svg = pair("comparable")
    assert look(svg, "difference-0-0") == ("#ffffff", BLUE)
    assert look(svg, "difference-0-1") == ("#ffffff", INK)
    assert RED not in svg


def pairs_figure(verdicts, *, streams=None, **changes):
    """Return the figure of one pair per verdict; the last pair has `changes`."""
    ours, of_vip, rows = [], [], []
    streams = streams or ["numpy / vip-0.4"] * len(verdicts)
    for n, (verdict, stream) in enumerate(zip(verdicts, streams, strict=True)):
        record = made_importance(f"m{n}", "ab", (9.0, 5.0), stream="numpy", sd=1.0)
        ours.append(record)
        of_vip.append(replace(record, engine="vip", stream="vip-0.4"))
        sides = {"engine_a": "python", "engine_b": "vip", "stream": stream}
        rows.append(made_pair(f"m{n}", verdict, **sides))
    of_vip[-1] = replace(of_vip[-1], **changes)
    importances = (*ours, *of_vip)
    frame = made_frame("agreement", rows)
    (figure,) = drawn(view_of_records(*importances, agreement=frame), draw_bands)
    return figure


def test_comparable_pairs_come_last_and_the_headline_is_about_the_judged():
    figure = pairs_figure(["comparable", "equivalent", "disagrees"])
    verdicts = [panel.verdict for panel in figure.data["panels"]]
    assert verdicts == ["disagrees", "equivalent", "comparable"]
    assert plain(figure.headline) == "All 4 differences lie inside their bands."
    assert "Hollow: comparable pairs" in plain(figure.caption)


def test_a_figure_of_comparable_pairs_alone_says_so():
    figure = pairs_figure(["comparable"])
    headline = "Comparable pairs only: all 2 differences lie inside the band."
    assert plain(figure.headline) == headline
    judged = pairs_figure(["equivalent"])
    assert "Hollow" not in plain(judged.caption)


@pytest.mark.parametrize(
    ("changes", "stream"),
    [
        ({"model": "m9"}, ""),
        ({"unit": "log loss"}, ""),
        ({"form": "absolute"}, ""),
        ({"features": ("c", "d")}, ""),
        ({}, "numpy"),
        ({}, ""),
    ],
)
def test_a_pair_without_draws_of_its_own_or_a_common_unit_has_no_panel(changes, stream):
    draws = "numpy / vip-0.4"
    streams = [draws, draws if changes else stream]
    figure = pairs_figure(["equivalent", "comparable"], streams=streams, **changes)
    assert len(figure.data["panels"]) == 1
