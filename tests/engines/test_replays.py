"""Every row of an R package's table answers as ours does, in its own draws.

A package draws in an order of its own, its stream, in which we draw as well; so every
repeat is held against ours, and every point of a curve.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.engines.replaying import (
    BINARY,
    OF_CLASSES,
    assert_replayed,
    both,
    mixed,
    rows_of,
)
from tests.known_answers import level_data, level_model, logistic_model

from importance_audit import engines
from importance_audit.engines.hstats import refused_losses
from importance_audit.methods.importance.permutation import permuted_target
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.records.errors import NotApplicable

pytestmark = pytest.mark.usefixtures("shared_r")

TOGETHER = {"z": ("é", ".id"), "b": ("fare (£)",), "a": ("kind", "if")}
PAIRS = {"a:b": (".id", "kind"), "b:c": ("flag", "kind"), "three": (".id", "kind", "é")}
OF_TWO = logistic_model(1, 2, losses=BINARY), binary_data()
OF_THREE = level_model(0.8, losses=OF_CLASSES), level_data()
MANY = linear_model(2, 1), normal_data(2, 1, n_samples=1001)
LINE = linear_model(1, losses=("poisson_deviance", "gamma_deviance"))
COUNTS = (
    replace(LINE, predict=lambda X: np.exp(LINE.predict(X)) + 1),
    replace(normal_data(1), y=np.round(np.exp(normal_data(1).y)) + 1),
)
SHAPLEY = {"n_repeats": 2, "n_permutations": 3}
WEIGHTS = np.linspace(0.5, 2, 40)


def last_digits(X):
    return (1e9 * X["x"] % 1 + (X["g"] == "b")).to_numpy()


LAST_DIGITS = (
    replace(linear_model(2), predict=last_digits),
    rows_of(
        pd.DataFrame(
            {
                "x": np.random.default_rng(1).normal(size=40),
                "g": pd.Categorical(["a", "b"] * 20),
            }
        )
    ),
)


def rows_in(table, *keys, but=()):
    """Return the engines of R and their rows of a table, with what each needs."""
    return [
        pytest.param(engine, key, marks=getattr(pytest.mark, f"needs_{engine.lower()}"))
        for engine, tables in engines.ENGINES.items()
        for key in tables[table]
        if engine not in ("python", *but) and (not keys or key in keys)
    ]


ALL = ("DALEX", "hstats", "vip", "xplainfi")
PERMUTED = {
    "columns of every type": (mixed(), {"n_repeats": 3}, ALL),
    "one repeat": (mixed(), {"n_repeats": 1}, ALL),
    "groups": (mixed(groups=TOGETHER), {"n_repeats": 3}, ("DALEX", "hstats")),
    "drawn rows": (mixed(), {"n_rows": 25, "n_repeats": 3}, ("DALEX", "hstats", "vip")),
    "one feature": (mixed(groups={"é": ("é",)}), {"n_repeats": 2}, ALL),
    "weights": (mixed(weights=WEIGHTS), {"n_repeats": 2}, ("hstats",)),
    "many rows": (MANY, {"n_repeats": 1}, ALL),
    "two classes": (OF_TWO, {"n_repeats": 2}, ALL),
    "three classes": (OF_THREE, {"n_repeats": 2}, ALL),
    "counts": (COUNTS, {"n_repeats": 2}, ALL),
    "rows of classes": (OF_THREE, {"n_rows": 60, "n_repeats": 2}, ("DALEX", "vip")),
}
FORMS = {"vip": ({"form": "difference"}, {"form": "ratio"})}


@pytest.mark.parametrize(
    ("engine", "method"), rows_in("importance", "permutation", but=("iml",))
)
@for_each(PERMUTED)
def test_every_repeat_of_permutation_is_ours(question, engine, method):
    (model, data), options, asked = PERMUTED[question]
    if engine not in asked:
        return
    if engine == "hstats":
        refused = refused_losses(model.losses)
        model = model.with_losses(tuple(n for n in model.losses if n not in refused))
    for form in FORMS.get(engine, ({},)):
        (raw, baseline), theirs = both(engine, method, model, data, **options, **form)
        values, full = theirs
        if engine == "vip":
            is_ratio = form["form"] == "ratio"
            with np.errstate(all="ignore"):  # a loss of 0 has no ratio, in vip either
                raw = raw / baseline if is_ratio else raw - baseline
            assert (full == float(is_ratio)).all()
        else:
            assert_replayed(baseline, full, baseline)
        assert_replayed(raw, values, baseline)
        if engine == "DALEX":
            rounds = {"n_rows": None, "seed": 7, "stream": "DALEX", **options}
            target = permuted_target(model, data, **rounds)
            assert_replayed(target, theirs.y_permuted, baseline)


H = {"standardised": True, "n_rows": None}
OTHERS = {
    "h_statistic": {
        "each column": (mixed(), H),
        "roots of two and three": (mixed(groups=PAIRS), {"n_rows": None}),
        "weighted": (mixed(groups=PAIRS, weights=WEIGHTS), H),
        "drawn rows": (mixed(groups=PAIRS), {"n_rows": 30}),
        "classes": (OF_THREE, {**H, "scale": "centred_logit"}),
    },
    "pd_importance": {
        "each column": (mixed(), H),
        "one, weighted": (
            mixed(groups={"é": ("é",)}, weights=WEIGHTS),
            {"n_rows": None},
        ),
        "drawn rows": (mixed(), {"n_rows": 30}),
        "many rows": (
            (MANY[0], MANY[1].part(("x1", "x2"), range(501))),
            {"n_rows": None},
        ),
        "classes": (OF_THREE, {**H, "scale": "centred_logit"}),
    },
    "partial_dependence": {
        "quarter of the range": (mixed(), {"n_grid": 11}),
        "range": (mixed(), {"n_grid": 11, "categorical_spread": "range"}),
        "classes": (OF_THREE, {}),
    },
    "shapley": {
        "numbers": ((linear_model(2, 1), normal_data()), SHAPLEY),
        "two classes": (OF_TWO, SHAPLEY | {"scale": "link"}),
        "three classes": (OF_THREE, SHAPLEY),
        "digits beside a category": (LAST_DIGITS, SHAPLEY),
    },
}


@pytest.mark.parametrize(
    ("engine", "method"), rows_in("importance", *OTHERS, but=("iml",))
)
def test_every_importance_that_needs_no_loss_is_ours(engine, method):
    for name, ((model, data), options) in OTHERS[method].items():
        (ours, neutral), (values, zero) = both(engine, method, model, data, **options)
        np.testing.assert_array_equal(neutral, zero, err_msg=name)
        assert name == "classes" or ours.max() > 0.01
        assert_replayed(ours, values, 1e-3)


@pytest.mark.needs_iml
@for_each([None, {"a": ("kind", "fare (£)"), "b": (".id", "flag"), "c": ("kind",)}])
def test_h_of_columns_and_pairs_is_that_of_iml(groups):
    (ours, _), (values, _) = both("iml", "h_statistic", *mixed(groups=groups), **H)
    assert ours.min() > 0.01
    assert_replayed(ours, values)
    of_all, _ = both("iml", "h_statistic", *mixed(groups=groups), **H | {"n_rows": 40})
    np.testing.assert_array_equal(of_all[0], ours)


LEVELS = pd.CategoricalDtype(["low", "middle", "high", "never"], ordered=True)
PLACES = np.arange(24)
FLAGS = {
    "grade": pd.Categorical.from_codes(PLACES % 3, dtype=LEVELS),
    "flag": PLACES % 5 < 2,
}


def of_flags(X):
    return (X["grade"].cat.codes ** 2 * (X["flag"] + 1.0)).to_numpy()


CURVES = {
    "a scale that a regression does not have": (MANY, {"scale": "link"}),
    "columns of every type": (mixed(), {"n_grid": 7}),
    "flags and levels in order": (
        (replace(linear_model(), predict=of_flags), rows_of(pd.DataFrame(FLAGS))),
        {},
    ),
    "points of one's own": (mixed(".id", "é"), {"grid": (-5.0, 0.5, 5.0)}),
    **{
        f"{len(model.outputs)} outputs, {scale}": (
            (model, data),
            {"n_grid": 5, "scale": scale},
        )
        for model, data in (OF_TWO, OF_THREE)
        for scale in ("native", "link", "centred_logit")
    },
}


def curve_or_refusal(engine, effect, *question, **options):
    curve = engines.ENGINES[engine]["effects"][effect].function
    try:
        return curve(*question, seed=1, **options)
    except NotApplicable as refusal:
        return str(refusal)


@pytest.mark.parametrize(("engine", "effect"), rows_in("effects"))
@for_each(CURVES)
def test_every_point_of_a_curve_is_ours_and_so_is_its_refusal(question, engine, effect):
    (model, data), options = CURVES[question]
    for feature in data.features:
        ours, theirs = (
            curve_or_refusal(who, effect, model, data, feature, **options)
            for who in ("python", engine)
        )
        if isinstance(ours, str):
            assert ours == theirs
            continue
        np.testing.assert_array_equal(ours[0], theirs[0])
        assert ours[0].dtype == theirs[0].dtype
        assert_replayed(ours[1], theirs[1], 1)
