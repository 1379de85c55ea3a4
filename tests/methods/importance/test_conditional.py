"""Permutation given the other columns: closed forms, invariances, and slow twins."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.methods.importance import toys
from tests.methods.importance.toys import refused
from tests.methods.trees.small_ensembles import model_of, rows_of

from importance_audit.methods.importance import permuted_predictions
from importance_audit.methods.importance.conditional import normal_given, normal_of
from importance_audit.methods.importance.neighbours import _scaled, nearest
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.permutation_draws import BASELINE, DRAWS
from importance_audit.methods.importance.samplers import redrawn
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.methods.trees import routes
from importance_audit.methods.trees.routes import reporting_routes

WITHIN = {"gaussian": "a normal", "neighbours": "neighbours"}
MIXING = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [-0.3, 0.5, 0.7]])


def correlated(*slopes, n_samples=200):
    """Return columns x = MIXING white, their covariance MIXING MIXING', y = x b + e."""
    data = normal_data(*slopes, n_samples=n_samples)
    X = data.X @ MIXING[: len(slopes), : len(slopes)].T
    noise = data.y - data.X.to_numpy() @ np.array(slopes)
    X.columns = data.X.columns
    return replace(data, X=X, y=X.to_numpy() @ np.array(slopes) + noise)


def rise(model, data, **options):
    """Return mean rise in loss and its standard error by group."""
    answer = permutation(model, data, seed=1, **options)
    return [each[:, 0] for each in toys.rise(*answer)]


# --- closed forms ---------------------------------------------------------------------


def left_by_the_others(columns):
    """Return the covariance that the other columns leave of some, with divisor n."""
    return np.linalg.inv(np.linalg.inv(MIXING @ MIXING.T)[np.ix_(columns, columns)])


def test_of_a_normal_the_error_rises_by_twice_the_variance_that_the_others_leave():
    slopes, places = np.array([3.0, -1.0, 2.0]), [[0], [1], [2], [2, 0]]
    data = correlated(*slopes)
    data = data.with_groups(data.groups | {"both": ("x3", "x1")})
    left = [slopes[j] @ left_by_the_others(j) @ slopes[j] for j in places]
    truth = np.array(left) * (1 + 200 / 199)  # the row's own, and what is drawn
    options = {"within": "gaussian", "n_repeats": 400}
    mean, std_error = rise(linear_model(*slopes), data, **options)
    assert (abs(mean - truth) < 4 * std_error).all()
    assert (4 * std_error < truth / 10).all()


def of_kinds():
    """Return 90 rows of three kinds, x1 = noise + kind, and y = x1."""
    data = normal_data(1.0, noise=0.0, n_samples=90)
    codes = np.arange(90) % 3 * (np.arange(90) % 2)
    kind = pd.Categorical.from_codes(codes, categories=["a", "b", "c"])
    x1 = data.y + 5 * codes
    X = pd.DataFrame({"x1": x1, "kind": kind})
    return replace(data, X=X, y=x1, groups={"x1": ("x1",), "kind": ("kind",)})


@pytest.mark.parametrize("n_rows", [None, 50])
def test_given_a_copy_a_column_measures_nothing(n_rows):
    single = normal_data(1.0)
    X = single.X.assign(copy=3 - 2 * single.X["x1"])
    data = replace(single, X=X, groups={"x1": ("x1",)})
    options = {"within": "gaussian", "n_rows": n_rows}
    raw, baseline = permutation(linear_model(5.0), data, seed=1, **options)
    np.testing.assert_allclose(raw[0], baseline, rtol=1e-12)


@pytest.mark.parametrize("within", ["gaussian", "neighbours", "leaves"])
def test_what_no_model_is_given_is_not_held(within):
    data = correlated(3.0, -1.0, 2.0)
    X = data.X.assign(double=2 * data.X["x1"], withheld=data.X["x3"] > 0)
    unread = {"double": ("x1",), "withheld": ()}
    beside = replace(data, X=X, unread=unread)
    model, options = linear_model(3.0, -1.0, 2.0), {"within": within, "seed": 1}
    raw, baseline = permutation(model, data, **options)
    assert (raw[0] > 2 * baseline).all()
    again, _ = permutation(model, beside, **options)
    np.testing.assert_array_equal(again, raw)


def test_given_a_category_the_mean_is_that_of_its_level():
    data = of_kinds()
    data = replace(data, X=data.X.assign(x1=data.y - 20 * (data.X["kind"] == "b")))
    by_level = data.X["x1"].groupby(data.X["kind"])
    sampler = normal_of(data, "x1")
    np.testing.assert_allclose(sampler.mean[:, 0], by_level.transform("mean"))
    left = by_level.apply(lambda x: ((x - x.mean()) ** 2).sum()).sum() / 89
    np.testing.assert_allclose(sampler.root, np.sqrt(left))


# --- slow twins -----------------------------------------------------------------------


def slow_neighbours(others, k, keeps_itself):
    """Return the set of neighbours of each row, by a sorted list of distances."""
    is_number = [others[name].dtype != "category" for name in others]
    widths = [
        (others[name].std() if all(is_number) else np.ptp(others[name]))
        if number
        else 1
        for name, number in zip(others, is_number, strict=True)
    ]
    table = others.values.tolist()
    sets = []
    for i, row in enumerate(table):
        distances = {}
        for other, cells in enumerate(table):
            apart = [
                abs(x - y) / width if number else float(x != y)
                for x, y, number, width in zip(
                    row, cells, is_number, widths, strict=True
                )
            ]
            distances[other] = (
                sum(x**2 for x in apart) if all(is_number) else sum(apart)
            )
        if not keeps_itself:
            del distances[i]
        last = sorted(distances.values())[k - 1] + 1e-9
        sets.append({row for row, apart in distances.items() if apart <= last})
    return sets


def mixed(n=40):
    draws = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "x": draws.normal(size=n),
            "count": draws.integers(3, size=n),
            "wide": 7 * draws.integers(4, size=n),
            "kind": pd.Categorical(draws.choice(["a", "b", "c"], size=n)),
        }
    )


@pytest.mark.parametrize("convention", ["standard", "xplainfi"])
@pytest.mark.parametrize(
    "columns",
    [
        ["x", "count"],
        ["count"],
        ["kind"],
        ["x", "count", "kind"],
        ["count", "wide"],
        ["count", "wide", "kind"],
    ],
)
@pytest.mark.parametrize("k", [2, 5, 39])
def test_neighbours_are_the_nearest_rows_and_those_tied_with_the_last(
    convention, columns, k
):
    others = mixed()[columns]
    keeps_itself = convention == "xplainfi"
    near = nearest(others, k, convention=convention)
    sets = slow_neighbours(others, k, keeps_itself)
    counts = [len(rows) for rows in sets]
    # xplainfi ties what is equal to the last bit, which sums of two columns may not be.
    by_last_bits = keeps_itself and columns == ["count", "wide"]
    assert (near.counts <= counts).all()
    assert by_last_bits or near.counts.tolist() == counts
    draws = [near.drawn(np.random.default_rng(seed)) for seed in range(400)]
    seen = [set(of_row) for of_row in np.stack(draws, axis=1).tolist()]
    assert all(rows <= wanted for rows, wanted in zip(seen, sets, strict=True))
    if k < 39 and columns != ["kind"] and not by_last_bits:
        assert seen == sets


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant != 63,
    reason="R's long doubles, which decide, have 80 bits where this was recorded",
)
def test_a_column_is_divided_by_the_standard_deviation_that_r_has_to_the_last_bit():
    # R 4.2.2: k <- 0:599; sprintf("%a", sd((8 * k^2 + 3 * k) %% 9))
    k = np.arange(600)
    column = pd.Series((8 * k**2 + 3 * k) % 9)
    width = _scaled(column, by_gower=False, convention="standard").width
    assert width.hex() == "0x1.8bc31ef9c4402p+1"


def test_every_neighbour_is_equally_likely():
    near = nearest(mixed()[["x"]], 4)
    drawn = np.stack(
        [near.drawn(np.random.default_rng(seed)) for seed in range(4000)], axis=1
    )
    for of_row in drawn:
        _, counts = np.unique(of_row, return_counts=True)
        assert len(counts) == 4
        assert (abs(counts - 1000) < 5 * np.sqrt(750)).all()


# --- what must not matter -------------------------------------------------------------


def test_a_normal_knows_no_scale_of_the_others_and_no_mixture():
    data, model = correlated(3, -1, 2), linear_model(3, -1, 2)
    alone = data.with_groups({"x1": ("x1",)})
    x2, x3 = data.X["x2"], data.X["x3"]
    other = alone.X.assign(x2=1e10 * (x2 + 2 * x3), x3=1e-10 * (x2 - x3), same=3.0)
    predict = {  # the model itself sees the columns as they were
        id(X): replace(
            model,
            predict=lambda X, rest=data.X: model.predict(rest.assign(x1=X["x1"])),
        )
        for X in (alone.X, other)
    }
    one, two = (
        permutation(predict[id(X)], replace(alone, X=X), seed=1, within="gaussian").raw
        for X in (alone.X, other)
    )
    np.testing.assert_allclose(one, two, rtol=1e-9)


def test_neighbours_know_no_unit_and_no_order_of_columns_and_levels():
    plain = mixed()
    for columns in (["x", "count"], ["x", "count", "kind"]):
        one = plain[columns]
        other = one[columns[::-1]].assign(x=100 - 64 * one["x"])
        if "kind" in other:
            names = {"a": "z", "b": "y", "c": "x"}
            other["kind"] = pd.Categorical(plain["kind"].map(names), ["x", "y", "z"])
        first, second = (
            nearest(frame, 5).drawn(np.random.default_rng(1)) for frame in (one, other)
        )
        assert first.tolist() == second.tolist()


def tables_seen(data, **options):
    """Return the frames a model is asked about, the baseline of a repeat first."""
    frames = []

    def predict(X):
        frames.append(X.copy(deep=True))
        return np.zeros(len(X))

    model = replace(linear_model(1.0), predict=predict)
    permutation(model, data, seed=1, **{"n_repeats": 1, **options})
    return frames


@pytest.mark.parametrize("n_rows", [None, 30])
def test_the_columns_of_a_group_come_from_one_neighbour(n_rows):
    data = replace(
        of_kinds(), X=mixed(90).assign(row=np.arange(90), again=np.arange(90))
    )
    data = data.with_groups({"pair": ("row", "again")})
    before, after = tables_seen(data, within="neighbours", n_rows=n_rows)
    assert after["row"].tolist() == after["again"].tolist()
    assert set(after["row"]) <= set(before["row"])
    assert (after["row"] != before["row"]).all()
    pd.testing.assert_frame_equal(after[["x", "kind"]], before[["x", "kind"]])


def test_of_drawn_rows_neighbours_are_the_nearest_among_them_in_every_repeat():
    single = normal_data(1.0)
    X = pd.DataFrame({"x1": np.arange(200.0), "near": single.X["x1"]})
    data = replace(single, X=X, groups={"x1": ("x1",)})
    options = {"within": "neighbours", "n_neighbours": 1, "n_rows": 30}
    tables = tables_seen(data, n_repeats=3, **options)
    for before, after in zip(tables[::2], tables[1::2], strict=True):
        apart = abs(before["near"].to_numpy()[:, None] - before["near"].to_numpy())
        np.fill_diagonal(apart, np.inf)
        nearest_rows = before["x1"].to_numpy()[apart.argmin(axis=1)]
        assert after["x1"].tolist() == nearest_rows.tolist()


def test_two_features_are_drawn_from_different_normals():
    data = normal_data(1.0, 1.0)
    samplers = [normal_of(data, name) for name in data.groups]
    plain = DRAWS["numpy"](1, ("x1", "x2"), 200, 1, None)
    _, one, two = redrawn(plain, samplers, ("x1", "x2"), 1, "given")
    noise = [
        (draw.values[0] - sampler.mean[:, 0]) / sampler.root[0, 0]
        for draw, sampler in zip((one, two), samplers, strict=True)
    ]
    assert abs(np.corrcoef(noise)[0, 1]) < 0.3


INTEGERS = ["int64", "int8", "uint8", "Int64"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float64", "float32", "Float64"])
def test_a_normal_keeps_the_type_of_a_column_and_rounds_integers(dtype):
    data = correlated(2, 1, 1)
    counts = (50 + 4 * data.X["x1"]).round().astype(dtype)
    data = replace(data, X=data.X.assign(x1=counts)).with_groups({"x1": ("x1",)})
    _, after = tables_seen(data, within="gaussian")
    assert after["x1"].dtype == dtype
    drawn = after["x1"].to_numpy(dtype=float)
    assert (drawn % 1 == 0).all() == (dtype in INTEGERS)
    assert (drawn != counts.to_numpy(dtype=float)).any()


def test_what_an_integer_type_cannot_hold_is_drawn_all_the_same():
    data = correlated(2, 1, 1)
    rare = (data.X["x1"] > 1.5).astype("uint8")
    data = replace(data, X=data.X.assign(x1=rare)).with_groups({"x1": ("x1",)})
    _, after = tables_seen(data, within="gaussian")
    assert after["x1"].min() == -1


# --- trees ----------------------------------------------------------------------------


def test_trees_answer_for_neighbours_and_leave_new_values_to_predict(monkeypatch):
    data = rows_of("regression")
    model = model_of("RandomForest", data)
    data = data.with_groups({"x1": ("x1",), "both": ("x2", "whole")})
    monkeypatch.setattr(routes, "WORTH", np.inf)
    plain = {w: permutation(model, data, seed=1, within=w) for w in WITHIN}
    monkeypatch.setattr(routes, "WORTH", 0)
    why = permuted_predictions.NEW_VALUES
    for within, route in (
        ("gaussian", ("unread", why)),
        ("neighbours", ("identical", "")),
    ):
        reported = []
        with reporting_routes(reported.append):
            raw, baseline = permutation(model, data, seed=1, within=within)
        assert raw.tobytes() == plain[within].raw.tobytes()
        assert baseline.tobytes() == plain[within].baseline.tobytes()
        assert {(r.basis, r.reason) for r in reported} == {route}


# --- refusals -------------------------------------------------------------------------


FEW = normal_data(1, 1, 1, n_samples=9).part(("x1", "x2", "x3"), np.arange(3))
GAPS = replace(FEW, X=FEW.X.where(FEW.X["x2"] > FEW.X["x2"].min()))
NEAR = {"within": "neighbours", "n_neighbours": 1}
REFUSED = [
    (
        *(of_kinds(), {"within": "gaussian"}),
        "Only numbers can be drawn from a normal; 'kind' of data 'normal' holds none. "
        'Leave it out with features, or set within = "neighbours".',
    ),
    (FEW, {"within": "gaussian"}, "3 were given, and 4 are needed at least."),
    *((GAPS, {"within": w}, f"no missing value for {p}") for w, p in WITHIN.items()),
    *(
        (FEW, {"within": within, "perturbation": "resample"}, "nothing to set")
        for within in WITHIN
    ),
    (FEW, NEAR | {"convention": "xplainfi"}, "so one neighbour changes nothing."),
]


@pytest.mark.parametrize("within", [*WITHIN, "leaves"])
def test_a_missing_value_of_a_column_that_is_not_used_is_no_reason(within):
    data = normal_data(1, 1, 1)
    X = data.X.assign(gaps=data.X["x1"].where(data.X["x1"] > 0))
    beside = replace(data, X=X, unread={"gaps": ()})
    model = linear_model(1.0, 1.0, 1.0)
    expected = permutation(model, data, seed=1, within=within)
    found = permutation(model, beside, seed=1, within=within)
    assert found.raw.tobytes() == expected.raw.tobytes()
    asked = beside.with_groups({"gaps": ("gaps",)})
    refusal = refused(permutation, model, asked, within=within)
    assert "these columns have some: 'gaps'" in refusal


@for_each(REFUSED)
def test_what_cannot_be_drawn_is_refused(case):
    data, options, words = case
    assert words in refused(permutation, linear_model(1.0), data, **options)


def test_among_rows_of_one_level_each_has_all_others_of_it_for_neighbours():
    data = of_kinds()
    by_kind = data.X["x1"].groupby(np.asarray(data.X["kind"]))
    truth = 2 * (by_kind.var() * by_kind.size()).sum() / 90
    mean, std_error = rise(
        linear_model(1.0), data, within="neighbours", n_repeats=400, n_neighbours=1
    )
    assert abs(mean[0] - truth) < 4 * std_error[0] < truth / 10


def test_without_other_columns_the_draw_is_marginal():
    data, model = normal_data(2.0), linear_model(2.0)
    shares = {"gaussian": 1 + 200 / 199, "neighbours": 2 * 200 / 199, "leaves": 2}
    for within, share in shares.items():
        mean, std_error = rise(model, data, within=within, n_repeats=200)
        assert abs(mean[0] - 4 * share) < 4 * std_error[0] < 0.5


def test_the_normal_is_that_of_the_partitioned_covariance():
    table = np.random.default_rng(1).normal(size=(50, 5)) @ np.random.default_rng(
        2
    ).normal(size=(5, 5)) + np.arange(5)
    mean, covariance, rank = normal_given(table[:, :2], table[:, 2:])
    S = np.cov(table.T)
    slopes = np.linalg.solve(S[2:, 2:], S[2:, :2])
    centred = table - table.mean(axis=0)
    np.testing.assert_allclose(
        mean, table[:, :2].mean(axis=0) + centred[:, 2:] @ slopes, rtol=1e-9
    )
    left = S[:2, :2] - S[:2, 2:] @ slopes
    np.testing.assert_allclose(covariance, left, rtol=1e-9)
    assert rank == 3


def test_halves_are_rounded_to_even_as_r_rounds_them():
    data = correlated(2, 1, 1, n_samples=20)
    half = replace(data, X=data.X.assign(x1=np.arange(20)))
    sampler = replace(
        normal_of(half.with_groups({"x1": ("x1",)}), "x1"),
        mean=np.arange(20)[:, None] + 0.5,
        root=np.zeros((1, 1)),
    )
    draw = next(
        d for d in DRAWS["numpy"](1, ("x1",), 20, 1, None) if d.what != BASELINE
    )
    (values,) = sampler.drawn(draw, np.random.default_rng(1)).values
    assert values.tolist() == [2 * ((k + 1) // 2) for k in range(20)]
