"""What a user reads after a mistake: what was written, then the whole message.

One sentence of each kind stands here in full; what holds for every key is a rule.
"""

import re
import tomllib
from datetime import date
from importlib.util import find_spec
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each

from importance_audit.assess.claims import CLAIMS, OF_LOSS
from importance_audit.config.load import load_config, parse_config
from importance_audit.config.sections import (
    LISTS,
    SCALARS,
    TABLES,
    option_rules,
    rules_of,
)
from importance_audit.data.column_types import joined
from importance_audit.data.datasets import dataset, read_datasets
from importance_audit.methods.importance import METHODS
from importance_audit.records.asker import asked_by
from importance_audit.records.errors import ConfigError, DataError, listed, pip_install

DATA = {
    "train": {"file": "a.csv"},
    "test": {"fraction": 0.25},
    "target": "y",
    "task": "regression",
}
FIRST = {
    "models": {"name": "m", "estimator": "a.B"},
    "importance": {"method": "permutation"},
    "claims": {
        "text": "t",
        "kind": "leader",
        "features": ["a"],
        "method": "permutation",
    },
}
"""The one entry of a list whose keys a case sets, such as `claims.kind`."""


def cases(text):
    """Return each mistake (lines of TOML, or of a table) with its indented message."""
    found = re.findall(r"((?:^\S.*\n)+)((?:^    .*\n)+)", text, flags=re.MULTILINE)
    return [pytest.param(case, id=case[0]) for case in found]


def assert_says(text, message):
    """Compare word by word; dots are words that another case has in full."""
    pattern = re.escape(" ".join(message.split())).replace(r"\.\.\.", ".*")
    assert re.fullmatch(pattern, " ".join(text.split())), text


def configured(text):
    """Return a configuration in which some keys are as a text in TOML says."""
    document = {"data": DATA}
    for key, value in tomllib.loads(text).items():
        is_entry = key in FIRST and isinstance(value, dict)
        whole = DATA | value if key == "data" and isinstance(value, dict) else value
        document[key] = [FIRST[key] | value] if is_entry else whole
    return document


CONFIGURATION = """\
sede = 1
    The top level has no key 'sede'. Did you mean 'seed'?
data.targt = "y"
    [data] has no key 'targt'. Did you mean 'target'?
data.fail_on = "failure"
    [data] has no key 'fail_on'. It belongs at the top level, before the first section.
purpose = "x"
    The top level has no key 'purpose'. It is a key of [report].
importance.stream = "DALEX"
    [importance] has no key 'stream'. The audit sets it.
importance.method = "impurity"
importance.n_repeats = 3
    [importance] has no key 'n_repeats'. The method takes 'normalised'.
seed = 2147483648
    seed must be between 0 and 2147483647; 2147483648 was given.
seed = true
    seed must be an integer from 0 to 2147483647; true was given.
data.drop_missing_target = "yes"
    [data] drop_missing_target must be true or false; 'yes' was given.
fail_on = "warnings"
    fail_on must be one of 'failure', 'warning'; 'warnings' was given. Did you mean
    'warning'?
require = ["DALEXX"]
    require must be a list of names among 'vip', 'DALEX', ... and 1 more, each once; ...
models.sha256 = "ABC"
    [models] sha256 must be 64 hexadecimal digits in lower case; 'ABC' was given.
models.parameters.seed = 2026-11-21
    [models] parameters.seed must be a text, a number, true or false, a list or ...
importance.method = "partial_dependence"
importance.grid = "evn"
    [importance] grid must be one of 'even', 'unique', 'quantile' or a list of numbers;
    'evn' was given. Did you mean 'even'?
data = 3
    [data] must be a table; 3 was given.
expected = {place = "top"}
    expected must be a list of tables, [[expected]]; {'place': 'top'} was given.
importance = [3]
    [importance] must be a table; 3 was given.
groups.size = []
    [groups] size must be a list of 1 or more texts, each once; [] was given.
data.categories.zone = ["a", "a"]
    [data] categories.zone must be a list of ...; 'a' was given twice.
report.people = [{role = "owner", name = "A"}, "me"]
    [report] people must be a list of tables with 'role' and ...; 'me' was given.
report.people = [{role = "owner", name = " "}]
    [report] people.1.name must be a text that is not empty; ' ' was given.
models = [{estimator = "a.B"}]
    [models] name is missing. `importance-audit init --every-key`, in another folder,
    writes a file that has every key.
data.test = {column = "split"}
    [data] test.value is missing; it must be a text or a number or true or false.
data.train = {file = "a.csv", seperator = ";"}
    [data] train must be left out, or one of 'file', 'separator', 'decimal', ...;
    'seperator' was given. Did you mean 'separator'?
data.train = {file = "a.csv", decimal = ","}
    [data] train.decimal must differ from the separator; ... Set separator ...
data.train = {file = "a.csv", thousands = "."}
    [data] train.thousands must differ from decimal; '.' was given. Set decimal = ...
data.train = {file = "a.csv", strip = ["-"]}
    [data] train.strip must be a list of signs such as '%', each once; '-' was given.
data.train = {file = "a.xlsx", encoding = "utf-8"}
    [data] train.encoding works only with .csv, ... files; leave it out.
data.train = {file = "a.db", sql = "select 1", table = "t"}
    [data] train.table works only without sql; leave one of them out.
data.train = {}
    [data] test must be a table of its own where train is {}; a part of the training
    rows was asked for.
data.features = ["x"]
data.exclude = ["x"]
    [data] features must leave out exclude; it holds 'x'.
data.weights = "w"
data.features = ["w"]
    [data] features must leave out the weights; it holds 'w'.
data.weights = "y"
    [data] weights must be another column than the target; 'y' was given.
data.test = {column = "y", value = 1}
    [data] test.column must be another column than the target and the weights; ...
data.positive_class = 1
    [data] positive_class works only for task 'binary', not for 'regression'; leave it
    out.
models = [{name = "m", estimator = "a.B"}, {name = "m", estimator = "a.B"}]
    [models 2] name 'm' is that of a model before it. Give each model a name of its own.
models.estimator = ""
    [models] must have one of estimator, file or r_script; none was given.
models.file = "m.joblib"
    [models] must have one of ...; 'estimator', 'file' were given.
models = [{name = "m", r_script = "m.R", encoder = "ordinal"}]
    [models] encoder does not work with a model of R, which reads factors; leave it out.
models = [{name = "m", r_script = "m.R", parameters = {ntree = 5}}]
    [models] parameters does not work with an R script, which says itself ...
models = [{name = "m", file = "m.joblib"}]
    [models] sha256 is missing; a file needs it, because loading it runs its code. Run:
    sha256sum m.joblib
models.predict = "predict.R"
    [models] predict works only with a model of R: an .rds file, or r_script; ...
models.offset = "weeks"
    [models] offset works only with the file of a fitted model of Python; leave it out.
models = [{name = "m", r_script = "m.R", exposure = "weeks"}]
    [models] exposure works only with the file of a fitted model of Python; ...
models.sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
    [models] sha256 works only with file or r_script; leave it out.
models = [{name = "m", file = "m.txt", standardise = true}]
    [models] standardise does not work with a file, which is fitted already; ...
importance.losses = ["rsme"]
    [importance] losses must be among those of task 'regression': 'rmse', 'mse', ...;
    'rsme' was given. Did you mean 'rmse'?
importance.losses = ["log_loss"]
    [importance] losses must suit task 'regression'; 'log_loss' is for 'binary',
    'multiclass'. Leave losses out for 'rmse'.
importance = [{method = "impurity", losses = ["rmse"]}]
    [importance] losses does not work with 'impurity', which measures no loss; leave it
    out.
importance = [{method = "impurity", form = "ratio"}]
    [importance] form = 'ratio' does not work with 'impurity', whose baseline is 0;
    leave it out.
importance.form = "absolute"
    [importance] form = 'absolute' does not work with 'permutation', which measures a
    loss: it may rise or fall; leave it out.
importance = [{method = "impurity", features = ["a"]}]
    [importance] features does not work with 'impurity', which asks all; leave it out.
importance.of = "groups"
    [importance] of = 'groups' works only with [groups]; add that section.
importance.of = "pairs"
    [importance] of must be one of 'features', 'groups' for method 'permutation'; ...
importance = [{method = "permutation", of = "groups", features = ["seize"]}]
groups.size = ["a"]
    [importance] features names 'seize', which is not in [groups]. Did you mean 'size'?
expected = [{features = ["seize"], of = "groups", place = "top", reason = "r"}]
groups.size = ["a"]
    [expected] features names 'seize', which is not in [groups]. Did you mean 'size'?
importance = [{method = "impurity"}, {method = "impurity"}]
    [importance 2] asks for 'impurity' of 'features', as an entry before it does. Leave
    one of them out.
importance = [{method = "sage", name = "n"}, {method = "impurity", name = "n"}]
    [importance 2] name 'n' is that of an entry before it. Give each a name of its own.
significance.tests = ["lei"]
    [significance] tests works with 'lei' only if an [[importance]] measures method
    'drop_column' without held_out; add one, or leave it out.
significance = {tests = ["altmann"], shuffles = 9}
    [significance] tests works with 'altmann' only if an [[importance]] measures what a
    model says of itself, such as 'impurity'; add one, or leave it out.
significance.tests = ["altmann"]
importance.method = "garson"
    [significance] tests works with 'altmann' only if shuffles is at least 1, such as
    99; each fits the models again.
execution.backend = "dask"
    [execution] backend = "dask" needs its address: scheduler = "tcp://…".
execution.scheduler = "tcp://10.0.0.5:8786"
    [execution] scheduler works only with backend = "dask".
"""

CLAIMED = """\
claims.kind = "leads"
    kind must be one of 'leader', ... and 11 more; 'leads' was given. Did you mean ...
claims.kind = "rank"
    within is missing. ...
claims = {kind = "frequency", model = "m", within = 1, expected = 1, tolerance = 0}
    model does not work with kind 'frequency', which is about all of them; leave it out.
claims = {kind = "frequency", within = 1, expected = 1, tolerance = 0, method = "anova"}
importance.method = "anova"
    method must ask models for kind 'frequency'; 'anova' asks the data.
claims = {kind = "ratio", expected = 1, tolerance = 0, features = ["a", "b", "c"]}
    features must name 2 for kind 'ratio'; 'a', 'b', 'c' were given.
claims.kind = "order"
    features must name 2 or more for kind 'order'; 'a' was given.
claims = {kind = "performance", expected = 1, tolerance = 0}
    method does not work with kind 'performance'; leave it out.
claims = [{text = "t", kind = "leader", features = ["a"]}]
    method is missing; kind 'leader' needs it.
claims = {kind = "line", intercept = 0, slope = 1, tolerance = 0}
    method must have curves for kind 'line'; 'permutation' has none.
claims.method = "impurity"
    no [[importance]] asks 'impurity' of features.
claims.of = "groups"
importance.of = "groups"
groups.all = ["x"]
    features names 'a', which is not in [groups].
claims.engine = "DALEX"
importance.engines = ["vip"]
    no [[importance]] asks 'permutation' of engine 'DALEX'.
claims.model = "forest"
importance.models = ["m"]
    no [[importance]] asks 'permutation' of model 'forest'.
claims = {method = "spearman", model = "m"}
importance.method = "spearman"
    model does not work with 'spearman', which asks the data; leave it out.
claims = {model = "m", loss = "mae"}
importance.losses = ["rmse"]
    no [[importance]] asks 'permutation' by loss 'mae'.
claims.model = "m"
importance.losses = ["rmse", "mae"]
    loss is missing; 'permutation' is asked by 'rmse', 'mae'.
claims = {method = "impurity", model = "m", loss = "mae"}
importance.method = "impurity"
    loss does not work with 'impurity', which measures no loss; leave it out.
claims = {kind = "likeness", bound = 0.9}
    other or other_method is missing; kind 'likeness' needs one.
claims = {kind = "likeness", bound = 0.9, other_method = "firm"}
    other_method: no [[importance]] asks 'firm'.
claims.entry = "frst"
importance.name = "first"
    entry names 'frst', which no [[importance]] is called. Did you mean 'first'?
claims = [{text = "t", kind = "performance", entry = "n", expected = 1, tolerance = 0}]
    entry does not work with kind 'performance'; leave it out.
"""

PRINTED = """\
numbers = {}
    numbers must hold at least one number; it is empty.
numbers = {a = 1.5, b = 0.126}
    numbers must have at most 1 decimal; that of 'b' is 0.126.
features = ["a"]
    features does not work with kind 'printed'; use numbers.
engines = ["DALEX"]
    no [[importance]] asks 'permutation' of engine 'DALEX'.
"""


def problems_of(document):
    with pytest.raises(ConfigError) as error:
        parse_config(document)
    return error.value.problems


@for_each(cases(CONFIGURATION))
def test_a_mistake_in_the_configuration_is_told_with_its_remedy(case):
    text, message = case
    assert_says(" ".join(problems_of(configured(text))), message)


@for_each(cases(CLAIMED))
def test_a_claim_asks_for_what_an_entry_measures(case):
    text, message = case
    (problem,) = problems_of(configured(text))
    assert_says(problem, f"[claims] {message}")


@for_each(cases(PRINTED))
def test_a_printed_table_holds_numbers_of_its_engines(case):
    text, message = case
    table = {"kind": "printed", "text": "t", "method": "permutation", "decimals": 1}
    table |= {"numbers": {"a": 1.0}} | tomllib.loads(text)
    (problem,) = problems_of({"data": DATA, "claims": [table]})
    assert_says(problem, f"[claims] {message}")


@for_each([kind for kind in CLAIMS if CLAIMS[kind].asks in OF_LOSS])
def test_a_claim_about_a_loss_names_one_of_several(kind):
    claim = {"text": "t", "kind": kind, "expected": 1, "tolerance": 0}
    entry = {"method": "permutation", "losses": ["rmse", "mae"]}
    problems = problems_of({"data": DATA, "importance": [entry], "claims": [claim]})
    assert problems == (
        f"[claims] loss is missing; kind {kind!r} needs it, because several are asked: "
        "'rmse', 'mae'.",
    )


def keys():
    """Yield every key that a file may have, as its place and a table that sets it."""
    day = date(2026, 11, 21)
    for key in (*SCALARS, "groups", "labels"):
        yield key, {key: day}
    for name, section in (TABLES | LISTS).items():
        for key in rules_of(section):
            table = DATA | {key: day} if name == "data" else {key: day}
            yield f"[{name}] {key}", {name: [table] if name in LISTS else table}
    for method in METHODS:
        for key in option_rules(method):
            entry = {"method": method, key: day}
            yield f"[importance] {key}", {"importance": [entry]}


@for_each(keys())
def test_a_value_that_no_key_can_have_is_told_with_its_key_and_rule(case):
    place, document = case
    problem, *_ = problems_of(document)
    assert problem.startswith(f"{place} must be ")
    assert problem.endswith("; datetime.date(2026, 11, 21) was given.")


@pytest.mark.parametrize("section", [*TABLES, *LISTS])
def test_a_key_that_a_section_lacks_is_told(section):
    problems = problems_of({section: [{"xy": 1}] if section in LISTS else {"xy": 1}})
    assert any(line.startswith(f"[{section}] has no key 'xy'.") for line in problems)


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
SEE_INIT = (
    " `importance-audit init --every-key`, in another folder, writes a file that has "
    "every key."
)
LONG, CUT = "x" * 100_000, f"'{'x' * 56}..."
ENTRY = '[[importance]]\nmethod = "impurity"\nmodels = ["forst"]\n'
FILES = {
    "not TOML": (
        "seed = \n",
        " is not valid TOML: Invalid value (at line 1, column 8). Correct it there.",
    ),
    "Latin 1": (
        "x = '\xe9'\n",
        " is not UTF-8: byte 6 cannot be read. Save it as UTF-8.",
    ),
    "two sections are missing": (
        "seed = 1\n",
        f": [data] is missing.{SEE_INIT}\naudit.toml: [models] is missing.{SEE_INIT}",
    ),
    "a value that is judged no further": (
        SOUND.replace("a.B", "a B"),
        ": [models] estimator must be an import path such as 'package.module.Class'; "
        "'a B' was given.",
    ),
    "unknown model": (
        SOUND + ENTRY,
        ": [importance] models must be among 'forest'; 'forst' was given. Did you mean "
        "'forest'?",
    ),
    "unknown model beside two of one name": (
        f"{SOUND}[[models]]\n{SOUND.partition('[[models]]')[2]}{ENTRY}",
        ": [models 2] name 'forest' is that of a model before it. Give each model a "
        "name of its own.\naudit.toml: [importance] models must be among 'forest'; "
        "'forst' was given. Did you mean 'forest'?",
    ),
    "long value": (
        SOUND.replace("binary", LONG),
        ": [data] task must be one of 'regression', 'binary', 'multiclass'; "
        f"{CUT} was given.",
    ),
    "long integer": (
        f"{SOUND}[checks]\nresolution = {10**400}\n",
        f": [checks] resolution must be a number above 0; 1{'0' * 56}... was given.",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_message_about_a_file_names_it_and_cuts_what_is_long(case, tmp_path):
    text, message = FILES[case]
    (tmp_path / "audit.toml").write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path)
    assert str(error.value) == f"audit.toml{message}"


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("reports/rents", "Write one with: importance-audit init reports/rents"),
        ("my audit/audit.toml", "Write one with: importance-audit init 'my audit'"),
        ("audit.toml", "Write one with: importance-audit init"),
        ("nope.toml", "Correct the path."),
    ],
)
def test_no_configuration_file(path, remedy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as error:
        load_config(path)
    assert str(error.value) == (
        f"No audit.toml can be read from {path!r}: no such file or directory. {remedy}"
    )


ROWS = r"""
x;y|1,5;2
    a.csv has semicolons but no comma in its first line: 'x;y'. Set separator = ";"
    beside the file, and decimal = "," if its numbers are written like 1234,5.
x,y|1,2|3,4,5
    a.csv: line 3 has 3 cells, and the first line 2. Quote cells that hold a comma, or
    set another separator beside the file (init: --separator).
x,y|1,"2" 3
    a.csv cannot be read as CSV: line 2: ',' expected after '"'.
,x,y|1,2,3
    a.csv: column 1 has no name. Name it, or set index_column = "" beside the file if it
    merely identifies rows.
x,y,x|1,2,3
    a.csv has several columns named 'x'. Rename all but one.
Report,,|x,y,z|1,2,3
    a.csv has several columns without a name in its first line. Remove titles above the
    names, or name the columns.
x,y|1,2
    a.csv has 1 row, and at least two are needed. Give more rows.
x,zone,y|1,a,2|3,b,4
target = "yy"
    Column 'yy' ([data] target) is not in a.csv. Did you mean 'y'?
x,zone,y|1,a,2|3,b,4
weights = "case_weight"
    Column 'case_weight' ([data] weights) is not in a.csv. Its columns: 'x', ...
x,zone,y|1,a,2|3,b,4
features = ["x", "zones"]
    Column 'zones' ([data] features) is not in a.csv. Did you mean 'zone'?
x,zone,y|1,a,2|3,b,4
groups.place = ["zone", "xx"]
    [groups] place names 'xx', which is no feature. Did you mean 'x'?
y|1|2
    a.csv has no feature: all its columns have other roles.
x,y|1,1|2,0|-,1|4,n/a
task = "binary"
    a.csv: column 'x' holds '-' in 1 of 4 cells, which may mean missing. If so, add it
    to [data] missing_values; else declare the levels under [data] categories.
    a.csv: column 'y' holds 'n/a' in ...
x,y|null,1|?,2|true,3| null ,4
    a.csv: column 'x' holds 'null', '?', ' null ' in 3 of 4 cells, which may mean ...
x,y|1,1|NA,2|NA,3|low,4|2,5
    a.csv: column 'x' holds mostly numbers, but 3 of 5 cells are text: 'NA', 'low'. Add
    the markers of missing values to ...
x,y|1,1|9007199254740993,2
    a.csv: column 'x' holds whole numbers with more digits than float64 keeps:
    9007199254740993. Declare the levels under [data] categories, or name ...
x,y|"1,5",1|2,2|NA,3|"1.234,5",4
    a.csv: column 'x' holds numbers that are not written like 1234.5: '1,5', '1.234,5'.
    Write them so in the file, say beside a CSV file how they are written (decimal,
    thousands, strip, negative), declare the levels under [data] categories, or name the
    column under [data] exclude.
x,y|2024-01-31,1|2024-02-01T12:00,2
    a.csv: column 'x' holds dates such as '2024-01-31'. To use them, make parts of them
    with [[derived]] kind = "date_part"; else declare the levels under [data]
    categories, or name the column under [data] exclude.
x,y|up,1|up ,2|down,3
    a.csv: column 'x' has levels that differ only in blanks: 'up', 'up '. Remove the
    blanks from the file, or declare the levels under [data] categories.
x,zone,y|1,a,2|3,b,4
categories.zone = ["a", "c"]
    a.csv: column 'zone' holds 'b', which [data] categories does not declare. Declare
    every level.
x,y|1,1|-inf,2|Infinity,3|4,4
test.file = "a.csv"
    a.csv (training rows): column 'x' has 2 infinite cells. Correct them, or leave those
    rows out. a.csv (test rows): column 'x' has ...
x,y,s|,1,a|,2,a|3,3,b|4,4,b
test = {column = "s", value = "b"}
    a.csv (training rows): column 'x' has no value in any row. Leave it out of features.
x,y,s|u,1,a|v,2,a|w,3,b|u,4,b
test = {column = "s", value = "b"}
    a.csv (test rows): column 'x' has levels in the test rows that no training row has:
    'w'. Every training row has its own level, so the column merely identifies rows:
    name it under [data] exclude.
x,y,s|u,1,a|u,2,a|w,3,b|u,4,b
test = {column = "s", value = "b"}
    ... that no training row has: 'w'. Split the rows otherwise, merge rare levels, or
    set [data] unseen.
x,zone,y|1,a,2|3,b,4
test = {column = "zone", value = "c"}
    a.csv: column 'zone' holds 'a', 'b'; no row has the value 'c' of the test rows.
x,y,s|1,1,a|2,2,|3,3,b
test = {column = "s", value = "b"}
    a.csv: column 's' is missing in 1 of 3 rows; ..., because it splits the rows. ...
x,y|1,0|2,1|3,0|4,1
task = "binary"
test.fraction = 0.01
    a.csv (test rows) has no rows, and at least two are needed. Give more rows.
x,y,w|1,1,1|2,2,-1
weights = "w"
b = "x,y,w|1,1,1|2,2,0"
    a.csv: column 'w' must not be negative; 1 of 2 weights is. Correct them.
x,y,w|1,1,1|2,2,1
weights = "w"
b = "x,y,w|1,1,0|2,2,0"
    b.csv: column 'w' gives every row the weight 0. Give these rows weights, or leave
    [data] weights out.
x,y,w|1,1,1|2,2,
weights = "w"
b = "x,y,w|1,1,0|2,2,1"
    a.csv: column 'w' is missing in 1 of 2 rows; ... it holds the row weights. ...
x,y,w|1,1,a|2,2,b
weights = "w"
b = "x,y,w|1,1,1|2,2,1"
    a.csv: column 'w' holds text, which cannot be used as row weights. Name a numeric
    column. ...
x,y|1,1|2,|3,3|4,4
b = "x,y|1,1|2,2"
    a.csv: target 'y' is missing in 1 of 4 rows; every row needs a value, because it is
    the target. Leave those rows out: [data] drop_missing_target = true does.
x,y|1,a|2,b
b = "x,y|1,1|2,2"
    a.csv: target 'y' holds 2 different texts ('a', 'b'), and task 'regression' needs
    numbers. Name a numeric column, or set task to binary or multiclass. ...
x,y|1,0|2,1|3,unknown
task = "binary"
test.file = "a.csv"
    a.csv (training rows): target 'y' has 3 classes ('0', '1', 'unknown'), and task
    'binary' needs two. Name another target or task, or add rows.
x,y|1,0|2,0
task = "multiclass"
test.file = "a.csv"
    ... target 'y' has 1 class ('0'), and task 'multiclass' needs at least two. ...
x,y|1,0|2,1
task = "binary"
b = "x,y|1,1|2,1"
    b.csv: target 'y' holds only the class '1', and every split needs two or more. Split
    the rows otherwise.
x,y|1,a|2,b
task = "multiclass"
b = "x,y|1,a|2,c"
    b.csv: target 'y' holds 'c', which is not among the classes 'a', 'b'. Leave those
    rows out, or add the class.
x,y|1,1|2,yes
task = "binary"
test.file = "a.csv"
    a.csv (training rows): target 'y' has the classes '1', 'yes', and the positive class
    is not stated. Set [data] positive_class; in Python, give classes with it last.
x,y|1,2|2,3
task = "binary"
test.file = "a.csv"
    a.csv (training rows): target 'y' has the classes '2', '3', and the positive ...
x,y|1,no|2,yes
task = "binary"
positive_class = "Yes"
test.file = "a.csv"
    a.csv (training rows): target 'y' has the classes 'no', 'yes'; the positive class
    'Yes' is not one of them.
x,y|1,2|3,4
train.file = "no.csv"
test.file = "none.csv"
    [data] file '...no.csv' cannot be read: no such file or directory. [data] file ...
x,y|1,2|3,4
train.sklearn = "load_diabetis"
    [data] sklearn must be one of 'load_breast_cancer', ...; 'load_diabetis' was given.
    Did you mean 'load_diabetes'?
x,y|1,2|3,4
train.file = "a.xls"
    [data] file must end in one of .csv, .csv.gz, ...; '...a.xls' was given.
"""


def read_rows(folder, content, changed):
    """Read a.csv, whose lines `|` separates; the rows of b.csv are tested if given."""
    data = DATA | {"test": {"fraction": 0.5}} | tomllib.loads(changed)
    if isinstance(content, str):
        content = f"{content}\n".replace("|", "\n").encode()
    (folder / "a.csv").write_bytes(content)
    if rows := data.pop("b", ""):
        (folder / "b.csv").write_text(rows.replace("|", "\n"))
        data["test"] = {"file": "b.csv"}
    groups = data.pop("groups", {})
    config = parse_config({"data": data, "groups": groups}, base=folder)
    return read_datasets(**config.data_arguments)


@for_each(cases(ROWS))
def test_a_table_that_cannot_be_audited_says_why_and_what_to_do(case, tmp_path):
    rows, _, changed = case[0].partition("\n")
    with pytest.raises(DataError) as error:
        read_rows(tmp_path, rows, changed)
    assert_says(str(error.value), case[1])


EMPTY = "a.csv is empty. Save it with a line of column names and its rows."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", EMPTY),
        (b"\n \n", EMPTY),
        (
            b"x,y\n\0\xff\n",
            "a.csv is not a text file: it holds NUL bytes. Save it as CSV.",
        ),
        (
            b"x,y\n1,caf\xe9\n",
            "a.csv is not UTF-8: line 2 holds the byte 0xe9. Save it as UTF-8, or set "
            'the encoding beside the file, such as encoding = "cp1252".',
        ),
    ],
)
def test_a_file_that_holds_no_text(content, message, tmp_path):
    with pytest.raises(DataError) as error:
        read_rows(tmp_path, content, "")
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("task", "name", "or_else"),
    [
        ("multiclass", "", ", or set task to regression if it is a number"),
        ("binary", "id", ""),
    ],
)
def test_a_target_of_very_many_values_is_no_class(task, name, or_else, tmp_path):
    rows = "|".join(["x,y", *(f"{i % 7},{name}{i + 10}" for i in range(60))])
    with pytest.raises(DataError) as error:
        read_rows(tmp_path, rows, f'task = "{task}"\ntest.file = "a.csv"')
    first = ", ".join(repr(f"{name}{i}") for i in range(10, 15))
    assert str(error.value) == (
        "a.csv (training rows): target 'y' holds 60 different values in 60 rows "
        f"({first} and 55 more), too many to be classes. Name the column that holds "
        f"the classes{or_else}."
    )


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_parquet_and_feather_without_pyarrow(kind, tmp_path):
    (tmp_path / f"a.{kind}").write_bytes(b"PAR1")
    with pytest.raises(DataError) as error:
        read_rows(tmp_path, "", f'train.file = "a.{kind}"')
    with pytest.raises(ImportError) as own:
        getattr(pd, f"read_{kind}")(BytesIO(b"PAR1"))
    assert str(error.value) == (
        f"a.{kind} cannot be read without pyarrow. Run: {pip_install('pyarrow')}, or "
        f"save the table as CSV. The import says: {' '.join(str(own.value).split())}"
    )


@pytest.mark.needs_pyarrow
def test_a_parquet_file_that_is_none(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"x,y\n1,2\n")
    with pytest.raises(DataError) as error:
        read_rows(tmp_path, "", 'train.file = "a.parquet"')
    assert str(error.value).startswith("a.parquet cannot be read as Parquet: ")
    assert "\n" not in str(error.value)


def test_a_configuration_without_data_has_no_rows():
    with pytest.raises(DataError) as error:
        read_datasets(**parse_config({}).data_arguments)
    assert str(error.value) == (
        "The configuration has no [data], so the rows are not specified. Add it, or "
        "make them with importance_audit.dataset."
    )


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (
            [1, 2],
            ["a", "b"],
            "is integer in the training rows and category in the test rows. Give it "
            "one type, or declare its levels under [data] categories.",
        ),
        (
            pd.Categorical(["a", "b"]),
            pd.Categorical(["a", "c"]),
            "has levels in the test rows that no training row has: 'c'. Split the rows "
            "otherwise, merge rare levels, or set [data] unseen.",
        ),
    ],
)
def test_typed_tables_that_do_not_fit_each_other(train, test, message):
    frames = {
        "p::a": pd.DataFrame({"x": train, "y": [1, 2]}),
        "p::b": pd.DataFrame({"x": test, "y": [1, 2]}),
    }
    data = DATA | {"train": {"r": "p::a"}, "test": {"r": "p::b"}}
    arguments = parse_config({"data": data}).data_arguments
    with pytest.raises(DataError) as error:
        read_datasets(**arguments, r_frame=lambda name: frames[name])
    assert str(error.value) == f"p::a, p::b: column 'x' {message}"


@pytest.mark.parametrize(
    ("test", "how"),
    [
        (pd.Categorical(["c"]), "Split the rows otherwise, or merge rare levels."),
        ([1.0], "Give it one type, such as a factor."),
    ],
)
def test_who_asked_in_r_is_told_of_levels_what_to_do_there(test, how):
    train = pd.Series(pd.Categorical(["a", "b", "a"]))
    with asked_by("r"), pytest.raises(DataError) as error:
        joined(train, pd.Series(test))
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
    fields = {"X": np.eye(2), "y": [1, 2], "task": "regression", "name": "rows"}
    fields |= changed
    with pytest.raises(DataError) as error:
        dataset(fields.pop("X"), fields.pop("y"), **fields)
    assert str(error.value) == message


def test_numbers_of_numpy_are_repeated_as_pythons():
    given = (np.float64(0.5), np.int32(7), np.True_, np.str_("a"), 0.5, True)
    assert listed(given, limit=6) == "0.5, 7, true, 'a', 0.5, true"
