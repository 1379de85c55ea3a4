"""What people write into [report], where the page shows it: owner, people, reasons."""

from hashlib import sha256

import numpy as np
from tests.report.made_records import HOSTILE, made_frame, made_rows, models_frame
from tests.report.made_results import apartments_result, found
from tests.report.made_variants import (
    apartments_view,
    configured,
    plain_result,
    plain_view,
)
from tests.report.page_reader import parse_page
from tests.report.reading import (
    cells_of,
    column,
    heads_of,
    rows_of,
    said_in,
    section,
    table,
    words,
)
from tests.report.sections.test_signoff import signed

from importance_audit.records.template_folder import templates
from importance_audit.report.pages.html import to_html
from importance_audit.report.pages.template_files import templates_sha256
from importance_audit.report.pages.view import build_view
from importance_audit.runs.signoff.answers import Answer, with_answers

FEATURES = ("surface", "floor", "district")


def view_with_report_keys(features=FEATURES, *, models=(), **report):
    """Return the view of a plain result under these keys of [report]."""
    result = configured(plain_result(features), report=report, models=list(models))
    return build_view(result)


def facts(view, id_):
    (block,) = (kv for kv in section(view, "A").parts.values() if kv.id == id_)
    return rows_of(block)


def test_the_cover_names_owner_tier_and_version_of_the_model():
    versioned = {"name": "forest", "parameters": {}, "version": "2.1"}
    owned = {"owner": "Pricing, A. Nowak", "tier": "2, medium"}
    view = view_with_report_keys(models=[versioned], **owned)
    control = facts(view, "kv-document")
    assert control["Model owner"] == "Pricing, A. Nowak"
    assert control["Model tier"] == "2, medium"
    assert facts(view, "kv-audited")["Models"] == "forest (version 2.1)"
    assert column(table(view, "tab-models"), "Model") == ["forest (version 2.1)"]


def test_the_cover_has_no_row_for_what_is_not_configured():
    unseeded = build_view(configured(plain_result(FEATURES), seed=None))
    assert "Seed" not in facts(unseeded, "kv-audited")
    view = view_with_report_keys()
    assert not {"Model owner", "Model tier"} & set(facts(view, "kv-document"))
    assert facts(view, "kv-audited")["Models"] == "forest"


def test_the_digest_of_the_templates_is_what_sha256sum_says_of_the_folder():
    files = [
        path
        for kind in ("j2", "css", "js", "toml")
        for path in templates().rglob(f"*.{kind}")
    ]
    lines = sorted(
        f"{path.relative_to(templates())} {sha256(path.read_bytes()).hexdigest()}\n"
        for path in files
    )
    assert templates_sha256() == sha256("".join(lines).encode()).hexdigest()


def test_people_stand_with_their_relation_to_the_developer():
    people = [
        {"role": "validator", "name": "A. Miller", "relation": "another department"},
        {"role": "reviewer", "name": "B. Stone"},
    ]
    item = table(view_with_report_keys(people=people), "tab-people")
    assert heads_of(item) == ["Role", "Name", "Relation to the developers"]
    assert [cells_of(row) for row in item.rows] == [
        ["validator", "A. Miller", "another department"],
        ["reviewer", "B. Stone", "not stated"],
    ]


def test_reasons_stand_in_the_order_of_the_features_and_the_others_are_named():
    names = ["surface", *(f"f{n}" for n in range(8)), "district"]
    rationale = {"district": "where it is; register", "surface": "how large it is."}
    item = table(view_with_report_keys(names, rationale=rationale), "tab-rationale")
    assert column(item, "Feature") == ["surface", "district"]
    assert column(item, "Reason and source")[1] == "where it is; register."
    assert words(item.notes) == (
        "Without a reason: 8 features (f0, f1, f2, f3, f4, and 3 more)."
    )


def test_the_objective_of_a_fit_is_among_its_parameters():
    parameters = '{"criterion": "squared_error", "n_estimators": 500}'
    models = models_frame(("forest",), parameters=parameters)
    view = plain_view(FEATURES, models=models)
    (cell,) = column(table(view, "tab-models"), "Parameters")
    assert cell.endswith("fitted by criterion=squared_error")


def test_hostile_words_of_people_are_shown_and_change_nothing_else():
    """Whatever people write: [report], labels, answers, signatures, columns, steps."""
    bad, hidden = "<script>alert(1)</script>", "a\u202eb"
    everybody = [name or "-" for name in HOSTILE]
    people = [{"role": n, "name": n, "relation": n} for n in everybody]
    report = dict.fromkeys(("owner", "tier", "purpose", "decision"), bad)
    report |= {"classification": hidden, "intended_use": everybody[5]}
    report |= {"people": people, "rationale": dict.fromkeys(HOSTILE, hidden)}
    left_out = {"column": bad, "reason": "not_listed", "look": "", "distinct": 2}
    step = {"model": "forest", "step": bad, "estimator": bad, "parameters": "{}"}
    answered = found("rank_shift", hidden)
    result = plain_result(
        HOSTILE,
        left_out=made_frame("left_out", [left_out]),
        steps=made_frame("steps", [step]),
        findings=(answered,),
    )
    labels = {"padded": f"{bad}{hidden}"}
    report["limits"] = everybody
    result = configured(result, report=report, labels=labels)
    answer = Answer(answered.key[:12], owner=hidden, response=bad)
    signatures = (signed("f" * 64, name=hidden),)
    view = build_view(with_answers(result, (answer,)), signoffs=signatures)
    page = to_html(view)
    assert page.count("<script") == 1  # our own
    assert "\u202e" not in page
    assert not parse_page(page).all("iframe", "object")
    assert len(table(view, "tab-rationale").rows) == len(HOSTILE)
    for letter in "AKP":
        assert "a⟨U+202E⟩b" in said_in(view, letter)


def test_two_sets_of_rows_called_alike_keep_their_own_target():
    """Rows given in Python are of no split: two sets of them have the same name."""
    sketches = [
        row
        for first in (1.0, 11.0)
        for row in (
            *(("number", 1 + n, first + n, 1) for n in range(3)),
            ("missing", 0, np.nan, 0),
        )
    ]
    of_target = {"split": "test", "column": "y", "role": "target", "level": ""}
    columns = "kind place value rows"
    quantiles = made_rows("quantiles", columns, *sketches, **of_target)
    datasets = apartments_result().datasets.assign(split="test")
    text = said_in(apartments_view(quantiles=quantiles, datasets=datasets), "D")
    assert "median 2," in text
    assert "median 12," in text
