"""Who may import whom, and which library belongs to whom."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS = (
    "cli",
    "commands",
    "batch",
    "batch_log",
    "unattended installing",
    "running signing schedule_given retention",
    "history_pages",
    "replay",
    "audit handoff rendering",
    "judging supplied",
    "selection",
    "comparing convergence resampling shuffling top_k readings drawn_curves "
    "drawn_surfaces first_pairs permuted_targets",
    "top_k_protocols repeat_run bridge_checks pair_checks",
    "supplied_numbers not_begun",
    "journal",
    "verify",
    "verify_run stored drift",
    "verify_signed timeline category_drift",
    "approvals run_index",
    "index_file",
    "verify_pdf verify_files",
    "statements",
    "data models model_table measure preconditions environment history doctor starter "
    "schedule "
    "reproduction expected dependent_leaders associated",
    "bundle",
    "manifest",
    "entries",
    "config reading r_models",
    "claim_checks supplied_checks",
    "config_checks config_schema",
    "config_sections",
    "claim_section unseen",
    "claims",
    "notify",
    "config_settings",
    "config_rankings config_surfaces config_supplied",
    "derived",
    "references checks rules splits roles significance stability tables",
    "report",
    "context register",
    "importance",
    "interactions mean_predictions",
    "news",
    "closing",
    "loss_sensitivity change past",
    "avoided_defects",
    "frameworks",
    "effects known_answers known_defects agreement performance result_json "
    "result_csv prediction pdf_reading",
    "distributions encoding estimators dependence primary standardised "
    "prediction_digest",
    "stacks result_versions differences answers_file shifts attempts",
    "answers",
    "past quantiles",
    "columns spreads result trials",
    "surface",
    "estimates stopping chain trail clock children",
    "records finding losses streams r_rng signoffs events locks",
    "errors frozen expressions template_folder exit_codes wish",
)

COMMANDS = (
    *"approve diff doctor handoff history init install_r render run".split(),
    *"run_all schedule shared verify".split(),
)
R_SIDE = "worker to_r from_r callback probe"
BRIDGE = (
    "importance.r_model_specific "
    "references.asking references.dalex references.engine references.hstats "
    "references.iml references.pdp references.vip "
    "r_models tables doctor journal stopping not_begun audit handoff replay "
    "supplied supplied_numbers running commands.shared commands.handoff "
    "commands.install_r"
)
OWNERS = {
    "rpy2": {f"r_bridge.{name}" for name in R_SIDE.split()},
    "r_bridge": {f"pipeline.{name}" for name in BRIDGE.split()},
    "matplotlib": {"pipeline.report.drawing", "pipeline.report.typeface"},
    "jinja2": {"pipeline.report.html", "pipeline.report.short_views"},
    "pikepdf": {"pipeline.pdf_reading", "pipeline.report.pdf_checks"},
    "weasyprint": {"pipeline.report.print_page"},
    "click": {"pipeline.cli", *(f"pipeline.commands.{name}" for name in COMMANDS)},
    "rich": {"pipeline.commands.shared"},
    "tomllib": {
        "pipeline.answers_file",
        "pipeline.config",
        "pipeline.schedule_given",
        "pipeline.frameworks",
        "pipeline.report.wording",
    },
}


def modules():
    """Yield (dotted name, names it imports) of every module of both packages."""
    for package in ("pipeline", "r_bridge"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield name, imported(path)


def imported(path):
    """Return the dotted names a file imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room(name):
    """Return the second part of pipeline.room[.…], or None."""
    parts = name.split(".")
    return parts[1] if parts[0] == "pipeline" and len(parts) > 1 else None


def level(name):
    return next(n for n, line in enumerate(LAYERS) if name in line.split())


def test_every_room_has_a_place_in_the_layers():
    rooms = {room(name) for name, _ in modules()} - {None, "__main__"}
    placed = {name for line in LAYERS for name in line.split()}
    assert rooms <= placed, f"without a layer: {rooms - placed}"


def test_imports_point_down():
    wrong = []
    for name, names in modules():
        here = room(name)
        if here in {None, "__main__"}:
            continue
        for there in {room(n) for n in names} - {None, here}:
            if any(there in line.split() for line in LAYERS) and level(there) <= level(
                here
            ):
                wrong.append(f"{name} must not import pipeline.{there}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_r_bridge_knows_nothing_of_the_pipeline():
    guilty = [
        name
        for name, names in modules()
        if name.startswith("r_bridge")
        and any(n.split(".")[0] == "pipeline" for n in names)
    ]
    assert guilty == []


@pytest.mark.parametrize("library", OWNERS)
def test_a_library_is_imported_by_its_owners_only(library):
    users = {
        name
        for name, names in modules()
        if any(n.split(".")[0] == library for n in names)
        and not (library == "r_bridge" and name.startswith("r_bridge"))
    }
    assert users <= OWNERS[library], (
        f"{users - OWNERS[library]} must not import {library}"
    )


def test_nothing_calls_the_method_that_takes_a_reference_from_none():
    calls = [
        f"{path.name}:{node.lineno}"
        for path in (ROOT / "r_bridge").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "memoryview"
    ]
    assert calls == []


def test_no_module_is_longer_than_a_newcomer_can_hold():
    lengths = {
        path.name: path.read_text(encoding="utf8").count("\n")
        for package in ("pipeline", "r_bridge")
        for path in (ROOT / package).rglob("*.py")
    }
    assert {name: n for name, n in lengths.items() if n > 400} == {}
