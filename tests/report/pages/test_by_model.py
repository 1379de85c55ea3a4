"""A result of many models, taken apart by model."""

from dataclasses import replace
from functools import cache
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from tests.report.made_variants import result_of
from tests.report.page_reader import dead_links, parse_page, traces_of
from tests.report.reading import value_at

from importance_audit.records.as_json import content_digest, dumps, loads, utf8
from importance_audit.records.finding import Finding
from importance_audit.report.pages.by_model import FRAMES, models_in, part_of
from importance_audit.report.pages.html import to_html
from importance_audit.report.pages.report_views import report_views
from importance_audit.report.text.blocks import plain

MODELS = ("forest", "linear", "svm", "net")


@cache
def four():
    """Return the apartments with a fourth model, a copy of the third."""
    result = result_of("apartments")
    models = result.models.copy()
    extra = models[models["model"] == "svm"].assign(model="net")
    copies = [
        replace(record, model="net")
        for record in result.importances
        if record.model == "svm"
    ]
    return replace(
        result,
        models=pd.concat([models, extra], ignore_index=True),
        importances=(*result.importances, *copies),
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_part_is_about_one_model_only(model):
    part = part_of(four(), model)
    models = {record.model for record in part.result.importances}
    models |= {record.model for record in part.result.effects}
    models |= {
        name
        for frame in FRAMES
        if "model" in getattr(part.result, frame)
        for name in getattr(part.result, frame)["model"]
    }
    assert models <= {model, ""}
    assert model in models


def test_places_of_records_are_those_of_the_part():
    records = four().importances
    at = next(i for i, record in enumerate(records) if record.model == "net")
    frame = pd.DataFrame({"model": ["net", "forest"], "record": [at, 0]})
    part = part_of(replace(four(), stability=frame), "net")
    (record,) = part.result.stability["record"]
    assert part.result.importances[record] is records[at]


@pytest.mark.parametrize(
    ("subject", "models"),
    [
        ("forest", {"forest"}),
        ("forest, permutation of features: python and vip", {"forest"}),
        ("linear: python", {"linear"}),
        ("linear, svm", {"linear", "svm"}),
        ("forestry", set()),
    ],
)
def test_a_subject_names_the_models_it_is_about(subject, models):
    assert models_in(subject, MODELS) == models
    assert models_in("a, b: python", ("a", "a, b")) == {"a, b"}  # the longer is meant


def test_a_finding_about_another_model_is_not_in_the_part_nor_in_its_verdict():
    bad = Finding(check="weak_model", severity="failure", subject="svm", message="No.")
    calm = replace(four(), findings=())
    result = replace(calm, findings=(bad,))
    assert part_of(result, "svm").result.verdict == "not confirmed"
    assert part_of(result, "net").result.findings == ()
    assert part_of(result, "net").result.verdict == part_of(calm, "net").result.verdict


@cache
def pages():
    """Return the HTML of the index and of every model's page, by path."""
    return {p: to_html(view) for p, view in report_views(four()).items()}


def test_three_models_have_one_page_and_four_an_index_and_a_page_each():
    assert list(report_views(result_of("apartments"))) == ["report"]
    assert list(pages()) == ["report", *(f"models/{name}" for name in MODELS)]


def test_four_models_have_page_one_before_the_index():
    view = report_views(four())["report"]
    assert [section.name for section in view.sections[:2]] == ["executive", "overview"]
    heads = [plain(c.label) for t in view.tables for c in t.columns if "exec" in t.id]
    assert {"forest", "linear", "svm"} <= {*heads}


def test_the_index_says_why_a_model_has_no_leader():
    first, *_ = four().importances
    others = [r for r in four().importances if r.model not in ("net", first.model)]
    noisy = replace(first, raw=first.baseline * np.ones_like(first.raw))
    result = replace(four(), importances=(noisy, *others))
    view = report_views(result)["report"]
    table = next(t for t in view.tables if t.id == "tab-models-index")
    leaders = {plain(r.cells[0].parts): plain(r.cells[2].parts) for r in table.rows}
    assert leaders["net"] == "not measured"
    assert leaders[first.model] == "none stands out"


def test_the_index_leads_to_the_page_of_every_model():
    links = [a.attributes["href"] for a in parse_page(pages()["report"]).all("a")]
    for name in MODELS:
        assert links.count(f"models/{name}.html") == 1


@pytest.mark.parametrize("path", ["report", *(f"models/{name}" for name in MODELS)])
def test_no_link_of_a_page_is_dead(path):
    assert not dead_links(parse_page(pages()[path]))


@pytest.mark.parametrize("model", MODELS)
def test_a_number_on_a_model_page_stands_where_its_trace_says(model):
    whole = loads(dumps(four()))
    as_it_is = [n for n in traces_of(pages()[f"models/{model}"]) if "data-d" not in n]
    assert len(as_it_is) > 10
    for node in as_it_is:
        assert float(node["data-v"]) == float(value_at(whole, node["data-p"])), node


def test_a_measure_has_one_card_number_on_all_pages():
    first = replace(four().importances[0], options={"n_repeats": 10, "n_rows": 500})
    result = replace(four(), importances=(first, *four().importances))
    cards = {
        (card.id, plain(card.title).split(" (")[0])
        for view in report_views(result).values()
        for section in view.sections
        if section.letter == "E"
        for card in section.parts["cards"]
    }
    assert len({number for number, _ in cards}) == len(cards) > 2


def test_the_index_compares_the_verdicts_of_every_check_by_model():
    view = report_views(four())["report"]
    table = next(t for t in view.tables if t.id == "tab-verdicts")
    by_check = {plain(row.cells[0].parts): row for row in table.rows}
    assert len(by_check) == 3
    passed = "Checks that passed wherever they were made: 5"
    assert plain(table.caption).endswith(passed)
    row = by_check["values of two engines outside the band"]
    assert plain(row.cells[1].parts) == "fail: svm"


def test_every_page_has_the_digests_of_the_whole_result():
    expected = sha256(utf8(dumps(four()))).hexdigest()
    meta = f'<meta name="content-digest" content="{content_digest(four())}">'
    for page in pages().values():
        assert meta in page
        assert expected in "".join(parse_page(page).text.split())
