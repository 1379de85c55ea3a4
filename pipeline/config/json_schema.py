"""The JSON Schema of ``audit.toml``, for editors and other programs.

It is made from the sections, and the signatures and docstrings of the methods. It has
the rules of single keys; only `load` checks keys against each other.
"""

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from inspect import Parameter
from pathlib import Path
from typing import Any

from ..assess.claims import CLAIMS, OF_LOSS, keys_of
from ..assess.claims.section import ClaimSection, claim_rules
from ..methods.effects import EFFECTS
from ..methods.importance import METHODS, options_of
from ..records.value_rules import OWN_NAME, Rule
from .questions import MEASURED, SuppliedSection
from .sections import (
    LISTS,
    SCALARS,
    TABLES,
    AuditConfig,
    ImportanceSection,
    option_rules,
    required_of,
    rules_of,
)

SCHEMA_FILE = Path(__file__).with_name("audit.schema.json")


def audit_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a configuration file."""
    usual = AuditConfig(audit="").resolved()
    defaults = {name: usual[name] for name in SCALARS}
    keys = _keys(rules_of(AuditConfig), descriptions(AuditConfig), defaults)
    for name, section in TABLES.items():
        keys[name] = _section_schema(section)
    for name, section in LISTS.items():
        item = _section_schema(section)
        keys[name] = {"type": "array", "minItems": 1, "items": item}
    methods = {name: _method_case(name) for name in METHODS}
    # The options of an extension are not known before its file is read.
    anything = {"properties": {}, "additionalProperties": True}
    own = _case("method", {"pattern": f"^{OWN_NAME}$"}, anything)
    measured = map(methods.__getitem__, MEASURED)
    keys["importance"]["items"] = _with_cases(
        ImportanceSection, (*methods.values(), own)
    )
    keys["supplied"]["items"] = _with_cases(SuppliedSection, measured)
    keys["claims"]["items"] = _with_cases(ClaimSection, map(_kind_case, CLAIMS))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An audit of variable importances (audit.toml)",
        "type": "object",
        "properties": keys,
        "required": ["data", "models"],
        "additionalProperties": False,
    }


def write_schema(path: Path = SCHEMA_FILE) -> None:
    """Write `audit_schema` to its file in the package."""
    text = json.dumps(audit_schema(), indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def descriptions(documented: Any) -> dict[str, str]:
    """Return the description of each attribute or parameter in a numpydoc docstring."""
    text = inspect.getdoc(documented) or ""
    _, *after = re.split(r"^(?:Attributes|Parameters)\n-+\n", text, flags=re.M)
    body = re.split(r"^\w+\n-+$", after[0], flags=re.M)[0] if after else ""
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            names = line.split(" : ")[0].split(", ")
        for name in names:
            text = line.strip() if line.startswith(" ") else ""
            texts[name] = f"{texts.get(name, '')} {text}".strip()
    return texts


def _section_schema(section: type) -> dict[str, Any]:
    """Return the schema of a table with the keys of a section."""
    required = required_of(section)
    defaults = {
        item.name: item.default
        for item in fields(section)
        if item.name not in required and item.default is not MISSING
    }
    keys = _keys(rules_of(section), descriptions(section), defaults)
    summary = (inspect.getdoc(section) or "").partition("\n")[0]
    schema: dict[str, Any] = {"description": summary, "type": "object"}
    schema |= {"properties": keys, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def _keys(
    rules: Mapping[str, Rule], words: Mapping[str, str], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the schema of each key: its description, rule and default."""
    keys = {name: {"description": words[name]} | rules[name].schema for name in rules}
    for name, default in defaults.items():
        if name in keys and default is not None:
            keys[name]["default"] = default
    return keys


def _with_cases(section: type, cases: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a section in which one key determines further keys."""
    schema = _section_schema(section)
    del schema["additionalProperties"]
    return schema | {"allOf": list(cases), "unevaluatedProperties": False}


def _case(key: str, value: Mapping[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """Return the condition that `then` applies if a key has a value."""
    return {"if": {"properties": {key: value}, "required": [key]}, "then": then}


def _method_case(method: str) -> dict[str, Any]:
    """Return the case of a method: the schema of its options and those of its curve."""
    function, curve = METHODS[method].function, METHODS[method].curve
    options, words = options_of(function), descriptions(function)
    if curve and "curve" not in options:
        words |= descriptions(EFFECTS[curve].function)
    keys = _keys(option_rules(method), words, options)
    return _case("method", {"const": method}, {"properties": keys})


def _kind_case(kind: str) -> dict[str, Any]:
    """Return the case of a kind of claim: the schema of its keys and of `features`."""
    claim, options = CLAIMS[kind], keys_of(kind)
    needed = [key for key, value in options.items() if value is Parameter.empty]
    usual = {key: value for key, value in options.items() if key not in needed}
    keys = _keys(claim_rules(kind), descriptions(claim.function), usual)
    keys["features"] = {"minItems": claim.least}
    keys["features"] |= {"maxItems": claim.most} if claim.most else {}
    needed += ["features"] * bool(claim.least)
    needed += ["method"] * (claim.asks not in OF_LOSS)
    return _case("kind", {"const": kind}, {"properties": keys, "required": needed})
