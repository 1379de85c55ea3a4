"""Claims about history.json: what a run keeps of the runs before it, and of itself."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.runs.test_folder import NAME, of_features, result

from importance_audit.records.errors import DataError
from importance_audit.records.finding import Finding
from importance_audit.runs.files import as_bytes
from importance_audit.runs.summary import (
    NO_HISTORY,
    Approved,
    FindingHistory,
    FindingSummary,
    Leader,
    RunHistory,
    RunSummary,
    history_json,
    read_history,
    read_summary,
    summarise,
)

LEADERS = (Leader("a", 2.0, 1.5, 2.5, 1.0), Leader("größe", 0.1, -math.inf, 0.3, 2.0))
RUN = RunSummary(
    *(NAME, "2025-11-20T08:46:00+00:00", "complete", "confirmed", 0, "d" * 64),
    *("e" * 64, "forest, permutation of features, rmse", LEADERS),
    *({"k": "warning"}, "b" * 64, ("vip",), ("New: größe.",), ("seed changed",)),
)
HISTORY = RunHistory(
    baseline=Approved(NAME, "d" * 64, "e" * 64, "A. Person", "2025-11-20"),
    runs=(RUN,),
    n_runs=7,
    findings=(FindingHistory("k", "weak", "forest", "warning", NAME, NAME, 2, True),),
)


def make_finding(severity="warning", **changes):
    facts = {"check": "weak", "subject": "forest", "message": "Weak."}
    return Finding(**{**facts, "severity": severity, **changes})


def measured(means, **changes):
    """Return our answer on features a, b, … with these means and no spread."""
    return replace(of_features(means), **{"stream": "", **changes})


@pytest.mark.parametrize(
    ("changes", "is_other"),
    [
        ({"options": {"within": "leaves"}}, True),
        ({"split": "train"}, True),
        ({"form": "ratio", "baseline": np.ones(1)}, True),
        ({"unit": "1"}, True),
        ({"positive_class": "yes"}, True),
        ({"n_samples": 9}, False),
        ({"options": {"n_repeats": 5}}, False),
    ],
)
def test_only_measures_of_other_quantities_have_other_words(changes, is_other):
    words = summary_of(measured([1], **changes)).measure
    assert (words != summary_of(measured([1])).measure) == is_other


def summary_of(*records, **changes):
    return summarise(result(importances=records, **changes))


def test_a_past_comes_back_as_it_was_written():
    assert read_history(history_json(HISTORY, result()), "history.json") == HISTORY
    assert (
        read_history(history_json(NO_HISTORY, result()), "history.json") == NO_HISTORY
    )


def test_a_run_says_in_short_who_leads_and_what_was_found():
    findings = (
        make_finding(),
        make_finding("info"),
        make_finding("failure", subject="b"),
    )
    written = result(importances=(measured([1, 3]),), findings=findings)
    text = history_json(HISTORY, written, ["New: b."], ["seed changed"])
    short = read_summary(as_bytes(text), "history.json")
    told = {"changes": ("New: b.",), "differences": ("seed changed",)}
    assert short == summarise(written)._replace(**told)
    assert short.leaders == (Leader("b", 3, 3, 3, 1), Leader("a", 1, 1, 1, 2))
    assert short.findings == (
        FindingSummary(findings[2].key, "weak", "b", "failure"),
        FindingSummary(findings[0].key, "weak", "forest", "warning"),
    )
    assert (short.status, short.data_sha256) == ("complete", "b" * 64)


def test_the_short_part_is_read_without_the_long_one():
    text = history_json(HISTORY, result(importances=(measured([1]),)))
    head = text[: text.index('"past"')]
    assert read_summary(head.encode() + b'"past": [[[[', "x").leaders[0].feature == "a"


def test_the_lead_is_of_a_model_and_of_features_where_there_are_any():
    of_data, groups = measured([1], model=""), measured([1], of="groups")
    features = measured([1], model="linear")
    assert summary_of(of_data, groups, features).measure.startswith(
        "linear, permutation of f"
    )
    assert summary_of(of_data, groups).measure.startswith(
        "forest, permutation of groups"
    )
    assert summary_of(of_data).measure.startswith("permutation of features, rmse (est")
    assert summary_of().measure == ""


DOCUMENT = json.loads(history_json(HISTORY, result()))


def with_past(**changes):
    return json.dumps({**DOCUMENT, "past": {**DOCUMENT["past"], **changes}})


def broken(words):
    return (
        f"history.json cannot be read as the history of a run: {words}. Run: "
        "importance-audit verify"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{",
            "history.json is not valid JSON: Expecting property name enclosed in "
            "double quotes: line 1 column 2 (char 1).",
        ),
        (
            '{"format": "other/1"}',
            "history.json has format 'other/1'; this version reads "
            "'importance-audit-history/3'. Use the version of importance-audit that "
            "wrote it.",
        ),
        ("{}", broken("'format' is missing")),
        (json.dumps({"format": DOCUMENT["format"]}), broken("'past' is missing")),
        (with_past(runs="no"), broken("'no' is not a list")),
    ],
)
def test_what_is_no_past_is_refused_in_one_sentence(text, message):
    with pytest.raises(DataError) as error:
        read_history(text, "history.json")
    assert str(error.value) == message


def test_a_broken_short_part_is_refused_too():
    text = history_json(HISTORY, result()).replace('"leaders": []', '"leaders": [3]')
    with pytest.raises(DataError, match="cannot be read as the history of a run"):
        read_summary(text.encode(), "history.json")
    with pytest.raises(DataError, match="of a run: 'format' is missing"):
        read_summary(b"", "x")
