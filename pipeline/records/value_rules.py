"""The rule for a configured value, derived from its type annotation.

    int                       a count: an integer of at least 1
    Annotated[int, Range(0)]  an integer in a range; float likewise, always finite
    bool, str                 true or false; a text
    Annotated[str, Pattern]   a text of a given form
    Annotated[str, OneOf]     a name from one of our tables; Literal likewise
    tuple[T, ...]             a list, without repeated texts; a Range counts its items
    Mapping[str, T]           a table; frozen once read
    Annotated[Mapping, Tables]  a table with one of several sets of keys
    A | B                     either; `| None` means it may be left out

The same rule serves validation, error messages and the JSON Schema. Not: sections, or
the consistency of several keys.
"""

import re
import sys
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
)

from .errors import listed
from .extensions import Kind, is_in_force

MOST = 1_000_000
"""The largest count of repeats, rows or points; larger ones exhaust the memory."""


class Range(NamedTuple):
    """Bounds of a number: `least` and `most` are inclusive, `above` and `below` not.

    An integer without a `most` is a count, limited by `MOST`.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None


class Repeated(NamedTuple):
    """A list that may repeat a text, such as the arguments of a command."""

    least: float | None = None


class Pattern(NamedTuple):
    """The form of a text, as a regular expression for all of it and in words."""

    regex: str
    words: str
    plural: str = "texts"


NAME = Pattern(r"[\s\S]*\S[\s\S]*", "a text that is not empty")
OWN_NAME = r"[A-Za-z_]\w*:[A-Za-z_]\w*"
"""A user-defined function: "my_module:my_method"."""
SHA256 = Pattern(r"|[0-9a-f]{64}", "64 hexadecimal digits in lower case")


class OneOf(NamedTuple):
    """The allowed names, and those of the audit's own rows of one kind."""

    names: tuple[str, ...]
    own: Kind | None = None


class Tables(NamedTuple):
    """The sets of keys that a table may have, each key with its annotation.

    A key that is ``NotRequired`` may be left out.
    """

    choices: tuple[Mapping[str, Any], ...]


class Rule(NamedTuple):
    """The requirement on a value.

    Attributes
    ----------
    one, many : str
        The rule as a noun: "an integer of at least 1", "integers of at least 1".
    schema : dict
        The rule as JSON Schema.
    read : callable
        ``read(value)`` returns the value as the audit stores it, or raises `Misfits`.
    """

    one: str
    many: str
    schema: dict[str, Any]
    read: Callable[[Any], Any]


class Misfit(NamedTuple):
    """A value that breaks a rule.

    Attributes
    ----------
    value : Any
        The offending part of what was given.
    rule : str
        The words after "must be": a noun, or bounds.
    allowed_names : tuple of str
        The allowed names, for a suggestion.
    path : tuple of str
        Keys that lead from the given value to the offending part.
    is_missing, is_repeated : bool
        Whether it is missing, or repeated where repetition is not allowed.
    """

    value: Any
    rule: str
    allowed_names: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    is_missing: bool = False
    is_repeated: bool = False


class Misfits(Exception):  # noqa: N818 (caught by `config`, never shown itself)
    """Every part of a value that breaks its rule, as `items`."""

    def __init__(self, *items: Misfit) -> None:
        super().__init__(items)
        self.items = items


def rule_of(annotation: Any) -> Rule:
    """Return the rule of a type annotation; the module's docstring lists them.

    Raises
    ------
    TypeError
        If a configuration file cannot hold values of this type.
    """
    bounds: Any = None
    if get_origin(annotation) is Annotated:
        annotation, bounds = get_args(annotation)
    kind, inside = get_origin(annotation) or annotation, get_args(annotation)
    if kind in (Union, UnionType):
        return _either(
            [rule_of(item) for item in inside if item is not NoneType], inside
        )
    if kind is Literal:
        return _choice(inside)
    if kind is tuple:
        return _list(rule_of(inside[0]), bounds or Range())
    if kind is Mapping or get_origin(kind) is Mapping:
        return _one_table(bounds.choices) if bounds else _table(rule_of(inside[1]))
    if kind is int:
        return _integer(bounds or Range(least=1))
    if kind is float:
        return _number(bounds or Range())
    if kind is str:
        return _text(bounds)
    if kind is bool:
        words = "true or false"
        return _checked(
            words, words, {"type": "boolean"}, lambda value: isinstance(value, bool)
        )
    if kind is Any:
        one = "a text, a number, true or false, a list or a table"
        many = "texts, numbers, true or false, lists or tables"
        return _checked(one, many, {}, _is_plain)
    raise TypeError(f"{annotation!r} has no rule: no key can have this type.")


def _is_plain(value: Any) -> bool:
    """Return whether JSON can represent a value."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(value[key]) for key in value)
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _integer(limits: Range) -> Rule:
    ceiling = limits if limits.most is not None else Range(most=MOST)
    rule = _checked(
        f"an integer{_in_words(limits)}",
        f"integers{_in_words(limits)}",
        {"type": "integer", **_as_schema(limits), **_as_schema(ceiling)},
        lambda value: _is_a(Integral, value),
    )

    def read(value: Any) -> int:
        return int(_bounded(_bounded(rule.read(value), limits), ceiling))

    return rule._replace(read=read)


def _number(limits: Range) -> Rule:
    rule = _checked(
        f"a number{_in_words(limits)}",
        f"numbers{_in_words(limits)}",
        {"type": "number", **_as_schema(limits)},
        # In TOML an integer of hundreds of digits is a number; it does not fit a float.
        lambda value: _is_a(Real, value) and abs(value) <= sys.float_info.max,
    )
    return rule._replace(read=lambda value: float(_bounded(rule.read(value), limits)))


def _bounded(value: Any, limits: Range) -> Any:
    """Return a number within its bounds; the error for others names the bounds only."""
    least, most, above, below = limits
    if (
        (least is None or value >= least)
        and (most is None or value <= most)
        and (above is None or value > above)
        and (below is None or value < below)
    ):
        return value
    words = _in_words(limits).replace(" of at", " at").strip()
    if words.startswith("from"):
        words = f"between {least} and {most}"
    raise Misfits(Misfit(value, words))


def _text(form: Pattern | OneOf | None) -> Rule:
    if isinstance(form, OneOf):
        return _choice(form.names, form.own)
    if form is None:
        return _checked(
            "a text", "texts", {"type": "string"}, lambda value: isinstance(value, str)
        )
    regex = form.regex
    return _checked(
        form.words,
        form.plural,
        {"type": "string", "pattern": f"^(?:{regex})$"},
        lambda value: isinstance(value, str) and bool(re.fullmatch(regex, value)),
    )


def _is_a(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _checked(
    one: str, many: str, schema: dict[str, Any], fits: Callable[[Any], bool]
) -> Rule:
    """Return the rule of a value that is kept unchanged if it fits."""

    def read(value: Any) -> Any:
        if not fits(value):
            raise Misfits(Misfit(value, one))
        return value

    return Rule(one, many, schema, read)


def _choice(names: tuple[Any, ...], own: Kind | None = None) -> Rule:
    one = f"one of {listed(names)}"
    texts = tuple(name for name in names if isinstance(name, str))

    def read(value: Any) -> Any:
        # 1 == True, so the types are compared as well.
        is_ours = any(type(value) is type(name) and value == name for name in names)
        if not is_ours and not (own and is_in_force(own, value)):
            raise Misfits(Misfit(value, one, texts))
        return value

    schema: dict[str, Any] = {"enum": list(names)}
    if own:
        schema = {"anyOf": [schema, {"type": "string", "pattern": f"^(?:{OWN_NAME})$"}]}
    return Rule(one, f"names among {listed(names)}", schema, read)


def _list(item: Rule, bounds: Range | Repeated) -> Rule:
    """Return the rule of a list; text items must differ from each other."""
    schemas = item.schema.get("anyOf", [item.schema])
    is_text = all(each.get("type") == "string" or "enum" in each for each in schemas)
    is_text = is_text and not isinstance(bounds, Repeated)
    least = int(bounds.least or 0)
    one = f"a list of {f'{least} or more ' if least else ''}{item.many}"
    one += ", each once" if is_text else ""
    schema: dict[str, Any] = {"type": "array", "items": item.schema}
    schema |= {"uniqueItems": True} if is_text else {}
    schema |= {"minItems": least} if least else {}

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) < least:
            raise Misfits(Misfit(value, one))
        numbered = {str(i): (item, part) for i, part in enumerate(value, start=1)}
        parts, misfits = _each(numbered)
        # Keys of a table in the list keep their own rule.
        misfits = [m if m.path[1:] else m._replace(rule=one, path=()) for m in misfits]
        if is_text:
            seen: set[Any] = set()  # valid texts only, so all are hashable
            for part in parts.values():
                if part in seen:
                    misfits.append(Misfit(part, one, is_repeated=True))
                seen.add(part)
        if misfits:
            raise Misfits(*misfits)
        return tuple(parts.values())

    return Rule(one, f"lists of {item.many}", schema, read)


def _table(item: Rule) -> Rule:
    one = f"a table of {item.many}"

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
            raise Misfits(Misfit(value, one))
        parts, misfits = _each({key: (item, value[key]) for key in value})
        if misfits:
            raise Misfits(*misfits)
        return MappingProxyType(parts)

    schema = {"type": "object", "additionalProperties": item.schema}
    return Rule(one, f"tables of {item.many}", schema, read)


class _Keys(NamedTuple):
    """The keys of one table: the required ones, and the rules of all."""

    needed: frozenset[str]
    rules: dict[str, Rule]


def _keys(annotations: Mapping[str, Any]) -> _Keys:
    optional = {
        key: get_args(inside)[0]
        for key, inside in annotations.items()
        if get_origin(inside) is NotRequired
    }
    rules = {key: rule_of(inside) for key, inside in (annotations | optional).items()}
    return _Keys(frozenset(annotations) - frozenset(optional), rules)


def _one_table(choices: tuple[Mapping[str, Any], ...]) -> Rule:
    """Return the rule of a table with exactly one of several sets of keys."""
    tables = [_keys(dict(keys)) for keys in choices]
    names = [
        " and ".join(repr(key) for key in rules if key in needed) or "nothing"
        for needed, rules in tables
    ]
    one, many = (f"{what} with {' or '.join(names)}" for what in ("a table", "tables"))

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Misfits(Misfit(value, one))
        for needed, rules in tables:
            if needed <= set(value) <= set(rules):
                own = {key: (rules[key], value[key]) for key in rules if key in value}
                parts, misfits = _each(own)
                if misfits:
                    raise Misfits(*misfits)
                return MappingProxyType(parts)
        problem = _unknown(tables, value) or _incomplete(tables, value)
        raise Misfits(problem or Misfit(value, one))

    schemas = [
        {
            "type": "object",
            "properties": {key: rule.schema for key, rule in rules.items()},
            "required": [key for key in rules if key in needed],
            "additionalProperties": False,
        }
        for needed, rules in tables
    ]
    return Rule(one, many, {"oneOf": schemas}, read)


def _unknown(tables: list[_Keys], value: Mapping[str, Any]) -> Misfit | None:
    """Return an unexpected key of a table, if only one set of keys can be meant."""
    meant = [keys for keys in tables if keys.needed and keys.needed <= set(value)]
    if len(meant) != 1 or len(meant[0].needed) == len(meant[0].rules):
        return None
    rules = meant[0].rules
    key = next(key for key in value if key not in rules)
    one = f"left out, or one of {', '.join(map(repr, rules))}"
    return Misfit(key, one, tuple(rules))


def _incomplete(tables: list[_Keys], value: Mapping[str, Any]) -> Misfit | None:
    """Return the missing key of a table with a part of the required keys of a set.

    None if no set matches, or several that do not contain each other.
    """
    present = set(value)
    started = [
        keys
        for keys in tables
        if present & keys.needed
        and present <= set(keys.rules)
        and not keys.needed <= present
    ]
    least = min(started, key=lambda keys: len(keys.needed), default=None)
    if least is None or not all(least.needed <= keys.needed for keys in started):
        return None
    key = next(key for key in least.rules if key in least.needed - present)
    return Misfit(None, least.rules[key].one, path=(key,), is_missing=True)


def _each(
    parts: Mapping[str, tuple[Rule, Any]],
) -> tuple[dict[str, Any], list[Misfit]]:
    """Return the parts of a value after reading, and every misfit with its path."""
    values: dict[str, Any] = {}
    misfits: list[Misfit] = []
    for key, (rule, value) in parts.items():
        try:
            values[key] = rule.read(value)
        except Misfits as error:
            misfits += [item._replace(path=(key, *item.path)) for item in error.items]
    return values, misfits


def _either(rules: list[Rule], inside: tuple[Any, ...]) -> Rule:
    one = " or ".join(rule.one for rule in rules)

    def read(value: Any) -> Any:
        if value is None and NoneType in inside:
            return None
        if len(rules) == 1:
            return rules[0].read(value)
        allowed_names: tuple[str, ...] = ()
        for rule in rules:
            try:
                return rule.read(value)
            except Misfits as misfits:
                allowed_names += misfits.items[0].allowed_names
        raise Misfits(Misfit(value, one, allowed_names))

    many = " or ".join(rule.many for rule in rules)
    schemas = [rule.schema for rule in rules]
    return Rule(one, many, schemas[0] if len(rules) == 1 else {"anyOf": schemas}, read)


def _in_words(bounds: Range) -> str:
    least, most, above, below = bounds
    if least is not None and most is not None:
        return f" from {least} to {most}"
    parts = [f" of at least {least}"] if least is not None else []
    parts += [f" above {above}"] if above is not None else []
    parts += [f" of at most {most}"] if most is not None else []
    parts += [f" below {below}"] if below is not None else []
    return " and".join(parts)


def _as_schema(bounds: Range) -> dict[str, float]:
    names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    pairs = zip(names, bounds, strict=True)
    return {name: bound for name, bound in pairs if bound is not None}
