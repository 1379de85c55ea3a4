"""A new kind of result: the module that makes it, a row of FRAMES, and its section."""

import csv
import io
import json
from html import unescape

from importance_audit.auditing import audit as auditing
from importance_audit.auditing.steps import StepResult
from importance_audit.config.load import parse_config
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.as_csv import tables
from importance_audit.records.as_json import dumps, loads, result_schema
from importance_audit.records.frames import FRAMES, Frame
from importance_audit.report.pages import view
from importance_audit.report.pages.html import page_files
from importance_audit.report.text.blocks import Section

CONFIG = parse_config({"importance": [{"method": "permutation", "n_repeats": 2}]})
FRAME = Frame("leaders", ("record", "feature"), "The first feature of a ranking.")


def leaders(importances, test, config):
    """Yield the first feature of each ranking: the module that makes the rows."""
    del test, config
    for place, record in enumerate(importances):
        first = record.features[int(record.mean.argmax())]
        yield StepResult(rows={"leaders": [{"record": place, "feature": first}]})


def leaders_section(facts):
    """Return its section of the report."""
    rows = facts.result.leaders.to_dict("records")
    paragraphs = tuple(
        (f"{row['feature']} leads ranking {row['record']}.",) for row in rows
    )
    return Section("R", "limits", "Leaders", (), {"limits": paragraphs})


def test_a_frame_takes_one_module_one_row_and_one_section(monkeypatch):
    monkeypatch.setitem(FRAMES, FRAME.name, FRAME)
    monkeypatch.setattr(auditing, "READINGS", (*auditing.READINGS, leaders))
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
    assert "x1 leads ranking 0." in page
