"""Every path, dotted name, link and target that a page names exists."""

import ast
import importlib
import re
from itertools import pairwise

import pytest
from tests.docs.pages import FENCE, PAGES, ROOT, codes

OURS = ("pipeline", "r_bridge", "templates", "tests", "scripts", "docs", "reports")
PATH = re.compile(rf"(?:{'|'.join(OURS)})/[\w./*-]*")
MADE = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
SOURCES = [*(ROOT / "pipeline").rglob("*.py"), *(ROOT / "r_bridge").rglob("*.py")]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def is_there(path):
    """Return whether a path is in the project, or is made by it and not kept."""
    return path.strip("/") in MADE or any(ROOT.glob(path.strip("/")))


def missing_in(text):
    """Yield what a page names and nobody has."""
    words = codes(FENCE.sub("", text))
    for word in words:
        place = re.sub(r"<\w+>", "*", word)
        path, _, name = place.partition("::")
        if PATH.fullmatch(path):
            if not is_there(path) or (name and not is_defined(path, name)):
                yield word
        elif word.startswith("importance_audit."):
            yield from [word] * (not is_importable(word))
        elif word.startswith("make "):
            yield from [word] * (word[5:] not in TARGETS)


def is_defined(path, name):
    """Return whether a file defines a name, or a name inside a class."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for part in name.split("."):
        definitions = [item for item in body if part in defined(item)]
        if not definitions:
            return False
        body = getattr(definitions[0], "body", [])
    return True


def defined(item):
    if isinstance(item, ast.Assign):
        return [getattr(target, "id", "") for target in item.targets]
    if isinstance(item, ast.AnnAssign):
        return [getattr(item.target, "id", "")]
    return [getattr(item, "name", "")]


def is_importable(name):
    module, _, rest = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ImportError:
        return hasattr(importlib.import_module(module), rest)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_exists(page):
    assert list(missing_in(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page):
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    inside = [link for link in links if not link.startswith("https://")]
    assert [link for link in inside if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "wrong",
    [
        "`pipeline/nowhere.py`",
        "`pipeline/engines/<name>.R`",
        "`pipeline/auditing/audit.py::nothing`",
        "`pipeline/records/result.py::AuditResult.nothing`",
        "`importance_audit.records.nothing`",
        "`make nothing`",
    ],
)
def test_a_name_that_nobody_has_is_seen(wrong):
    assert list(missing_in(f"See {wrong}.")) == [wrong.strip("`")]


VARIABLES = {"boxes", "data", "result", "run"}
"""Modules whose names are also those of arguments."""


def names_by_module():
    """Return the names that modules define, import or contain, by module."""
    names = {}
    for path in SOURCES:
        is_package = path.stem == "__init__"
        own = names.setdefault((path.parent if is_package else path).stem, set())
        for item in ast.parse(path.read_text(encoding="utf-8")).body:
            inside = getattr(item, "body", []) if isinstance(item, ast.ClassDef) else []
            own.update(*map(defined, [item, *inside]))
            if isinstance(item, ast.ImportFrom):
                own.update(alias.asname or alias.name for alias in item.names)
        if is_package:
            own.update(inner.stem for inner in path.parent.iterdir())
    return names


def test_what_a_docstring_names_in_a_module_exists():
    names, wrong = names_by_module(), []
    for path in SOURCES:
        for item in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = str(item.value.value) if is_docstring(item) else ""
            for name in re.findall(r"(?<!`)`([a-z_]+(?:\.\w+)+)`(?!`)", text):
                for module, part in pairwise(name.split(".")):
                    if (
                        part not in names.get(module, {part})
                        and module not in VARIABLES
                    ):
                        wrong.append(f"{path}: {name}")
    assert wrong == []


def is_docstring(item):
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
