"""What README and docs list is what there is."""

import importlib.util
import json
import re
from functools import cache
from pathlib import Path

from tests.docs.pages import ROOT, codes, rows_of, text_of
from tests.test_architecture import level, modules

import importance_audit
from importance_audit.assess.claims import CLAIMS
from importance_audit.cli import main as command_line
from importance_audit.engines import ENGINES
from importance_audit.methods.importance import METHODS
from importance_audit.operate.exit_codes import GRAVEST


def names_in(rows, column=0):
    return [name for row in rows for name in codes(row[column])]


def test_the_readme_is_short():
    assert len(text_of("README.md").splitlines()) <= 180


def test_the_methods_page_groups_every_method_once():
    methods = names_in(rows_of("docs/methods.md", "question"), 1)
    assert sorted(methods) == sorted(METHODS)


def test_the_readme_has_six_methods():
    methods = names_in(rows_of("README.md", "question"), 1)
    assert len(set(methods) & set(METHODS)) == len(methods) == 6


def test_the_methods_page_has_every_method_in_order_and_a_paragraph_on_each():
    page = text_of("docs/methods.md")
    assert names_in(rows_of("docs/methods.md", "method")) == list(METHODS)
    headings = re.findall(r"^### (\w+)$", page, flags=re.MULTILINE)
    assert sorted(headings) == sorted(METHODS)


def test_the_methods_page_states_the_unit_of_every_method():
    words = {"loss": "the loss", "prediction": "the prediction", "y": "the target"}
    for row in rows_of("docs/methods.md", "method"):
        (name,) = codes(row[0])
        stated = "1" if row[2] == "places" else row[2]
        assert stated == words.get(METHODS[name].unit, "1"), name


def test_the_readme_has_every_verdict():
    rows = rows_of("README.md", "verdict")
    verdicts = ["replayed", "equivalent", "comparable", "disagrees", "not compared"]
    assert [row[0] for row in rows] == verdicts


def test_the_engines_page_says_what_each_engine_is_asked():
    rows = rows_of("docs/engines.md", "engine")
    assert sorted(names_in(rows)) == sorted({*ENGINES} - {"python"})
    for row in rows:
        (name,) = codes(row[0])
        methods = set(METHODS) & set(codes(row[1]))
        assert methods == set(ENGINES[name]["importance"]) & set(METHODS), name


def test_the_papers_page_has_every_kind_of_claim():
    assert sorted(names_in(rows_of("docs/papers.md", "kind"))) == sorted(CLAIMS)


def test_the_operating_page_has_every_command_and_exit_code():
    commands = names_in(rows_of("docs/operating.md", "command"))
    assert sorted(commands) == sorted(command.name for command in command_line.COMMANDS)
    listed = {int(row[0]) for row in rows_of("docs/operating.md", "code")}
    assert listed == {0, *GRAVEST}
    assert listed == set(map(int, re.findall(r"\b(\d+) \w", command_line.__doc__)))


def test_the_python_page_has_every_public_name():
    page = text_of("docs/python.md")
    names = {name[3:] for name in codes(page) if re.fullmatch(r"ia\.\w+", name)}
    assert names == set(importance_audit.__all__)


def test_the_configuration_page_begins_with_ten_keys_that_there_are():
    sections = json.loads((ROOT / "pipeline/config/audit.schema.json").read_text())
    rows = rows_of("docs/configuration.md", "what to say")
    for row in rows:
        section, key = re.fullmatch(r"`\[+(\w+)\]+ (\w+)`", row[1]).groups()
        there = sections["properties"][section]
        assert key in there.get("items", there)["properties"]
    assert len(rows) == 10


def test_the_configuration_page_is_that_of_the_schema():
    path = ROOT / "scripts" / "configuration_page.py"
    spec = importlib.util.spec_from_file_location("configuration_page", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page_text = script.page(json.loads(script.SCHEMA.read_text(encoding="utf-8")))
    again = "the page has drifted: .venv/bin/python scripts/configuration_page.py"
    assert Path(script.PAGE).read_text(encoding="utf-8") == page_text, again


def test_the_picture_of_the_rooms_is_that_of_their_imports():
    """Drawn are the arrows that no way around them replaces."""
    arrows = {}
    for name, others in modules():
        room = name.split(".")[0]
        below = {other.split(".")[0] for other in others} - {room}
        rooms = {other for other in below if level(other) is not None}
        if level(room) is not None:
            arrows.setdefault(room, set()).update(rooms)

    @cache
    def reached(room):
        return set().union(*({below} | reached(below) for below in arrows[room]))

    needed = {
        (room, below)
        for room, all_below in arrows.items()
        for below in all_below
        if not any(below in reached(other) for other in all_below)
    }
    drawn_arrows = re.findall(
        r"^    (\w+) --> (\w+)$", text_of("docs/architecture.md"), re.M
    )
    assert sorted(drawn_arrows) == sorted(needed)
    boxes = re.findall(r'^    (\w+)\["<b>', text_of("docs/architecture.md"), re.M)
    assert sorted(boxes) == sorted(arrows)
