"""Rankings, their tables and figures: what each model relies on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import (
    made_effect,
    made_frame,
    made_importance,
    made_pair,
)
from tests.report.made_results import apartments_result
from tests.report.made_variants import (
    apartments_view,
    plain_result,
    view_of,
    view_of_records,
)
from tests.report.reading import column, drawn, said_in, table, words

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.report.figures.bands import draw_bands
from importance_audit.report.figures.effects import draw_effects
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain


def uneven_view(form="difference", baseline=0.0):
    """Return a view of one large noisy feature beside one small and certain."""
    record = made_importance("forest", ("large", "small"), (1000.0, 0.004), baseline=0)
    raw = record.raw.copy()
    raw[1] = 0.004 + 1e-6 * (np.arange(10) - 4.5)
    fields = {"form": form, "raw": raw + baseline, "baseline": np.full(10, baseline)}
    return view_of_records(replace(record, **fields))


RANKING = "tab-ranking-forest-permutation-features-rmse"


@pytest.mark.parametrize(
    ("form", "baseline", "head", "texts"),
    [
        ("difference", 0.0, "Rise E1", ["1\u202f000.000", "0.004"]),
        ("ratio", 1.0, "Ratio E1", ["1\u202f001.000", "1.004"]),
    ],
)
def test_a_small_value_clear_of_noise_is_printed_beside_a_large_one(
    form, baseline, head, texts
):
    assert column(table(uneven_view(form, baseline), RANKING), head) == texts


def test_the_loss_as_it_is_has_digits_of_its_own():
    view = uneven_view(baseline=0.02345)
    caption = words(table(view, "tab-executive").caption)
    assert "RMSE before shuffling: 0.02345" in caption
    noisy = made_importance("forest", ("a",), (9e6,), sd=4e5, baseline=0.02345)
    text = words(view_of_records(noisy).sections)
    assert "Baseline loss of forest: RMSE 0.02345" in text


def test_the_loss_before_and_after_can_be_subtracted():
    record = made_importance("forest", ("a",), (0.5,), sd=0.0, baseline=283.0)
    reading = said_in(view_of_records(record), "F")
    assert "A rise of 0.5000 means" in reading
    assert "from 283.0000 to 283.5000" in reading


def test_another_engine_has_its_own_column_where_its_numbers_differ():
    records = tuple(
        replace(r, raw=r.raw + np.eye(5)[:, :1])
        if (r.model, r.engine, r.of) == ("svm", "DALEX", "features")
        else r
        for r in apartments_result().importances
    )
    view = apartments_view(importances=records)
    unlike = table(view, "tab-ranking-svm-permutation-features-rmse")
    own, theirs = column(unlike, "Rise E1"), column(unlike, "DALEX")
    assert sum(a != b for a, b in zip(own, theirs, strict=True)) == 1
    assert "the same numbers" not in words(unlike.notes)


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
    text = said_in(build_view(result), "F")
    assert "Curves of 3 more classes are in tables/effects.csv." in text
    (figure,) = drawn_effects(many_curves(1, models=[f"m{i}" for i in range(8)]))
    assert plain(figure.caption).endswith("Not shown: m6 and m7.")


def band_of(names, sides, *, verdict, **engines):
    """Return the figure of one pair of these (engine, draws, means), and its panel."""
    records = (
        made_importance("forest", names, means, engine=engine, stream=stream)
        for engine, stream, means in sides
    )
    frame = made_frame("agreement", [made_pair("forest", verdict, **engines)])
    (figure,) = drawn(view_of_records(*records, agreement=frame), draw_bands)
    (panel,) = figure.data["panels"]
    return figure, panel


def test_a_difference_outside_its_band_is_drawn_however_low_it_ranks():
    names = tuple(f"x{i:02}" for i in range(30))
    means = np.arange(60.0, 30.0, -1.0)
    other = means.copy()
    other[-1] += 500.0
    engines = {"engine_a": "DALEX", "engine_b": "vip", "stream": "DALEX / vip-0.4"}
    sides = [(name, "DALEX", means) for name in ("python", "DALEX")]
    sides.append(("vip", "vip-0.4", other))
    figure, panel = band_of(names, sides, verdict="disagrees", **engines)
    assert [row.name for row in panel.rows] == [*names[:19], "x29"]
    assert plain(figure.headline) == "1 of 30 differences lie outside their bands."


def test_our_pair_with_an_engine_of_its_own_draws_is_drawn_in_its_band():
    ours = [("python", "DALEX", (9.0, 1.0)), ("python", "numpy", (6.0, 1.0))]
    sides = [*ours, ("iml", "iml", (5.0, 1.0))]
    engines = {"engine_a": "python", "engine_b": "iml", "stream": "numpy / iml"}
    _, panel = band_of("ab", sides, verdict="equivalent", **engines)
    assert (panel.title, panel.engines) == ("forest", "Python − iml")
    assert [row.difference for row in panel.rows] == pytest.approx([1.0, 0.0])


def test_a_figure_says_in_words_what_it_shows(any_name):
    for figure in view_of(any_name).figures:
        assert 40 < len(figure.alt) <= 250
        assert len(plain(figure.headline)) <= 75
        assert figure.svg.lstrip().startswith("<?xml")


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
    text = said_in(build_view(both), "F")
    _, shared, *_ = text.split("rows that are similar in all other columns, ")
    shared = shared.partition(" keep")[0]
    assert [name in shared for name in alone.features] == [True, True, False]


def view_beside(marginal, conditional, **options):
    """Return the view of two rankings by mean of features, with and without options."""
    asked = [(conditional, {"within": "gaussian", **options})]
    if marginal:
        asked.insert(0, (marginal, {"within": "none"}))
    records = (
        made_importance("forest", [*means], [*means.values()], options=own, loss=loss)
        for means, own in asked
        for loss in ("rmse", "mae")
    )
    return view_of_records(*records)


@pytest.mark.parametrize(
    ("options", "drawn"),
    [
        ({}, "drawn from a normal distribution given all other columns"),
        ({"within": "neighbours"}, "taken from a row that is near in all other"),
    ],
)
def test_some_features_are_read_beside_the_marginal_ranking_of_all(options, drawn):
    marginal = {"a": 900.0, "b": 500.0, "c": 300.0}
    view = view_beside(marginal, {"b": 100.0, "c": 290.0}, **options)
    text = said_in(view, "F")
    assert f"forest: when {drawn}" in text
    assert "columns, b (20\u202f%) keep at most half" in text


def test_what_lacks_a_marginal_ranking_is_read_beside_nothing():
    for marginal in ({}, {"a": 900.0, "b": 500.0}):
        view = view_beside(marginal, {"b": 100.0, "c": 290.0})
        assert "forest: when drawn" not in said_in(view, "F")


def test_of_one_repeat_nothing_is_said_that_only_a_spread_could_show():
    # The twins lose nine tenths, but a single repeat has no interval to show it.
    result = audit_of(*(entry | ONCE for entry in (MARGINAL, CONDITIONAL)))
    text = said_in(build_view(result), "F")
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
