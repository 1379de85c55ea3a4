"""Columns that no model is given: made of others, or held out."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC
from tests.assess.measured import checked_columns
from tests.data import reading
from tests.models.saved import saved
from tests.report.reading import column, table

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset, describe, read_datasets
from importance_audit.data.derived_columns import DerivedSection, derive, with_derived
from importance_audit.methods.effects.stratpd import stratpd
from importance_audit.methods.importance import METHODS
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import fit, load, wrap
from importance_audit.models.section import ModelSection
from importance_audit.records.errors import ConfigError, DataError, ModelError
from importance_audit.report.pages.view import build_view

LINEAR = {"name": "linear", "estimator": "sklearn.linear_model.LinearRegression"}
A, B = [0, 0, 1, 1], [0, 1, 0, 1]
TABLE = pd.DataFrame(
    {
        "a": A,
        "b": np.array(B, dtype=bool),
        "sign": [-1.0, 1.0, 1.0, -1.0],
        "x": [0.5, 2.0, -1.0, 2.5],
        "hue": pd.Categorical(["red", "blue", "red", "red"], ["red", "blue", "green"]),
        "when": pd.to_datetime(
            ["2024-01-31", "2023-02-01", "2022-03-05", "2021-12-31"]
        ),
    }
)


def derived_column(expression, table=TABLE):
    """Return the cells of one derived column."""
    section = DerivedSection(name="new", expression=expression)
    rows = dataset(table, [1.0, 2.0, 3.0, 4.0], task="regression", name="rows")
    return with_derived(rows, (section,)).X["new"].tolist()


# --- what a formula makes -------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        ("a and b and not sign", [0, 0, 0, 1]),
        ("a != b", [0, 1, 1, 0]),
        ("((not a) != (not b)) == (not sign)", [0, 0, 0, 0]),
        ("a == '1'", [0, 0, 1, 1]),
        ("2 * x + -1 * b", [1, 3, -2, 4]),
        ("x * x + (b > a)", [0.25, 5, 1, 6.25]),
        ("b * 2 - sign", [1, 1, -1, 3]),
        ("not (sign and b) or x > 1", [1, 1, 1, 1]),
        ("hue != 'blue'", [1, 0, 1, 1]),
        ('hue == "red" and x > 0', [1, 0, 0, 1]),
        ('(hue == "red") * x', [0.5, 0, -1, 2.5]),
        ('hue == "green"', [0, 0, 0, 0]),
        ('b == "true"', B),
    ],
)
def test_a_formula_takes_levels_truths_and_numbers(formula, truth):
    assert derived_column(formula) == truth


def test_a_text_is_no_name_and_a_name_is_no_text():
    hue = pd.Categorical(["red", "`red`", "red", "red"])
    table = TABLE.assign(red=A, **{"`red`": B, "'red'": A, "not a": B, "hue": hue})
    assert derived_column("hue == 'red' and red", table) == [0, 0, 1, 1]
    assert derived_column("hue == '`red`' and ```red```", table) == [0, 1, 0, 0]
    assert derived_column("`'red'` > 0", table) == A
    assert derived_column("`not a` and b", table) == B


TRUTHS = "0 and 1, -1 and 1, or true and false"


@pytest.mark.parametrize(
    ("formula", "held", "needed"),
    [
        ("hue > 1", "'hue' holds texts", "numbers"),
        ("when > 1", "'when' holds dates", "numbers"),
        ("when == '2024'", "'when' holds dates", "texts or numbers"),
        ("hue == 'rde'", "'hue' holds 'blue', 'green', 'red'", "the level 'rde'"),
        ("a and x", "'x' holds '-1', '0.5', '2', '2.5'", TRUTHS),
        ("a or hue", "'hue' holds 'blue', 'red'", TRUTHS),
    ],
)
def test_a_column_that_a_formula_cannot_take_is_named(formula, held, needed):
    section = DerivedSection(name="new", expression=formula)
    with pytest.raises(DataError) as error:
        derive({name: TABLE[name] for name in TABLE}, (section,), where="rows")
    assert str(error.value) == (
        f"rows: column {held}; 'new' is derived from it, which needs {needed}."
    )


# --- in the data ----------------------------------------------------------------------

CSV = "young,rich,age,pay,y\n0,0,30,1,1\n0,1,20,2,2\n1,0,60,3,4\n1,1,50,5,3\n"
YOUNG_AND_RICH = {"name": "both", "expression": "young and rich"}
OLD = {"name": "old", "expression": "age > 55"}


def configured(folder, *derived, text=CSV, **keys):
    """Return a configuration of a table whose two sides are the same rows."""
    usual = {"held_out_columns": ["age"], "derived": list(derived)}
    return reading.configured(folder, text, **usual | {"models": [LINEAR]} | keys)


def rows_of(folder, *derived, **keys):
    """Return the training and the test rows of such a table."""
    return read_datasets(**configured(folder, *derived, **keys).data_arguments)


def test_derived_columns_come_last_in_both_sides_and_no_model_is_given_them(tmp_path):
    for rows in rows_of(tmp_path, YOUNG_AND_RICH, OLD):
        assert rows.features == ("young", "rich", "pay", "age", "both", "old")
        assert rows.inputs == ("young", "rich", "pay")
        assert rows.groups["both"] == ("both",)
        assert rows.X["both"].tolist() == [0, 0, 0, 1]
        assert rows.X["old"].tolist() == [0, 0, 1, 0]
    assert rows.part(["pay", "old"]).inputs == ("pay",)
    columns = describe(None, rows, derived=(DerivedSection(**YOUNG_AND_RICH),))
    columns = columns.set_index("feature")
    assert columns.loc[["pay", "age"], "origin"].tolist() == ["data", "held_out"]
    made = columns.loc["both", ["origin", "definition"]].tolist()
    assert made == ["derived", "young and rich"]


def test_a_derived_column_knows_the_columns_it_is_made_of_in_the_end(tmp_path):
    nested = {"name": "or", "expression": "both or not old"}
    _, rows = rows_of(tmp_path, YOUNG_AND_RICH, OLD, nested)
    assert rows.unread["or"] == ("young", "rich", "age")
    assert rows.unread["age"] == ()
    assert rows.X["or"].tolist() == [1, 1, 0, 1]


def test_the_digest_covers_what_is_derived(tmp_path):
    others = [OLD, OLD | {"kind": "expression"}]  # which say the same
    others += [OLD | {"expression": "age > 25"}, OLD | {"name": "o"}]
    digests = [
        rows_of(tmp_path, *one)[0].sha256 for one in ([], *([o] for o in others))
    ]
    assert len(set(digests)) == 4
    assert digests[1] == digests[2]


def test_rows_given_in_python_are_those_that_are_read(tmp_path):
    config = configured(tmp_path, YOUNG_AND_RICH, OLD)
    _, of_file = read_datasets(**config.data_arguments)
    X = pd.read_csv(tmp_path / "train.csv")
    y = X.pop("y").astype(float)
    X = X[["young", "rich", "pay", "age"]]
    bare = dataset(X, y, task="regression", name="rows", held_out=["age"])
    rows = with_derived(bare, config.derived)
    assert (rows.sha256, rows.unread) == (of_file.sha256, of_file.unread)
    assert rows.groups == of_file.groups


# --- in the models and methods --------------------------------------------------------


@pytest.mark.parametrize(
    "method", ["permutation", "partial_dependence", "shapley", "drop_column"]
)
def test_what_no_model_is_given_moves_neither_it_nor_its_importances(method, tmp_path):
    train, test = rows_of(tmp_path, YOUNG_AND_RICH, OLD)
    model = fit(ModelSection(**LINEAR), train)
    alone = LinearRegression().fit(train.X[["young", "rich", "pay"]], train.y)
    assert model.features == ("young", "rich", "pay")
    assert model.estimator.coef_.tobytes() == alone.coef_.tobytes()
    raw, baseline = METHODS[method].function(model, test, seed=1)
    moved = dict(zip(test.groups, (raw != baseline).any(axis=(1, 2)), strict=True))
    assert [moved[name] for name in ("both", "old", "age", "pay")] == [0, 0, 0, 1]


def test_a_file_that_reads_a_column_held_out_is_refused(tmp_path):
    train, _ = rows_of(tmp_path)
    fitted = LinearRegression().fit(train.X[["young", "age"]], train.y)
    section = ModelSection(**saved(tmp_path, fitted))
    with pytest.raises(ModelError) as refusal:
        load(section, train, base=tmp_path)
    assert str(refusal.value) == (
        "Model 'm' reads 'age', which is kept out of the models."
    )


def test_strata_are_made_of_no_derived_column_nor_of_what_it_is_made_of():
    data = normal_data(2, -1, 1, noise=0.1, n_samples=300)
    step = DerivedSection(name="step", expression="x1 > 0")
    more = with_derived(data, (step,))
    for feature in ("x1", "x2"):
        plain = stratpd(None, data, feature, seed=1)
        for values_beside_step, plain_values in zip(
            stratpd(None, more, feature, seed=1), plain, strict=True
        ):
            assert values_beside_step.tobytes() == plain_values.tobytes()
    alone = more.part(["x2", "x3", "step"])
    values = [stratpd(None, rows, "step", seed=1)[1] for rows in (more, alone)]
    assert values[0].tobytes() == values[1].tobytes()


def test_where_no_model_can_draw_it_a_missing_number_is_but_a_note(tmp_path):
    entry = {"method": "random_subspace", "n_repeats": 30, "n_drawn": 1}
    head, *lines = CSV.splitlines(keepends=True)
    text = "".join([head, *lines * 5])
    config = configured(tmp_path, OLD, text=text, importance=[entry])
    result = audit(*read_datasets(**config.data_arguments), config)
    (note,) = [finding for finding in result.findings if finding.check == "unmeasured"]
    assert (note.severity, "'age', 'old'" in note.message) == ("info", True)


# --- the Boolean example of Zien et al. (section 3.1), from a file to a result --------

CUBE = pd.DataFrame(itertools.product((0, 1), repeat=3), columns=["x1", "x2", "x3"])
CUBE["y"] = np.where((CUBE.x1 == 1) | (CUBE.x2 == 0), 1, -1)
PAIRS = [
    {"name": " and ".join(of), "expression": " and ".join(of)}
    for j, k in itertools.combinations(("x1", "x2", "x3"), 2)
    for of in itertools.product((j, f"not {j}"), (k, f"not {k}"))
]


def test_an_audit_finds_the_numbers_of_the_paper_for_the_machine(tmp_path):
    """The hard-margin machine with kernel (x x')^2."""
    asked = {"importance": [{"method": "firm", "form": "raw"}], "models": []}
    text = CUBE.to_csv(index=False)
    config = configured(tmp_path, *PAIRS, text=text, held_out_columns=[], **asked)
    train, test = read_datasets(**config.data_arguments)
    kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.0}
    svc = SVC(C=1e8, tol=1e-10, **kernel).fit(train.X[list(train.inputs)], train.y)
    facts = {"name": "svm", "task": "regression", "classes": ()}
    facts |= {"predict": svc.decision_function, "features": train.inputs}
    result = audit(train, test, config, models=(wrap(svc, **facts),))
    (record,) = result.importances
    importances = dict(zip(record.features, record.mean, strict=True))
    truth = {"x1": 2 / 3, "x2": -2 / 3, "x3": 0, "not x1 and x2": -0.962250}
    truth |= {"x1 and not x2": 0.577350, "x1 and x2": 0.192450}
    truth |= {"not x1 and not x2": 0.192450}
    for name, value in truth.items():
        assert importances[name] == pytest.approx(value, abs=1e-5), name
    mixed = sorted(
        importances[name] for name in importances if "and" in name and "x3" in name
    )
    assert mixed == pytest.approx([-0.384900] * 4 + [0.384900] * 4, abs=1e-5)
    sources = column(table(build_view(result), "tab-columns"), "Source")
    assert sources[3] == "derived: x1 and x2"


def test_columns_that_are_derived_from_others_are_not_called_the_same(tmp_path):
    same = {"name": "same", "expression": "young > 0.5"}
    sides = rows_of(tmp_path, same, held_out_columns=[])
    checks = {row["check"]: row for row, _ in checked_columns(*sides)}
    assert checks["same_columns"]["verdict"] == "pass"


# --- what a user can get wrong --------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "data", "message"),
    [
        (OLD | {"kind": "x"}, {}, "kind must be one of 'expression', 'date_part'; 'x'"),
        (
            OLD | {"name": "y"},
            {},
            "name 'y' is the name of a column, or of one derived",
        ),
        (OLD, {"features": ["age"]}, "must leave out held_out_columns; it holds 'age'"),
        (OLD, {"held_out_columns": ["y"]}, "must leave out the target; it holds 'y'"),
    ],
)
def test_a_faulty_definition_is_told(section, data, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        configured(tmp_path, section, **data)


NO_COLUMN = "neither an audited column nor derived before it."
TAKEN = "name 'pay' is a column of train.csv already. Choose another."
PAY = YOUNG_AND_RICH | {"name": "pay"}
YUONG = YOUNG_AND_RICH | {"expression": "yuong and rich"}
NO_AGE = {"text": CSV.replace("1,1,50", "1,1,")}
TWICE = OLD | {"expression": "age > 55 and age < 90"}  # its gaps are told once
EITHER = {"name": "either", "expression": "old or rich"}
IS_9 = {"name": "r", "expression": "pay == '9'"}
OF_NOT = {"name": "m", "of": ["not age"], "part": "month"}


@pytest.mark.parametrize(
    ("derived", "data", "message"),
    [
        ([YUONG], {}, f"names 'yuong', {NO_COLUMN} Did you mean 'young'?"),
        ([EITHER, OLD], {}, f"'either' expression names 'old', {NO_COLUMN}"),
        ([OF_NOT], {}, f"'m' of names 'not age', {NO_COLUMN} Did you mean 'age'?"),
        ([PAY], {}, TAKEN),
        ([PAY], {"features": ["young", "rich"]}, TAKEN),  # also if it is not audited
        (
            [IS_9],
            {},
            "'2', '3', '5'; 'r' is derived from it, which needs the level '9'",
        ),
        ([TWICE, EITHER], NO_AGE, "'age' is missing in 2 of 8 rows; every row needs a"),
        ([], {"held_out_columns": ["agee"]}, "'agee' ([data] held_out_columns) is not"),
    ],
)
def test_a_definition_that_the_columns_do_not_bear_is_told(
    derived, data, message, tmp_path
):
    with pytest.raises(DataError) as error:
        rows_of(tmp_path, *derived, **data)
    (line,) = str(error.value).splitlines()
    assert message in line


def test_a_column_that_rows_hold_out_must_be_theirs():
    with pytest.raises(DataError, match=r"held_out names 'xx', .* Did you mean 'x'?"):
        dataset(TABLE[["x"]], A, task="regression", name="rows", held_out=["xx"])


def test_rows_given_without_the_derived_columns_are_refused_once():
    expected = {"features": ["old"], "place": "top", "reason": "It is."}
    named = {"expected": [expected], "labels": {"old": "Older than 60"}}
    config = parse_config({"derived": [OLD], **named})
    rows = dataset(TABLE[["a", "x"]], A, task="regression", name="rows")
    model = wrap(lambda X: X["x"], name="m", task="regression", features=["x"])
    with pytest.raises(ConfigError) as error:
        audit(None, rows, config, models=(model,))
    assert str(error.value) == (
        "[[derived]] 'old' is no column of rows. Add it: "
        "importance_audit.data.derived_columns.with_derived(rows, config.derived)"
    )
