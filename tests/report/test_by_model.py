"""A result of many models, taken apart by model."""

import re
from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
from tests.report.made_variants import made

from pipeline.finding import Finding
from pipeline.report.by_model import FRAMES, models_in, part_of, parts
from pipeline.report.view import build_view

MODELS = ("forest", "linear", "svm", "net")


@cache
def four():
    """Return the apartments with a fourth model, a copy of the third."""
    result = made("apartments")
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


def test_three_models_share_a_report_and_four_do_not():
    assert parts(made("apartments")) == ()
    assert [part.model for part in parts(four())] == list(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_a_part_is_about_one_model_only(model):
    part = part_of(four(), model)
    told = {record.model for record in part.result.importances}
    told |= {record.model for record in part.result.effects}
    told |= {
        name
        for frame in FRAMES
        if "model" in getattr(part.result, frame)
        for name in getattr(part.result, frame)["model"]
    }
    assert told <= {model, ""}
    assert model in told


def test_the_parts_hold_every_record_of_the_whole_once():
    told = [at for part in parts(four()) for at in part.places["importances"]]
    assert sorted(told) == list(range(len(four().importances)))


@pytest.mark.parametrize("model", MODELS)
def test_the_path_of_a_number_leads_to_it_in_the_whole(model):
    part = part_of(four(), model)
    for at, record in enumerate(part.result.importances):
        path = part.path(f"importances[{at}].mean[0]")
        place = int(re.search(r"\d+", path)[0])
        assert path == f"importances[{place}].mean[0]"
        whole = four().importances[place]
        assert (whole.model, whole.mean[0]) == (record.model, record.mean[0])


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
        ("apartments_test", set()),
        ("forestry", set()),
        ("", set()),
    ],
)
def test_a_subject_names_the_models_it_is_about(subject, models):
    assert models_in(subject, MODELS) == models


def test_of_two_names_that_begin_alike_the_longer_is_meant():
    assert models_in("a, b: python", ("a", "a, b")) == {"a, b"}


def test_a_finding_about_another_model_is_not_in_the_part_nor_in_its_verdict():
    bad = Finding(check="weak_model", severity="failure", subject="svm", message="No.")
    calm = replace(four(), findings=())
    result = replace(calm, findings=(bad,))
    assert part_of(result, "svm").result.verdict == "not confirmed"
    assert part_of(result, "net").result.findings == ()
    assert part_of(result, "net").result.verdict == part_of(calm, "net").result.verdict


@pytest.mark.parametrize("model", MODELS)
def test_every_part_makes_a_report(model):
    view = build_view(part_of(four(), model).result)
    assert model in view.page_title
