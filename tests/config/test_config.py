"""The configuration: what is read, what is completed, what the schema says of it."""

import hashlib
import json
import re
import tomllib
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Annotated, Literal

import jsonschema
import pytest

from importance_audit.assess.claims import CLAIMS
from importance_audit.assess.claims.section import claim_rules
from importance_audit.config import json_schema
from importance_audit.config.load import is_later, load_config, parse_config
from importance_audit.config.sections import (
    KEYS,
    LISTS,
    SCALARS,
    TABLES,
    AuditConfig,
    option_rules,
    required_of,
    rules_of,
)
from importance_audit.methods.importance import METHODS, options_of
from importance_audit.records.errors import ConfigError
from importance_audit.records.value_rules import Misfits, Range, rule_of

EXAMPLE = Path(json_schema.__file__).with_name("example.toml")
DATA = {
    "train": {"file": "a.csv"},
    "test": {"fraction": 0.25},
    "target": "y",
    "task": "regression",
}
IMPURITY = {"method": "impurity"}
EXPECTED = {"features": ["a"], "place": "top", "reason": "It is known."}
MODEL = {"name": "m", "estimator": "sklearn.linear_model.LinearRegression"}
LEADER = {
    "text": "a leads",
    "kind": "leader",
    "method": "permutation",
    "features": ["a"],
}


def problems_of(document):
    """Return the problems of a mapping, none if it is sound."""
    try:
        parse_config(document)
    except ConfigError as error:
        return error.problems
    return ()


def write(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "audit.toml").write_text(text, encoding="utf-8")
    return folder


def minimal(extra=""):
    return (
        '[data]\ntrain = { file = "a.csv" }\ntest = { fraction = 0.5 }\n'
        'target = "y"\ntask = "binary"\n[[models]]\nname = "m"\n'
        f'estimator = "a.B"\n{extra}'
    )


# Reading


def test_an_audit_is_named_after_its_folder_and_files_start_there(tmp_path):
    folder = write(tmp_path / "größe", "\ufeff" + minimal())
    config, by_file = load_config(folder), load_config(folder / "audit.toml")
    assert (config.audit, config.base) == ("größe", folder)
    assert config.text == minimal()  # without the byte order mark
    assert config.resolved() == by_file.resolved()


def test_a_mapping_is_checked_like_a_file(tmp_path):
    text = minimal("encodr = 1\n[r]\nseconds = 0\n")
    with pytest.raises(ConfigError) as from_file:
        load_config(write(tmp_path, text))
    expected = tuple(f"audit.toml: {line}" for line in problems_of(tomllib.loads(text)))
    assert from_file.value.problems == expected
    assert len(expected) == 2


def test_without_a_question_permutation_is_asked():
    (entry,) = parse_config({}).importance
    assert (entry.method, entry.of, entry.form) == (
        "permutation",
        "features",
        METHODS["permutation"].form,
    )


@pytest.mark.parametrize("method", METHODS)
def test_options_left_out_have_the_defaults_of_the_signature(method):
    question = {"method": method, "of": METHODS[method].of[0]}
    (entry,) = parse_config({"importance": [question]}).importance
    usual = options_of(METHODS[method].function)
    later = {name: usual[name] for name in usual if is_later(method, name)}
    assert dict(entry.options) | later == usual
    assert not entry.options.keys() & later.keys()


def test_an_option_that_is_given_replaces_its_default_only():
    curve = {"method": "partial_dependence", "n_grid": 7}
    exact = {"method": "permutation", "draws": "exact"}  # an option of a later version
    first, second = parse_config({"importance": [curve, exact]}).importance
    usual = options_of(METHODS["partial_dependence"].function)
    assert dict(first.options) == usual | {"n_grid": 7}
    assert second.options["draws"] == "exact"


def test_the_task_names_the_loss_of_an_entry_that_measures_one():
    entries = [{"method": "permutation"}, {"method": "partial_dependence"}]
    for task, loss in {
        "regression": "rmse",
        "binary": "one_minus_auc",
        "multiclass": "log_loss_clipped",
    }.items():
        document = {"data": DATA | {"task": task}, "importance": entries}
        losses = [entry.losses for entry in parse_config(document).importance]
        assert losses == [(loss,), ()]


def test_without_data_the_loss_waits_for_the_task():
    entries = [{"method": "permutation"}, {"method": "sage", "losses": ["rmse"]}]
    open_entry, named = parse_config({"importance": entries}).importance
    assert open_entry.losses == ()
    assert open_entry.losses_for("multiclass") == ("log_loss_clipped",)
    with pytest.raises(ConfigError, match="must suit task 'binary'"):
        named.losses_for("binary")


# All problems at once


def test_every_problem_is_told_at_once_in_the_order_of_the_file(tmp_path):
    more = "file = 3\n[checks]\ntop_k = 0\n[groups]\na = []\nb = ['x', 'x']\nc = 3\n"
    text = "sed = 1\nseed = -1\nrequire = ['R', 'dplyr']\n" + minimal(more)
    with pytest.raises(ConfigError) as error:
        load_config(write(tmp_path, text))
    assert [line.split(" must")[0] for line in error.value.problems] == [
        "audit.toml: The top level has no key 'sed'. Did you mean 'seed'?",
        "audit.toml: seed",
        *["audit.toml: require"] * 2,
        "audit.toml: [models] file",
        "audit.toml: [checks] top_k",
        *(f"audit.toml: [groups] {name}" for name in "abc"),
    ]


def test_options_are_not_called_unknown_while_the_method_is():
    problems = problems_of({"importance": [{"method": "permut", "n_repeats": 3}]})
    assert len(problems) == 1
    assert "Did you mean 'permutation'?" in problems[0]


def test_models_handed_over_in_python_may_be_named():
    document = {"importance": [{"method": "impurity", "models": ["forest"]}]}
    assert parse_config(document).importance[0].models == ("forest",)


CLAIM = '[[claims]]\ntext = "t"\nmethod = "permutation"\n'
LEADS = f'{CLAIM}kind = "leader"\nfeatures = ["a"]\n'
TOP = f'{CLAIM}model = "m"\nkind = "top_k"\nk = 2\nfactor = 1\n'
EXPLAINS = '[[claims]]\ntext = "t"\nkind = "explained"\nexpected = 1\ntolerance = 0\n'
SEVERAL = "kind 'explained' needs it, because there are several models: 'm', 'second'."
ONE_OF = "must be one of 'm', 'second'; 'secnd' was given. Did you mean 'second'?"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (LEADS, "[claims] model is missing; 'permutation' is asked of 'm', 'second'."),
        (EXPLAINS, f"[claims] model is missing; {SEVERAL}"),
        (f'{LEADS}model = "secnd"\n', f"[claims] model {ONE_OF}"),
        (f'{TOP}judge = "secnd"\n', f"[claims] judge {ONE_OF}"),
        (
            '[top_k]\nall_rows = ["m", "permutation", "pca"]\n',
            "[top_k] all_rows names 'pca', which is no method or model of this audit.",
        ),
    ],
)
def test_who_is_named_is_a_model_of_the_file(keys, message, tmp_path):
    text = minimal(f'[[models]]\nname = "second"\nestimator = "a.B"\n{keys}')
    with pytest.raises(ConfigError) as refused:
        load_config(write(tmp_path / "a", text))
    assert refused.value.problems == (f"audit.toml: {message}",)


def test_a_claim_about_all_models_need_not_name_one():
    claim = LEADER | {"kind": "frequency", "within": 1, "expected": 1, "tolerance": 0}
    models = [MODEL, MODEL | {"name": "second"}]
    (asked,) = parse_config({"models": models, "claims": [claim]}).claims
    assert asked.model == ""


def test_two_entries_may_share_a_method_if_no_record_has_both_their_names():
    entries = [
        {"method": "permutation", "losses": ["rmse"]},
        {"method": "permutation", "losses": ["mae"]},
        {"method": "impurity", "models": ["a"]},
        {"method": "impurity", "models": ["b"]},
    ]
    assert problems_of({"importance": entries}) == ()


@pytest.mark.parametrize(
    ("method", "option", "is_new"),
    [
        ("permutation", {"within": "leaves"}, True),
        ("permutation", {"n_rows": 50}, True),
        ("permutation", {"within": "none"}, False),  # the default, by name
        ("permutation", {"losses": ["rmse"]}, False),  # the same
        ("permutation", {"n_repeats": 50}, False),  # more of the same
        ("partial_dependence", {"grid": "quantile"}, False),  # curves have one name
    ],
)
def test_entries_may_differ_in_what_defines_the_quantity(method, option, is_new):
    entries = [{"method": method}, {"method": method} | option]
    problems = problems_of({"data": DATA, "importance": entries})
    assert (problems == ()) == is_new


# What a configuration is once it is read


@pytest.mark.parametrize(
    "document",
    [
        {},
        {
            "importance": [
                {"method": name, "of": row.of[0]} for name, row in METHODS.items()
            ]
        },
        {"data": DATA, "models": [MODEL], "groups": {"a": ["x"]}, "seed": 2**31 - 1},
        {"derived": [{"name": "old", "expression": "age > 65"}]},
        {"claims": [LEADER, LEADER | {"kind": "last", "paper": 0.5}]},
        {"expected": [EXPECTED], "report": {"goal": "discovery"}},
    ],
)
def test_the_resolved_configuration_read_again_is_itself(document):
    config = parse_config(document)
    again = parse_config(config.resolved())
    assert again.resolved() == config.resolved()
    assert again.sha256 == config.sha256
    assert json.loads(json.dumps(config.resolved())) == config.resolved()
    assert tuple(config.resolved()) == KEYS


def test_the_digest_sees_values_and_the_order_of_groups_not_spelling_nor_place():
    spelt = parse_config({"seed": 1, "r": {"seconds": 600}}, audit="a", base="b")
    assert spelt.sha256 == parse_config({}).sha256
    forth, back = {"a": ["x"], "b": ["y"]}, {"b": ["y"], "a": ["x"]}
    some = parse_config({"groups": forth, "seed": 2}).sha256
    assert parse_config({"seed": 2, "groups": forth}).sha256 == some
    for other in ({"groups": back, "seed": 2}, {"groups": forth}):
        assert parse_config(other).sha256 != some


def test_the_digest_is_that_of_the_resolved_configuration_as_compact_json():
    config = parse_config({"report": {"owner": "Zoë"}, "importance": [IMPURITY]})
    spelt = json.dumps(config.resolved(), ensure_ascii=False, separators=(",", ":"))
    assert '"owner":"Zoë"' in spelt
    assert config.sha256 == hashlib.sha256(spelt.encode()).hexdigest()


def test_nothing_in_a_configuration_can_be_changed():
    config = parse_config({"data": DATA, "models": [MODEL], "groups": {"a": ["x"]}})
    sections = (config.data, *config.models, *config.importance, config.report)
    for record in (config, *sections, config.checks, config.r):
        with pytest.raises(FrozenInstanceError):
            setattr(record, fields(record)[0].name, 1)
    for mapping in (
        config.groups,
        config.labels,
        config.data.train,
        config.importance[0].options,
    ):
        with pytest.raises(TypeError):
            mapping["new"] = 1


def test_the_title_is_the_name_of_the_audit_unless_the_report_has_one():
    assert parse_config({}, audit="rents").title == "rents"
    assert parse_config({"report": {"title": "Rents"}}).title == "Rents"


# Rules


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (int, [1, 3], [0, -1, 1.0, True, "1", None]),
        (float, [1, 0.5, -2.0], [float("nan"), float("inf"), True, "1"]),
        (bool, [True, False], [1, 0, "true"]),
        (str, ["", "a"], [1, None, ["a"]]),
        (int | None, [None, 2], [0, "2"]),
        (tuple[float, ...], [[], [1, 2.5, 1]], [3, ["a"], "12"]),
        (tuple[str, ...], [["a", "b"]], [["a", "a"], "a", [1]]),
    ],
)
def test_a_rule_takes_what_its_annotation_says(annotation, good, bad):
    rule = rule_of(annotation)
    for value in good:
        rule.read(value)
    for value in bad:
        with pytest.raises(Misfits):
            rule.read(value)


def test_no_count_is_so_large_that_memory_would_decide():
    counts = [
        (where, key, rule)
        for where, rules in every_rule()
        for key, rule in rules.items()
        if "integer" in json.dumps(rule.schema) and key != "positive_class"
    ]
    assert len(counts) > 50
    for where, key, rule in counts:
        with pytest.raises(Misfits):
            rule.read(2**63 - 1), (where, key)


def every_rule():
    """Yield every section, method and claim with its rules."""
    for section in (AuditConfig, *TABLES.values(), *LISTS.values()):
        yield section.__name__, rules_of(section)
    for method in METHODS:
        yield method, option_rules(method)


def test_an_annotation_that_no_file_can_carry_is_refused():
    with pytest.raises(TypeError, match="no key can have this type"):
        rule_of(bytes)


def test_bounds_are_told_as_they_are_kept():
    bounds = (Range(least=0), Range(0, 1), Range(above=0, below=1), Range(most=5))
    rules = [
        rule_of(Annotated[float, item]) for item in (*bounds, Range(above=0, most=1))
    ]
    assert [rule.one for rule in rules] == [
        "a number of at least 0",
        "a number from 0 to 1",
        "a number above 0 and below 1",
        "a number of at most 5",
        "a number above 0 and of at most 1",
    ]
    with pytest.raises(Misfits) as refusal:
        rules[-1].read(2)
    assert refusal.value.items[0].rule == "above 0 and at most 1"


def test_what_does_not_fit_is_named_each_time_and_only_texts_are_suggested():
    with pytest.raises(Misfits) as error:
        rule_of(tuple[str, ...]).read(["a", "b", "a", "c", "a"])
    assert [item.value for item in error.value.items] == ["a", "a"]
    with pytest.raises(Misfits) as error:
        rule_of(Literal["one", 2]).read("on")
    assert error.value.items[0].allowed_names == ("one",)


# The published schema


def schema_errors(document):
    validator = jsonschema.Draft202012Validator(json_schema.audit_schema())
    return [error.message for error in validator.iter_errors(document)]


def test_the_schema_in_the_repository_is_the_schema_of_the_code(tmp_path):
    json_schema.write_schema(tmp_path / "schema.json")
    written = (tmp_path / "schema.json").read_text(encoding="utf-8")
    assert written == json_schema.SCHEMA_FILE.read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(written))


@pytest.mark.parametrize(
    "broken",
    [
        {"sed": 1},
        {"seed": -1},
        {"require": ["R"]},
        {"groups": {"a": []}},
        {"data": DATA | {"task": "regresion"}},
        {"data": DATA | {"train": {"file": "a", "r": "b::c"}}},
        {"data": DATA | {"test": {"fraction": 1}}},
        {"models": [MODEL | {"estimator": "Forest"}]},
        {"models": [MODEL | {"sha256": "abc"}]},
        {"importance": [{"n_repeats": 3}]},
        {"importance": [{"method": "permutation", "n_repeats": 0}]},
        {"importance": [{"method": "impurity", "n_repeats": 3}]},
        {"checks": {"resolution": 0}},
        {"claims": [LEADER | {"kind": "led"}]},
        {"claims": [LEADER | {"within": 2}]},
        {"claims": [LEADER | {"kind": "rank"}]},
        {"claims": [LEADER | {"kind": "order"}]},
        {"claims": [LEADER | {"method": None}]},
    ],
)
def test_what_the_schema_refuses_the_configuration_refuses(broken):
    document = {"data": DATA, "models": [MODEL]} | broken
    assert schema_errors(document)
    assert problems_of(document)


def test_what_the_configuration_takes_the_schema_takes():
    document = {
        "seed": 0,
        "data": DATA | {"positive_class": 0, "task": "binary", "features": ["a"]},
        "models": [MODEL | {"parameters": {"a": [1, {"b": True}]}}],
        "importance": [{"method": "partial_dependence", "grid": [0, 0.5]}],
        "claims": [
            LEADER | {"kind": "rank", "within": 2, "method": "partial_dependence"},
            {"text": "a", "kind": "performance", "expected": 1, "tolerance": 0.1},
        ],
    }
    assert problems_of(document) == ()
    assert schema_errors(document) == []


def test_every_key_and_option_is_described():
    schema = json.dumps(json_schema.audit_schema())
    assert schema.count('"description": "') > 200
    assert '"description": ""' not in schema


# The example


def example():
    return tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))


def test_the_example_is_sound_and_holds_every_key():
    assert schema_errors(example()) == []
    assert load_config(EXAMPLE).seed == 1
    text = EXAMPLE.read_text(encoding="utf-8")
    rules = [rules_of(section) for section in (*TABLES.values(), *LISTS.values())]
    rules += [option_rules(method) for method in METHODS]
    rules += [claim_rules(kind) for kind in CLAIMS]
    keys = {*SCALARS, *(key for table in rules for key in table)}
    stand = set(re.findall(r"^(?:# )?(\w+) = ", text, flags=re.MULTILINE))
    assert keys - stand == set()
    headings = set(re.findall(r"^(?:# )?\[+(\w+)", text, flags=re.MULTILINE))
    assert headings == set(KEYS) - set(SCALARS)


def test_the_example_names_every_method_and_each_entry_is_sound():
    text = EXAMPLE.read_text(encoding="utf-8")
    names = set(re.findall(r'"(\w+)"', text.split("[[claims]]")[0]))
    assert set(METHODS) - names == set()
    entries = re.findall(r"^# \[\[importance\]\].*(?:\n.+)+", text, flags=re.MULTILINE)
    assert len(entries) == text.count("# [[importance]]")
    for entry in entries:
        document = tomllib.loads(re.sub(r"^# ", "", entry, flags=re.MULTILINE))
        (section,) = document["importance"]
        assert schema_errors(example() | document) == []
        own = options_of(METHODS[section["method"]].function)
        assert set(section) - {"method", "of", "top"} <= set(own)


@pytest.mark.parametrize("name", [*SCALARS, *TABLES])
def test_the_example_shows_the_defaults(name):
    shown, sound = example()[name], {"data": {"data": DATA}}.get(name, {})
    fresh = parse_config(sound).resolved()[name]
    if name in SCALARS:
        assert shown == fresh
        return
    for key in shown.keys() - set(required_of(TABLES[name])):
        assert shown[key] == fresh[key], key


def test_the_example_shows_the_defaults_of_models_and_methods():
    document = example()
    fresh = parse_config({"models": [MODEL]}).resolved()["models"][0]
    parameters = {key: document["models"][0][key] for key in ("parameters", "encoder")}
    assert parameters == {key: fresh[key] for key in parameters}
    for entry in document["importance"]:
        if entry.get("of") == "groups":
            continue
        (default,) = parse_config(
            {"data": DATA, "importance": [{"method": entry["method"]}]}
        ).resolved()["importance"]
        default["models"] = entry.get("models", [])
        usual = options_of(METHODS[entry["method"]].function)
        method = entry["method"]
        default |= {name: usual[name] for name in usual if is_later(method, name)}
        assert entry == {key: default[key] for key in entry}


OUTSIDE = """drop_column held_out 1.0|lowess_r2 fraction 0.0|lowess_r2 step 1.0
mrmr n_bins 1|firm span 1.5|relieff sigma 0.0|relieff different_above 1.5
sage tolerance -0.1|curve_impact n_grid 1|random_subspace n_repeats 1"""


@pytest.mark.parametrize("case", re.split(r"\||\n", OUTSIDE))
def test_what_a_method_could_not_measure_with_is_refused_before(case):
    method, option, outside = case.split()
    entry = {"method": method, option: json.loads(outside)}
    with pytest.raises(ConfigError, match=rf"\] {option} must be (above|at least) \d"):
        parse_config({"importance": [entry]})


@pytest.mark.parametrize("day", ["2025-13-01", "2025-01-45", "2025-1-1", "01.01.2025"])
def test_a_date_has_a_month_and_a_day(day):
    with pytest.raises(ConfigError, match=r"date must be a date such as '2026-11-21'"):
        parse_config({"supplied": [{"date": day}]})
