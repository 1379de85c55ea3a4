"""Formulas as text: parsed into a tree, checked node by node, evaluated by numpy.

    columns        by name: x1, construction.year; others in backticks: `body mass`
    numbers        1, 0.5, 1e-3
    + - * / **     the exponent is a number of at most 16
    < <= > >= == !=  1 where true, else 0; also in a chain, 0 < x1 < 1
    == != "text"   compares a column with one of its levels, in double or single quotes
    and or not     of comparisons, and of columns of true and false, 0 and 1, or -1 and
                   1 (called truths below)
    log exp sqrt abs min max

Nothing else is evaluated: no text is passed to Python's `eval`, no attribute is looked
up, no other function is called. `derived_columns` checks which columns a formula may
name, and whether they hold what it needs.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.errors import quote
from .column_types import text_of

Cells: TypeAlias = npt.NDArray[Any]

MOST_PARTS = 300  # even if all are nested, far below the recursion limit of Python
MOST_EXPONENT = 16

QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `((?:[^`]|``)+)`""", re.X | re.S
)
"""A quoted text, or a name in backticks; two backticks stand for one in the name."""
UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: lambda truth: np.logical_not(truth) * 1.0,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
}
FUNCTIONS: dict[str, tuple[Any, int]] = {
    "log": (np.log, 1),
    "exp": (np.exp, 1),
    "sqrt": (np.sqrt, 1),
    "abs": (np.abs, 1),
    "min": (np.minimum, 2),
    "max": (np.maximum, 2),
}
"""Functions with their minimum number of arguments; 1 means exactly one."""
MADE_OF = (
    "a formula is made of columns, finite numbers, + - * / **, the comparisons < <= > "
    ">= == !=, and, or, not, log(x), exp(x), sqrt(x), abs(x), min(x, y) and max(x, y); "
    "a text only follows a column and == or !="
)


class Use(NamedTuple):
    """How a formula uses one of its columns.

    Attributes
    ----------
    name : str
        The column.
    needs : {"numbers", "truths", "level"}
        What the column must hold.
    level : str
        The level with which the column is compared, empty for numbers and truths.
    """

    name: str
    needs: str
    level: str = ""


def problem_of(text: str) -> str:
    """Return the first problem of a formula, as a predicate; empty if it is valid.

    Examples
    --------
    >>> problem_of("log(x1) * (x2 > 3)")
    ''
    >>> problem_of("x1 ** 20")
    "computes 'x1 ** 20'; exponents are numbers from -16 to 16."
    """
    try:
        tree = _tree(text)
    except UNREADABLE:
        remedy = "Columns such as `body mass` or `class` need backticks."
        return f"is not a formula: {quote(text)}. {remedy}"
    n_parts = sum(1 for _ in ast.walk(tree))
    if n_parts > MOST_PARTS:
        return f"has {n_parts} parts; at most {MOST_PARTS} are allowed."
    problem = next(_problems(tree), "")
    if not problem and not uses_of(text):
        return f"names no column: {quote(text)}."
    return problem


def uses_of(text: str) -> tuple[Use, ...]:
    """Return the distinct uses of columns in a valid formula, in their order."""
    return tuple(dict.fromkeys(_uses(_tree(text))))


def value_of(text: str, columns: Mapping[str, pd.Series]) -> Cells:
    """Return the value of a valid formula in each row, (n_samples,).

    Parameters
    ----------
    text : str
        A formula for which `problem_of` is empty.
    columns : mapping of str to Series
        The columns by name; each must hold what every one of its `uses_of` needs.

    Returns
    -------
    ndarray of shape (n_samples,)
        0 and 1 as integers if the formula is a comparison, or combines truths by and,
        or, not; else float64, not finite where the value is undefined, such as the
        logarithm of zero.
    """
    tree = _tree(text)
    with np.errstate(all="ignore"):
        value = _value(tree, columns)
    return np.asarray(value, dtype=np.int64 if _is_truth(tree) else np.float64)


@cache
def _tree(text: str) -> ast.expr:
    """Return the syntax tree of a formula, with names without backticks."""
    names: dict[str, str] = {}

    def placeholder(quoted: re.Match[str]) -> str:
        if quoted[1] is None:
            return quoted[0]
        word = "_" * (len(text) + len(names))  # longer than any word of the text
        names[word] = quoted[1].replace("``", "`")
        return f" {word} "

    tree = ast.parse(QUOTED.sub(placeholder, text).strip(), mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return tree


def _dotted_name(node: ast.AST) -> str:
    """Return a name, which may contain dots as in R; empty for any other node."""
    if isinstance(node, ast.Attribute):
        before = _dotted_name(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def _parts(node: ast.expr) -> list[ast.expr]:
    """Return the operands of a node; names and numbers have none."""
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.BoolOp():
            return node.values
        case ast.Call():
            return node.args
    return []


def _compared_level(node: ast.expr) -> Use | None:
    """Return the column and level that a node compares, None for any other node."""
    match node:
        case ast.Compare(
            left=column,
            ops=[ast.Eq() | ast.NotEq()],
            comparators=[ast.Constant(value=str(level))],
        ) if name := _dotted_name(column):
            return Use(name, "level", level)
    return None


def _uses(node: ast.expr, needs: str = "numbers") -> Iterator[Use]:
    if name := _dotted_name(node):
        yield Use(name, needs)
    elif compared := _compared_level(node):
        yield compared
    else:
        for part in _parts(node):
            yield from _uses(part, "truths" if _is_joint(node) else "numbers")


def _is_joint(node: ast.expr) -> bool:
    """Return whether a node is a logical operation: and, or, not."""
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return isinstance(node, ast.BoolOp) or is_not


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) or _is_joint(node)


def _problems(node: ast.expr) -> Iterator[str]:
    """Yield a predicate for each part that is not supported, outermost first."""
    if _compared_level(node):
        return
    match node:
        case ast.BinOp(op=ast.Pow(), right=power) if not _is_exponent(power):
            rule = f"numbers from -{MOST_EXPONENT} to {MOST_EXPONENT}"
            yield f"computes {quote(ast.unparse(node))}; exponents are {rule}."
        case _ if not _is_supported(node):
            yield f"holds {quote(ast.unparse(node))}; {MADE_OF}."
    if _is_joint(node):
        for part in _parts(node):
            if not (_is_truth(part) or _dotted_name(part)):
                operand = ast.unparse(part)
                yield (
                    f"combines {quote(operand)}; and, or and not combine comparisons "
                    "and true/false columns only."
                )
    for part in _parts(node):
        yield from _problems(part)


def _is_supported(node: ast.expr) -> bool:
    """Return whether a node is of a kind that a formula may have, without its parts."""
    match node:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.BoolOp(op=op):
            return type(op) in OPERATORS
        case ast.Compare(ops=ops):
            return all(type(op) in OPERATORS for op in ops)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
            is_of_one = FUNCTIONS[name][1] == 1
            return len(node.args) == 1 if is_of_one else len(node.args) >= 2
        case ast.Constant(value=value):
            return _is_number(value)
    return bool(_dotted_name(node))


def _is_exponent(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant) or not _is_number(node.value):
        return False
    return abs(float(node.value)) <= MOST_EXPONENT


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bool(abs(value) < np.finfo(np.float64).max)


def _value(node: ast.expr, columns: Mapping[str, pd.Series]) -> Any:
    """Return the value of a valid node in each row, or a constant."""
    if name := _dotted_name(node):
        return columns[name].to_numpy(dtype=np.float64)
    if compared := _compared_level(node):
        texts = columns[compared.name].astype(object).map(text_of)
        values = [texts.to_numpy(dtype=object), compared.level]
    else:
        values = [_value(part, columns) for part in _parts(node)]
    if _is_joint(node):
        values = [value > 0 for value in values]  # false may be 0 or -1
    match node:
        case ast.BinOp() | ast.UnaryOp():
            return OPERATORS[type(node.op)](*values)
        case ast.Compare():
            pairs = zip(node.ops, values, values[1:], strict=False)
            each = [OPERATORS[type(op)](a, b) for op, a, b in pairs]
            return reduce(np.logical_and, each) * 1.0
        case ast.BoolOp():
            return reduce(OPERATORS[type(node.op)], values) * 1.0
        case ast.Call(func=ast.Name(id=name)):
            function, least = FUNCTIONS[name]
            return function(*values) if least == 1 else reduce(function, values)
        case ast.Constant():
            return np.float64(node.value)
    raise TypeError(
        f"{quote(ast.unparse(node))} cannot be computed; call `problem_of` for the "
        "reason."
    )
