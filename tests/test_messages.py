"""What a user reads after a mistake: one input, the whole message."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from importance_audit.config.load import load_config, parse_config
from importance_audit.data.datasets import dataset, read_datasets
from importance_audit.methods.importance import METHODS
from importance_audit.records.errors import ConfigError, DataError, listed

DATA = {
    "train": {"file": "a.csv"},
    "test": {"fraction": 0.25},
    "target": "y",
    "task": "regression",
}
MODEL = {"name": "m", "estimator": "a.B"}
SEE_INIT = " `importance-audit init` writes a file that has every key."
BINARY = DATA | {"task": "binary"}

NAMES = listed(METHODS)
SCRIPTS = "'rds' and 'sha256' or 'r_script'"
KEYS = f"'file' or 'r' or 'sklearn' or {SCRIPTS} or 'fraction' or 'column' and 'value'"


def table(**keys):
    """Return a printed table claimed of an entry called first."""
    told = {"text": "t", "kind": "printed", "method": "permutation", "decimals": 1}
    return {
        "importance": [{"method": "permutation", "name": "first"}],
        "claims": [{**told, "numbers": {"a": 1.0}, **keys}],
    }


def asked(**entry):
    """Return a configuration with data, two models and one question."""
    models = [MODEL, MODEL | {"name": "forest"}]
    entry = {"method": "permutation"} | entry
    return {"data": DATA, "models": models, "importance": [entry]}


def claimed(entry, **claim):
    """Return the same with one claim about what the entry asks."""
    asks = {"text": "a leads", "kind": "leader", "features": ["a"], "method": METHOD}
    return asked(**entry) | {"claims": [asks | claim]}


METHOD = "permutation"
PEOPLE = "'role' and 'name' or 'role' and 'name' and 'relation'"
OF_GROUPS = {"of": "groups"}
OFTEN = {"within": 1, "expected": 1, "tolerance": 0}

CONFIG = [
    # A key, its type, its range
    (
        {"sede": 1},
        "the top level must hold known keys only, but 'sede' was given. "
        "Did you mean 'seed'?",
    ),
    (
        {"data": DATA | {"targt": "y"}},
        "[data] must hold known keys only, but 'targt' was given. "
        "Did you mean 'target'?",
    ),
    (
        {"data": DATA | {"fail_on": "failure"}},
        "[data] must hold known keys only, but 'fail_on' was given. "
        "It belongs at the top level, before the first section.",
    ),
    (
        asked(stream="DALEX"),
        "[importance] must hold known keys only, but 'stream' was given. "
        "The audit sets it.",
    ),
    (
        {"seed": 2**31},
        "seed must be an integer from 0 to 2147483647, but 2147483648 was given.",
    ),
    (
        {"seed": True},
        "seed must be an integer from 0 to 2147483647, but true was given.",
    ),
    (
        {"fail_on": "warnings"},
        "fail_on must be one of 'failure', 'warning', but 'warnings' was given. "
        "Did you mean 'warning'?",
    ),
    (
        {"require": ["DALEXX"]},
        "require must be a list of names among 'vip', 'DALEX', 'hstats', 'iml', "
        "'pdp', each once, but 'DALEXX' "
        "was given. Did you mean 'DALEX'?",
    ),
    ({"data": 3}, "[data] must be a table, but 3 was given."),
    (
        {"models": {"name": "m"}},
        "models must be a list of tables, [[models]], but {'name': 'm'} was given.",
    ),
    (
        {"importance": []},
        "importance must be a list of tables, [[importance]], but [] was given.",
    ),
    ({"importance": [3]}, "[importance] must be a table, but 3 was given."),
    (
        {"report": {"people": [{"role": "owner", "name": "A"}, "me"]}},
        f"[report] people must be a list of tables with {PEOPLE}, but 'me' was given.",
    ),
    (
        {"report": {"people": [{"role": "owner", "name": " "}]}},
        "[report] people.1.name must be a text that is not empty, but ' ' was given.",
    ),
    (
        {"report": {"people": [{"role": "owner"}]}},
        "[report] people.1.name must be a text that is not empty, but it is missing.",
    ),
    (
        {"report": {"rationale": {"a": ""}}},
        "[report] rationale.a must be a text that is not empty, but '' was given.",
    ),
    (
        {"report": {"limits": "none"}},
        "[report] limits must be a list of texts, each once, but 'none' was given.",
    ),
    (
        {"report": {"limits": ["x" * 90] * 2}},
        f"[report] limits must be a list of texts, each once, but '{'x' * 56}... was "
        "given twice.",
    ),
    (
        {"report": {"limits": ["x" * 58] * 2}},
        f"[report] limits must be a list of texts, each once, but '{'x' * 58}' was "
        "given twice.",
    ),
    (
        {"checks": {"resolution": 0}},
        "[checks] resolution must be a number above 0, but 0 was given.",
    ),
    (
        {"r": {"seconds": float("inf")}},
        "[r] seconds must be a number above 0, but inf was given.",
    ),
    (
        {"r": {"memory_gb": 0.06}},
        "[r] memory_gb must be a number of at least 0.0625, but 0.06 was given.",
    ),
    (
        {"groups": {"size": []}},
        "[groups] size must be a list of 1 or more texts, each once, but [] was given.",
    ),
    ({"groups": 3}, "groups must be a table of lists of texts, but 3 was given."),
    # Data
    (
        {"data": {key: DATA[key] for key in ("train", "test", "task")}},
        "[data] target must be given, but it is missing." + SEE_INIT,
    ),
    (
        {"data": DATA | {"task": "regresion"}},
        "[data] task must be one of 'regression', 'binary', 'multiclass', but "
        "'regresion' was given. Did you mean 'regression'?",
    ),
    (
        {"data": DATA | {"target": " "}},
        "[data] target must be a text that is not empty, but ' ' was given.",
    ),
    (
        {"data": DATA | {"test": {"fraction": 25}}},
        "[data] test.fraction must be a number above 0 and below 1, but 25 was given.",
    ),
    (
        {"data": DATA | {"test": {"column": "split"}}},
        "[data] test.value must be a text or a number or true or false, but it is "
        "missing.",
    ),
    (
        {"data": DATA | {"train": {"r": "apartments"}}},
        "[data] train.r must be an R data set 'package::name', but 'apartments' was "
        "given.",
    ),
    (
        {"data": DATA | {"train": {"sklearn": "diabetes"}}},
        "[data] train.sklearn must be a loader of sklearn.datasets such as "
        "'load_iris', but 'diabetes' was given.",
    ),
    (
        {"data": DATA | {"categories": {"zone": ["a", "a"]}}},
        "[data] categories.zone must be a list of 1 or more texts, each once, but 'a' "
        "was given twice.",
    ),
    (
        {"data": DATA | {"positive_class": 1}},
        "[data] positive_class must be left out for task 'regression', but 1 was "
        "given.",
    ),
    (
        {"data": BINARY | {"positive_class": [1]}},
        "[data] positive_class must be a text or an integer or true or false, but [1] "
        "was given.",
    ),
    (
        {"data": DATA | {"weights": "y"}},
        "[data] weights must be another column than the target, but 'y' was given.",
    ),
    (
        {"data": DATA | {"features": ["x", "y"]}},
        "[data] features must leave out the target, but hold 'y'.",
    ),
    (
        {"data": DATA | {"weights": "w", "features": ["w"]}},
        "[data] features must leave out the weights, but hold 'w'.",
    ),
    (
        {"data": DATA | {"test": {"column": "y", "value": 1}}},
        "[data] test.column must be another column than the target and the weights, "
        "but 'y' was given.",
    ),
    # Models
    (
        {"models": [{"estimator": "a.B"}]},
        "[models] name must be given, but it is missing." + SEE_INIT,
    ),
    # Claims
    (
        claimed({}, kind="leads"),
        "[claims] kind must be one of 'leader', 'rank', 'last', 'order', 'sign' and 11 "
        "more, but 'leads' was given. Did you mean 'leader'?",
    ),
    (
        claimed({}, kind="rank"),
        f"[claims] within must be given, but it is missing.{SEE_INIT}",
    ),
    (
        claimed({}, kind="frequency", model="m", **OFTEN),
        "[claims] model must be left out for kind 'frequency', which is about all of "
        "them, but 'm' was given.",
    ),
    (
        claimed({"method": "anova"}, kind="frequency", method="anova", **OFTEN),
        "[claims] method must ask models for kind 'frequency', but 'anova' asks the "
        "data.",
    ),
    (
        claimed({}, kind="ratio", expected=1, tolerance=0),
        "[claims] features must name 2 for kind 'ratio', but 'a' was given.",
    ),
    (
        claimed({}, kind="order"),
        "[claims] features must name 2 or more for kind 'order', but 'a' was given.",
    ),
    (
        claimed({}, kind="performance", expected=1, tolerance=0),
        "[claims] method must be left out for kind 'performance', but 'permutation' "
        "was given.",
    ),
    (
        claimed({}, method=None),
        "[claims] method must be given for kind 'leader', but it is missing.",
    ),
    (
        claimed({}, kind="line", intercept=0, slope=1, tolerance=0),
        "[claims] method must have curves for kind 'line', but 'permutation' has none.",
    ),
    (
        claimed({}, method="impurity"),
        "[claims] method must be asked under [[importance]], but 'impurity' of "
        "features is not.",
    ),
    (
        claimed(OF_GROUPS, of="groups") | {"groups": {"all": ["x"]}},
        "[claims] features must be groups of [groups], but 'a' is none.",
    ),
    (
        claimed({"engines": ["vip"]}, engine="DALEX"),
        "[claims] engine must be asked 'permutation' under [[importance]], but 'DALEX' "
        "is not.",
    ),
    (
        claimed({"models": ["m"]}, model="forest"),
        "[claims] model must be asked 'permutation' under [[importance]], but 'forest' "
        "is not.",
    ),
    (
        claimed({"method": "spearman"}, method="spearman", model="m"),
        "[claims] model must be left out for method 'spearman', which asks the data, "
        "but 'm' was given.",
    ),
    (
        claimed({"losses": ["rmse"]}, model="m", loss="mae"),
        "[claims] loss must be one that 'permutation' is asked under [[importance]], "
        "but 'mae' is not.",
    ),
    (
        claimed({"losses": ["rmse", "mae"]}, model="m"),
        "[claims] loss must be given where 'permutation' is asked several, but it is "
        "missing.",
    ),
    *(
        (
            claimed(
                {"losses": ["rmse", "mae"]}, kind=kind, method=None, features=[], **more
            ),
            f"[claims] loss must be given for kind {kind!r} where several are asked, "
            "'rmse', 'mae', but it is missing.",
        )
        for kind, more in (
            ("performance", {"expected": 1, "tolerance": 0}),
            ("explained", {"expected": 1, "tolerance": 0, "model": "m"}),
            ("cross_validated", {"expected": 1, "tolerance": 0}),
        )
    ),
    (
        claimed({"method": "impurity"}, method="impurity", model="m", loss="mae"),
        "[claims] loss must be left out for method 'impurity', which measures no loss, "
        "but 'mae' was given.",
    ),
    (
        {"models": [MODEL, MODEL]},
        "[models 2] name must be given to one model only, but 'm' is not. Give each "
        "model a name of its own.",
    ),
    (
        {"models": [{"name": "m"}]},
        "[models] estimator, file or r_script must be given, one of them, but none was "
        "given.",
    ),
    (
        {"models": [MODEL | {"file": "m.joblib"}]},
        "[models] estimator, file or r_script must be given, one of them, but "
        "'estimator', 'file' were given.",
    ),
    (
        {"models": [{"name": "m", "r_script": "m.R", "encoder": "ordinal"}]},
        "[models] encoder must be left out for a model of R, which reads factors, but "
        "'ordinal' was given.",
    ),
    (
        {"models": [{"name": "m", "r_script": "m.R", "parameters": {"ntree": 5}}]},
        "[models] parameters must be left out for an R script, which says itself how "
        "it fits, but 'ntree' was given.",
    ),
    (
        {"models": [{"name": "m", "file": "m.joblib"}]},
        "[models] sha256 must be given for a file, because loading it runs its code, "
        "but it is missing. Run: sha256sum m.joblib",
    ),
    (
        {"models": [{"name": "m", "file": "m.joblib", "sha256": "ABC"}]},
        "[models] sha256 must be 64 hexadecimal digits in lower case, but 'ABC' was "
        "given.",
    ),
    (
        {"models": [MODEL | {"sha256": "0" * 64}]},
        "[models] sha256 must be left out without file, but it was given.",
    ),
    (
        {
            "models": [
                {"name": "m", "file": "m", "sha256": "0" * 64, "standardise": True}
            ]
        },
        "[models] standardise must be left out for a file, which is fitted already, "
        "but true was given.",
    ),
    (
        {
            "models": [
                {"name": "m", "file": "m", "sha256": "0" * 64, "parameters": {"a": 1}}
            ]
        },
        "[models] parameters must be left out for a file, which is fitted already, but "
        "'a' was given.",
    ),
    (
        {"models": [MODEL | {"estimator": "RandomForestRegressor"}]},
        "[models] estimator must be an import path such as 'package.module.Class', but "
        "'RandomForestRegressor' was given.",
    ),
    (
        {"models": [MODEL | {"encoder": "onehot"}]},
        "[models] encoder must be one of 'auto', 'none', 'ordinal', 'one_hot', but "
        "'onehot' was given. Did you mean 'one_hot'?",
    ),
    (
        {"models": [MODEL | {"parameters": {"seed": object}}]},
        "[models] parameters.seed must be a text, a number, true or false, a list or a "
        "table, but <class 'object'> was given.",
    ),
    (
        {"models": [MODEL | {"parameters": {"a": {1: 2}}}]},
        "[models] parameters.a must be a text, a number, true or false, a list or a "
        "table, but {1: 2} was given.",
    ),
    # Questions
    (
        {"importance": [{}]},
        "[importance] method must be given, but it is missing." + SEE_INIT,
    ),
    (
        asked(method="permutaion"),
        f"[importance] method must be one of {NAMES}, but 'permutaion' was given. "
        "Did you mean 'permutation'?",
    ),
    (
        asked(n_repeats=0),
        "[importance] n_repeats must be an integer of at least 1, but 0 was given.",
    ),
    (
        asked(method="partial_dependence", grid="evn"),
        "[importance] grid must be one of 'even', 'unique', 'quantile' or a list of "
        "numbers, but 'evn' was given. Did you mean 'even'?",
    ),
    (
        asked(method="impurity", normalised="yes"),
        "[importance] normalised must be true or false, but 'yes' was given.",
    ),
    (
        asked(engines=["python"]),
        "[importance] engines must be a list of names among 'vip', 'DALEX', 'hstats', "
        "'iml', 'pdp', each once, "
        "but 'python' was given.",
    ),
    (
        asked(losses=["rsme"]),
        "[importance] losses must be a list of names among 'rmse', 'mse', "
        "'sum_of_squares', 'mae', 'poisson_deviance' and 11 more, each once, but "
        "'rsme' was given. Did you mean 'rmse'?",
    ),
    (
        asked(losses=["log_loss"]),
        "[importance] losses must suit task 'regression', but 'log_loss' is for "
        "'binary', 'multiclass'. Leave it out for 'rmse'.",
    ),
    (
        asked(method="impurity", losses=["rmse"]),
        "[importance] losses must be left out for method 'impurity', which measures no "
        "loss, but 'rmse' was given.",
    ),
    (
        asked(method="impurity", form="ratio"),
        "[importance] form must not be 'ratio' for method 'impurity', whose baseline "
        "is 0, but it is.",
    ),
    (
        asked(of="groups"),
        "[importance] of must be 'features' without [groups], but is 'groups'.",
    ),
    (
        asked(of="pairs"),
        "[importance] of must be one of 'features', 'groups' for method 'permutation', "
        "but is 'pairs'.",
    ),
    (
        asked(method="vint"),
        "[importance] of must be one of 'pairs', 'groups' for method 'vint', but is "
        "'features'.",
    ),
    (
        {
            "groups": {"size": ["a"]},
            "expected": [
                {"features": ["seize"], "of": "groups", "place": "top", "reason": "r"}
            ],
        },
        "[expected] features must be groups of [groups], but 'seize' is none. Did you "
        "mean 'size'?",
    ),
    (
        {"importance": [{"method": "impurity"}, {"method": "impurity"}]},
        "[importance 2] must ask something new of its models, but 'impurity' of "
        "'features' is asked by an entry before it.",
    ),
    (
        asked(method="impurity", features=["a"]),
        "[importance] features must be left out for method 'impurity', which asks all, "
        "but 'a' was given.",
    ),
    (
        {"groups": {"size": ["a"]}, **asked(of="groups", features=["seize"])},
        "[importance] features must be groups of [groups], but 'seize' is none. Did "
        "you mean 'size'?",
    ),
    (
        asked(seed=-1),
        "[importance] seed must be an integer from 0 to 2147483647, but -1 was given.",
    ),
    (
        {
            "importance": [
                {"method": "permutation", "name": "first"},
                {"method": "impurity", "name": "first"},
            ]
        },
        "[importance 2] name must be given to one entry only, but 'first' is not. Give "
        "each a name of its own.",
    ),
    (
        table(entry="frst"),
        "[claims] entry must be the name of an [[importance]] entry, but 'frst' is "
        "none. Did you mean 'first'?",
    ),
    (
        table(numbers={}),
        "[claims] numbers must hold one number or more for kind 'printed', but are "
        "empty.",
    ),
    (
        table(numbers={"a": 1.5, "b": 0.126}),
        "[claims] numbers must have at most the 1 decimals they are held to, but that "
        "of 'b' is 0.126.",
    ),
    (
        table(features=["a"]),
        "[claims] features must be left out for kind 'printed', whose numbers name "
        "them, but 'a' was given.",
    ),
    (
        table(engine="python"),
        "[claims] engine must be left out for kind 'printed', but 'python' was given. "
        "Use engines.",
    ),
    (
        table(paper=1.0),
        "[claims] paper must be left out for kind 'printed', but 1.0 was given. Use "
        "numbers.",
    ),
    (
        table(engines=["DALEX"]),
        "[claims] engine must be asked 'permutation' under [[importance]], but 'DALEX' "
        "is not.",
    ),
    (
        {
            "importance": [{"method": "permutation", "name": "first"}],
            "claims": [
                {
                    "text": "t",
                    "kind": "performance",
                    "entry": "first",
                    "expected": 1.0,
                    "tolerance": 0.1,
                }
            ],
        },
        "[claims] entry must be left out for kind 'performance', but 'first' was "
        "given.",
    ),
]


@pytest.mark.parametrize(("given", "message"), CONFIG)
def test_configuration(given, message):
    with pytest.raises(ConfigError) as found:
        parse_config(given)
    assert found.value.problems == (message,)


SOUND = """\
[data]
train = { file = "a.csv" }
test = { fraction = 0.5 }
target = "y"
task = "binary"
[[models]]
name = "forest"
estimator = "a.B"
"""
FILES = [
    (
        b"seed = \n",
        "audit.toml must be TOML, but is not: Invalid value (at line 1, column 8). "
        "Correct it there.",
    ),
    (
        b"[report]\nowner = '\xe9'\n",
        "audit.toml must be UTF-8, but byte 19 is not. Save it as UTF-8.",
    ),
    (
        b"seed = 1\n",
        "audit.toml: [data] must be given, but it is missing." + SEE_INIT + "\n"
        "audit.toml: [models] must be given, but it is missing." + SEE_INIT,
    ),
    (
        SOUND.replace('"a.B"', '""\nencoder = ""').encode(),
        "audit.toml: [models] encoder must be one of 'auto', 'none', 'ordinal', "
        "'one_hot', but '' was given.\naudit.toml: [models] estimator, file or "
        "r_script must be given, one of them, but none was given.",
    ),
    (
        SOUND.encode() + b'[[importance]]\nmethod = "permutation"\nlosses = ["mae"]\n',
        "audit.toml: [importance] losses must suit task 'binary', but 'mae' is for "
        "'regression'. Leave it out for 'one_minus_auc'.",
    ),
    (
        SOUND.encode() + b'[[importance]]\nmethod = "impurity"\nmodels = ["forst"]\n',
        "audit.toml: [importance] models must name some of 'forest', but 'forst' was "
        "given. Did you mean 'forest'?",
    ),
]


@pytest.mark.parametrize(("content", "message"), FILES)
def test_configuration_file(content, message, tmp_path):
    (tmp_path / "audit.toml").write_bytes(content)
    with pytest.raises(ConfigError) as found:
        load_config(tmp_path)
    assert str(found.value) == message


def test_no_configuration_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as found:
        load_config("reports/rents")
    assert str(found.value) == (
        "audit.toml must be readable, but 'reports/rents' is not: no such file or "
        "directory. Write one with: importance-audit init"
    )


ROWS = "x,zone,y\n1,a,0\n2,b,1\n3,a,0\n4,b,1\n"
CLASSES = {"task": "binary"}
TEST_TABLE = "[data] test"

TABLES = [
    # The file
    (
        b"",
        {},
        "a.csv must hold a table, but it is empty. Save it with a line of column names "
        "and its rows.",
    ),
    (
        b"\n \n",
        {},
        "a.csv must hold a table, but it is empty. Save it with a line of column names "
        "and its rows.",
    ),
    (
        b"x,y\n1,caf\xe9\n",
        {},
        "a.csv must be UTF-8, but byte 0xe9 in line 2 is not. Save it as UTF-8.",
    ),
    (
        "x;y\n1,5;2\n",
        {},
        "a.csv: cells must be separated by commas, but the first line holds semicolons "
        "and no comma: 'x;y'. Save it with commas, and numbers with a decimal point.",
    ),
    (
        "x\ty\n1\t2\n",
        {},
        "a.csv: cells must be separated by commas, but the first line holds tabs and "
        r"no comma: 'x\ty'. Save it with commas, and numbers with a decimal point.",
    ),
    (
        "x,y\n1,2\n3,4,5\n",
        {},
        "a.csv: every line must have 2 cells like the first, but line 3 has 3. Quote "
        "cells that hold a comma.",
    ),
    (
        'x,y\n1,"2" 3\n',
        {},
        "a.csv must be a CSV file, but line 2 is not: ',' expected after '\"'.",
    ),
    (
        ",x,y\n1,2,3\n",
        {},
        "a.csv: every column must have a name, but column 1 has none. Name it, or save "
        "the table without row numbers.",
    ),
    (
        "x,y,x\n1,2,3\n",
        {},
        "a.csv: column names must differ, but 'x' stands there more than once. Rename "
        "one of them.",
    ),
    ("x,y\n", {}, "a.csv must have two rows or more, but has none. Give more rows."),
    ("x,y\n1,2\n", {}, "a.csv must have two rows or more, but has 1. Give more rows."),
    # Names
    (
        ROWS,
        {"target": "yy"},
        "a.csv must have column 'yy' ([data] target), but has none of that name. Did "
        "you mean 'y'?",
    ),
    (
        ROWS,
        {"weights": "case_weight"},
        "a.csv must have column 'case_weight' ([data] weights), but has none of that "
        "name. Its columns: 'x', 'zone', 'y'.",
    ),
    (
        ROWS,
        {"features": ["x", "zones"]},
        "a.csv must have column 'zones' ([data] features), but has none of that name. "
        "Did you mean 'zone'?",
    ),
    (
        ROWS,
        {"test": {"column": "zne", "value": "a"}},
        "a.csv must have column 'zne' ([data] test), but has none of that name. Did "
        "you mean 'zone'?",
    ),
    (
        ROWS,
        {"categories": {"zon": ["a", "b"]}},
        "a.csv must have column 'zon' ([data] categories), but has none of that name. "
        "Did you mean 'zone'?",
    ),
    (
        ROWS,
        {"groups": {"place": ["zone", "xx"]}},
        "[groups] place must name features, but 'xx' is none of them. Did you mean "
        "'x'?",
    ),
    (
        ROWS,
        {"groups": {"all": ["x", "y"]}},
        "[groups] all must name features, but 'y' is none of them.",
    ),
    (
        "y\n1\n2\n",
        {},
        "a.csv must have a column that is a feature, but all have other roles.",
    ),
    # Cells
    (
        "x,y\n1,1\n2,2\nNA,3\n4,4\n",
        {},
        "a.csv: column 'x' must say which of its texts mean missing, but holds "
        "'NA' in 1 of 4 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.",
    ),
    (
        "x,y\n1,1\n2,0\n-,1\n4,n/a\n",
        CLASSES,
        "a.csv: column 'x' must say which of its texts mean missing, but holds "
        "'-' in 1 of 4 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.\n"
        "a.csv: column 'y' must say which of its texts mean missing, but holds "
        "'n/a' in 1 of 4 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.",
    ),
    (
        "x,y\n1,1\n2,0\n3,1\n4,n/a\n",
        {},
        "a.csv: column 'y' must say which of its texts mean missing, but holds "
        "'n/a' in 1 of 4 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.",
    ),
    (
        "x,y\nNA,1\n?,2\nNA,3\n4,4\n",
        {},
        "a.csv: column 'x' must say which of its texts mean missing, but holds "
        "'NA', '?' in 3 of 4 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.",
    ),
    (
        "x,y\nnull,1\nnull,2\ntrue,3\n null ,4\n",
        {},
        "a.csv: column 'x' must say which of its texts mean missing, but holds "
        "'null', ' null ' in 3 of 4 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.",
    ),
    (
        "x,y\n1,0\n2,1\n3,2\n4,?\n",
        {"task": "multiclass"},
        "a.csv: column 'y' must say which of its texts mean missing, but holds "
        "'?' in 1 of 4 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.",
    ),
    (
        "x,y\n  ,1\na,2\n",
        {},
        "a.csv: column 'x' must say which of its texts mean missing, but holds "
        "'  ' in 1 of 2 cells. Add what "
        "means missing to [data] missing_values, or declare the levels under [data] "
        "categories.",
    ),
    (
        "x,y\n1,1\nNA,2\nNA,3\nlow,4\n2,5\n",
        {},
        "a.csv: column 'x' must hold numbers only, because most of its cells do, but 3 "
        "of 5 are text: 'NA', 'low'. Add what means missing to [data] missing_values, "
        "or declare the levels under [data] categories.",
    ),
    (
        "x,y\n1,1\n9007199254740993,2\n",
        {},
        "a.csv: column 'x' must hold numbers that float64 holds to the last digit, but "
        "holds 9007199254740993. Declare the levels under [data] categories, or list "
        "the other columns under [data] features.",
    ),
    (
        'x,y\n"1,5",1\n2,2\nNA,3\n"1.234,5",4\n',
        {},
        "a.csv: column 'x' must hold numbers written like 1234.5, but holds '1,5', "
        "'1.234,5'. Write them so in the file, declare the levels under [data] "
        "categories, or list the other columns under [data] features.",
    ),
    (
        "x,y\n2024-01-31,1\n2024-02-01T12:00,2\n",
        {},
        "a.csv: column 'x' must hold numbers or levels, but holds dates such as "
        "'2024-01-31'. Make numbers of them in the file, declare the levels under "
        "[data] categories, or list the other columns under [data] features.",
    ),
    (
        "x,y\nup,1\nup ,2\ndown,3\n",
        {},
        "a.csv: column 'x' must have levels that differ by more than blanks, but has "
        "'up', 'up '. Take the blanks out of the file, or declare the levels under "
        "[data] categories.",
    ),
    (
        ROWS,
        {"categories": {"zone": ["a", "c"]}},
        "a.csv: column 'zone' must hold the levels declared under [data] categories, "
        "but 'b' is not among them. Declare every level.",
    ),
    (
        "x,y\n1,1\n-inf,2\nInfinity,3\n4,4\n",
        {"test": {"file": "a.csv"}},
        "a.csv (training rows): column 'x' must be finite, but 2 cells are infinite. "
        "Correct them, or leave those rows out.\n"
        "a.csv (test rows): column 'x' must be finite, but 2 cells are infinite. "
        "Correct them, or leave those rows out.",
    ),
    (
        "x,y\ninf,1\nInf,2\n",
        {"test": {"file": "b.csv"}, "b": "x,y\n-inf,1\ninf,2\n"},
        "a.csv: column 'x' must be finite, but 2 cells are infinite. Correct them, "
        "or leave those rows out.\n"
        "b.csv: column 'x' must be finite, but 2 cells are infinite. Correct them, "
        "or leave those rows out.",
    ),
    (
        "x,y,s\n,1,a\n,2,a\n3,3,b\n4,4,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv (training rows): column 'x' must have a value in some row, but every "
        "cell is missing. Leave it out of features.",
    ),
    (
        "x,y,s\nu,1,a\nv,2,a\nw,3,b\nu,4,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv (test rows): column 'x' must have its test levels among those of the "
        "training rows, but 'w' is in the test rows only. It names rows, each by a "
        "level of its own: list the other columns under [data] features.",
    ),
    (
        "x,y,s\nu,1,a\nu,2,a\nw,3,b\nu,4,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv (test rows): column 'x' must have its test levels among those of the "
        "training rows, but 'w' is in the test rows only. Split otherwise, or put rare "
        "levels together.",
    ),
    # Splits
    (
        ROWS,
        {"test": {"column": "zone", "value": "c"}},
        "a.csv: column 'zone' must hold the value of the test rows, but 'c' is none of "
        "'a', 'b'.",
    ),
    (
        "x,y,s\n1,1,a\n2,2,\n3,3,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv: column 's' must have a value in every row, because it splits the rows, "
        "but 1 of 3 cells is missing. Leave those rows out.",
    ),
    (
        ROWS,
        {"test": {"fraction": 0.3}},
        "a.csv (test rows) must have two rows or more, but has 1. Give more rows.",
    ),
    # Weights
    (
        "x,y,w\n1,1,1\n2,2,-1\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,1\n2,2,0\n"},
        "a.csv: column 'w' must not be negative, but 1 of 2 weights is. Correct them.",
    ),
    (
        "x,y,w\n1,1,1\n2,2,1\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,0\n2,2,0\n"},
        "b.csv: column 'w' must be above 0 in some row, but every weight is 0. Give "
        "these rows weights, or leave [data] weights out.",
    ),
    (
        "x,y,w\n1,1,1\n2,2,\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,0\n2,2,1\n"},
        "a.csv: column 'w' must have a value in every row, because it weighs the rows, "
        "but 1 of 2 cells is missing. Leave those rows out.",
    ),
    (
        "x,y,w\n1,1,1\n2,2,inf\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,0\n2,2,1\n"},
        "a.csv: column 'w' must be finite, but 1 cell is infinite. Correct them, or "
        "leave those rows out.",
    ),
    (
        "x,y,w\n1,1,a\n2,2,b\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,a\n2,2,b\n"},
        "a.csv: column 'w' must hold numbers to weigh the rows, but it holds texts.\n"
        "b.csv: column 'w' must hold numbers to weigh the rows, but it holds texts.",
    ),
    # The target
    (
        "x,y\n1,1\n2,\n3,3\n4,4\n",
        {"test": {"file": "b.csv"}, "b": "x,y\n1,1\n2,2\n"},
        "a.csv: target 'y' must have a value in every row, because it is the target, "
        "but 1 of 4 cells is missing. Leave those rows out.",
    ),
    (
        "x,y\n1,a\n2,b\n",
        {"test": {"file": "b.csv"}, "b": "x,y\n1,a\n2,b\n"},
        "a.csv: target 'y' must hold numbers for task 'regression', but it holds "
        "texts. Set task to binary or multiclass.\nb.csv: target 'y' must hold "
        "numbers for task 'regression', but it holds texts. Set task to binary or "
        "multiclass.",
    ),
    (
        "x,y\n1,0\n2,1\n3,unknown\n4,1\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' must have two classes for task 'binary', "
        "but 3 were found: '0', '1', 'unknown'. Name another target or "
        "task, or add rows.",
    ),
    (
        "x,y\n1,0\n2,0\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' must have two classes for task 'binary', "
        "but 1 was found: '0'. Name another target or "
        "task, or add rows.",
    ),
    (
        "x,y\n1,0\n2,0\n",
        {"task": "multiclass", "test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' must have at least two classes for task "
        "'multiclass', but 1 was found: '0'. Name another target or "
        "task, or add rows.",
    ),
    (
        "x,y\n1,0\n2,1\n",
        CLASSES | {"test": {"file": "b.csv"}, "b": "x,y\n1,1\n2,1\n"},
        "b.csv: target 'y' must have two classes or more in every split, but only '1' "
        "was found. Split otherwise.",
    ),
    (
        "x,y\n1,a\n2,b\n",
        {"task": "multiclass", "test": {"file": "b.csv"}, "b": "x,y\n1,a\n2,c\n"},
        "b.csv: target 'y' must hold the classes 'a', 'b', but 'c' stands there as "
        "well.",
    ),
    (
        "x,y\n1,1\n2,yes\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' must have its positive class named, one "
        "of '1', 'yes', but it is not. Set [data] positive_class; in Python, give "
        "classes with it last.",
    ),
    (
        "x,y\n1,2\n2,3\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' must have its positive class named, one "
        "of '2', '3', but it is not. Set [data] positive_class; in Python, give "
        "classes with it last.",
    ),
    (
        "x,y\n1,no\n2,yes\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' must have its positive class named, one "
        "of 'no', 'yes', but it is not. Set [data] positive_class; in Python, give "
        "classes with it last.",
    ),
    (
        "x,y\n1,no\n2,yes\n",
        CLASSES | {"test": {"file": "a.csv"}, "positive_class": "Yes"},
        "a.csv (training rows): target 'y' must have the positive class among 'no', "
        "'yes', but 'Yes' was given.",
    ),
]


def read(folder, content, changed):
    """Read the rows of a configuration whose table is `content`."""
    changed = dict(changed)
    if isinstance(content, str):
        content = content.encode()
    (folder / "a.csv").write_bytes(content)
    (folder / "b.csv").write_text(changed.pop("b", ""), encoding="utf-8")
    groups = changed.pop("groups", {})
    data = DATA | {"test": {"fraction": 0.5}} | changed
    return read_datasets(
        **parse_config({"data": data, "groups": groups}, base=folder).data_arguments
    )


@pytest.mark.parametrize(("content", "changed", "message"), TABLES)
def test_tables(content, changed, message, tmp_path):
    with pytest.raises(DataError) as found:
        read(tmp_path, content, changed)
    assert str(found.value) == message


SOURCES = [
    (
        {"file": "no.csv"},
        "[data] file must be readable, but 'no.csv' is not: no such file or directory.",
    ),
    (
        {"file": "a.xlsx"},
        "a.xlsx must be a .csv or .parquet file, but its name ends in '.xlsx'.",
    ),
    (
        {"sklearn": "load_diabetis"},
        "[data] sklearn must be one of 'load_breast_cancer', 'load_diabetes', "
        "'load_digits', 'load_iris', 'load_linnerud', 'load_wine', but 'load_diabetis' "
        "was given. Did you mean 'load_diabetes'?",
    ),
]


@pytest.mark.parametrize(("source", "message"), SOURCES)
def test_sources(source, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = parse_config({"data": DATA | {"train": source}})
    with pytest.raises(DataError) as found:
        read_datasets(**config.data_arguments)
    assert str(found.value) == message


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_parquet_without_pyarrow(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    data = DATA | {"train": {"file": "a.parquet"}}
    with pytest.raises(DataError) as found:
        read_datasets(**parse_config({"data": data}, base=tmp_path).data_arguments)
    assert str(found.value) == (
        "a.parquet: pyarrow must be installed for Parquet files, but it is not. Run: "
        "pip install pyarrow, or save the table as CSV."
    )


@pytest.mark.needs_pyarrow
def test_a_parquet_file_that_is_none(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"x,y\n1,2\n")
    data = DATA | {"train": {"file": "a.parquet"}}
    with pytest.raises(DataError) as found:
        read_datasets(**parse_config({"data": data}, base=tmp_path).data_arguments)
    told = "a.parquet must be a Parquet file, but it is not: "
    assert str(found.value).startswith(told)
    assert "\n" not in str(found.value)


def test_two_files_that_are_not_there_are_told_together(tmp_path):
    data = DATA | {"test": {"file": "b.csv"}}
    with pytest.raises(DataError) as found:
        read_datasets(**parse_config({"data": data}, base=tmp_path).data_arguments)
    assert len(str(found.value).splitlines()) == 2


def test_a_configuration_without_data_has_no_rows():
    with pytest.raises(DataError) as found:
        read_datasets(**parse_config({}).data_arguments)
    assert str(found.value) == (
        "The configuration must say where its rows are, but it has no [data]. Add it, "
        "or make datasets with data.dataset."
    )


def test_kinds_that_differ_between_typed_tables():
    frames = {
        "p::a": pd.DataFrame({"x": [1, 2], "y": [1, 2]}),
        "p::b": pd.DataFrame({"x": ["a", "b"], "y": [1, 2]}),
    }
    data = DATA | {"train": {"r": "p::a"}, "test": {"r": "p::b"}}
    with pytest.raises(DataError) as found:
        read_datasets(
            **parse_config({"data": data}).data_arguments,
            r_frame=lambda name: frames[name],
        )
    assert str(found.value) == (
        "p::a, p::b: column 'x' must be of one kind, but it is integer in the training "
        "rows and category in the test rows."
    )


def test_a_level_that_only_the_second_typed_table_has():
    frames = {
        "p::a": pd.DataFrame({"x": pd.Categorical(["a", "b"]), "y": [1, 2]}),
        "p::b": pd.DataFrame({"x": pd.Categorical(["a", "c"]), "y": [1, 2]}),
    }
    data = DATA | {"train": {"r": "p::a"}, "test": {"r": "p::b"}}
    with pytest.raises(DataError) as found:
        read_datasets(
            **parse_config({"data": data}).data_arguments,
            r_frame=lambda name: frames[name],
        )
    assert str(found.value) == (
        "p::a, p::b: column 'x' must have its test levels among those of the training "
        "rows, but 'c' is in the test rows only. Split otherwise, or put rare levels "
        "together."
    )


GIVEN = [
    (
        {"X": [1, 2]},
        "rows: X must have rows and columns, but its shape is (2,).",
    ),
    (
        {"X": pd.DataFrame({0: [1, 2]})},
        "rows: column names must be texts, but 0 was given. Rename them: X.columns = "
        "X.columns.map(str)",
    ),
    (
        {"X": pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])},
        "rows: column names must differ, but 'a' stands there more than once. Rename "
        "one of them.",
    ),
    (
        {"y": [1, 2, 3], "weights": [[1], [2]]},
        "rows: y must have one value for each of 2 rows, but has shape (3,).\n"
        "rows: weights must have one value for each of 2 rows, but has shape (2, 1).",
    ),
    (
        {"X": pd.DataFrame({"t": np.array(["2020", "2021"], dtype="M8[ns]")})},
        "rows: column 't' must hold numbers, texts or true and false, but it holds "
        "datetime64 values (dtype datetime64[ns]). Convert it, or leave it out of the "
        "features.",
    ),
    (
        {"X": pd.DataFrame({"m": [1, "a"]})},
        "rows: column 'm' must hold numbers, texts or true and false, but it holds "
        "mixed-integer values (dtype object). Convert it, or leave it out of the "
        "features.",
    ),
    (
        {"X": pd.DataFrame({"n": np.array([1, -(2**53) - 1])})},
        "rows: column 'n' must hold numbers that float64 holds to the last digit, but "
        "holds -9007199254740993. Make texts of them, or leave the column out of the "
        "features.",
    ),
    (
        {"X": pd.DataFrame({"n": pd.array([None, 2**63 - 1], dtype="Int64")})},
        "rows: column 'n' must hold numbers that float64 holds to the last digit, but "
        "holds 9223372036854775807. Make texts of them, or leave the column out of "
        "the features.",
    ),
    (
        {"X": pd.DataFrame({"c": pd.Categorical([1, 2])})},
        "rows: column 'c' must have texts as levels, but has 1, 2. Rename them: "
        "column.cat.rename_categories(str)",
    ),
    (
        {"y": ["a", "b"], "task": "binary"},
        "rows: target 'y' must have its positive class named, one of 'a', 'b', but it "
        "is not. Set [data] positive_class; in Python, give classes with it last.",
    ),
    (
        {"y": ["a", "b"], "task": "multiclass", "classes": ["a", "c"]},
        "rows: target 'y' must hold the classes 'a', 'c', but 'b' stands there as "
        "well.",
    ),
    (
        {"X": np.eye(1), "y": [1]},
        "rows must have two rows or more, but has 1. Give more rows.",
    ),
    (
        {"y": [True, False]},
        "rows: target 'y' must hold numbers for task 'regression', but it holds true "
        "and false. Set task to binary or multiclass.",
    ),
    (
        {"y": [1, np.inf]},
        "rows: target 'y' must be finite, but 1 cell is infinite. Correct them, or "
        "leave those rows out.",
    ),
]


@pytest.mark.parametrize(("changed", "message"), GIVEN)
def test_rows_given_in_python(changed, message):
    given = {
        "X": np.eye(2),
        "y": [1, 2],
        "task": "regression",
        "name": "rows",
    } | changed
    with pytest.raises(DataError) as found:
        dataset(given.pop("X"), given.pop("y"), **given)
    assert str(found.value) == message
