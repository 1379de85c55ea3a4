"""Templates place, they do not compute; every word and file of them is used."""

import ast
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import Environment, UndefinedError, nodes
from tests.report.made_results import view_of

from pipeline.importance import METHODS
from pipeline.report.html import to_html
from pipeline.report.view import SECTIONS
from pipeline.report.wording import templates

FILES = sorted(templates().rglob("*.j2"))
STRINGS = templates() / "strings.en.toml"
SOURCES = sorted(Path("pipeline/report").resolve().glob("*.py"))
FORBIDDEN = re.compile(
    r"\b(compliant|compliance with|certified|proves|guarantees?|bias-free|significant|"
    r"drives|causes)\b",
    re.I,
)
ENVIRONMENT = Environment(autoescape=True)


def parsed(path):
    return ENVIRONMENT.parse(path.read_text(encoding="utf-8"))


def leaves(table, path=""):
    """Yield (dotted key, text) of every sentence of the catalogue."""
    for key, entry in table.items():
        here = f"{path}.{key}" if path else key
        if isinstance(entry, dict):
            yield from leaves(entry, here)
        else:
            yield here, entry


def catalogue():
    return tomllib.loads(STRINGS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_number_is_typed_by_hand(path):
    written = "".join(node.data for node in parsed(path).find_all(nodes.TemplateData))
    text = re.sub(r"<[^>]*>|<[^>]*$|^[^<]*>", "", written)
    assert not re.search(r"\d", text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_templates_do_not_compute(path):
    tree = parsed(path)
    computing = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod)
    assert not list(tree.find_all(computing))
    assert {f.name for f in tree.find_all(nodes.Filter)} <= {"lower"}
    for compare in tree.find_all(nodes.Compare):
        assert {operand.op for operand in compare.ops} <= {"eq", "in"}
        for constant in compare.find_all(nodes.Const):
            assert isinstance(constant.value, str)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_templates_are_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


def test_every_template_is_used():
    names = {section.name for section in view_of("wide").sections}
    reached = {f"sections/{name}.html.j2" for name in (*names, "appendix")}
    reached |= {"base.html.j2", "report.html.j2", "macros.html.j2", "notebook.html.j2"}
    assert {str(path.relative_to(templates())) for path in FILES} == reached


def test_every_macro_is_called():
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    for name in re.findall(r"{% macro (\w+)", text):
        calls = re.findall(rf"(?<!macro )\b{name}\(", text)
        assert calls, name


def test_sections_have_the_templates_of_their_names():
    assert len(view_of("wide").sections) == len(SECTIONS)


@pytest.mark.parametrize(
    "path", [*FILES, STRINGS, *SOURCES], ids=lambda path: path.name
)
def test_nothing_is_claimed_that_no_number_backs(path):
    found = FORBIDDEN.search(path.read_text(encoding="utf-8"))
    is_statistics = path.suffix == ".py" and found and found[0] == "significant"
    assert not found or is_statistics


def asked():
    """Return a pattern of every key that the code or a template asks for."""
    patterns = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (
                    p.value if isinstance(p, ast.Constant) else None
                    for p in node.values
                )
                patterns.append(
                    "".join(".+" if p is None else re.escape(p) for p in parts)
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                patterns.append(re.escape(node.value))
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    patterns += [rf"page\.{name}" for name in re.findall(r"words\.(\w+)", text)]
    return [re.compile(p) for p in patterns if re.fullmatch(r"[\w\\.+ {}\"'-]+", p)]


def test_every_sentence_of_the_catalogue_is_used():
    patterns = asked()
    unused = []
    for key, _ in leaves(catalogue()):
        steps = key.split(".")
        tables = [".".join(steps[:n]) for n in range(1, len(steps))]
        if not any(p.fullmatch(k) for p in patterns for k in (key, *tables)):
            unused.append(key)
    assert not unused


def test_every_method_has_its_words():
    cards = catalogue()["cards"]
    assert set(METHODS) <= set(cards)
    assert set(METHODS) == set(catalogue()["limits"]["method"])


def test_a_field_that_is_missing_stops_the_page():
    view = view_of("one feature")
    scope = view.sections[2]
    broken = replace(
        scope, parts={k: v for k, v in scope.parts.items() if k != "shared"}
    )
    sections = (*view.sections[:2], broken, *view.sections[3:])
    with pytest.raises(UndefinedError, match="shared"):
        to_html(replace(view, sections=sections))


def test_everything_for_the_screen_is_kept_from_paper():
    css = (templates() / "screen.css").read_text(encoding="utf-8")
    depth, outside = 0, []
    for line in css.splitlines():
        if depth == 0 and line.strip():
            outside.append(line.split("{")[0].strip())
        depth += line.count("{") - line.count("}")
    assert set(outside) == {"@media screen", "@media print", "}"} - {"}"}
