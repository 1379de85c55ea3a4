"""The figure of top-k error curves, by the numbers it draws."""

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_rows
from tests.report.made_results import apartments_result
from tests.report.made_variants import apartments_view, configured
from tests.report.reading import column, drawn, section, table
from tests.report.svg_reader import groups, mark, points

from importance_audit.report.figures.top_k import TopKLine, draw_top_k
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

LINES = (
    TopKLine("first", (4.0, 2.0, 2.0), (0.5, 0.5, 0.0)),
    TopKLine("second", (3.0, 3.0), (0.25, 0.25)),
)
WHO = {"model": "", "ranked_by": "", "positive_class": "", "loss": "mae"}
PCA = TopKLine("pca", (3.0, 1.0), (1.0, 0.0))


def curves_svg(lines=LINES, *more):
    panels = [("", lines), *(("held out", part) for part in more)]
    return draw_top_k(panels, axis_label="features", head="MAE").svg("fig-top-k")


def frame(protocol="folds"):
    """Return one ranking in two folds: means 3 and 1, standard errors 1 and 0."""
    values = ((1, 1, 2.0), (1, 2, 4.0), (2, 1, 1.0), (2, 2, 1.0))
    fields = {"entry": 0, "method": "pca", "judge": "forest", "feature": "surface"}
    fields |= {"protocol": protocol, **WHO}
    return made_rows("top_k", "k fold value", *values, **fields)


def test_a_higher_loss_stands_higher_and_equal_ones_level():
    (_, first), (_, second), (_, third) = (
        mark(curves_svg(), f"point-0-0-{k}") for k in "012"
    )
    (_, other) = mark(curves_svg(), "point-0-1-0")
    assert first < other < second
    assert second == pytest.approx(third)
    assert first + second == pytest.approx(2 * other, abs=0.02)


def test_a_bar_reaches_one_error_up_and_down():
    (bar, _) = groups(curves_svg(), "error-0-0")
    (_, low), (_, high) = points(bar)
    (_, four), (_, two) = (mark(curves_svg(), f"point-0-0-{k}") for k in "01")
    assert abs(low - high) == pytest.approx((two - four) / 2, abs=0.02)


def test_panels_have_one_scale_and_one_error_is_no_bar():
    alone = TopKLine("second", (3.5, 3.0), (float("nan"), float("nan")))
    page = curves_svg(LINES, (alone,))
    (four, two), (high, low) = (
        [mark(page, f"point-{name}-{k}")[1] for k in "01"] for name in ("0-0", "1-1")
    )
    assert high - low == pytest.approx((four - two) / 4, abs=0.02)
    assert groups(page, "error-1-1") == []


def both(*frames):
    return pd.concat(frames, ignore_index=True)


def top_k_of(frame, **changed):
    (figure,) = drawn(apartments_view(top_k=frame, **changed), draw_top_k)
    return figure


def test_the_curve_is_the_mean_over_the_folds_with_its_standard_error():
    figure = top_k_of(frame())
    assert figure.data["panels"] == (("", (PCA,)),)
    assert "over 2 folds of the training rows" in plain(figure.caption)
    assert len(figure.alt) <= 250
    assert len(plain(figure.headline)) <= 75


def test_each_protocol_has_a_panel_and_a_sentence():
    figure = top_k_of(both(frame(), frame("holdout")))
    ((first, lines), (second, more)) = figure.data["panels"]
    assert lines == more == (PCA,)
    assert "Cross-validated" in first
    assert "evaluation rows" in second
    assert "judged once on the evaluation rows" in plain(figure.caption)


def test_a_unit_that_would_turn_the_words_after_it_is_made_visible():
    result = apartments_result().with_frames(top_k=frame())
    result = configured(result, report={"unit": "EUR\u202e"})
    (figure,) = drawn(build_view(result), draw_top_k)
    assert figure.data["head"] == "MAE, EUR⟨U+202E⟩"


def labels(figure):
    return [line.label for line in figure.data["panels"][0][1]]


def test_two_questions_by_one_method_are_two_lines():
    assert labels(top_k_of(both(frame(), frame().assign(entry=1)))) == [
        "pca (entry 1)",
        "pca (entry 2)",
    ]


def test_more_rankings_than_line_styles_are_counted():
    figure = top_k_of(both(*(frame().assign(model=f"m{n}") for n in range(10))))
    assert labels(figure) == [f"pca, m{n}" for n in range(9)]
    assert plain(figure.caption).endswith("Not drawn: 1 more.")


def test_a_judge_without_a_finite_loss_has_a_sentence_and_no_figure():
    endless = frame().assign(value=np.inf, loss="log_loss")
    view = apartments_view(top_k=endless)
    assert not drawn(view, draw_top_k)
    groups = section(view, "F").parts["groups"]
    (group,) = (group for group in groups if group.id == "measure-top-k")
    assert plain(group.blocks[0]) == (
        "forest has no curves: its loss, log loss, is infinite or missing with every "
        "number of features."
    )


def test_a_ranking_without_a_finite_loss_is_named_below_the_others():
    endless = frame().assign(value=np.inf, method="mrmr")
    figure = top_k_of(both(frame(), endless))
    assert labels(figure) == ["pca"]
    ending = "Without a curve, because no mean loss is finite: mrmr."
    assert plain(figure.caption).endswith(ending)


@pytest.mark.filterwarnings("error")
def test_an_infinite_loss_in_one_fold_is_a_gap_and_is_told():
    holed = frame()
    holed.loc[(holed["k"] == 1) & (holed["fold"] == 2), "value"] = np.inf
    figure = top_k_of(holed)
    ((_, (line,)),) = figure.data["panels"]
    assert np.isnan([line.means[0], line.errors[0]]).all()
    assert (line.means[1], line.errors[1]) == (1.0, 0.0)
    assert "a curve has a gap" in plain(figure.caption)


SETS = {"all features": (5, 5, 5), "random_subspace": (2, 4, 0)}
LOSSES = {"all features": (10.0, 14.0, 99.0), "random_subspace": (8.0, 9.0, np.nan)}


def test_means_and_errors_are_over_the_splits_in_which_anything_is_kept():
    rows = [
        (n, method, split + 1, SETS[method][split], LOSSES[method][split])
        for n, method in enumerate(SETS)
        for split in range(3)
    ]
    columns = "entry method split k value"
    frame = made_rows("selection", columns, *rows, judge="svm", **WHO)
    selection = table(apartments_view(selection=frame), "tab-selection-svm")
    assert column(selection, "Chosen by") == ["all features", "random subspace"]
    assert column(selection, "Mean number kept") == ["5.0", "2.0"]
    means = [float(row.cells[2].parts[0].raw) for row in selection.rows]
    assert means == [41.0, 8.5]
    # Of 8 and 9: their standard deviation over the root of 2.
    assert float(selection.rows[1].cells[3].parts[0].raw) == 0.5
