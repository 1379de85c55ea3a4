"""No message grows with a name, or hands a character to the terminal that it obeys."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import importance_audit as ia
from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset, read_datasets
from importance_audit.methods.importance import METHODS
from importance_audit.models.fit import wrap
from importance_audit.records.errors import AuditError, ConfigError

MOST = 5000
"""Characters of a message, whatever the names in it are."""
LONG = "x" * 20_000
ESCAPES = "\x1b[2J\x07\n\x9b\u2028\u202e"
COLUMNS = (f"a{LONG}", f"b{ESCAPES}", f"b{LONG}", "c")
CLASSES = (f"n{LONG}", f"y{ESCAPES}")


def check(text):
    """Fail if a message is too long, or holds what a terminal obeys."""
    for line in text.split("\n"):
        raw = [character for character in line if not character.isprintable()]
        assert len(line) <= MOST, f"{line[:200]} … {line[-200:]}"
        assert not raw, line


def table(n=40, levels=(f"u{LONG}", f"v{ESCAPES}")):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({name: random.normal(size=n) for name in COLUMNS})
    frame[COLUMNS[3]] = [levels[place % len(levels)] for place in range(n)]
    return frame


def target(task, n=40):
    random = np.random.default_rng(2)
    if task == "regression":
        return pd.Series(random.normal(size=n), name=f"t{LONG}{ESCAPES}")
    return pd.Series(np.array(CLASSES)[random.integers(0, 2, n)], name=f"t{LONG}")


def rows(task, **options):
    classes = {"classes": CLASSES} if task == "binary" else {}
    facts = {"name": f"rows{LONG}{ESCAPES}", "task": task, **classes}
    return dataset(table(), target(task), **(facts | options))


def model(task):
    classes = {"classes": CLASSES} if task == "binary" else {}

    def predict(frame):
        score = frame.iloc[:, 0].to_numpy(float)
        return 1 / (1 + np.exp(-score)) if task == "binary" else score

    name = f"model{LONG}{ESCAPES}"
    return wrap(predict, name=name, task=task, features=COLUMNS, **classes)


def messages(result):
    for finding in result.findings:
        yield from (finding.message, finding.remedy)


@pytest.mark.parametrize("task", ["regression", "binary"])
@pytest.mark.parametrize("of", ["features", "groups", "pairs"])
def test_no_finding_grows_with_the_names(task, of):
    methods = [name for name in METHODS if of in METHODS[name].of]
    document = {
        "importance": [{"method": name, "of": of} for name in methods],
        "groups": {f"g{LONG}": list(COLUMNS[:2]), f"h{ESCAPES}": list(COLUMNS[2:])},
    }
    config = parse_config(document)
    result = audit(None, rows(task), config, models=(model(task),))
    assert len(result.findings) > 5 or of == "pairs"
    for message in messages(result):
        check(message)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "binary"])
def test_no_finding_of_models_that_are_fitted_grows_with_the_names(task):
    kind = "Regressor" if task == "regression" else "Classifier"
    models = [
        {"name": f"{n}{LONG}{ESCAPES}", "estimator": f"sklearn.{path}{kind}"}
        for n, path in enumerate(("ensemble.RandomForest", "tree.DecisionTree"))
    ]
    models[0]["parameters"] = {"n_estimators": 5}
    document = {
        "models": models,
        "importance": [{"method": "permutation"}, {"method": "impurity"}],
        "claims": [
            {
                "text": f"claim{LONG}",
                "source": f"paper{LONG}",
                "kind": "leader",
                "method": "permutation",
                "model": models[0]["name"],
                "features": [COLUMNS[3]],
                "severity": "failure",
            }
        ],
        "expected": [{"features": [COLUMNS[2]], "place": "top", "reason": LONG}],
        "surfaces": [{"features": list(COLUMNS[:2])}],
        "stability": {"resamples": 2},
        "top_k": {"k": 2},
    }
    train = {"train": {"file": "a.csv"}, "test": {"file": "a.csv"}, "target": "y"}
    document["data"] = train | {"task": task}
    data = rows(task)
    result = audit(data, data, parse_config(document))
    assert {f.check for f in result.findings} >= {"claim_not_reproduced"}
    for message in messages(result):
        check(message)


FIRST = COLUMNS[0]
CHANGES = {
    "every column twice": lambda f: pd.concat([f, f], axis=1),
    "another order": lambda f: f.sort_index(ascending=False),
    "dates": lambda f: f.assign(**{FIRST: pd.Timestamp("2025-01-01")}),
    "gaps": lambda f: f.assign(**{FIRST: f[FIRST].where(f.index != 0)}),
    "another name": lambda f: f.rename(columns={FIRST: f"other{LONG}{ESCAPES}"}),
    "a column fewer": lambda f: f.iloc[:, :2],
}


@pytest.mark.parametrize("estimator", [LinearRegression(), RandomForestRegressor(9)])
@pytest.mark.parametrize("change", CHANGES)
def test_no_error_of_the_call_grows_with_the_names(estimator, change):
    frame, y = table().iloc[:, :3], target("regression")
    estimator.fit(frame, y)
    try:
        result = ia.audit({f"m{LONG}{ESCAPES}": estimator}, CHANGES[change](frame), y)
    except AuditError as error:
        check(str(error))
    else:
        for message in messages(result):
            check(message)


CALLS = (
    {"names": [f"a{LONG}"], "task": LONG},
    {"losses": [f"a{ESCAPES}{LONG}"]},
    {"methods": [f"a{ESCAPES}{LONG}"]},
    {"engines": [f"a{ESCAPES}{LONG}"]},
    {"groups": {f"g{LONG}": [f"c{ESCAPES}{LONG}"]}},
    {"task": f"{ESCAPES}{LONG}"},
    {"config": {f"{ESCAPES}{LONG}": 1}},
    {"names": [f"a{LONG}", f"a{LONG}"]},
)


@pytest.mark.parametrize("options", CALLS)
def test_no_refusal_of_the_call_grows_with_what_was_given(options):
    frame, y = table(), target("binary")
    forest = RandomForestClassifier(5).fit(frame[[COLUMNS[0]]], y)
    with pytest.raises((AuditError, ValueError, TypeError)) as error:
        ia.audit(forest, frame[[COLUMNS[0]]], y, **options)
    check(str(error.value))


SECTIONS = (
    {"target": f"{ESCAPES}{LONG}"},
    {"weights": f"{ESCAPES}{LONG}"},
    {"weights": COLUMNS[3]},
    {"target": COLUMNS[3]},
    {"features": [f"{ESCAPES}{LONG}", COLUMNS[0]]},
    {"held_out_columns": [f"{ESCAPES}{LONG}"]},
    {"categories": {COLUMNS[0]: ["p", f"q{LONG}"]}},
    {"categories": {COLUMNS[3]: ["p", f"q{LONG}"]}},
    {"categories": {f"{ESCAPES}{LONG}": ["p"]}},
    {"missing_values": [f"u{LONG}"]},
    {"task": "binary", "target": COLUMNS[0]},
    {"task": "binary", "target": COLUMNS[3], "positive_class": f"{ESCAPES}{LONG}"},
    {"test": {"column": f"{ESCAPES}{LONG}", "value": "a"}},
    {"test": {"column": COLUMNS[3], "value": f"{ESCAPES}{LONG}"}},
    {"train": {"file": "rows.csv", "index_column": f"{ESCAPES}{LONG}"}},
    {"train": {"file": "rows.csv", "encoding": f"{ESCAPES}{LONG}"}},
    {"train": {"file": f"{ESCAPES}.csv"}},
)


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("more", ["", "groups", "retired", "derived"])
def test_no_refusal_of_a_file_grows_with_its_names(section, more, tmp_path):
    table().to_csv(tmp_path / "rows.csv", index=False)
    data = {
        "train": {"file": "rows.csv"},
        "test": {"fraction": 0.25},
        "target": COLUMNS[0],
        "task": "regression",
    }
    document = {
        "data": data | section,
        "models": [{"name": "m", "estimator": "sklearn.tree.DecisionTreeRegressor"}],
        "importance": [{"method": "permutation"}],
    }
    if more == "groups":
        document["groups"] = {f"g{LONG}{ESCAPES}": [f"z{LONG}{ESCAPES}"]}
    if more == "derived":
        formula = f"`z{LONG[:1000]}{ESCAPES}` == 'x'"
        document["derived"] = [{"name": f"d{LONG}", "expression": formula}]
    if more == "retired":
        name, of = f"d{LONG}{ESCAPES}", [f"z{LONG}{ESCAPES}"]
        document["derived"] = [
            {"name": name, "kind": "level", "of": of, "level": of[0]}
        ]
    try:
        config = parse_config(document, base=tmp_path)
        sections = {"groups": config.groups, "derived": config.derived}
        read_datasets(config.data, base=tmp_path, **sections)
    except AuditError as error:
        problems = error.problems if isinstance(error, ConfigError) else [str(error)]
        for problem in problems:
            check(problem)
    else:
        assert ("missing_values" in section, more) == (True, "")
