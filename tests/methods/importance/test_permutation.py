"""Permutation importance: closed forms, invariances, and R's numbers replayed."""

from dataclasses import replace
from functools import partial
from math import log

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cases import for_each
from tests.known_answers import level_data, level_model, logistic_model
from tests.methods.importance import toys
from tests.methods.importance.toys import refused, rows_of
from tests.methods.recorded import evaluated, frame_of
from tests.methods.recorded import recorded as recorded_file

from importance_audit.methods.importance.exchange import (
    drawn_within,
    leaves_of,
    permuted_within,
)
from importance_audit.methods.importance.permutation import (
    DRAWS,
    permutation,
    permuted_target,
)
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.models.fit import wrap
from importance_audit.records.execution import workers
from importance_audit.records.losses import LOSSES

STREAMS = tuple(DRAWS)
OF_ALL_ROWS = ("xplainfi",)


def streams_and_rows(n_rows):
    """Return every stream with all rows, and with so many where it draws rows."""
    cases = [(stream, None) for stream in STREAMS]
    cases += [(stream, n_rows) for stream in STREAMS if stream not in OF_ALL_ROWS]
    return pytest.mark.parametrize(("stream", "n_rows"), cases)


def rise(model, data, **options):
    """Return mean rise in loss and its standard error by feature and loss."""
    return toys.rise(*permutation(model, data, seed=1, **options))


# --- closed forms ---------------------------------------------------------------------


@pytest.mark.parametrize("stream", STREAMS)
def test_squared_error_of_the_true_linear_model_rises_by_twice_b_squared(stream):
    data = normal_data(3, -1, 0.5)
    model = linear_model(3, -1, 0.5)
    mean, std_error = rise(model, data, stream=stream, n_repeats=60)
    truth = 2 * np.array([3, -1, 0.5]) ** 2
    assert (abs(mean[:, 0] - truth) < 4 * std_error[:, 0]).all()
    assert (4 * std_error[:, 0] < truth / 5).all()


def test_a_model_that_knows_nothing_of_y_loses_its_variance_once_more():
    model, data = linear_model(2, 0), normal_data(2, 0, noise=0.0)
    values = permuted_target(
        model, data, seed=1, stream="numpy", n_repeats=300, n_rows=None
    )
    std_error = values.std(ddof=1) / np.sqrt(300)
    assert abs(values.mean() - 2 * 2**2) < 4 * std_error < 1


def test_one_row_can_only_be_permuted_with_itself():
    raw, baseline = permutation(
        linear_model(2, 1), normal_data(), seed=1, n_rows=1, n_repeats=5
    )
    assert (raw == baseline).all()
    assert len(np.unique(baseline)) == 5


@pytest.mark.parametrize("perturbation", ["permute", "resample"])
def test_the_mean_loss_is_expected_to_be_that_of_all_pairs_of_rows(perturbation):
    data, model = normal_data(3.0, 1.0, n_samples=40), linear_model(2.0, 0.5)
    mean, std_error = rise(model, data, perturbation=perturbation, n_repeats=400)
    x = data.X["x1"].to_numpy()
    residual = data.y - model.predict(data.X)
    pairs = (residual[:, None] + 2 * (x[:, None] - x)) ** 2  # x_i becomes x_k
    truth = pairs.mean() - (residual**2).mean()
    assert abs(mean[0, 0] - truth) < 4 * std_error[0, 0] < truth / 5


# --- within leaves --------------------------------------------------------------------

EXCHANGES = [("resample", "none"), ("permute", "leaves"), ("resample", "leaves")]


def dependent():
    """Return 400 rows of kind (a or b), x1 = noise + 10 if it is b, and y = x1."""
    data = normal_data(1.0, noise=0.0, n_samples=400)
    kind = pd.Categorical.from_codes(np.arange(400) % 2, categories=["a", "b"])
    x1 = data.y + 10 * kind.codes
    groups = {"x1": ("x1",), "kind": ("kind",)}
    return replace(data, X=pd.DataFrame({"x1": x1, "kind": kind}), y=x1, groups=groups)


@pytest.mark.parametrize("perturbation", ["permute", "resample"])
def test_within_leaves_the_loss_rises_by_what_the_others_leave_open(perturbation):
    data, options = dependent(), {"within": "leaves", "min_samples_leaf": 60}
    leaves = leaves_of(data, "x1", seed=1, min_samples_leaf=60)
    x1 = data.X["x1"]
    within = ((x1 - x1.groupby(leaves).transform("mean")) ** 2).mean()
    model = linear_model(1.0)
    options |= {"perturbation": perturbation, "n_repeats": 200}
    mean, std_error = rise(model, data, **options)
    assert abs(mean[0, 0] - 2 * within) < 4 * std_error[0, 0] < within / 5
    assert x1.var() > 20 * within


@pytest.mark.parametrize("perturbation", ["permute", "resample"])
def test_within_leaves_a_copy_measures_nothing(perturbation):
    single = normal_data(1.0)
    x = np.arange(200) % 4 * 1.0
    level = pd.Categorical(np.array(["a", "b", "c", "d"])[np.arange(200) % 4])
    groups = {"number": ("x1",), "category": ("level",), "both": ("x1", "level")}
    X = pd.DataFrame({"x1": x, "x2": x, "level": level})
    data = replace(single, X=X, groups=groups)
    options = {"perturbation": perturbation, "min_samples_leaf": 5}
    model = replace(
        linear_model(1.0),
        predict=lambda X: X["x1"].to_numpy() + X["level"].cat.codes.to_numpy(),
    )
    raw, baseline = permutation(model, data, seed=1, within="leaves", **options)
    assert (raw == baseline).all()
    raw, baseline = permutation(model, data, seed=1, perturbation=perturbation)
    assert (raw != baseline).all()


def test_resampling_draws_with_replacement_and_permuting_gives_each_row_once():
    strata = np.arange(300) % 3
    once, again = (
        order(strata, np.random.default_rng(1))
        for order in (permuted_within, drawn_within)
    )
    assert sorted(once) == list(range(300)) != sorted(again)
    for order in (once, again):
        assert (strata[order] == strata).all()
        assert (order != np.arange(300)).any()
    share = len(np.unique(again)) / 300
    assert abs(share - (1 - np.exp(-1))) < 4 * np.sqrt(0.1 / 300)


REFUSING = [
    *(
        (stream, option, value)
        for stream in ("vip-0.4", "vip-0.5", "DALEX", "hstats")
        for option, value in (
            ("perturbation", "resample"),
            *(("within", value) for value in ("leaves", "gaussian", "neighbours")),
        )
    ),
    ("xplainfi", "perturbation", "resample"),
    ("xplainfi", "within", "leaves"),
]


@for_each(REFUSING)
def test_draws_that_r_does_not_make_are_refused_in_its_order(case):
    stream, option, value = case
    asked = {"stream": stream, option: value}
    assert refused(permutation, linear_model(2, 0), normal_data(), **asked) == (
        f'{stream} does not draw with {option} = "{value}". Leave {option} or the '
        "engine out."
    )


@for_each(["none", "gaussian", "neighbours"])
def test_xplainfi_draws_all_rows(within):
    asked = {"stream": "xplainfi", "within": within, "n_rows": 50}
    assert refused(permutation, linear_model(2, 0), normal_data(), **asked) == (
        "xplainfi permutes all 200 rows, but n_rows = 50 was asked. Leave n_rows or "
        "the engine out."
    )


def test_too_few_rows_for_leaves_are_refused():
    few = normal_data(n_samples=59)
    assert refused(permutation, linear_model(2, 0), few, within="leaves") == (
        "Data 'normal' must have at least 60 rows to be parted into two leaves by each "
        "of two halves; 59 were given. Set min_samples_leaf lower."
    )
    gaps = replace(normal_data(), X=normal_data().X.mask(normal_data().X > 1))
    sentence = refused(permutation, linear_model(2, 0), gaps, within="leaves")
    assert sentence.startswith("Data 'normal' must have no missing value for leaves;")


# --- what must not matter -------------------------------------------------------------


@for_each(
    [(stream, {}) for stream in STREAMS]
    + [("numpy", {"perturbation": p, "within": w}) for p, w in EXCHANGES]
)
def test_two_copies_of_a_column_are_permuted_differently(case):
    stream, options = case
    single = normal_data(1.0)
    copies = single.X.assign(x2=single.X["x1"])
    data = replace(single, X=copies, groups={"x1": ("x1",), "x2": ("x2",)})
    raw, _ = permutation(linear_model(0.5, 0.5), data, seed=1, stream=stream, **options)
    assert (raw[0] != raw[1]).all()


@pytest.mark.parametrize("stream", STREAMS)
def test_weights_stay_with_their_rows_and_targets(stream):
    data = normal_data(noise=0.0)
    weights = np.zeros(data.n_samples)
    weights[7] = 1.0
    weighted = replace(data, weights=weights)
    raw, baseline = permutation(linear_model(2, 0), weighted, seed=1, stream=stream)
    x = data.X["x1"].to_numpy()
    reached = 4 * (x[7] - x) ** 2
    assert np.allclose(baseline, 0, atol=1e-28)
    assert np.isclose(raw[0].ravel()[:, None], reached, rtol=1e-9).any(axis=1).all()


def test_weights_stay_with_the_rows_when_the_target_is_permuted():
    data = normal_data(noise=0.0)
    weighted = replace(data, weights=np.where(np.arange(200) == 7, 1.0, 0.0))
    values = permuted_target(
        linear_model(1, 0), weighted, seed=1, stream="DALEX", n_repeats=9, n_rows=None
    )
    reached = (data.y - data.X["x1"].to_numpy()[7]) ** 2
    assert np.isclose(values, reached, rtol=1e-9).any(axis=1).all()


@streams_and_rows(40)
def test_only_the_asked_columns_move_and_they_move_together(stream, n_rows):
    source = level_data()
    numbered = source.X.assign(row=np.arange(150), copy=np.arange(150.0))
    # By name, as xplainfi takes them.
    groups = {"count": ("count",), "kind": ("kind",), "pair": ("row", "noise")}
    data = replace(source, X=numbered.copy(), groups=groups)
    frames = []

    def predict(X):
        frames.append(X.copy(deep=True))
        return level_model().predict(X)

    model = replace(level_model(), predict=predict)
    permutation(model, data, seed=1, stream=stream, n_repeats=1, n_rows=n_rows)
    pd.testing.assert_frame_equal(data.X, numbered)
    _, *tables = frames if stream != "vip-0.4" else [numbered, *frames[1:]]
    assert len(tables) == 3
    for (name, columns), X in zip(groups.items(), tables, strict=True):
        rows = X["copy"].astype(int)
        still = [column for column in numbered if column not in columns]
        assert X[still].equals(numbered[still].iloc[rows].set_axis(X.index)), name
        assert X.dtypes.equals(numbered.dtypes)
        permuted = X[list(columns)].value_counts().sort_index()
        there = numbered[list(columns)].iloc[rows].value_counts().sort_index()
        assert permuted.equals(there)
        assert not X[list(columns)].equals(numbered[list(columns)].iloc[rows])
        if name == "pair":
            assert np.allclose(X["noise"], numbered["noise"].to_numpy()[X["row"]])


# --- R's numbers ----------------------------------------------------------------------


def recorded(name, kind="cases"):
    """Return the recorded cases of one package, each with its rows."""
    record = recorded_file(name)
    return [
        pytest.param({**case, "block": record["data"][case["rows"]]}, id=case["id"])
        for case in record[kind]
    ]


def predict_of(case):
    """Return the predict function of a recorded case."""
    if isinstance(case["model"], dict):
        texts = case["model"].values()
        return lambda X: np.column_stack([evaluated(text, X) for text in texts])
    if case.get("package") and case["loss"] == "one_minus_auc":
        # DALEX compares scores as text of 15 digits, so 0.3 ties with 0.3 + 1e-16.
        digits = np.vectorize(lambda score: float(f"{score:.15g}"))
        return lambda X: digits(evaluated(case["model"], X))
    return lambda X: evaluated(case["model"], X)


def target_of(case, y):
    """Return the target of a recorded case in numbers."""
    if isinstance(case["model"], dict):
        return pd.Categorical(y, categories=list(case["model"])).codes
    return np.asarray(y == case["event"] if "event" in case else y, dtype=float)


def recorded_case(case):
    """Return the model and the rows of a recorded case."""
    X = frame_of(case["block"], [n for n in case["block"]["columns"] if n != "y"])
    y = target_of(case, np.array(case["block"]["columns"]["y"]))
    task = "multiclass" if isinstance(case["model"], dict) else "regression"
    groups = case.get("groups") or {name: [name] for name in case["features"]}
    data = rows_of(X, y).with_groups({n: tuple(each) for n, each in groups.items()})
    model = replace(linear_model(1), predict=predict_of(case), features=tuple(X))
    return replace(model, task=task, losses=(case["loss"],)), replace(data, task=task)


def in_form(form, measured, baseline):
    """Return measurements in the form in which R handed them over."""
    if form == "raw":
        return measured
    return measured / baseline if form == "ratio" else measured - baseline


def gap(ours, reference, baseline):
    """Return the largest difference by the rule for replayed numbers."""
    reference = np.array(reference)
    scale = np.maximum(np.maximum(abs(ours), abs(reference)), abs(baseline))
    return (abs(ours - reference) / scale).max()


def untied(share):
    """Return the AUC's loss under which a tie of a 1 and a 0 is `share` of a fault."""

    def area(y, prediction, weights):
        nudged = prediction + (0.5 - share) * 1e-10 * y
        return LOSSES["one_minus_auc"].function(y, nudged, weights)

    return LOSSES["one_minus_auc"]._replace(function=area)


@pytest.mark.slow
@for_each(recorded("vip_permute"))
def test_vip_is_replayed(case, monkeypatch):
    model, data = recorded_case(case)
    is_area = case["loss"] == "one_minus_auc"
    if is_area:
        for share in (0, 1):
            monkeypatch.setitem(LOSSES, f"untied {share}", untied(share))
        model = model.with_losses((case["loss"], "untied 0", "untied 1"))
    line = "vip-0.4" if case["version"].startswith("0.4") else "vip-0.5"
    raw, baseline = permutation(
        model,
        data,
        seed=case["seed"],
        stream=line,
        n_repeats=case["n_repeats"],
        n_rows=case["n_rows"],
    )
    if "vip_takes" in case:
        raw, baseline = 1 - raw, 1 - baseline
    ours = in_form(case["form"], raw, baseline)
    if "vip_takes" in case:
        ours = -ours if case["form"] == "difference" else 1 / ours
    reference = np.array(case["scores"])
    if is_area:
        # vip compares scores exactly: of two that are one number by their formula the
        # last bits, which R computes in its own way, decide which is the larger.
        ends = np.sort(ours[..., 1:], axis=-1)
        has_ties = np.ptp(ends, axis=-1) > 1e-12
        assert (ends[..., 0] - 1e-12 <= reference)[has_ties].all()
        assert (reference <= ends[..., 1] + 1e-12)[has_ties].all()
        reference = np.where(has_ties, ours[..., 0], reference)
    assert gap(ours[..., 0], reference, baseline[:, 0]) <= 1e-12


def parts_of_dalex(case):
    """Return our numbers and DALEX's: permuted, full model, permuted target."""
    model, data = recorded_case(case)
    if case.get("target") == "model":
        data = replace(data, y=model.predict(data.X))
    elif "target" in case:
        data = replace(data, y=np.ones(data.n_samples))
    options = {name: case[name] for name in ("seed", "n_repeats", "n_rows")}
    raw, baseline = permutation(model, data, stream="DALEX", **options)
    target = permuted_target(model, data, stream="DALEX", **options)
    full = baseline.mean()
    for ours, name in ((raw, "permuted"), (baseline, "full"), (target, "y_permuted")):
        yield in_form(case["form"], ours[..., 0], full), case[name], full


@pytest.mark.slow
@for_each(recorded("dalex_parts"))
def test_dalex_is_replayed_with_its_full_model_and_its_permuted_target(case):
    for ours, reference, full in parts_of_dalex(case):
        assert gap(ours, reference, full) <= 1e-12


@for_each(recorded("dalex_parts", "edge_cases"))
def test_what_dalex_cannot_measure_is_not_measured_by_us_either(case):
    with np.errstate(divide="ignore", invalid="ignore"):
        for ours, reference, _ in parts_of_dalex(case):
            np.testing.assert_array_equal(ours, np.array(reference, dtype=float))


# --- workers --------------------------------------------------------------------------


@streams_and_rows(50)
def test_workers_change_no_number_and_no_draw(stream, n_rows):
    data, model = normal_data(3, -1, 0.5), linear_model(3, -1, 0.5)
    asked = {"seed": 1, "stream": stream, "n_repeats": 4, "n_rows": n_rows}
    if not stream.startswith("vip"):
        asked["keep"] = ("row_terms",)
    ask = partial(permutation, model, data, **asked)
    here, reports = ask(), []
    with workers(3, "threads", report=lambda *words: reports.append(words)):
        there = ask()
    for one, other in zip(here, there, strict=True):
        assert np.array_equal(one, other)
    if here.row_terms:
        ours, theirs = (each.row_terms.terms["mse"] for each in (here, there))
        assert np.array_equal(ours, theirs)
    assert reports == []


def test_steps_that_overwrite_their_input_leave_the_rows_as_they_are():
    data = normal_data(3, -1)
    before, numbers = data.X.copy(), []
    for copy in (True, False):
        pipeline = make_pipeline(StandardScaler(copy=copy), LinearRegression())
        model = wrap(pipeline.fit(data.X.copy(), data.y), name="m")
        numbers.append(permutation(model, data, seed=1).raw)
        pd.testing.assert_frame_equal(data.X, before)
    assert np.array_equal(*numbers)


def test_a_ranking_by_one_feature_falls_to_a_coin_toss():
    mean, std_error = rise(logistic_model(1, 0), binary_data(), n_repeats=200)
    assert abs(mean[0, 0] - 0.5) < 4 * std_error[0, 0] < 0.05


def test_permuted_levels_cost_the_log_loss_of_two_in_three_wrong():
    mean, std_error = rise(level_model(0.8), level_data(), n_repeats=200)
    assert abs(mean[1, 0] - 2 / 3 * log(8)) < 4 * std_error[1, 0] < 0.1


def test_a_column_that_nothing_foretells_differs_within_leaves_as_it_does_over_all():
    # The leaves know nothing of x1, so the variance within m rows is (m - 1)/m of all.
    data = normal_data(1, 1, 1, 1, n_samples=2000)
    leaf = leaves_of(data, "x1", seed=1, min_samples_leaf=5)
    x1 = data.X["x1"]
    within = ((x1 - x1.groupby(leaf).transform("mean")) ** 2).sum()
    n_free = 2000 - len(np.unique(leaf))
    assert abs(within / n_free - 1) < 4 * np.sqrt(2 / n_free)


@pytest.mark.parametrize(("factor", "origin"), [(1e-9, 0), (1e9, 0), (1, 1e7)])
def test_units_and_origins_do_not_matter_to_leaves(factor, origin):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    X["b"] += X.a

    def leaves(X):
        rows = rows_of(X, X.b)
        return leaves_of(rows, "b", seed=1, min_samples_leaf=5).tolist()

    assert leaves(X.assign(a=factor * X.a + origin)) == leaves(X)
