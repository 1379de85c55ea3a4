"""Who may import whom, and which library belongs to whom."""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A room imports from those below it only; its own files may import each other.
ROOMS = (
    "cli",
    "operate",
    "report",
    "auditing runs",
    "config",
    "assess",
    "engines",
    "methods",
    "models",
    "data",
    "records",
    "r_bridge",
)
# Rooms on one line do not know each other.
R_SIDE = "worker r_values callback probe"
OWNERS = {
    "rpy2": [f"r_bridge.{name}" for name in R_SIDE.split()],
    "r_bridge": [
        *("__init__", "r_bridge", "engines", "models.r_models", "data.tables"),
        *("auditing", "operate", "cli", "methods.importance.r_model_specific"),
        "methods.trees.r_trees",
    ],
    "matplotlib": ["report.figures"],
    "bidi": ["report.figures.typeface"],
    "arabic_reshaper": ["report.figures.typeface"],
    "jinja2": ["report.pages", "config.init_file"],
    "weasyprint": ["report.pages.print_page"],
    "pikepdf": ["runs.verify"],
    "sqlite3": ["data.databases"],
    "sqlalchemy": ["data.databases"],
    "openpyxl": ["data.tables", "records.as_xlsx"],
    "numba": ["methods.trees.compiled"],
    "click": ["cli"],
    "tomllib": [
        *("config", "engines", "operate.schedule_section", "report.text"),
        *("records.template_folder", "runs.signoff"),
    ],
}


@cache
def modules():
    """Return (name below importance_audit, names it imports) of every module."""
    imports = []
    for folder, prefix in (("pipeline", ""), ("r_bridge", "r_bridge.")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = prefix + ".".join(parts)
            imports.append((name.removesuffix(".__init__"), {*imported(path, name)}))
    return imports


def imported(path, name):
    """Yield the names a file imports, inside functions too; ours as in `modules`."""
    package = f"importance_audit.{name}".split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (each.removeprefix("importance_audit.") for each in names)


def is_in(name, place):
    return f"{name}.".startswith(f"{place}.")


def level(name):
    room = name.split(".")[0]
    return next((n for n, line in enumerate(ROOMS) if room in line.split()), None)


def test_imports_point_down():
    wrong = [
        f"{name} must not import {other}"
        for name, names in modules()
        for other in sorted(names)
        if name.split(".")[0] != other.split(".")[0]
        and None not in (level(name), level(other))
        and level(other) <= level(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_everything_lies_in_a_room():
    flat = {name for name, _ in modules() if level(name) is None}
    assert flat == {"__init__", "__main__"}


@pytest.mark.parametrize("library", OWNERS)
def test_a_library_is_imported_by_its_owners_only(library):
    guilty = [
        name
        for name, names in modules()
        if any(is_in(other, library) for other in names)
        and not any(is_in(name, owner) for owner in OWNERS[library])
    ]
    assert guilty == []


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in (ROOT / "tests/benchmarks").glob("*.py"))
)
def test_benchmarks_can_be_started_by_the_command_they_name(name):
    if name == "workers":
        pytest.importorskip("distributed", reason="no workers of Dask without it")
    benchmark = import_module(f"tests.benchmarks.{name}")
    assert f"python3 -m tests.benchmarks.{name}" in benchmark.__doc__
