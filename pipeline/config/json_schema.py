"""The JSON Schema of ``audit.toml``, for editors and other programs.

Made from the sections, the methods' signatures and their docstrings, so it says what
`load` checks of each key alone. One key against another is checked by `load` only.
"""

import inspect
import json
import re
from dataclasses import MISSING, fields
from inspect import Parameter
from pathlib import Path
from typing import Any

from ..assess.claims import CLAIMS, OF_LOSS, keys_of
from ..assess.claims.section import ClaimSection, claim_rules
from ..methods.effects import EFFECTS
from ..methods.importance import METHODS, options_of
from ..records.value_rules import OWN_NAME
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
    rules, words = rules_of(AuditConfig), descriptions(AuditConfig)
    defaults = AuditConfig(audit="").resolved()
    keys = {name: {"description": words[name]} | rules[name].schema for name in rules}
    for name in SCALARS:
        keys[name]["default"] = defaults[name]
    for name, section in TABLES.items():
        keys[name] = _section_schema(section)
    for name, section in LISTS.items():
        item = _section_schema(section)
        keys[name] = {"type": "array", "minItems": 1, "items": item}
    keys["importance"]["items"] = _entry_schema(ImportanceSection, tuple(METHODS))
    keys["supplied"]["items"] = _entry_schema(SuppliedSection, MEASURED)
    keys["claims"]["items"] = _claim_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An audit of variable importances (audit.toml)",
        "type": "object",
        "properties": keys,
        "required": ["data", "models"],
        "additionalProperties": False,
    }


def write_schema(path: Path = SCHEMA_FILE) -> None:
    """Write `audit_schema` where the package carries it."""
    text = json.dumps(audit_schema(), indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def descriptions(documented: Any) -> dict[str, str]:
    """Return what a numpydoc docstring says of each attribute or parameter."""
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
    rules, words = rules_of(section), descriptions(section)
    required = required_of(section)
    keys = {}
    for item in fields(section):
        if item.name in rules:
            keys[item.name] = {"description": words[item.name]} | rules[
                item.name
            ].schema
            if item.name not in required and item.default not in (None, MISSING):
                keys[item.name]["default"] = item.default
    summary = (inspect.getdoc(section) or "").partition("\n")[0]
    schema: dict[str, Any] = {"description": summary, "type": "object"}
    schema |= {"properties": keys, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def _entry_schema(section: type, methods: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of an entry about a method, which decides the options."""
    schema = _section_schema(section)
    del schema["additionalProperties"]
    cases = [
        {
            "if": {"properties": {"method": {"const": name}}, "required": ["method"]},
            "then": {"properties": _option_schemas(name)},
        }
        for name in methods
    ]
    if section is ImportanceSection:  # its options are known once its file is read
        own = {"pattern": f"^{OWN_NAME}$"}
        where = {"properties": {"method": own}, "required": ["method"]}
        cases.append(
            {"if": where, "then": {"properties": {}, "additionalProperties": True}}
        )
    return schema | {"allOf": cases, "unevaluatedProperties": False}


def _claim_schema() -> dict[str, Any]:
    """Return the schema of a claim: its kind decides what it is compared with."""
    schema = _section_schema(ClaimSection)
    del schema["additionalProperties"]
    schema |= {"allOf": [_kind_schema(kind) for kind in CLAIMS]}
    return schema | {"unevaluatedProperties": False}


def _kind_schema(kind: str) -> dict[str, Any]:
    """Return what a kind asks of a claim: its own keys, and how many features."""
    words = descriptions(CLAIMS[kind].function)
    keys = {}
    for name, default in keys_of(kind).items():
        keys[name] = {"description": words[name]} | claim_rules(kind)[name].schema
        if default not in (None, Parameter.empty):
            keys[name]["default"] = default
    needed = [key for key, value in keys_of(kind).items() if value is Parameter.empty]
    least, most = CLAIMS[kind].least, CLAIMS[kind].most
    count_schema = {"minItems": least} | ({"maxItems": most} if most else {})
    needed += ["features"] * bool(least)
    needed += ["method"] * (CLAIMS[kind].asks not in OF_LOSS)
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": {"properties": keys | {"features": count_schema}, "required": needed},
    }


def _option_schemas(method: str) -> dict[str, Any]:
    """Return the schema of each option of a method, described as by its curve."""
    function, curve = METHODS[method].function, METHODS[method].curve
    words = descriptions(function)
    if curve and "curve" not in options_of(function):
        words |= descriptions(EFFECTS[curve].function)
    keys = {}
    for name, default in options_of(function).items():
        keys[name] = {"description": words[name]} | option_rules(method)[name].schema
        if default is not None:
            keys[name]["default"] = default
    return keys
