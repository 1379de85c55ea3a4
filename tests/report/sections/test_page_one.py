"""Page one: how good the models are, what they rely on, how sure that is."""

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_importance, models_frame
from tests.report.made_results import apartments_result
from tests.report.made_variants import plain_result
from tests.report.reading import column, section, table, words

from importance_audit.records.finding import Finding
from importance_audit.records.frames import FRAMES
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

NAMES = ("a", "b", "c")


def frame_of(name, rows):
    """Return a frame of the result from the columns that matter here."""
    return pd.DataFrame(rows).reindex(columns=FRAMES[name].columns)


def losses(*rows):
    """Return losses by model and split, each ± 0.5, of a constant 40."""
    fields = {"loss": "rmse", "n_samples": 100, "std_error": 0.5, "constant": 40.0}
    fields |= {"difference": -1.0, "difference_std_error": 0.5}
    return frame_of(
        "performance",
        [{"model": m, "split": s, "value": v, **fields} for m, s, v in rows],
    )


def two_models(**frames):
    """Return the view of a bad and a good model that rank three features otherwise."""
    records = [
        made_importance("bad", NAMES, (9.0, 5.0, 1.0)),
        made_importance("good", NAMES, (5.0, 9.0, 1.0)),
    ]
    frames.setdefault(
        "performance",
        losses(
            *(("bad", "train", 1.0), ("bad", "test", 30.0)),
            *(("good", "train", 19.0), ("good", "test", 20.0)),
        ),
    )
    result = plain_result(
        NAMES, models=models_frame(("bad", "good")), importances=records, **frames
    )
    return build_view(result)


def row_intervals(*rows):
    """Return a frame of intervals from record, feature, low, high and ranks."""
    names = ("record", "feature", "low", "high", "rank_low", "rank_high")
    return frame_of("row_intervals", [dict(zip(names, r, strict=True)) for r in rows])


def test_the_best_model_on_new_rows_comes_first_training_beside_them():
    quality = table(two_models(), "tab-quality")
    assert column(quality, "Model") == ["good", "bad"]
    assert column(quality, "RMSE, training") == ["19.00", "1.00"]
    assert column(quality, "RMSE, evaluation") == ["20.00 ± 0.50", "30.00 ± 0.50"]
    assert column(quality, "Relative to constant") == ["50\u202f%", "75\u202f%"]
    assert plain(quality.caption) == (
        "Performance, best model first: RMSE, lower is better, EUR/m²; 100 training "
        "rows, 100 evaluation rows (section\u00a0D)."
    )


def test_where_training_rows_are_unknown_the_constant_is_of_the_evaluation_rows():
    datasets = apartments_result().datasets
    result = apartments_result(datasets=datasets[datasets["split"] == "test"])
    assert plain(table(build_view(result), "tab-quality").notes[0]).endswith(
        "that of always predicting the mean or class shares of the evaluation rows."
    )


def test_a_model_of_unknown_loss_comes_after_all_others():
    rows = losses(("good", "test", 20.0), ("bad", "train", 1.0))
    quality = table(two_models(performance=rows), "tab-quality")
    assert column(quality, "Model") == ["good", "bad"]
    assert column(quality, "RMSE, evaluation") == ["20.00 ± 0.50", "–"]


def test_what_the_trade_reads_stands_beside_the_loss():
    rows = [
        {"model": m, "reading": r, "split": s, "n_samples": 9, "value": v}
        for m, r, s, v in [
            ("bad", "auc", "train", 0.99),
            ("bad", "auc", "test", 0.7),
            ("good", "auc", "test", 0.8),
            ("bad", "gini", "train", 0.98),
            ("bad", "gini", "test", 0.4),
        ]
    ]
    rows[-1] |= {"std_error": 0.02}
    rows[2] |= {"std_error": 0.01}
    view = two_models(readings=frame_of("readings", rows))
    quality = table(view, "tab-quality")
    assert column(quality, "AUC, training") == ["–", "0.990"]
    assert column(quality, "AUC, evaluation") == ["0.800 ± 0.010", "0.700"]
    assert column(quality, "Gini, evaluation") == ["–", "0.400 ± 0.020"]


def test_a_gap_and_rows_out_of_bag_are_said_below():
    gap = Finding(
        check="train_test_gap", severity="info", subject="bad, rmse", message="m"
    )
    rows = losses(("bad", "test", 30.0), ("bad", "out_of_bag", 29.0))
    view = two_models(performance=rows, findings=(gap,))
    notes = words(table(view, "tab-quality").notes)
    assert "Clearly better on training than on evaluation rows: bad (K1)." in notes
    assert "Out-of-bag estimate: bad 29.00." in notes


def test_models_stand_side_by_side_and_features_by_their_mean_rank():
    frame = row_intervals(
        *((0, "a", 1.0, 12.0, 1.0, 2.0), (0, "b", 4.0, 6.0, 1.0, 2.0)),
        (0, "c", -4.0, -1.0, 3.0, 3.0),
        *((1, "a", 4.0, 6.0, 2.0, 2.0), (1, "b", 8.0, 9.5, 1.0, 1.0)),
        (1, "c", 0.5, 1.5, 3.0, 3.0),
    )
    view = two_models(row_intervals=frame)
    leading = table(view, "tab-executive")
    assert [plain(c.label) for c in leading.columns] == [
        *("Feature", "good", "95\u202f% interval", "Rank"),
        *("bad", "95\u202f% interval", "Rank"),
    ]
    assert [[words(cell.parts) for cell in row.cells] for row in leading.rows] == [
        ["a", "5.00", "4.00 to 6.00", "2", "9.00", "1.00 to 12.00", "1 (1–2)"],
        ["b", "9.00", "8.00 to 9.50", "1", "5.00", "4.00 to 6.00", "2 (1–2)"],
        ["c", "1.00", "0.50 to 1.50", "3", "1.00", "−4.00 to −1.00", "3"],
    ]
    page = words(section(view, "B"))
    leaders, correlation = map(plain, section(view, "B").parts["alike"])
    assert "No feature stands alone at the top in bad: the rank inter" in leaders
    assert "b leads in good." in leaders
    assert correlation == (
        "Rank correlation of the two models: 0.50 (E1 permutation, RMSE)."
    )
    assert "Shuffling c improves bad: the interval lies below 0." in page


def test_without_intervals_over_other_rows_the_draws_are_called_draws():
    view = two_models()
    leading = table(view, "tab-executive")
    assert "Random draws only" in [plain(c.label) for c in leading.columns]
    text = words(leading)
    assert "cover the random draws only" in text
    assert "95\u202f%" not in text
    assert "makes bad better" not in words(section(view, "B"))


def test_tables_and_leaders_of_section_f_use_the_intervals_over_other_rows():
    record = apartments_result().importances[0]
    order = np.argsort(-record.mean)
    rows = [
        (0, name, float(low), 1000.0, 1.0, 5.0)
        for name, low in zip(record.features, -np.argsort(order) - 1.0, strict=True)
    ]
    result = apartments_result(row_intervals=row_intervals(*rows))
    view = build_view(result)
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    assert column(ranking, "to") == ["1\u202f000"] * 5
    assert column(ranking, "Ranks") == ["1–5"] * 5
    assert "95\u202f% from" in [plain(c.label) for c in ranking.columns]
    assert "No feature stands out from the baseline in forest" in words(
        section(view, "F").lede
    )


@pytest.mark.parametrize("missing", [("a",), ("a", "b")])
def test_intervals_over_other_rows_of_some_features_only_are_not_used(missing):
    rows = [(0, n, 1.0, 2.0, 1.0, 3.0) for n in NAMES if n not in missing]
    rows += [(0, n, float("nan"), float("nan"), 1.0, 3.0) for n in missing]
    view = two_models(row_intervals=row_intervals(*rows))
    assert "Random draws only" in [
        plain(c.label) for c in table(view, "tab-executive").columns
    ]


def test_an_order_is_open_where_the_ranks_are_not_where_two_intervals_overlap():
    result = apartments_result()
    names = result.importances[0].features
    order = np.argsort(np.argsort(-result.importances[0].mean)) + 1.0
    sure = [(0, n, 1.0, 900.0, r, r) for n, r in zip(names, order, strict=True)]
    view = build_view(apartments_result(row_intervals=row_intervals(*sure)))
    assert "is not settled" not in words(section(view, "F"))
    swapped = [(*row[:4], *((1.0, 2.0) if row[4] < 3 else row[4:])) for row in sure]
    view = build_view(apartments_result(row_intervals=row_intervals(*swapped)))
    assert "so their order is not settled." in words(section(view, "F"))


def test_section_h_knows_the_ranks_on_other_rows_that_page_one_shows():
    """[stability] is not set, and yet other rows were examined."""
    frame = row_intervals(
        *((0, "a", 1.0, 12.0, 1.0, 2.0), (0, "b", 4.0, 6.0, 1.0, 2.0)),
        (0, "c", -4.0, -1.0, 3.0, 3.0),
    ).assign(lead_share=[0.9, 0.1, 0.0])
    view = two_models(row_intervals=frame)
    text = plain(section(view, "H").lede)
    assert "a ranks first in bad in 90\u202f% of the resamples" in text
    assert "Not examined: other rows" not in text
    figure = next(f for f in view.figures if f.id.startswith("fig-rank-intervals"))
    bad = figure.data["panels"][0]
    assert [row.rows for row in bad.rows] == [(1.0, 2.0), (1.0, 2.0), (3.0, 3.0)]
    assert "dashed: 95\u202f% interval of the ranks on resampled rows" in plain(
        figure.caption
    )
    assert plain(figure.headline).endswith("ranks certain, other rows 1.")


def test_warnings_that_page_one_has_no_room_for_are_counted():
    warnings = tuple(
        Finding(check="canary", severity="warning", subject=f"s{n}", message="m")
        for n in range(12)
    )
    parts = section(two_models(findings=warnings), "B").parts
    listed = len(parts["findings"])
    assert 0 < listed < 12
    assert plain(parts["tally"]).endswith(
        f"12 warnings, 0 notes. Not listed here: {12 - listed}, section\u00a0K."
    )
    few = section(two_models(findings=warnings[:1]), "B").parts
    assert plain(few["tally"]) == "0 failures, 1 warning, 0 notes."


@pytest.mark.parametrize(
    ("models", "shown"),
    [
        (("a",), "Intervals and ranks cover"),
        (("a", "b"), "Intervals, and rank intervals in brackets, cover"),
        (("a", "b", "c"), "Rank intervals in brackets cover"),
    ],
)
def test_the_note_speaks_of_what_the_table_shows(models, shown):
    records = tuple(made_importance(name, NAMES, (9.0, 5.0, 1.0)) for name in models)
    result = plain_result(NAMES, models=models_frame(models), importances=records)
    leading = table(build_view(result), "tab-executive")
    assert plain(leading.notes[-1]).startswith(shown)


def test_after_one_repeat_no_feature_is_said_to_lead_or_not_to_stand_out():
    made = [made_importance(m, NAMES, (9.0, 5.0, 1.0), repeats=1) for m in ("d", "e")]
    both, alone = (
        build_view(plain_result(NAMES, models=models_frame(m), importances=records))
        for m, records in ((("d", "e"), made), (("d",), made[:1]))
    )
    first, *_ = section(both, "B").parts["alike"]
    assert plain(first).startswith("No feature can be said to lead in d and e: one")
    headlines = [plain(figure.headline) for figure in alone.figures if figure.headline]
    assert headlines == ["a comes first, but one repeat has no interval."]
