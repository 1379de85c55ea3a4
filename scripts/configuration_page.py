"""Write docs/configuration.md from the JSON Schema of audit.toml.

.venv/bin/python scripts/configuration_page.py
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "pipeline" / "config" / "audit.schema.json"
PAGE = ROOT / "docs" / "configuration.md"

Schema: TypeAlias = dict[str, Any]

HEAD = "| key | type | default | allowed | meaning |\n|---|---|---|---|---|"
BOUNDS = {
    "minimum": "≥",
    "exclusiveMinimum": ">",
    "maximum": "≤",
    "exclusiveMaximum": "<",
}
PATTERNS = {r"[\s\S]*\S[\s\S]*": "not empty", "[0-9a-f]{64}": "64 hexadecimal digits"}
PATTERNS[r"[A-Za-z_]\w*:[A-Za-z_]\w*"] = 'or `"my_module:my_function"`'
MODULES = r"(?:effects|importance|interactions)(?:\.\w+)*"
"""What docstrings call a method by, and a reader of the page does not."""

INTRODUCTION = """# Configuration: every key of audit.toml

<!-- scripts/configuration_page.py writes this from the JSON Schema. -->

An audit is one file, `audit.toml`, with `[data]` and at least one `[[models]]`. Without
`[[importance]]` it measures the permutation importance of every model's features.
`importance-audit init --data rows.csv --target y` writes one for your data,
`importance-audit init --every-key` one with all keys. Editors that support JSON Schema
check it with [audit.schema.json](../pipeline/config/audit.schema.json). A key that is
not listed here is refused, with a suggestion.

## The ten keys that matter

| what to say | key | for example |
|---|---|---|
| Which rows models are fitted on | `[data] train` | `{ file = "rows.csv" }` |
| Which rows importances are measured on | `[data] test` | `{ fraction = 0.25 }` |
| Which column is predicted | `[data] target` | `"price"` |
| What kind of prediction it is | `[data] task` | `"regression"` |
| Which columns are no features | `[data] exclude` | `["id"]` |
| What the report calls a model | `[[models]] name` | `"forest"` |
| Which class is fitted | `[[models]] estimator` | `"sklearn.svm.SVC"` |
| Or which fitted model is loaded | `[[models]] file` | `"model.joblib"` |
| What is measured | `[[importance]] method` | `"permutation"` |
| Which R packages recompute it | `[[importance]] engines` | `["DALEX"]` |"""


def page(schema: Schema) -> str:
    """Return the page: the keys of the file itself, then one part per section."""
    sections = {n: s for n, s in schema["properties"].items() if "description" not in s}
    tables = {
        name: each
        for name, each in schema["properties"].items()
        if "properties" in each
    }
    own = {
        name: each
        for name, each in schema["properties"].items()
        if name not in tables and name not in sections
    }
    parts = [INTRODUCTION, "## At the top of the file", _table(own)]
    for name, each in tables.items():
        parts += [f"## `[{name}]`", each["description"], _table(each)]
    for name, each in sections.items():
        item = each["items"]
        parts += [f"## `[[{name}]]`", item["description"], _table(item)]
        if name == "supplied":
            parts.append("The method takes the same options as under `[[importance]]`.")
        else:
            parts += _cases(item)
    return "\n\n".join(parts) + "\n"


def _cases(item: Schema) -> Iterator[str]:
    """Yield the keys that come with each method, or with each kind of claim."""
    for case in item.get("allOf", ()):
        ((key, value),) = case["if"]["properties"].items()
        then = case["then"]
        if "const" not in value:
            yield "### With a method of one's own"
            yield "The keyword arguments of its function ([how](extending.md))."
            continue
        own = {name: each for name, each in then["properties"].items() if _says(each)}
        yield f'### With `{key} = "{value["const"]}"`'
        needs = [name for name in then.get("required", ()) if name not in own]
        needed = ", ".join(f"`{name}`" for name in needs)
        yield from [f"Also required: {needed}."] * bool(needs)
        yield _table(then | {"properties": own}) if own else "No additional keys."


def _says(schema: Schema) -> bool:
    return "description" in schema


def _table(schema: Schema) -> str:
    """Return the keys of a section as a table, or of a mapping of keys."""
    keys, required = schema.get("properties", schema), schema.get("required", ())
    rows = (_row(name, each, name in required) for name, each in keys.items())
    return "\n".join((HEAD, *rows))


def _row(name: str, key: Schema, is_required: bool) -> str:
    default = _code(key["default"]) if "default" in key else ""
    cells = (
        f"`{name}`",
        _type(key),
        "required" if is_required else default,
        _allowed_values(key),
        _words(key["description"]),
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _type(key: Schema) -> str:
    """Return the type of a value in words."""
    if choices := key.get("oneOf", key.get("anyOf")):
        return " or ".join(dict.fromkeys(filter(None, map(_type, choices))))
    if "enum" in key:
        return "string"
    kind = key.get("type", "")
    if kind == "array":
        return f"list of {_plural(_type(key['items']))}"
    if "properties" in key:  # an empty table stands for a key that is left out
        return f"`{{ {', '.join(key['properties'])} }}`" if key["properties"] else ""
    if kind == "object":
        inside = key["additionalProperties"]
        return f"table of {_plural(_type(inside))}" if inside else "table"
    return str(kind) or "any value"


def _plural(words: str) -> str:
    if words.startswith(("list", "table of")):
        return words.replace("list", "lists", 1)
    return f"{words}s" if words in ("string", "number", "integer") else words


def _allowed_values(key: Schema) -> str:
    """Return which values a key takes, as far as its type leaves that open."""
    parts = [f"{sign} {key[name]}" for name, sign in BOUNDS.items() if name in key]
    for choice in key.get("anyOf", ()):
        parts.append(_allowed_values(choice))
    if "enum" in key:
        parts.append(", ".join(map(_code, key["enum"])))
    if "pattern" in key:
        pattern = key["pattern"].removeprefix("^(?:").removesuffix(")$")
        pattern = pattern.removeprefix("|")  # empty is allowed too: the default says so
        parts.append(PATTERNS.get(pattern, f"`{pattern}`"))
    if key.get("type") == "array":
        parts.append(
            _allowed_values(key["items"]) if "oneOf" not in key["items"] else ""
        )
        parts.append("at least one" if key.get("minItems") else "")
    return "; ".join(filter(None, parts))


def _code(value: object) -> str:
    """Return a value as TOML writes it; nothing for an empty one."""
    if value in ("", []):
        return "empty"
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _words(description: str) -> str:
    """Return a docstring's words as Markdown: formulas, and names without modules."""
    text = re.sub(r":math:`([^`]*)`", r"$`\1`$", description)
    text = re.sub(r"``([^`]*)``", r"`\1`", text)
    text = re.sub(r" \* (?=[\"\w])", " • ", text)
    text = re.sub(r" \[\d\]_", "", text)
    return re.sub(rf"`(?:{MODULES})\.(\w+)`", r"`\1`", text)


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(SCHEMA.read_text("utf-8"))), encoding="utf-8")
