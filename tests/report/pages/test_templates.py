"""Templates place, they do not compute; every word and file of them is used."""

import ast
import re
import tomllib
from pathlib import Path

from jinja2 import Environment, nodes
from tests.cases import for_each
from tests.report.made_variants import view_of

from importance_audit.records.template_folder import templates

FILES = sorted(templates().rglob("*.j2"))
STRINGS = templates() / "strings.en.toml"
SOURCES = sorted(Path("pipeline/report").resolve().rglob("*.py"))
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


@for_each(FILES, lambda path: path.name)
def test_no_number_is_typed_by_hand(path):
    written = "".join(node.data for node in parsed(path).find_all(nodes.TemplateData))
    text = re.sub(r"<[^>]*>|<[^>]*$|^[^<]*>", "", written)
    assert not re.search(r"\d", text)


@for_each(FILES, lambda path: path.name)
def test_templates_do_not_compute(path):
    tree = parsed(path)
    computing = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod)
    assert not list(tree.find_all(computing))
    assert {f.name for f in tree.find_all(nodes.Filter)} <= {"lower", "trim"}
    for compare in tree.find_all(nodes.Compare):
        assert {operand.op for operand in compare.ops} <= {"eq", "in"}
        for constant in compare.find_all(nodes.Const):
            assert isinstance(constant.value, str)


def test_every_template_is_used():
    names = {section.name for section in view_of("wide").sections}
    reached = {f"sections/{name}.html.j2" for name in (*names, "blocks")}
    reached &= {str(path.relative_to(templates())) for path in FILES}
    reached |= {"page.html.j2", "macros.html.j2"}
    reached |= {"notebook_card.html.j2", "contents.html.j2", "sections/own.html.j2"}
    reached |= {"summary.txt.j2", "summary.md.j2", "junit.xml.j2"}
    assert {str(path.relative_to(templates())) for path in FILES} == reached


def test_every_macro_is_called():
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    for name in re.findall(r"{% macro (\w+)", text):
        calls = re.findall(rf"(?<!macro )\b{name}\(", text)
        assert calls, name


@for_each([*FILES, STRINGS, *SOURCES], lambda path: path.name)
def test_nothing_is_claimed_that_no_number_backs(path):
    claim = FORBIDDEN.search(path.read_text(encoding="utf-8"))
    is_statistics = path.suffix == ".py" and claim and claim[0] == "significant"
    assert not claim or is_statistics


def pattern(node):
    """Return what a text of the code can be, with gaps for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    text = with_gaps(node) if isinstance(node, ast.JoinedStr) else ""
    return text if re.search(r"\\\.\w\w|\w\w\\\.", text) else None


def with_gaps(node):
    """Return what a formatted text can be."""
    texts = (getattr(part, "value", None) for part in node.values)
    return "".join(re.escape(t) if isinstance(t, str) else ".+" for t in texts)


def parts_of_keys(tree):
    """Return patterns of the texts in a file that may be the last part of a key."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield with_gaps(node)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"\w+", str(node.value)):
            yield str(node.value)


def patterns_of_keys():
    """Return patterns of the keys and of the tables that anything asks for."""
    keys, tables, fields = set(), set(), set()
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            keys.add(pattern(node))
            name = getattr(getattr(node, "func", None), "id", "")
            if name == "say_count":
                is_fixed = isinstance(node.args[1], ast.Constant)
                nouns = [node.args[1].value] if is_fixed else parts_of_keys(tree)
                keys |= {rf"nouns\.{noun}" for noun in nouns}
            if name == "key_values":
                keys |= {rf"{node.args[2].value}\.{p}" for p in parts_of_keys(tree)}
            if name == "table_of":
                arguments = [
                    *node.args[2:3],
                    *(k.value for k in node.keywords if k.arg == "columns"),
                ]
                constants = (each for a in arguments for each in ast.walk(a))
                fields |= {
                    word
                    for each in constants
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                    for word in re.findall(r"\w+", each.value)
                }
            if name == "look_up":
                tables.add(pattern(node.args[0]))
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    columns = [key for key in keys - {None} if re.search(r":(header|number|code)", key)]
    fields |= set(re.findall(r"\w+", " ".join(columns)))
    keys |= {rf"\w+\.{field}" for field in fields}
    keys |= {rf"page\.{name}" for name in re.findall(r"words\.(\w+)", text)}
    keys |= {rf"nouns\.{name}" for name in catalogue()["severity"]}
    tables -= {None, "page", r"nouns\..+"}
    return [re.compile(k) for k in keys - {None, r"nouns\..+"}], [
        re.compile(t) for t in tables
    ]


def test_every_sentence_of_the_catalogue_is_used():
    keys, tables = patterns_of_keys()
    unused = []
    for key, _ in leaves(catalogue()):
        heads = [key[: dot.start()] for dot in re.finditer(r"\.", key)]
        forms = {key, f"{key}.raw", re.sub(r"\.any$", ".raw", key)}
        whole = any(pattern.fullmatch(form) for pattern in keys for form in forms)
        if not whole and not any(t.fullmatch(head) for t in tables for head in heads):
            unused.append(key)
    assert not unused


def test_every_rule_of_the_page_says_which_medium_it_is_for():
    css = (templates() / "screen.css").read_text(encoding="utf-8")
    depth, outside = 0, []
    for line in css.splitlines():
        if depth == 0 and line.strip():
            outside.append(line.split("{")[0].strip())
        depth += line.count("{") - line.count("}")
    assert set(outside) == {"@media screen, print", "@media print"}


def test_only_a_cell_stands_off_from_the_number_before_it():
    """A link or a name in a sentence follows a number too, and has its own blank."""
    css = (templates() / "screen.css").read_text(encoding="utf-8")
    after = re.findall(r"\[data-v\]\) \+ (\S+)", css)
    assert after
    assert [what for what in after if not what.startswith(":is(th,")] == []
