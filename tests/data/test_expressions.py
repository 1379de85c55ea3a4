"""Formulas as text: what they say, and that nothing else is ever evaluated."""

import doctest

import numpy as np
import pandas as pd
import pytest
from tests.data.test_derived_columns import configured, rows_of

from importance_audit.data import expressions as module
from importance_audit.data.expressions import Use, problem_of, uses_of, value_of
from importance_audit.records.errors import ConfigError, DataError

A, B = np.array([0.5, 2.0, 4.0]), np.array([-1.0, 0.0, 3.0])
COLUMNS = pd.DataFrame({"a": A, "b": B, "m2.price": A + B, "1st - b": A - B})


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("a + 2 * b - 1", A + 2 * B - 1),
        ("-a / 4 + +b", -A / 4 + B),
        ("a ** 2 - a ** -2 + a ** 0.5", A * A - 1 / (A * A) + np.sqrt(A)),
        ("(a + b) ** 3", (A + B) ** 3),
        ("log(a) * (b > -1)", np.log(A) * [0, 1, 1]),
        ("exp(b) + sqrt(a) + abs(b)", np.exp(B) + np.sqrt(A) + np.abs(B)),
        (
            "min(a, b, 1) + max(a, b)",
            np.minimum(np.minimum(A, B), 1) + np.maximum(A, B),
        ),
        ("m2.price * 1e-3", (A + B) * 1e-3),
        (" 0 < 1 < a <= 2 ", [0, 1, 0]),
        ("a > 1 and b != 0 or not a >= .5", [0, 0, 1]),
        ("not (a == 2 and b < 1)", [1, 0, 1]),
        ("(not a > 1) + (not b > 1)", [2, 1, 0]),
        ("(not a > 1) - (not b > 1)", [0, -1, 0]),
        ("-(not a > 1) * exp(not b > 1)", [-np.e, 0, 0]),
        ("2*`1st - b`-`m2.price`", 2 * (A - B) - (A + B)),
    ],
)
def test_a_formula_says_what_it_says_in_mathematics(text, truth):
    assert problem_of(text) == ""
    assert value_of(text, COLUMNS).tolist() == pytest.approx(list(truth))


def test_a_comparison_is_zero_or_one_as_other_truths_are():
    assert value_of("a > 1", COLUMNS).dtype == np.int64
    assert value_of("(a > 1) * 1", COLUMNS).dtype == np.float64


def test_each_use_of_a_column_is_told_once():
    assert uses_of("a * (not a) + a * (a == 'x') + (b and a > 1)") == (
        Use("a", "numbers"),
        Use("a", "truths"),
        Use("a", "level", "x"),
        Use("b", "truths"),
    )


def test_the_deepest_formula_that_is_allowed_has_a_value():
    formula = "-" * 149 + "a"
    assert problem_of(formula) == ""
    assert value_of(formula, COLUMNS).tolist() == (-A).tolist()


JOINED = "combines {}; and, or and not combine comparisons and true/false columns only."
MADE = f"holds {{}}; {module.MADE_OF}."
NO_FORMULA = (
    "is not a formula: {}. Columns such as `body mass` or `class` need backticks."
)
EXPONENT = "computes {}; exponents are numbers from -16 to 16."
REFUSED = {
    "a +": NO_FORMULA.format("'a +'"),
    "a\x00": NO_FORMULA.format("'a\\x00'"),
    "2 * 3": "names no column: '2 * 3'.",
    "__import__('os')": MADE.format("\"__import__('os')\""),
    "a.mean()": MADE.format("'a.mean()'"),
    "(lambda: a)()": MADE.format("'(lambda: a)()'"),
    "log(a, 2)": MADE.format("'log(a, 2)'"),
    "min(a)": MADE.format("'min(a)'"),
    "exp(x=a)": MADE.format("'exp(x=a)'"),
    "max(*a, b)": MADE.format("'*a'"),
    "a[0]": MADE.format("'a[0]'"),
    "().__class__": MADE.format("'().__class__'"),
    "f'{a}'": MADE.format("\"f'{a}'\""),
    "a // 2": MADE.format("'a // 2'"),
    "my a > 1": NO_FORMULA.format("'my a > 1'"),
    "x`a`": NO_FORMULA.format("'x`a`'"),
    "`a": NO_FORMULA.format("'`a'"),
    "a + 1 and b > 1": JOINED.format("'a + 1'"),
    "not 'b'": JOINED.format("\"'b'\""),
    "a < 'b'": MADE.format("\"'b'\""),
    "a + 1 != 'b'": MADE.format("\"'b'\""),
    "a ** b": EXPONENT.format("'a ** b'"),
    "a ** 17": EXPONENT.format("'a ** 17'"),
    "a + 1e999": MADE.format("'1e309'"),
    "a + True": MADE.format("'True'"),
    "-" * 150 + "a": "has 302 parts; at most 300 are allowed.",
    "(" * 240 + "a" + ")" * 240: None,
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_in_no_table_is_refused_and_named(text):
    problem = problem_of(text)
    assert problem == REFUSED[text] or (REFUSED[text] is None and "formula" in problem)


EXPRESSION = {"name": "new", "kind": "expression"}


def test_a_faulty_section_is_told(tmp_path):
    with pytest.raises(ConfigError) as error:
        configured(tmp_path, EXPRESSION | {"expression": "open(age)"})
    assert str(error.value) == f"[derived] expression {MADE.format(repr('open(age)'))}"
    with pytest.raises(ConfigError, match="of does not work with kind 'expression';"):
        configured(tmp_path, EXPRESSION | {"expression": "pay + 1", "of": ["pay"]})


def test_a_formula_without_a_number_for_some_rows_names_them(tmp_path):
    with pytest.raises(DataError) as error:
        rows_of(tmp_path, EXPRESSION | {"expression": "log(pay - 2)"})
    assert str(error.value) == (
        "[[derived]] 'new' expression is not finite in rows 1, 2, 5, 6 of 8 of "
        "train.csv. Change the formula, or leave those rows out."
    )


def test_the_examples_of_the_docstrings_hold():
    results = doctest.testmod(module)
    assert (results.attempted, results.failed) == (2, 0)
