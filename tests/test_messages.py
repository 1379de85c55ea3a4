"""What a user reads after a mistake: one input, the whole message."""

from importlib.util import find_spec
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from importance_audit.config.load import load_config, parse_config
from importance_audit.data.column_types import joined
from importance_audit.data.datasets import dataset, read_datasets
from importance_audit.methods.importance import METHODS
from importance_audit.records.asker import asked_by
from importance_audit.records.errors import ConfigError, DataError, listed

DATA = {
    "train": {"file": "a.csv"},
    "test": {"fraction": 0.25},
    "target": "y",
    "task": "regression",
}
MODEL = {"name": "m", "estimator": "a.B"}
SEE_INIT = (
    " `importance-audit init --every-key`, in another folder, writes a file that has "
    "every key."
)
BINARY = DATA | {"task": "binary"}

NAMES = listed(METHODS)
SCRIPTS = "'rds' and 'sha256' or 'r_script'"
KEYS = (
    f"'file' or 'sql' and 'url_env' or 'r' or 'sklearn' or {SCRIPTS} or 'fraction' or "
    "'column' and 'value'"
)


def table(**keys):
    """Return a printed table claimed of an entry called first."""
    claim = {"text": "t", "kind": "printed", "method": "permutation", "decimals": 1}
    return {
        "importance": [{"method": "permutation", "name": "first"}],
        "claims": [{**claim, "numbers": {"a": 1.0}, **keys}],
    }


def configuration(**entry):
    """Return a configuration with data, two models and one question."""
    models = [MODEL, MODEL | {"name": "forest"}]
    entry = {"method": "permutation"} | entry
    return {"data": DATA, "models": models, "importance": [entry]}


def claimed(entry, **claim):
    """Return the same with one claim about what the entry asks."""
    asks = {"text": "a leads", "kind": "leader", "features": ["a"], "method": METHOD}
    return configuration(**entry) | {"claims": [asks | claim]}


METHOD = "permutation"
PEOPLE = "'role' and 'name' or 'role' and 'name' and 'relation'"
OF_GROUPS = {"of": "groups"}
OFTEN = {"within": 1, "expected": 1, "tolerance": 0}

CONFIG = [
    # A key, its type, its range
    (
        {"sede": 1},
        "The top level has no key 'sede'. Did you mean 'seed'?",
    ),
    (
        {"data": DATA | {"targt": "y"}},
        "[data] has no key 'targt'. Did you mean 'target'?",
    ),
    (
        {"data": DATA | {"fail_on": "failure"}},
        "[data] has no key 'fail_on'. It belongs at the top level, before the "
        "first section.",
    ),
    (
        configuration(stream="DALEX"),
        "[importance] has no key 'stream'. The audit sets it.",
    ),
    (
        {"seed": 2**31},
        "seed must be between 0 and 2147483647; 2147483648 was given.",
    ),
    (
        {"checks": {"resolution": 10**400}},
        f"[checks] resolution must be a number above 0; 1{'0' * 56}... was given.",
    ),
    (
        {"data": DATA | {"test": {"fraction": -(10**400)}}},
        "[data] test.fraction must be a number above 0 and below 1; "
        f"-1{'0' * 55}... was given.",
    ),
    (
        {"data": BINARY | {"positive_class": 10**400}},
        "[data] positive_class must be a text or an integer from -9007199254740992 to "
        f"9007199254740992 or true or false; 1{'0' * 56}... was given.",
    ),
    (
        configuration(n_repeats=2**63 - 1),
        "[importance] n_repeats must be at most 1000000; 9223372036854775807 was "
        "given.",
    ),
    (
        configuration(method="shapley", n_permutations=10**400),
        f"[importance] n_permutations must be at most 1000000; 1{'0' * 56}... was "
        "given.",
    ),
    (
        configuration(top=1_000_001, of="pairs", method="h_statistic"),
        "[importance] top must be at most 1000000; 1000001 was given.",
    ),
    (
        {"stability": {"resamples": 2**31}},
        "[stability] resamples must be at most 1000000; 2147483648 was given.",
    ),
    (
        {"significance": {"tests": ["lei"]}},
        "[significance] tests works with 'lei' only if an [[importance]] measures "
        "method 'drop_column' without held_out; add one, or leave it out.",
    ),
    (
        configuration(method="drop_column")
        | {"significance": {"tests": ["nadeau_bengio"]}},
        "[significance] tests works with 'nadeau_bengio' only if an [[importance]] "
        "measures method 'drop_column' with held_out above 0; add one, or leave it "
        "out.",
    ),
    (
        {"significance": {"tests": ["altmann"], "shuffles": 9}},
        "[significance] tests works with 'altmann' only if an [[importance]] measures "
        "what a model says of itself, such as 'impurity'; add one, or leave it out.",
    ),
    (
        configuration(method="garson") | {"significance": {"tests": ["altmann"]}},
        "[significance] tests works with 'altmann' only if shuffles is at least 1, "
        "such as 99; each fits the models again.",
    ),
    (
        {"significance": {"shuffles": 2**31}},
        "[significance] shuffles must be at most 1000000; 2147483648 was given.",
    ),
    (
        {"selection": {"splits": 2**31}},
        "[selection] splits must be at most 1000000; 2147483648 was given.",
    ),
    (
        {"seed": True},
        "seed must be an integer from 0 to 2147483647; true was given.",
    ),
    (
        {"fail_on": "warnings"},
        "fail_on must be one of 'failure', 'warning'; 'warnings' was given. Did "
        "you mean 'warning'?",
    ),
    (
        {"require": ["DALEXX"]},
        "require must be a list of names among 'vip', 'DALEX', 'hstats', 'iml', "
        "'pdp' and 1 more, each once; 'DALEXX' was given. Did you mean 'DALEX'?",
    ),
    ({"data": 3}, "[data] must be a table; 3 was given."),
    (
        {"models": {"name": "m"}},
        "models must be a list of tables, [[models]]; {'name': 'm'} was given.",
    ),
    (
        {"importance": []},
        "importance must be a list of tables, [[importance]]; [] was given.",
    ),
    ({"importance": [3]}, "[importance] must be a table; 3 was given."),
    (
        {"report": {"people": [{"role": "owner", "name": "A"}, "me"]}},
        f"[report] people must be a list of tables with {PEOPLE}; 'me' was given.",
    ),
    (
        {"report": {"people": [{"role": "owner", "name": " "}]}},
        "[report] people.1.name must be a text that is not empty; ' ' was given.",
    ),
    (
        {"report": {"people": [{"role": "owner"}]}},
        "[report] people.1.name is missing; it must be a text that is not empty.",
    ),
    (
        {"report": {"rationale": {"a": ""}}},
        "[report] rationale.a must be a text that is not empty; '' was given.",
    ),
    (
        {"report": {"limits": "none"}},
        "[report] limits must be a list of texts, each once; 'none' was given.",
    ),
    (
        {"report": {"limits": ["x" * 90] * 2}},
        f"[report] limits must be a list of texts, each once; '{'x' * 56}... was "
        "given twice.",
    ),
    (
        {"report": {"limits": ["x" * 58] * 2}},
        f"[report] limits must be a list of texts, each once; '{'x' * 58}' was "
        "given twice.",
    ),
    (
        {"checks": {"resolution": 0}},
        "[checks] resolution must be above 0; 0 was given.",
    ),
    (
        {"r": {"seconds": float("inf")}},
        "[r] seconds must be a number above 0; inf was given.",
    ),
    (
        {"r": {"memory_gb": 0.06}},
        "[r] memory_gb must be at least 0.0625; 0.06 was given.",
    ),
    (
        {"groups": {"size": []}},
        "[groups] size must be a list of 1 or more texts, each once; [] was given.",
    ),
    ({"groups": 3}, "groups must be a table of lists of texts; 3 was given."),
    # Data
    (
        {"data": {key: DATA[key] for key in ("train", "test", "task")}},
        "[data] target is missing." + SEE_INIT,
    ),
    (
        {"data": DATA | {"task": "regresion"}},
        "[data] task must be one of 'regression', 'binary', 'multiclass'; "
        "'regresion' was given. Did you mean 'regression'?",
    ),
    (
        {"data": DATA | {"target": " "}},
        "[data] target must be a text that is not empty; ' ' was given.",
    ),
    (
        {"data": DATA | {"test": {"fraction": 25}}},
        "[data] test.fraction must be above 0 and below 1; 25 was given.",
    ),
    (
        {"data": DATA | {"test": {"column": "split"}}},
        "[data] test.value is missing; it must be a text or a number or true or false.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "seperator": ";"}}},
        "[data] train must be left out, or one of 'file', 'separator', 'decimal', "
        "'thousands', 'strip', 'negative', 'encoding', 'sheet', 'sql', 'table', "
        "'index_column'; 'seperator' was given. Did you mean 'separator'?",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "separator": ";;"}}},
        "[data] train.separator must be one character; ';;' was given.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "decimal": ";"}}},
        "[data] train.decimal must be one of '.', ','; ';' was given.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "decimal": ","}}},
        "[data] train.decimal must differ from the separator; ',' was given. Set "
        'separator = ";" if that separates the cells.',
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "thousands": "."}}},
        "[data] train.thousands must differ from decimal; '.' was given. Set decimal "
        '= "," if that stands before the decimals.',
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "strip": ["-"]}}},
        "[data] train.strip must be a list of signs such as '%', each once; '-' was "
        "given.",
    ),
    (
        {"data": DATA | {"features": ["x"], "exclude": ["x"]}},
        "[data] features must leave out exclude; it holds 'x'.",
    ),
    (
        {"data": DATA | {"exclude": ["y"]}},
        "[data] exclude must leave out the target; it holds 'y'.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.xlsx", "encoding": "utf-8"}}},
        "[data] train.encoding works only with .csv, .csv.gz, .tsv, .tsv.gz files; "
        "leave it out.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.xlsx", "sheet": 0}}},
        "[data] train.sheet must be a text or an integer of at least 1; 0 was given.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.db", "sql": "select 1", "table": "t"}}},
        "[data] train.table works only without sql; leave one of them out.",
    ),
    (
        {"data": DATA | {"train": {"sql": "select 1"}}},
        "[data] train.url_env is missing; it must be the name of an environment "
        "variable.",
    ),
    (
        {"data": DATA | {"train": {"sql": "select 1", "url_env": "sqlite://"}}},
        "[data] train.url_env must be the name of an environment variable; "
        "'sqlite://' was given.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "encoding": ""}}},
        "[data] train.encoding must be a text that is not empty; '' was given.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "index_column": 0}}},
        "[data] train.index_column must be a text; 0 was given.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "separator": ""}}},
        "[data] train.separator must be one character; '' was given.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.csv", "sheet": "A"}}},
        "[data] train.sheet works only with .xlsx files; leave it out.",
    ),
    (
        {"data": DATA | {"train": {"file": "a.feather", "sql": "select 1"}}},
        "[data] train.sql works only with .sqlite, .db files; leave it out.",
    ),
    (
        {"data": DATA | {"drop_missing_target": "yes"}},
        "[data] drop_missing_target must be true or false; 'yes' was given.",
    ),
    (
        {"data": DATA | {"unseen": "skip"}},
        "[data] unseen must be one of 'error', 'missing'; 'skip' was given.",
    ),
    (
        {"data": DATA | {"train": {"r": "apartments"}}},
        "[data] train.r must be an R data set 'package::name'; 'apartments' was given.",
    ),
    (
        {"data": DATA | {"train": {"sklearn": "diabetes"}}},
        "[data] train.sklearn must be a loader of sklearn.datasets such as "
        "'load_iris'; 'diabetes' was given.",
    ),
    (
        {"data": DATA | {"categories": {"zone": ["a", "a"]}}},
        "[data] categories.zone must be a list of 1 or more texts, each once; 'a'"
        " was given twice.",
    ),
    (
        {"data": DATA | {"positive_class": 1}},
        "[data] positive_class works only for task 'binary', not for "
        "'regression'; leave it out.",
    ),
    (
        {"data": BINARY | {"positive_class": [1]}},
        "[data] positive_class must be a text or an integer from -9007199254740992 to "
        "9007199254740992 or true or false; [1] was given.",
    ),
    (
        {"data": DATA | {"weights": "y"}},
        "[data] weights must be another column than the target; 'y' was given.",
    ),
    (
        {"data": DATA | {"features": ["x", "y"]}},
        "[data] features must leave out the target; it holds 'y'.",
    ),
    (
        {"data": DATA | {"weights": "w", "features": ["w"]}},
        "[data] features must leave out the weights; it holds 'w'.",
    ),
    (
        {"data": DATA | {"test": {"column": "y", "value": 1}}},
        "[data] test.column must be another column than the target and the "
        "weights; 'y' was given.",
    ),
    # Models
    (
        {"models": [{"estimator": "a.B"}]},
        "[models] name is missing." + SEE_INIT,
    ),
    # Claims
    (
        claimed({}, kind="leads"),
        "[claims] kind must be one of 'leader', 'rank', 'last', 'order', 'sign' "
        "and 11 more; 'leads' was given. Did you mean 'leader'?",
    ),
    (
        claimed({}, kind="rank"),
        "[claims] within is missing." + SEE_INIT,
    ),
    (
        claimed({}, kind="frequency", model="m", **OFTEN),
        "[claims] model does not work with kind 'frequency', which is about all "
        "of them; leave it out.",
    ),
    (
        claimed({"method": "anova"}, kind="frequency", method="anova", **OFTEN),
        "[claims] method must ask models for kind 'frequency'; 'anova' asks the data.",
    ),
    (
        claimed({}, kind="ratio", expected=1, tolerance=0),
        "[claims] features must name 2 for kind 'ratio'; 'a' was given.",
    ),
    (
        claimed({}, kind="ratio", features=["a", "b", "c"], expected=1, tolerance=0),
        "[claims] features must name 2 for kind 'ratio'; 'a', 'b', 'c' were given.",
    ),
    (
        claimed({}, kind="order"),
        "[claims] features must name 2 or more for kind 'order'; 'a' was given.",
    ),
    (
        claimed({}, kind="performance", expected=1, tolerance=0),
        "[claims] method does not work with kind 'performance'; leave it out.",
    ),
    (
        claimed({}, method=None),
        "[claims] method is missing; kind 'leader' needs it.",
    ),
    (
        claimed({}, kind="line", intercept=0, slope=1, tolerance=0),
        "[claims] method must have curves for kind 'line'; 'permutation' has none.",
    ),
    (
        claimed({}, method="impurity"),
        "[claims] no [[importance]] asks 'impurity' of features.",
    ),
    (
        claimed(OF_GROUPS, of="groups") | {"groups": {"all": ["x"]}},
        "[claims] features names 'a', which is not in [groups].",
    ),
    (
        claimed({"engines": ["vip"]}, engine="DALEX"),
        "[claims] no [[importance]] asks 'permutation' of engine 'DALEX'.",
    ),
    (
        claimed({"models": ["m"]}, model="forest"),
        "[claims] no [[importance]] asks 'permutation' of model 'forest'.",
    ),
    (
        claimed({"method": "spearman"}, method="spearman", model="m"),
        "[claims] model does not work with 'spearman', which asks the data; leave"
        " it out.",
    ),
    (
        claimed({"losses": ["rmse"]}, model="m", loss="mae"),
        "[claims] no [[importance]] asks 'permutation' by loss 'mae'.",
    ),
    (
        claimed({"losses": ["rmse", "mae"]}, model="m"),
        "[claims] loss is missing; 'permutation' is asked by 'rmse', 'mae'.",
    ),
    *(
        (
            claimed(
                {"losses": ["rmse", "mae"]}, kind=kind, method=None, features=[], **more
            ),
            f"[claims] loss is missing; kind {kind!r} needs it, because several are "
            "asked: 'rmse', 'mae'.",
        )
        for kind, more in (
            ("performance", {"expected": 1, "tolerance": 0}),
            ("explained", {"expected": 1, "tolerance": 0, "model": "m"}),
            ("cross_validated", {"expected": 1, "tolerance": 0}),
        )
    ),
    (
        claimed({"method": "impurity"}, method="impurity", model="m", loss="mae"),
        "[claims] loss does not work with 'impurity', which measures no loss; "
        "leave it out.",
    ),
    (
        {"models": [MODEL, MODEL]},
        "[models 2] name 'm' is that of a model before it. Give each model a name"
        " of its own.",
    ),
    (
        {"models": [{"name": "m"}]},
        "[models] must have one of estimator, file or r_script; none was given.",
    ),
    (
        {"models": [MODEL | {"file": "m.joblib"}]},
        "[models] must have one of estimator, file or r_script; 'estimator', "
        "'file' were given.",
    ),
    (
        {"models": [{"name": "m", "r_script": "m.R", "encoder": "ordinal"}]},
        "[models] encoder does not work with a model of R, which reads factors; "
        "leave it out.",
    ),
    (
        {"models": [{"name": "m", "r_script": "m.R", "parameters": {"ntree": 5}}]},
        "[models] parameters does not work with an R script, which says itself "
        "how it fits; leave it out.",
    ),
    (
        {"models": [{"name": "m", "file": "m.joblib"}]},
        "[models] sha256 is missing; a file needs it, because loading it runs its"
        " code. Run: sha256sum m.joblib",
    ),
    (
        {"models": [{"name": "m", "file": "m.joblib", "sha256": "ABC"}]},
        "[models] sha256 must be 64 hexadecimal digits in lower case; 'ABC' was given.",
    ),
    (
        {"models": [MODEL | {"sha256": "0" * 64}]},
        "[models] sha256 works only with file or r_script; leave it out.",
    ),
    (
        {
            "models": [
                {"name": "m", "file": "m", "sha256": "0" * 64, "standardise": True}
            ]
        },
        "[models] standardise does not work with a file, which is fitted already;"
        " leave it out.",
    ),
    (
        {
            "models": [
                {"name": "m", "file": "m", "sha256": "0" * 64, "parameters": {"a": 1}}
            ]
        },
        "[models] parameters does not work with a file, which is fitted already; "
        "leave it out.",
    ),
    (
        {"models": [MODEL | {"estimator": "RandomForestRegressor"}]},
        "[models] estimator must be an import path such as "
        "'package.module.Class'; 'RandomForestRegressor' was given.",
    ),
    (
        {"models": [MODEL | {"encoder": "onehot"}]},
        "[models] encoder must be one of 'auto', 'none', 'ordinal', 'one_hot', "
        "'one_hot_full'; 'onehot' was given. Did you mean 'one_hot'?",
    ),
    (
        {"models": [MODEL | {"parameters": {"seed": object}}]},
        "[models] parameters.seed must be a text, a number, true or false, a list"
        " or a table; <class 'object'> was given.",
    ),
    (
        {"models": [MODEL | {"parameters": {"a": {1: 2}}}]},
        "[models] parameters.a must be a text, a number, true or false, a list or"
        " a table; {1: 2} was given.",
    ),
    # Questions
    (
        {"importance": [{}]},
        "[importance] method is missing." + SEE_INIT,
    ),
    (
        configuration(method="permutaion"),
        f"[importance] method must be one of {NAMES}; 'permutaion' was given. "
        "Did you mean 'permutation'?",
    ),
    (
        configuration(n_repeats=0),
        "[importance] n_repeats must be at least 1; 0 was given.",
    ),
    (
        configuration(method="partial_dependence", grid="evn"),
        "[importance] grid must be one of 'even', 'unique', 'quantile' or a list "
        "of numbers; 'evn' was given. Did you mean 'even'?",
    ),
    (
        configuration(method="impurity", normalised="yes"),
        "[importance] normalised must be true or false; 'yes' was given.",
    ),
    (
        configuration(engines=["python"]),
        "[importance] engines must be a list of names among 'vip', 'DALEX', "
        "'hstats', 'iml', 'pdp' and 1 more, each once; 'python' was given.",
    ),
    (
        configuration(losses=["rsme"]),
        "[importance] losses must be among those of task 'regression': 'rmse', 'mse', "
        "'sum_of_squares', 'mae', 'poisson_deviance', 'gamma_deviance', 'mape', "
        "'mean_relative_error', 'one_minus_r2', 'one_minus_squared_correlation'; "
        "'rsme' was given. Did you mean 'rmse'?",
    ),
    (
        configuration(losses=["log_loss"]),
        "[importance] losses must suit task 'regression'; 'log_loss' is for "
        "'binary', 'multiclass'. Leave losses out for 'rmse'.",
    ),
    (
        configuration(method="impurity", losses=["rmse"]),
        "[importance] losses does not work with 'impurity', which measures no "
        "loss; leave it out.",
    ),
    (
        configuration(method="impurity", form="ratio"),
        "[importance] form = 'ratio' does not work with 'impurity', whose "
        "baseline is 0; leave it out.",
    ),
    (
        configuration(of="groups"),
        "[importance] of = 'groups' works only with [groups]; add that section.",
    ),
    (
        configuration(of="pairs"),
        "[importance] of must be one of 'features', 'groups' for method "
        "'permutation'; 'pairs' was given.",
    ),
    (
        configuration(method="vint"),
        "[importance] of must be one of 'pairs', 'groups' for method 'vint'; "
        "'features' was given.",
    ),
    (
        {
            "groups": {"size": ["a"]},
            "expected": [
                {"features": ["seize"], "of": "groups", "place": "top", "reason": "r"}
            ],
        },
        "[expected] features names 'seize', which is not in [groups]. Did you "
        "mean 'size'?",
    ),
    (
        {"importance": [{"method": "impurity"}, {"method": "impurity"}]},
        "[importance 2] asks for 'impurity' of 'features', as an entry before it "
        "does. Leave one of them out.",
    ),
    (
        configuration(method="impurity", features=["a"]),
        "[importance] features does not work with 'impurity', which asks all; "
        "leave it out.",
    ),
    (
        {"groups": {"size": ["a"]}, **configuration(of="groups", features=["seize"])},
        "[importance] features names 'seize', which is not in [groups]. Did you "
        "mean 'size'?",
    ),
    (
        configuration(seed=-1),
        "[importance] seed must be between 0 and 2147483647; -1 was given.",
    ),
    (
        {
            "importance": [
                {"method": "permutation", "name": "first"},
                {"method": "impurity", "name": "first"},
            ]
        },
        "[importance 2] name 'first' is that of an entry before it. Give each a "
        "name of its own.",
    ),
    (
        table(entry="frst"),
        "[claims] entry names 'frst', which no [[importance]] is called. Did you "
        "mean 'first'?",
    ),
    (
        table(numbers={}),
        "[claims] numbers must hold at least one number; it is empty.",
    ),
    (
        table(numbers={"a": 1.5, "b": 0.126}),
        "[claims] numbers must have at most 1 decimal; that of 'b' is 0.126.",
    ),
    (
        table(features=["a"]),
        "[claims] features does not work with kind 'printed'; use numbers.",
    ),
    (
        table(engine="python"),
        "[claims] engine does not work with kind 'printed'; use engines.",
    ),
    (
        table(paper=1.0),
        "[claims] paper does not work with kind 'printed'; use numbers.",
    ),
    (
        table(engines=["DALEX"]),
        "[claims] no [[importance]] asks 'permutation' of engine 'DALEX'.",
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
        "[claims] entry does not work with kind 'performance'; leave it out.",
    ),
]


@pytest.mark.parametrize(("config", "message"), CONFIG)
def test_configuration(config, message):
    with pytest.raises(ConfigError) as error:
        parse_config(config)
    assert error.value.problems == (message,)


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
        "audit.toml is not valid TOML: Invalid value (at line 1, column 8). "
        "Correct it there.",
    ),
    (
        b"[report]\nowner = '\xe9'\n",
        "audit.toml is not UTF-8: byte 19 cannot be read. Save it as UTF-8.",
    ),
    (
        b"seed = 1\n",
        "audit.toml: [data] is missing."
        + SEE_INIT
        + "\naudit.toml: [models] is missing."
        + SEE_INIT,
    ),
    (
        SOUND.replace('"a.B"', '""\nencoder = ""').encode(),
        "audit.toml: [models] encoder must be one of 'auto', 'none', 'ordinal', "
        "'one_hot', 'one_hot_full'; '' was given.\naudit.toml: [models] must have one "
        "of estimator, file or r_script; none was given.",
    ),
    (
        SOUND.encode() + b'[[importance]]\nmethod = "permutation"\nlosses = ["mae"]\n',
        "audit.toml: [importance] losses must suit task 'binary'; 'mae' is for "
        "'regression'. Leave losses out for 'one_minus_auc'.",
    ),
    (
        SOUND.encode() + b'[[importance]]\nmethod = "impurity"\nmodels = ["forst"]\n',
        "audit.toml: [importance] models must be among 'forest'; 'forst' was "
        "given. Did you mean 'forest'?",
    ),
    (
        SOUND.encode() + b"[checks]\nresolution = 1e400\n",
        "audit.toml: [checks] resolution must be a number above 0; inf was given.",
    ),
]


@pytest.mark.parametrize(("content", "message"), FILES)
def test_configuration_file(content, message, tmp_path):
    (tmp_path / "audit.toml").write_bytes(content)
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path)
    assert str(error.value) == message


LONG = "x" * 100_000
CUT = f"'{'x' * 56}..."
CLAIM = (
    '[[claims]]\ntext = "t"\nkind = "leader"\nfeatures = ["a"]\n'
    f'method = "permutation"\nmodel = "{LONG}"\n'
)
LONG_NAMES = {
    "unknown key": (f"{LONG} = 1\n{SOUND}", f"The top level has no key {CUT}."),
    "unknown model of a claim": (
        SOUND + CLAIM,
        f"[claims] model must be one of 'forest'; {CUT} was given.",
    ),
    "known model, another was given": (
        SOUND.replace("forest", LONG) + '[[importance]]\nmethod = "impurity"\n'
        'models = ["forest"]\n',
        f"[importance] models must be among {CUT}; 'forest' was given.",
    ),
    "name given twice": (
        SOUND.replace("forest", LONG)
        + f'[[models]]\nname = "{LONG}"\nestimator = "a.B"\n',
        f"[models 2] name {CUT} is that of a model before it. Give each model a name "
        "of its own.",
    ),
    "value": (
        SOUND.replace('"binary"', f'"{LONG}"'),
        "[data] task must be one of 'regression', 'binary', 'multiclass'; "
        f"{CUT} was given.",
    ),
}


@pytest.mark.parametrize("case", LONG_NAMES)
def test_a_long_name_is_cut_where_it_is_quoted(case, tmp_path):
    text, message = LONG_NAMES[case]
    (tmp_path / "audit.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path)
    assert error.value.problems == (f"audit.toml: {message}",)


def test_no_configuration_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as error:
        load_config("reports/rents")
    assert str(error.value) == (
        "No audit.toml can be read from 'reports/rents': no such file or directory. "
        "Write one with: importance-audit init"
    )


ROWS = "x,zone,y\n1,a,0\n2,b,1\n3,a,0\n4,b,1\n"
CLASSES = {"task": "binary"}
TEST_TABLE = "[data] test"

TABLES = [
    # The file
    (
        b"",
        {},
        "a.csv is empty. Save it with a line of column names and its rows.",
    ),
    (
        b"\n \n",
        {},
        "a.csv is empty. Save it with a line of column names and its rows.",
    ),
    (
        b"x,y\n1,caf\xe9\n",
        {},
        "a.csv is not UTF-8: line 2 holds the byte 0xe9. Save it as UTF-8, or set the "
        'encoding beside the file, such as encoding = "cp1252".',
    ),
    (
        "x;y\n1,5;2\n",
        {},
        "a.csv has semicolons but no comma in its first line: 'x;y'. Set separator = "
        '";" beside the file, and decimal = "," if its numbers are written like '
        "1234,5.",
    ),
    (
        "x\ty\n1\t2\n",
        {},
        "a.csv has tabs but no comma in its first line: 'x\\ty'. Set separator = "
        '"\\t" beside the file, and decimal = "," if its numbers are written like '
        "1234,5.",
    ),
    (
        "x,y\n1,2\n3,4,5\n",
        {},
        "a.csv: line 3 has 3 cells, and the first line 2. Quote cells that hold a"
        " comma, or set another separator beside the file (init: --separator).",
    ),
    (
        'x,y\n1,"2" 3\n',
        {},
        "a.csv cannot be read as CSV: line 2: ',' expected after '\"'.",
    ),
    (
        ",x,y\n1,2,3\n",
        {},
        'a.csv: column 1 has no name. Name it, or set index_column = "" beside the '
        "file if it merely identifies rows.",
    ),
    (
        "x,y,x\n1,2,3\n",
        {},
        "a.csv has several columns named 'x'. Rename all but one.",
    ),
    (
        "Report,,\nx,y,z\n1,2,3\n",
        {},
        "a.csv has several columns without a name in its first line. Remove titles "
        "above the names, or name the columns.",
    ),
    ("x,y\n", {}, "a.csv has no rows, and at least two are needed. Give more rows."),
    ("x,y\n1,2\n", {}, "a.csv has 1 row, and at least two are needed. Give more rows."),
    # Names
    (
        ROWS,
        {"target": "yy"},
        "Column 'yy' ([data] target) is not in a.csv. Did you mean 'y'?",
    ),
    (
        ROWS,
        {"weights": "case_weight"},
        "Column 'case_weight' ([data] weights) is not in a.csv. Its columns: 'x',"
        " 'zone', 'y'.",
    ),
    (
        ROWS,
        {"features": ["x", "zones"]},
        "Column 'zones' ([data] features) is not in a.csv. Did you mean 'zone'?",
    ),
    (
        ROWS,
        {"test": {"column": "zne", "value": "a"}},
        "Column 'zne' ([data] test) is not in a.csv. Did you mean 'zone'?",
    ),
    (
        ROWS,
        {"categories": {"zon": ["a", "b"]}},
        "Column 'zon' ([data] categories) is not in a.csv. Did you mean 'zone'?",
    ),
    (
        ROWS,
        {"groups": {"place": ["zone", "xx"]}},
        "[groups] place names 'xx', which is no feature. Did you mean 'x'?",
    ),
    (
        ROWS,
        {"groups": {"all": ["x", "y"]}},
        "[groups] all names 'y', which is no feature.",
    ),
    (
        "y\n1\n2\n",
        {},
        "a.csv has no feature: all its columns have other roles.",
    ),
    # Cells
    (
        "x,y\n1,1\n2,2\nNA,3\n4,4\n",
        {},
        "a.csv: column 'x' holds 'NA' in 1 of 4 cells, which may mean missing. If"
        " so, add it to [data] missing_values; else declare the levels under "
        "[data] categories.",
    ),
    (
        "x,y\n1,1\n2,0\n-,1\n4,n/a\n",
        CLASSES,
        "a.csv: column 'x' holds '-' in 1 of 4 cells, which may mean missing. If "
        "so, add it to [data] missing_values; else declare the levels under "
        "[data] categories.\na.csv: column 'y' holds 'n/a' in 1 of 4 cells, which "
        "may mean missing. If so, add it to [data] missing_values; else declare "
        "the levels under [data] categories.",
    ),
    (
        "x,y\n1,1\n2,0\n3,1\n4,n/a\n",
        {},
        "a.csv: column 'y' holds 'n/a' in 1 of 4 cells, which may mean missing. "
        "If so, add it to [data] missing_values; else declare the levels under "
        "[data] categories.",
    ),
    (
        "x,y\nNA,1\n?,2\nNA,3\n4,4\n",
        {},
        "a.csv: column 'x' holds 'NA', '?' in 3 of 4 cells, which may mean "
        "missing. If so, add it to [data] missing_values; else declare the levels"
        " under [data] categories.",
    ),
    (
        "x,y\nnull,1\nnull,2\ntrue,3\n null ,4\n",
        {},
        "a.csv: column 'x' holds 'null', ' null ' in 3 of 4 cells, which may mean"
        " missing. If so, add it to [data] missing_values; else declare the "
        "levels under [data] categories.",
    ),
    (
        "x,y\n1,0\n2,1\n3,2\n4,?\n",
        {"task": "multiclass"},
        "a.csv: column 'y' holds '?' in 1 of 4 cells, which may mean missing. If "
        "so, add it to [data] missing_values; else declare the levels under "
        "[data] categories.",
    ),
    (
        "x,y\n  ,1\na,2\n",
        {},
        "a.csv: column 'x' holds '  ' in 1 of 2 cells, which may mean missing. If"
        " so, add it to [data] missing_values; else declare the levels under "
        "[data] categories.",
    ),
    (
        "x,y\n1,1\nNA,2\nNA,3\nlow,4\n2,5\n",
        {},
        "a.csv: column 'x' holds mostly numbers, but 3 of 5 cells are text: 'NA', "
        "'low'. Add the markers of missing values to [data] missing_values, or "
        "declare the levels under [data] categories.",
    ),
    (
        "x,y\n1,1\n9007199254740993,2\n",
        {},
        "a.csv: column 'x' holds whole numbers with more digits than float64 "
        "keeps: 9007199254740993. Declare the levels under [data] categories, or "
        "name the column under [data] exclude.",
    ),
    (
        'x,y\n"1,5",1\n2,2\nNA,3\n"1.234,5",4\n',
        {},
        "a.csv: column 'x' holds numbers that are not written like 1234.5: '1,5',"
        " '1.234,5'. Write them so in the file, say beside a CSV file how they are "
        "written (decimal, thousands, strip, negative), declare the levels under "
        "[data] categories, or name the column under [data] exclude.",
    ),
    (
        "x,y\n2024-01-31,1\n2024-02-01T12:00,2\n",
        {},
        "a.csv: column 'x' holds dates such as '2024-01-31'. To use them, make parts "
        'of them with [[derived]] kind = "date_part"; else declare the levels under '
        "[data] categories, or name the column under [data] exclude.",
    ),
    (
        "x,y\nup,1\nup ,2\ndown,3\n",
        {},
        "a.csv: column 'x' has levels that differ only in blanks: 'up', 'up '. "
        "Remove the blanks from the file, or declare the levels under [data] "
        "categories.",
    ),
    (
        ROWS,
        {"categories": {"zone": ["a", "c"]}},
        "a.csv: column 'zone' holds 'b', which [data] categories does not "
        "declare. Declare every level.",
    ),
    (
        "x,y\n1,1\n-inf,2\nInfinity,3\n4,4\n",
        {"test": {"file": "a.csv"}},
        "a.csv (training rows): column 'x' has 2 infinite cells. Correct them, or"
        " leave those rows out.\na.csv (test rows): column 'x' has 2 infinite "
        "cells. Correct them, or leave those rows out.",
    ),
    (
        "x,y\ninf,1\nInf,2\n",
        {"test": {"file": "b.csv"}, "b": "x,y\n-inf,1\ninf,2\n"},
        "a.csv: column 'x' has 2 infinite cells. Correct them, or leave those "
        "rows out.\nb.csv: column 'x' has 2 infinite cells. Correct them, or leave"
        " those rows out.",
    ),
    (
        "x,y,s\n,1,a\n,2,a\n3,3,b\n4,4,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv (training rows): column 'x' has no value in any row. Leave it out "
        "of features.",
    ),
    (
        "x,y,s\nu,1,a\nv,2,a\nw,3,b\nu,4,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv (test rows): column 'x' has levels in the test rows that no training "
        "row has: 'w'. Every training row has its own level, so the column merely "
        "identifies rows: name it under [data] exclude.",
    ),
    (
        "x,y,s\nu,1,a\nu,2,a\nw,3,b\nu,4,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv (test rows): column 'x' has levels in the test rows that no "
        "training row has: 'w'. Split the rows otherwise, merge rare levels, or set "
        "[data] unseen.",
    ),
    # Splits
    (
        ROWS,
        {"test": {"column": "zone", "value": "c"}},
        "a.csv: column 'zone' holds 'a', 'b'; no row has the value 'c' of the "
        "test rows.",
    ),
    (
        "x,y,s\n1,1,a\n2,2,\n3,3,b\n",
        {"test": {"column": "s", "value": "b"}},
        "a.csv: column 's' is missing in 1 of 3 rows; every row needs a value, "
        "because it splits the rows. Leave those rows out.",
    ),
    (
        ROWS,
        CLASSES | {"test": {"fraction": 0.01}},
        "a.csv (test rows) has no rows, and at least two are needed. Give more rows.",
    ),
    (
        ROWS,
        {"test": {"fraction": 0.3}},
        "a.csv (test rows) has 1 row, and at least two are needed. Give more rows.",
    ),
    # Weights
    (
        "x,y,w\n1,1,1\n2,2,-1\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,1\n2,2,0\n"},
        "a.csv: column 'w' must not be negative; 1 of 2 weights is. Correct them.",
    ),
    (
        "x,y,w\n1,1,1\n2,2,1\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,0\n2,2,0\n"},
        "b.csv: column 'w' gives every row the weight 0. Give these rows weights, "
        "or leave [data] weights out.",
    ),
    (
        "x,y,w\n1,1,1\n2,2,\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,0\n2,2,1\n"},
        "a.csv: column 'w' is missing in 1 of 2 rows; every row needs a value, "
        "because it holds the row weights. Leave those rows out.",
    ),
    (
        "x,y,w\n1,1,1\n2,2,inf\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,0\n2,2,1\n"},
        "a.csv: column 'w' has 1 infinite cell. Correct them, or leave those rows out.",
    ),
    (
        "x,y,w\n1,1,a\n2,2,b\n",
        {"weights": "w", "test": {"file": "b.csv"}, "b": "x,y,w\n1,1,a\n2,2,b\n"},
        "a.csv: column 'w' holds text, which cannot be used as row weights. Name a "
        "numeric column.\nb.csv: column 'w' holds text, which cannot be used as row "
        "weights. Name a numeric column.",
    ),
    # The target
    (
        "x,y\n1,1\n2,\n3,3\n4,4\n",
        {"test": {"file": "b.csv"}, "b": "x,y\n1,1\n2,2\n"},
        "a.csv: target 'y' is missing in 1 of 4 rows; every row needs a value, "
        "because it is the target. Leave those rows out: [data] drop_missing_target = "
        "true does.",
    ),
    (
        "x,y\n1,a\n2,b\n",
        {"test": {"file": "b.csv"}, "b": "x,y\n1,a\n2,b\n"},
        "a.csv: target 'y' holds 2 different texts ('a', 'b'), and task "
        "'regression' needs numbers. Name a numeric column, or set task to binary "
        "or multiclass.\nb.csv: target 'y' holds 2 different texts ('a', 'b'), and "
        "task 'regression' needs numbers. Name a numeric column, or set task to "
        "binary or multiclass.",
    ),
    (
        "x,y\n1,0\n2,1\n3,unknown\n4,1\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' has 3 classes ('0', '1', 'unknown'), "
        "and task 'binary' needs two. Name another target or task, or add rows.",
    ),
    (
        "x,y\n1,0\n2,0\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' has 1 class ('0'), and task 'binary' "
        "needs two. Name another target or task, or add rows.",
    ),
    (
        "x,y\n" + "".join(f"{i % 7},{i}\n" for i in range(60)),
        {"task": "multiclass", "test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' holds 60 different values in 60 rows "
        "('0', '1', '2', '3', '4' and 55 more), too many to be classes. Name the "
        "column that holds the classes, or set task to regression if it is a number.",
    ),
    (
        "x,y\n" + "".join(f"{i % 7},id{i:02}\n" for i in range(60)),
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' holds 60 different values in 60 rows "
        "('id00', 'id01', 'id02', 'id03', 'id04' and 55 more), too many to be "
        "classes. Name the column that holds the classes.",
    ),
    (
        "x,y\n1,0\n2,0\n",
        {"task": "multiclass", "test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' has 1 class ('0'), and task "
        "'multiclass' needs at least two. Name another target or task, or add "
        "rows.",
    ),
    (
        "x,y\n1,0\n2,1\n",
        CLASSES | {"test": {"file": "b.csv"}, "b": "x,y\n1,1\n2,1\n"},
        "b.csv: target 'y' holds only the class '1', and every split needs two or"
        " more. Split the rows otherwise.",
    ),
    (
        "x,y\n1,a\n2,b\n",
        {"task": "multiclass", "test": {"file": "b.csv"}, "b": "x,y\n1,a\n2,c\n"},
        "b.csv: target 'y' holds 'c', which is not one of the classes 'a', 'b'. "
        "Leave those rows out, or add the class.",
    ),
    (
        "x,y\n1,1\n2,yes\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' has the classes '1', 'yes', and the "
        "positive class is not stated. Set [data] positive_class; in Python, give "
        "classes with it last.",
    ),
    (
        "x,y\n1,2\n2,3\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' has the classes '2', '3', and the "
        "positive class is not stated. Set [data] positive_class; in Python, give "
        "classes with it last.",
    ),
    (
        "x,y\n1,no\n2,yes\n",
        CLASSES | {"test": {"file": "a.csv"}},
        "a.csv (training rows): target 'y' has the classes 'no', 'yes', and the "
        "positive class is not stated. Set [data] positive_class; in Python, give "
        "classes with it last.",
    ),
    (
        "x,y\n1,no\n2,yes\n",
        CLASSES | {"test": {"file": "a.csv"}, "positive_class": "Yes"},
        "a.csv (training rows): target 'y' has the classes 'no', 'yes'; the "
        "positive class 'Yes' is not one of them.",
    ),
]


def read_rows(folder, content, changed):
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
    with pytest.raises(DataError) as error:
        read_rows(tmp_path, content, changed)
    assert str(error.value) == message


SOURCES = [
    (
        {"file": "no.csv"},
        "[data] file 'no.csv' cannot be read: no such file or directory.",
    ),
    (
        {"file": "a.xls"},
        "[data] file must end in one of .csv, .csv.gz, .tsv, .tsv.gz, .xlsx, .parquet, "
        ".feather, .sqlite, .db; 'a.xls' was given.",
    ),
    (
        {"sklearn": "load_diabetis"},
        "[data] sklearn must be one of 'load_breast_cancer', 'load_diabetes', "
        "'load_digits', 'load_iris', 'load_linnerud', 'load_wine'; "
        "'load_diabetis' was given. Did you mean 'load_diabetes'?",
    ),
]


@pytest.mark.parametrize(("source", "message"), SOURCES)
def test_sources(source, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = parse_config({"data": DATA | {"train": source}})
    with pytest.raises(DataError) as error:
        read_datasets(**config.data_arguments)
    assert str(error.value) == message


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_parquet_and_feather_without_pyarrow(kind, tmp_path):
    (tmp_path / f"a.{kind}").write_bytes(b"PAR1")
    data = DATA | {"train": {"file": f"a.{kind}"}}
    with pytest.raises(DataError) as error:
        read_datasets(**parse_config({"data": data}, base=tmp_path).data_arguments)
    with pytest.raises(ImportError) as own:
        getattr(pd, f"read_{kind}")(BytesIO(b"PAR1"))
    assert str(error.value) == (
        f"a.{kind} cannot be read without pyarrow. Run: pip install pyarrow, or save "
        f"the table as CSV. The import says: {' '.join(str(own.value).split())}"
    )


@pytest.mark.needs_pyarrow
def test_a_parquet_file_that_is_none(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"x,y\n1,2\n")
    data = DATA | {"train": {"file": "a.parquet"}}
    with pytest.raises(DataError) as error:
        read_datasets(**parse_config({"data": data}, base=tmp_path).data_arguments)
    assert str(error.value).startswith("a.parquet cannot be read as Parquet: ")
    assert "\n" not in str(error.value)


def test_two_files_that_are_not_there_are_reported_together(tmp_path):
    data = DATA | {"test": {"file": "b.csv"}}
    with pytest.raises(DataError) as error:
        read_datasets(**parse_config({"data": data}, base=tmp_path).data_arguments)
    assert len(str(error.value).splitlines()) == 2


def test_a_configuration_without_data_has_no_rows():
    with pytest.raises(DataError) as error:
        read_datasets(**parse_config({}).data_arguments)
    assert str(error.value) == (
        "The configuration has no [data], so the rows are not specified. Add it, or "
        "make them with importance_audit.dataset."
    )


def test_kinds_that_differ_between_typed_tables():
    frames = {
        "p::a": pd.DataFrame({"x": [1, 2], "y": [1, 2]}),
        "p::b": pd.DataFrame({"x": ["a", "b"], "y": [1, 2]}),
    }
    data = DATA | {"train": {"r": "p::a"}, "test": {"r": "p::b"}}
    with pytest.raises(DataError) as error:
        read_datasets(
            **parse_config({"data": data}).data_arguments,
            r_frame=lambda name: frames[name],
        )
    assert str(error.value) == (
        "p::a, p::b: column 'x' is integer in the training rows and category in the "
        "test rows. Give it one type, or declare its levels under [data] categories."
    )


def test_a_level_that_only_the_second_typed_table_has():
    frames = {
        "p::a": pd.DataFrame({"x": pd.Categorical(["a", "b"]), "y": [1, 2]}),
        "p::b": pd.DataFrame({"x": pd.Categorical(["a", "c"]), "y": [1, 2]}),
    }
    data = DATA | {"train": {"r": "p::a"}, "test": {"r": "p::b"}}
    with pytest.raises(DataError) as error:
        read_datasets(
            **parse_config({"data": data}).data_arguments,
            r_frame=lambda name: frames[name],
        )
    assert str(error.value) == (
        "p::a, p::b: column 'x' has levels in the test rows that no training row has: "
        "'c'. Split the rows otherwise, merge rare levels, or set [data] unseen."
    )


@pytest.mark.parametrize(
    ("test", "how"),
    [
        (["c"], "Split the rows otherwise, or merge rare levels."),
        ([1.0], "Give it one type, such as a factor."),
    ],
)
def test_who_asked_in_r_is_told_of_levels_what_to_do_there(test, how):
    train = pd.Series(pd.Categorical(["a", "b", "a"]))
    column = pd.Series(pd.Categorical(test) if test == ["c"] else test)
    with asked_by("r"), pytest.raises(DataError) as error:
        joined(train, column, where="column 'x'")
    assert str(error.value).endswith(how)


GIVEN = [
    (
        {"X": [1, 2]},
        "rows: X must have rows and columns; its shape is (2,).",
    ),
    (
        {"X": pd.DataFrame({0: [1, 2], 1: [3, 4]})},
        "rows: column names must be strings; 0, 1 were given. Rename them: "
        "X.columns = X.columns.map(str)",
    ),
    (
        {"X": pd.DataFrame({0: [1, 2]})},
        "rows: column names must be strings; 0 was given. Rename them: X.columns = "
        "X.columns.map(str)",
    ),
    (
        {"X": pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])},
        "rows has several columns named 'a'. Rename all but one.",
    ),
    (
        {"y": [1, 2, 3], "weights": [[1], [2]]},
        "rows: y must have one value for each of 2 rows; its shape is (3,).\nrows:"
        " weights must have one value for each of 2 rows; its shape is (2, 1).",
    ),
    (
        {"X": pd.DataFrame({"t": np.array([1, 2_000_000_000], dtype="M8[ns]")})},
        "rows: column 't' holds times with more digits than float64 keeps of seconds "
        'since 1970-01-01. Round them: column.dt.round("ms")',
    ),
    (
        {"X": pd.DataFrame({"m": [1, "a"]})},
        "rows: column 'm' holds mixed-integer values (dtype object), which are not "
        "numbers, text or booleans. Say in [data] missing_values if 'a' means "
        "missing, convert it, or leave it out of the features.",
    ),
    (
        {"X": pd.DataFrame({"n": np.array([1, -(2**53) - 1])})},
        "rows: column 'n' holds whole numbers with more digits than float64 "
        "keeps: -9007199254740993. Convert them to texts, or leave the column out"
        " of the features.",
    ),
    (
        {"X": pd.DataFrame({"n": pd.array([None, 2**63 - 1], dtype="Int64")})},
        "rows: column 'n' holds whole numbers with more digits than float64 "
        "keeps: 9223372036854775807. Convert them to texts, or leave the column "
        "out of the features.",
    ),
    (
        {"X": pd.DataFrame({"c": pd.Categorical([1, "1"], categories=[1, "1"])})},
        "rows: column 'c' has levels that become identical as text: 1, '1'. Rename "
        "them: column.cat.rename_categories([…])",
    ),
    (
        {"y": ["a", "b"], "task": "binary"},
        "rows: target 'y' has the classes 'a', 'b', and the positive class is not "
        "stated. Set [data] positive_class; in Python, give classes with it last.",
    ),
    (
        {"y": ["a", "b"], "task": "multiclass", "classes": ["a", "c"]},
        "rows: target 'y' holds 'b', which is not one of the classes 'a', 'c'. "
        "Leave those rows out, or add the class.",
    ),
    (
        {"X": np.eye(1), "y": [1]},
        "rows has 1 row, and at least two are needed. Give more rows.",
    ),
    (
        {"y": [True, False]},
        "rows: target 'y' holds true and false, and task 'regression' needs "
        "numbers. Name a numeric column, or set task to binary or multiclass.",
    ),
    (
        {"y": [1, np.nan]},
        "rows: target 'y' is missing in 1 of 2 rows; every row needs a value, because "
        "it is the target. Leave those rows out: keep = ~numpy.asarray("
        "pandas.isna(y)); X[keep], y[keep]",
    ),
    (
        {"y": [1, np.inf]},
        "rows: target 'y' has 1 infinite cell. Correct them, or leave those rows out.",
    ),
]


@pytest.mark.parametrize(("changed", "message"), GIVEN)
def test_rows_given_in_python(changed, message):
    fields = {
        "X": np.eye(2),
        "y": [1, 2],
        "task": "regression",
        "name": "rows",
    } | changed
    with pytest.raises(DataError) as error:
        dataset(fields.pop("X"), fields.pop("y"), **fields)
    assert str(error.value) == message


def test_numbers_of_numpy_are_repeated_as_pythons():
    given = (np.float64(0.5), np.int32(7), np.True_, np.str_("a"), 0.5, True)
    assert listed(given, limit=6) == "0.5, 7, true, 'a', 0.5, true"
