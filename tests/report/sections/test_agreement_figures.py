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


def omitted_pairs(figure):
    return plain(figure.caption).partition(" Not drawn: ")[2]


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
    ("changes", "stream", "why"),
    [
        ({"model": "m9"}, "", "the numbers of one side are not in this run"),
        ({"unit": "log loss"}, "", "different units"),
        ({"form": "absolute"}, "", "shown as difference and as absolute"),
        ({"features": ("c", "d")}, "", "no feature was measured on both sides"),
        ({}, "numpy", "the same draws, so no band"),
        ({}, "", "no random draws, so no band"),
    ],
)
def test_a_pair_without_a_place_is_named_with_the_reason(changes, stream, why):
    draws = "numpy / vip-0.4"
    streams = [draws, draws if changes else stream]
    figure = pairs_figure(["equivalent", "comparable"], streams=streams, **changes)
    assert len(figure.data["panels"]) == 1
    assert omitted_pairs(figure) == f"m1, Python − vip ({why})."


def test_of_many_pairs_that_have_no_place_six_are_named_and_the_rest_counted():
    streams = ["numpy / vip-0.4", *[""] * 9]
    figure = pairs_figure(["equivalent", *["comparable"] * 9], streams=streams)
    omissions = omitted_pairs(figure)
    assert omissions.count("Python − vip") == 6
    assert omissions.endswith("; 3 more.")
