"""Rankings, their tables and figures: what each model relies on."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import (
    APARTMENTS,
    MEAN,
    made_effect,
    made_frame,
    made_importance,
    made_pair,
)
from tests.report.made_results import apartments_result
from tests.report.made_variants import plain_result, result_of, view_of
from tests.report.reading import column, drawn, pieces, section, table, words

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.report.figures.bands import draw_bands
from importance_audit.report.figures.effects import draw_effects
from importance_audit.report.figures.engines import draw_engines
from importance_audit.report.figures.models import draw_models
from importance_audit.report.figures.ranking import draw_ranking
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.text.blocks import Figure, Link, Table, plain


def test_every_column_of_importances_names_its_card():
    rankings = [t for t in view_of("apartments").tables if "ranking" in t.id]
    assert len(rankings) == 10
    for item in rankings:
        heads = (part for column in item.columns for part in column.label)
        (card,) = (part for part in heads if isinstance(part, Link))
        assert card.target == f"card-{card.text.lower()}"


def test_an_importance_without_a_card_is_not_shown(apartments):
    facts = replace(facts_of(apartments, "0" * 64), cards={})
    with pytest.raises(KeyError):
        facts.card(apartments.importances[0])


def test_a_ranking_lists_features_by_their_mean_with_interval_and_places():
    ranking = table(
        view_of("apartments"), "tab-ranking-linear-permutation-features-rmse"
    )
    assert column(ranking, "Feature")[-2:] == ["no.rooms", "construction.year"]
    assert column(ranking, "Rank") == ["1", "2", "3", "4", "5"]
    means = sorted(MEAN["linear"], reverse=True)
    assert column(ranking, "Rise E1") == [f"{mean:.1f}" for mean in means]
    low, high = (column(ranking, head) for head in ("Draws: from", "to"))
    for mean, bounds in zip(means, zip(low, high, strict=True), strict=True):
        ends = [float(bound.replace("−", "-")) for bound in bounds]
        assert sum(ends) / 2 == pytest.approx(mean, abs=0.06)
    assert column(ranking, "Ranks") == ["1", "2", "3", "4–5", "4–5"]


def uneven_view(form="difference", **fields):
    """Return a view of one large noisy feature beside one small and certain."""
    record = made_importance("forest", ("large", "small"), (1000.0, 0.004), baseline=0)
    raw = record.raw.copy()
    raw[1] = 0.004 + 1e-6 * (np.arange(10) - 4.5)
    changes = {
        "form": form,
        "raw": raw + fields.get("baseline", np.zeros(10)),
        **fields,
    }
    return build_view(plain_result(("a",), importances=(replace(record, **changes),)))


def test_a_small_value_clear_of_noise_is_printed_beside_a_large_one():
    ranking = table(uneven_view(), "tab-ranking-forest-permutation-features-rmse")
    assert column(ranking, "Rise E1") == ["1\u202f000.000", "0.004"]


def test_a_ratio_clear_of_one_is_not_printed_as_one():
    view = uneven_view("ratio", baseline=np.ones(10))
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    assert column(ranking, "Ratio E1") == ["1\u202f001.000", "1.004"]


def test_the_loss_as_it_is_has_digits_of_its_own():
    view = uneven_view(baseline=np.full(10, 0.02345))
    assert "RMSE before shuffling: 0.02345" in words(
        table(view, "tab-executive").caption
    )
    noisy = made_importance("forest", ("a",), (9e6,), sd=4e5, baseline=0.02345)
    text = words(build_view(plain_result(("a",), importances=(noisy,))).sections)
    assert "Baseline loss of forest: RMSE 0.02345" in text


def test_the_loss_before_and_after_can_be_subtracted():
    record = made_importance("forest", ("a",), (0.5,), sd=0.0, baseline=283.0)
    view = build_view(plain_result(("a",), importances=(record,)))
    reading = words(section(view, "F"))
    assert "A rise of 0.5000 means" in reading
    assert "from 283.0000 to 283.5000" in reading


def test_another_engine_has_its_own_column_where_its_numbers_differ():
    ranking = "tab-ranking-svm-permutation-features-rmse"
    same = table(view_of("apartments"), ranking)
    assert "DALEX" not in [plain(head.label) for head in same.columns]
    assert "The same numbers from DALEX, to the digits shown." in words(same.notes)
    result = apartments_result()
    (ours,) = (
        r
        for r in result.importances
        if (r.model, r.engine, r.of) == ("svm", "DALEX", "features")
    )
    other = replace(ours, raw=ours.raw + np.eye(5)[:, :1])
    records = tuple(other if r is ours else r for r in result.importances)
    unlike = table(build_view(apartments_result(importances=records)), ranking)
    own, theirs = column(unlike, "Rise E1"), column(unlike, "DALEX")
    assert sum(a != b for a, b in zip(own, theirs, strict=True)) == 1
    assert "the same numbers" not in words(unlike.notes)


def test_the_first_loss_leads():
    whole = plain_result(("a", "b"))
    (rmse,) = whole.importances
    mae = replace(rmse, loss="mae", raw=rmse.raw[::-1] / 2)
    view = build_view(plain_result(("a", "b"), importances=(rmse, mae)))
    ids = [item.id for item in view.tables if "ranking" in item.id]
    assert [i.rsplit("-", 1)[1] for i in ids] == ["rmse", "mae"]
    assert "RMSE" in plain(table(view, "tab-executive").caption)
    ids = [f.id for f in view.figures if f.draw is draw_ranking]
    assert ids == ["fig-ranking-forest-permutation-features-rmse"]


def test_classes_have_rankings_and_curves_of_their_own():
    view = view_of("multiclass")
    for name in ("ok", "fired", "promoted"):
        assert table(view, f"tab-ranking-forest-partial_dependence-features-{name}")
        assert f"class {name}" in words(section(view, "F"))
    assert len(drawn(view, draw_effects)) == 3


def test_models_stand_side_by_side_in_the_order_of_the_first():
    figure = drawn(view_of("apartments"), draw_models)[0]
    panels = figure.data["panels"]
    assert [panel.name for panel in panels] == ["forest", "linear", "svm"]
    assert {tuple(row.name for row in panel.rows) for panel in panels} == {APARTMENTS}
    assert panels[2].baseline == pytest.approx(160.9)
    assert panels[2].rows[0].estimate == pytest.approx(160.9 + 688.4)


def test_all_models_share_the_panel_of_a_feature():
    figure = drawn(view_of("apartments"), draw_effects)[0]
    panels = {panel.feature: panel for panel in figure.data["panels"]}
    assert set(panels) == set(APARTMENTS)
    assert [c.label for c in panels["floor"].curves] == ["forest", "linear", "svm"]
    assert [c.lead for c in panels["floor"].curves] == [True, False, False]
    assert panels["district"].kind == "category"


def test_a_long_ranking_is_cut_and_says_what_the_rest_amounts_to():
    view = view_of("wide")
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    record = result_of("wide").importances[0]
    rest = (
        np.clip(record.mean[12:], 0, None).sum() / np.clip(record.mean, 0, None).sum()
    )
    assert len(ranking.rows) == 13
    assert column(ranking, "Feature")[-1] == "the other 188"
    assert len(ranking.everything.rows) == 200
    share = next(
        v for v in pieces(ranking.notes) if getattr(v, "derived", "") == "share"
    )
    assert share.raw == pytest.approx(rest)


def test_a_feature_on_which_engines_disagree_is_always_shown():
    names = tuple(f"x{i:02}" for i in range(30))
    result = plain_result(names)
    row = {"model": "forest", "method": "permutation", "of": "features", "loss": "rmse"}
    disagreement = {
        **dict.fromkeys(result.disagreements.columns, 0.0),
        **row,
        "feature": "x29",
    }
    disagreement |= {
        "engine_a": "python",
        "engine_b": "DALEX",
        "cause": "data",
        "evidence": "",
    }
    view = build_view(plain_result(names, disagreements=pd.DataFrame([disagreement])))
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    assert column(ranking, "Feature")[-2:] == ["x29", "the other 17"]


def test_negative_importances_stay_negative_and_unknown_ones_last():
    view = view_of("odd")
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    assert column(ranking, "Feature") == [
        "endless",
        "small",
        "nothing",
        "negative",
        "unknown",
    ]
    assert column(ranking, "Rise E1")[0] == "∞"
    assert column(ranking, "Rise E1")[-2:] == ["−0.50", "–"]
    assert column(ranking, "Rank")[-1] == "–"
    assert "Not measured, so not ranked: unknown." in words(ranking)


def test_bands_are_drawn_for_independent_draws_only():
    figures = {f.id: f for f in view_of("disagreeing").figures}
    panels = figures["fig-bands"].data["panels"]
    assert [p.verdict for p in panels] == ["disagrees", "equivalent"]
    floor = panels[0].rows[2]
    assert (floor.name, floor.inside) == ("floor", False)
    assert floor.difference == pytest.approx(241.7 - 210.9)
    assert "fig-bands" not in {f.id for f in build_view(apartments_result()).figures}


def many_curves(features=9, classes=("",), models=("forest",)):
    """Return a result with so many curves over twenty levels each."""
    levels = np.array([f"level {i}" for i in range(20)], dtype=object)
    curves = tuple(
        replace(
            made_effect(model, "district", positive_class=name),
            feature=f"f{i}",
            grid=levels,
            values=np.arange(20.0) * (i + 1),
        )
        for name in classes
        for model in models
        for i in range(features)
    )
    return plain_result([f"f{i}" for i in range(features)], effects=curves)


def drawn_effects(result):
    return drawn(build_view(result), draw_effects)


def test_curves_that_one_page_does_not_hold_go_on_in_another_figure():
    pages = drawn_effects(many_curves())
    features = [panel.feature for page in pages for panel in page.data["panels"]]
    assert len(pages) > 1
    assert features == [f"f{i}" for i in range(9)]
    assert [page.id for page in pages][1] == f"{pages[0].id}-2"


def test_the_widest_of_some_curves_is_not_called_the_widest_of_all():
    last = drawn_effects(many_curves())[-1]
    assert plain(last.headline) == (
        "Of these, f8 moves the mean prediction of forest most, by 171."
    )
    (whole,) = drawn_effects(many_curves(features=1))
    assert plain(whole.headline).startswith("f0 moves")


def test_classes_and_models_without_a_figure_are_counted_or_named():
    result = many_curves(1, classes=[f"c{i}" for i in range(15)])
    assert len(drawn_effects(result)) == 12
    text = words(section(build_view(result), "F"))
    assert "Curves of 3 more classes are in tables/effects.csv." in text
    (figure,) = drawn_effects(many_curves(1, models=[f"m{i}" for i in range(8)]))
    assert plain(figure.caption).endswith("Not shown: m6 and m7.")


def test_a_difference_outside_its_band_is_drawn_however_low_it_ranks():
    names = tuple(f"x{i:02}" for i in range(30))
    means = np.arange(60.0, 30.0, -1.0)
    other = means.copy()
    other[-1] += 500.0
    engines = {"engine_a": "DALEX", "engine_b": "vip", "stream": "DALEX / vip-0.4"}
    sides = {"python": ("DALEX", means), "DALEX": ("DALEX", means)}
    sides["vip"] = ("vip-0.4", other)
    records = tuple(
        made_importance("forest", names, values, engine=engine, stream=stream)
        for engine, (stream, values) in sides.items()
    )
    frame = made_frame("agreement", [made_pair("forest", "disagrees", **engines)])
    view = build_view(plain_result(names, importances=records, agreement=frame))
    (figure,) = drawn(view, draw_bands)
    (panel,) = figure.data["panels"]
    assert [row.name for row in panel.rows] == [*names[:19], "x29"]
    assert plain(figure.headline) == "1 of 30 differences lie outside their bands."


def test_our_pair_with_an_engine_of_its_own_draws_is_drawn_in_its_band():
    sides = (("python", "DALEX", 9.0), ("python", "numpy", 6.0), ("iml", "iml", 5.0))
    records = tuple(
        made_importance("forest", "ab", (mean, 1.0), engine=engine, stream=stream)
        for engine, stream, mean in sides
    )
    engines = {"engine_a": "python", "engine_b": "iml", "stream": "numpy / iml"}
    frame = made_frame("agreement", [made_pair("forest", "equivalent", **engines)])
    view = build_view(plain_result("ab", importances=records, agreement=frame))
    (figure,) = drawn(view, draw_bands)
    (panel,) = figure.data["panels"]
    assert (panel.title, panel.engines) == ("forest", "Python − iml")
    assert [row.difference for row in panel.rows] == pytest.approx([1.0, 0.0])


def test_a_pair_with_equal_draws_has_no_band_to_leave():
    pairs = apartments_result().agreement.assign(verdict="disagrees")
    view = build_view(apartments_result(agreement=pairs))
    assert "fig-bands" not in {figure.id for figure in view.figures}


def test_marks_of_engines_are_drawn_where_they_differ_and_no_band_shows_it():
    def figure_ids(view):
        return [f.id for f in view.figures if f.draw is draw_engines]

    pairs = apartments_result().agreement.assign(verdict="disagrees")
    apart = build_view(apartments_result(agreement=pairs))
    assert len(figure_ids(apart)) == 3
    assert figure_ids(view_of("apartments")) == []
    assert figure_ids(view_of("disagreeing")) == []


def test_a_figure_says_in_words_what_it_shows(any_name):
    for figure in view_of(any_name).figures:
        assert 40 < len(figure.alt) <= 250
        assert len(plain(figure.headline)) <= 75
        assert figure.svg.lstrip().startswith("<?xml")


def test_a_feature_whose_interval_holds_the_baseline_does_not_lead():
    record = made_importance("forest", ("a", "b"), (0.1, -90.0), sd=12.0)
    view = build_view(plain_result(("a", "b"), importances=(record,)))
    lede = "No feature stands out from the baseline in forest."
    assert plain(section(view, "F").lede) == lede


def test_a_bar_starts_at_the_baseline_and_ends_at_the_value():
    record = made_importance("forest", ("a", "b"), (30.0, -10.0), stream="", repeats=1)
    view = build_view(plain_result(("a", "b"), importances=(record,)))
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    head = next(c for c in ranking.columns if c.kind == "bar")
    assert plain(head.label) == "−10 to 30"
    up, down = (row.cells[3].bar for row in ranking.rows)
    assert (up.fill, up.estimate) == ((25.0, 75.0), 100.0)
    assert (down.fill, down.estimate) == ((0.0, 25.0), 0.0)


def test_tables_hand_over_full_precision_and_every_row():
    ranking = table(view_of("wide"), "tab-ranking-forest-permutation-features-rmse")
    lines = ranking.csv.splitlines()
    record = result_of("wide").importances[0]
    assert len(lines) == 201
    assert float(lines[1].split(",")[2]) == record.mean[0]
    assert isinstance(ranking, Table)
    assert not isinstance(ranking, Figure)
    assert not math.isnan(record.mean[0])


MARGINAL = {"method": "permutation", "losses": ["mse"]}
CONDITIONAL = MARGINAL | {"within": "leaves", "n_repeats": 5}
ONCE = {"n_repeats": 1}
RESAMPLED = MARGINAL | {"perturbation": "resample"}


def twins(n=400):
    """Return y = x + twin + own, where twin is x but for a little noise."""
    random = np.random.default_rng(7)
    x, own = random.normal(size=(2, n))
    X = pd.DataFrame({"x": x, "twin": x + 0.05 * random.normal(size=n), "own": own})
    return dataset(X, X.sum(axis=1), name="test rows", task="regression")


def total(X):
    return X.sum(axis=1)


def audit_of(*entries, engines=()):
    """Return an audit of two models that are the sum of all three."""
    entries = [entry | {"engines": list(engines)} for entry in entries]
    rows = twins()
    models = tuple(
        wrap(total, name=name, task="regression", features=rows.features)
        for name in ("one", "two")
    )
    config = parse_config({"importance": entries, "seed": 3})
    return audit(None, rows, config, models=models)


@pytest.fixture(scope="module")
def both():
    return audit_of(MARGINAL, CONDITIONAL)


def test_what_a_twin_tells_too_is_shared_and_what_is_told_alone_is_not(both):
    alone, beside = (r for r in both.importances if r.model == "one")
    assert (beside.mean[:2] < 0.1 * alone.mean[:2]).all()
    assert beside.mean[2] > 0.8 * alone.mean[2]
    text = words(section(build_view(both), "F"))
    shared = text.split("rows that are similar in all other columns, ")[1].split(
        " keep"
    )[0]
    assert [name in shared for name in alone.features] == [True, True, False]


@pytest.mark.parametrize(
    ("options", "drawn"),
    [
        (
            {"within": "gaussian"},
            "drawn from a normal distribution given all other columns",
        ),
        (
            {"within": "neighbours", "n_neighbours": 3, "convention": "xplainfi"},
            "taken from a row that is near in all other columns",
        ),
    ],
)
def test_what_is_drawn_given_the_others_is_read_beside_the_marginal_ranking(
    options, drawn
):
    result = audit_of(MARGINAL, MARGINAL | options)
    text = words(section(build_view(result), "F"))
    shared = text.split(f"one: when {drawn}, ")[1].split(" keep")[0]
    assert [name in shared for name in ("x", "twin", "own")] == [True, True, False]


def read_beside(marginal, conditional):
    """Return the words about two rankings by mean of features, given the others."""
    records = [
        made_importance("forest", tuple(means), tuple(means.values()), options=options)
        for means, options in (
            (marginal, {"within": "none"}),
            (conditional, {"within": "gaussian"}),
        )
    ]
    features = tuple(marginal | conditional)
    return words(
        section(build_view(plain_result(features, importances=tuple(records))), "F")
    )


def test_some_features_are_read_beside_the_marginal_ranking_of_all():
    text = read_beside({"a": 900.0, "b": 500.0, "c": 300.0}, {"b": 100.0, "c": 290.0})
    assert "given all other columns, b (20\u202f%) keep at most half" in text


def test_features_without_a_marginal_ranking_are_read_beside_nothing():
    text = read_beside({"a": 900.0, "b": 500.0}, {"b": 100.0, "c": 290.0})
    assert "given all other columns, " not in text


def conditional_figures(result):
    """Return the figures of marginal beside conditional importances."""
    figures = build_view(result).figures
    return [f for f in figures if f.id.startswith("fig-conditional-")]


def test_marginal_and_conditional_losses_stand_in_one_figure_per_model():
    schemes = [CONDITIONAL, MARGINAL | {"within": "gaussian"}]
    result = audit_of(MARGINAL, *schemes)
    figures = conditional_figures(result)
    assert [f.id.split("-")[2] for f in figures] == ["one", "two"]
    records = [r for r in result.importances if r.model == "one"]
    panels = figures[0].data["panels"]
    names = ["among all rows, E1", "within leaves, E2", "from a normal, E3"]
    assert [panel.name for panel in panels] == names
    for panel, record in zip(panels, records, strict=True):
        rows = {row.name: row for row in panel.rows}
        assert panel.baseline == record.baseline.mean()
        for name, raw in zip(record.features, record.raw, strict=True):
            assert rows[name].estimate == pytest.approx(raw.mean(), rel=1e-12)
    orders = {tuple(row.name for row in panel.rows) for panel in panels}
    assert len(orders) == 1
    headline = plain(figures[0].headline)
    assert headline.startswith("one: ")
    assert [name in headline for name in (" x", "twin", "own")] == [True, True, False]
    assert "among all rows, E1" in figures[0].svg


def test_a_figure_of_some_features_has_those_that_all_its_rankings_have():
    some = MARGINAL | {"within": "neighbours", "features": ["own", "twin"]}
    (first, _) = conditional_figures(audit_of(MARGINAL, some))
    for panel in first.data["panels"]:
        assert sorted(row.name for row in panel.rows) == ["own", "twin"]
    shown = "Shown: the first 2 of 3 that every panel has."
    assert plain(first.caption).endswith(shown)
    (whole, _) = conditional_figures(audit_of(MARGINAL, CONDITIONAL))
    assert "Shown:" not in plain(whole.caption)


def test_of_several_losses_the_figure_has_the_first():
    losses = {"losses": ["mse", "mae"]}
    result = audit_of(MARGINAL | losses, CONDITIONAL | losses)
    ids = [figure.id for figure in conditional_figures(result)]
    assert ids == [f"fig-conditional-{name}-features-mse" for name in ("one", "two")]


@pytest.mark.parametrize("entries", [[MARGINAL], [CONDITIONAL]], ids=["all", "given"])
def test_one_of_both_alone_has_no_figure_of_both(entries):
    assert conditional_figures(audit_of(*entries, RESAMPLED)) == []


def test_each_of_both_has_its_own_card_tables_and_figure(both):
    view = build_view(both)
    rankings = [item for item in view.tables if item.id.startswith("tab-ranking")]
    captions = [plain(item.caption) for item in rankings]
    assert len({item.id for item in rankings}) == 4
    assert ['within = "leaves"' in text for text in captions] == [0, 0, 1, 1]
    figures = [figure.id for figure in view.figures]
    assert len(figures) == len(set(figures))
    assert sum(id_.startswith("fig-models-") for id_ in figures) == 2
    titles = [plain(card.title) for card in section(view, "E").parts["cards"]]
    assert ['within = "leaves"' in text for text in titles] == [False, True]


def test_the_target_is_permuted_once_for_both(both):
    assert len(both.y_permuted) == 2 * 10


def test_a_conditional_ranking_alone_is_read_beside_nothing():
    text = words(section(build_view(audit_of(CONDITIONAL)), "F"))
    assert "only among rows that are similar" not in text


def test_of_one_repeat_nothing_is_said_that_only_a_spread_could_show():
    # The twins lose nine tenths, but a single repeat has no interval to show it.
    result = audit_of(*(entry | ONCE for entry in (MARGINAL, CONDITIONAL)))
    text = words(section(build_view(result), "F"))
    assert "one: no feature demonstrably loses half of its importance" in text
    assert "keep at most half" not in text


@pytest.mark.needs_dalex
def test_what_dalex_has_no_option_for_is_drawn_by_numpy_and_not_compared():
    result = audit_of(MARGINAL, CONDITIONAL, RESAMPLED, engines=["DALEX"])
    streams = [r.stream for r in result.importances if r.engine == "python"]
    assert streams == ["DALEX"] * 2 + ["numpy"] * 4
    pairs = result.agreement.groupby("verdict")["reasons"].unique()
    assert list(pairs["not compared"]) == [
        f"DALEX has no such option of 'permutation': '{option}'."
        for option in ("within = leaves", "perturbation = resample")
    ]
    assert result.agreement["verdict"].tolist().count("replayed") == 2
