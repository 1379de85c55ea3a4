"""A new kind of result: the module that makes it, a row of FRAMES, and its section.

The section is one function and one template.
"""

import csv
import io
import json
from html import unescape

from jinja2 import ChoiceLoader, DictLoader
from tests.records.result_schema import result_schema
from tests.report.reading import page_files

from importance_audit.auditing import audit as auditing
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.as_csv import tables
from importance_audit.records.as_json import dumps, loads
from importance_audit.records.frames import FRAMES, Frame
from importance_audit.report.pages import view
from importance_audit.report.pages.template_files import environment
from importance_audit.report.text.blocks import Section

CONFIG = parse_config({"importance": [{"method": "permutation", "n_repeats": 2}]})
FRAME = Frame("leaders", ("record", "feature"), "The first feature of a ranking.")


def add_leaders(run):
    """Add the first feature of each ranking: the module that makes the rows."""
    for place, record in enumerate(run.journal.importances):
        first = record.features[int(record.mean.argmax())]
        run.journal.rows["leaders"].append({"record": place, "feature": first})


def leaders_section(facts):
    """Return its section of the report: what its template places."""
    leaders = facts.result.leaders.itertuples()
    return Section("R", "leaders", "Leaders", (), {"leaders": list(leaders)})


TEMPLATE = """
{% import "macros.html.j2" as m with context %}
{% call m.frame(section) %}
{% for leader in parts.leaders %}
<p>{{ leader.feature }} leads ranking {{ leader.record }}.</p>
{% endfor %}
{% endcall %}
"""


def test_a_frame_takes_one_module_one_row_and_one_section(monkeypatch):
    new = DictLoader({"sections/leaders.html.j2": TEMPLATE})
    loader = ChoiceLoader([new, environment().loader])
    monkeypatch.setattr(environment(), "loader", loader)
    monkeypatch.setitem(FRAMES, FRAME.name, FRAME)
    monkeypatch.setattr(auditing, "read_together", add_leaders)
    sections = (*view.SECTIONS[:-1], leaders_section, view.SECTIONS[-1])
    monkeypatch.setattr(view, "SECTIONS", sections)

    model = linear_model(2, 0)
    result = auditing.audit(None, normal_data(), CONFIG, models=(model,))
    (row,) = result.leaders.to_dict("records")
    assert row == {"record": 0, "feature": "x1"}

    text = dumps(result)
    assert json.loads(text)["leaders"]["rows"] == 1
    assert loads(text).leaders.to_dict("records") == [row]
    (line,) = csv.DictReader(io.StringIO(tables(result)["tables/leaders.csv"]))
    assert line == {"record": "0", "feature": "x1"}
    assert FRAME.meaning in result_schema()["properties"]["leaders"]["description"]
    page = unescape(page_files(loads(text), pdf=False)["report.html"])
    assert "<p>x1 leads ranking 0.</p>" in page
    assert '<a href="#sec-r">Leaders</a>' in page
