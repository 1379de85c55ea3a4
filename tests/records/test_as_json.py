"""Claims about result.json: nothing is lost, and the published schema describes it."""

import json
import math
from dataclasses import fields, replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.records.result_schema import FILE, schema_text
from tests.report.made_records import made_effect, made_importance, made_run

from importance_audit.records import as_json
from importance_audit.records.as_json import (
    content_digest,
    dumps,
    from_dict,
    loads,
    to_dict,
)
from importance_audit.records.errors import DataError
from importance_audit.records.finding import Finding
from importance_audit.records.frames import FRAMES
from importance_audit.records.importance_record import Effect, Importance
from importance_audit.records.result import AuditResult, RunInfo

SCHEMA = json.loads(FILE.read_text("utf8"))
VALIDATOR = Draft202012Validator(SCHEMA)

NUMBERS = st.floats() | st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 5e-324, 0.1])
TEXTS = st.text(
    st.characters(blacklist_categories=["Cs"]), max_size=6
) | st.sampled_from(["NaN", "Infinity", "-Infinity", "größe", 'a"b', "text"])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | TEXTS,
    lambda inner: st.tuples(inner, inner) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)

# A busy machine draws examples slowly: no reason to fail.
SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def run_info(**changes):
    return replace(made_run(), **changes)


def importance(raw, baseline, features):
    record = made_importance("forest", features, np.zeros(len(features)))
    columns = tuple((name, "NaN") for name in features)
    return replace(record, columns=columns, raw=raw, baseline=baseline)


def effect(kind, grid, values, **ends):
    of = {"kind": kind, "grid": grid, "values": values, "feature": "NaN", **ends}
    return replace(made_effect("forest", "a"), **of)


def result(**changes):
    empty = {name: pd.DataFrame(columns=["model"]) for name in FRAMES}
    return AuditResult(**{"run": run_info(), **empty, **changes})


ENDS = {"band_low": np.array([0.5, np.nan]), "band_high": np.array([1.5, np.nan])}


def full():
    """Return a result with one record of every kind and a column of every type."""
    table = pd.DataFrame(
        {
            "number": [1.5, np.nan, -np.inf],
            "integer": [1, 2, 3],
            "boolean": [True, False, True],
            "text": ["NaN", "", "größe"],
            "mixed": [0.1, "NaN", None],
            "levels": [("a", "b"), (), ("NaN",)],
        }
    )
    raw = np.array([[1.0, np.nan], [np.inf, -0.0]])
    return result(
        checks=table,
        importances=(importance(raw, np.ones(2), ("x1", "NaN")),),
        effects=(
            effect("number", np.array([0.1, 0.3]), np.array([1.0, np.nan]), **ENDS),
            effect("category", np.array(["a", "NaN"], dtype=object), np.zeros(2)),
        ),
        findings=(
            Finding(
                check="weak_model",
                severity="warning",
                subject="forest",
                message="Weak.",
                evidence={"loss": np.nan},
            ),
        ),
    )


def same(a, b):
    """Return whether two plain values are equal: types, NaN and signs of zero too."""
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (repr(a) == repr(b))


@SOME
@given(st.dictionaries(TEXTS, PLAIN, max_size=4))
def test_any_plain_value_comes_back_as_it_was(config):
    back = loads(dumps(result(run=run_info(config=config))))
    assert same(dict(back.run.config), config)


@pytest.mark.slow
@SOME
@given(st.data(), st.integers(0, 3), st.integers(0, 3))
def test_any_array_comes_back_bit_by_bit(data, n_features, n_repeats):
    count = n_features * n_repeats
    flat = data.draw(st.lists(NUMBERS, min_size=count, max_size=count))
    raw = np.array(flat, dtype=float).reshape(n_features, n_repeats)
    names = tuple(f"x{j}" for j in range(n_features))
    written = importance(raw, np.zeros(n_repeats), names)
    (back,) = loads(dumps(result(importances=(written,)))).importances
    assert back.raw.shape == raw.shape
    assert [float(v).hex() for v in back.raw.flat] == [float(v).hex() for v in raw.flat]


@pytest.mark.parametrize("name", ["text", "text*", "text**", "number"])
@pytest.mark.parametrize("value", [np.nan, "NaN", {"text": "NaN"}, {"text": np.nan}])
def test_a_mapping_is_never_read_as_a_text(name, value):
    written = importance(np.ones((1, 1)), np.ones(1), ("x",))
    written = replace(written, options={"asked": {name: value}})
    (back,) = loads(dumps(result(importances=(written,)))).importances
    assert same(dict(back.options), {"asked": {name: value}})


CELLS = st.sampled_from(
    [NUMBERS, TEXTS, st.booleans(), st.integers(-(2**63), 2**63 - 1)]
)


@pytest.mark.slow
@SOME
@given(st.data(), CELLS, st.integers(1, 4))
def test_any_column_comes_back_with_its_type(data, cells, n_rows):
    values = data.draw(st.lists(cells | PLAIN, min_size=n_rows, max_size=n_rows))
    mixed = pd.Series(values, dtype=object)
    typed = pd.Series(data.draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    frame = pd.DataFrame({"mixed": mixed, "typed": typed})
    back = loads(dumps(result(checks=frame))).checks
    assert back["typed"].dtype == typed.dtype
    assert same(tuple(back["typed"].tolist()), tuple(typed.tolist()))
    assert same(tuple(back["mixed"].tolist()), tuple(values))


def test_a_whole_result_comes_back():
    written = full()
    back = loads(dumps(written))
    assert to_dict(back) == to_dict(written)
    assert type(back.importances[0].features) is tuple
    assert back.effects[1].grid.dtype == object
    assert [one.has_band for one in back.effects] == [True, False]
    for name, end in ENDS.items():
        np.testing.assert_equal(getattr(back.effects[0], name), end)
    assert back.checks.dtypes.tolist() == written.checks.dtypes.tolist()
    assert back.agreement.columns.tolist() == ["model"]


def test_the_text_is_json_without_constants_of_its_own():
    def refuse(constant):
        raise AssertionError(constant)

    text = dumps(full())
    document = json.loads(text, parse_constant=refuse)
    assert document.pop("content_digest") == content_digest(full())
    assert document == to_dict(full())


def test_the_stored_schema_is_that_of_the_frames_and_a_result_obeys_it():
    assert FILE.read_text("utf8") == schema_text()
    Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(json.loads(dumps(full())))
    VALIDATOR.validate(to_dict(result()))


def test_the_schema_requires_every_part_and_every_field_of_a_record():
    records = {"importance": Importance, "effect": Effect, "finding": Finding}
    for definition, record in records.items():
        names = {item.name for item in fields(record)}
        required = SCHEMA["$defs"][definition]["required"]
        assert (
            set(required) == names == SCHEMA["$defs"][definition]["properties"].keys()
        )
    names = ["schema_version", "run", *FRAMES, *as_json.RECORDS]
    assert SCHEMA["required"] == names
    assert set(SCHEMA["properties"]) == {*names, "content_digest"}
    assert SCHEMA["properties"]["run"]["required"] == [f.name for f in fields(RunInfo)]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["findings"][0].update(severity="fatal"),
        lambda d: d["importances"][0].update(raw=[[None]]),
        lambda d: d["checks"]["columns"][2].update(values=["a"]),  # of truth values
        lambda d: d.update(content_digest="abc"),
    ],
)
def test_the_schema_refuses_what_is_no_value_of_its_field(change):
    document = json.loads(dumps(full()))
    change(document)
    assert not VALIDATOR.is_valid(document)


def test_all_that_a_result_says_is_its_content_but_not_when_and_where():
    elsewhere = replace(full(), run=run_info(volatile={"host": "elsewhere"}))
    assert content_digest(elsewhere) == content_digest(full())
    for changes in (
        {"run": run_info(audit="titanic")},
        {"findings": ()},
        {"importances": (importance(np.ones((1, 1)), np.ones(1), ("x1",)),)},
    ):
        assert content_digest(replace(full(), **changes)) != content_digest(full())


def test_the_digest_is_the_sha256_of_the_canonical_text():
    document = {"run": {"volatile": {}, "b": 0.1, "a": "ö"}, "content_digest": "x"}
    text = '{"run":{"a":"ö","b":0.1}}'
    assert as_json.digest_of(document) == sha256(text.encode()).hexdigest()


CANNOT = "result.json cannot be read as the result of an audit: "
LACKS = "which every result has. Use the file as it was written."


def measured(document):
    return document["importances"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("schema_version"), "of an audit: it has no schema_version."),
        (lambda d: d.update(schema_version="1.5"), "'1.5'; this version reads 2.0."),
        (lambda d: d.update(later=[1]), "has 'later', which no result of schema 2.0"),
        (lambda d: d["findings"][0].update(owner=1), f"{CANNOT}Finding has no field '"),
        (lambda d: d.pop("checks"), f"result.json lacks 'checks', {LACKS}"),
        (lambda d: measured(d).pop("raw"), f"lacks 'Importance.raw', {LACKS}"),
        # What follows is no fault by the schema.
        (lambda d: measured(d)["raw"].pop(), f"{CANNOT}raw has 1 rows for 2 features."),
        (lambda d: d["checks"]["columns"][0]["values"].pop(), "'number' is not 3 rows"),
    ],
)
def test_what_is_no_result_is_refused_in_one_sentence(change, message):
    document = json.loads(dumps(full()))
    change(document)
    with pytest.raises(DataError) as error:
        from_dict(document)
    assert message in str(error.value)
    assert str(error.value).startswith("result.json ")
    assert VALIDATOR.is_valid(document) == ("rows" in message)


def test_what_is_no_json_object_is_refused_by_name():
    for text, message in {
        "R": "is not valid JSON: Expecting value: line 1 column 1 (char 0).",
        "[]": "is not the result of an audit: it holds no object.",
    }.items():
        with pytest.raises(DataError) as error:
            loads(text, name="old.json")
        assert str(error.value) == f"old.json {message}"


@pytest.mark.parametrize("value", [math, {1: 2}, {"a": {2}}])
def test_what_json_cannot_hold_is_refused_when_written(value):
    with pytest.raises(TypeError, match=r"^The .* a result must be .* was given\.$"):
        dumps(result(run=run_info(config={"key": value})))
