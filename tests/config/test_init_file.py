"""What `init` writes, and that it runs."""

import tomllib

import pytest
from tests.data.reading import csv_of

from importance_audit.config import init_file
from importance_audit.config.init_file import starter, starter_from
from importance_audit.config.json_schema import audit_schema
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import read_datasets
from importance_audit.engines import EngineInfo
from importance_audit.models.fit import fit_models
from importance_audit.records.errors import DataError

N = 24
NUMBERS = [f"{i}.5" for i in range(N)]


def table(y, x=NUMBERS, name="x"):
    rows = "".join(f'"{a}","{b}"\n' for a, b in zip(x, y, strict=True))
    return f'"{name}",y\n{rows}'


def started(folder, text, target="y"):
    """Return what is written for a table, as text and as TOML."""
    (folder / "audit").mkdir()
    (folder / "table.csv").write_text(text, encoding="utf-8")
    written = starter_from(folder / "table.csv", target, folder / "audit")
    return written, tomllib.loads(written)


def cycle(*values):
    return [values[i % len(values)] for i in range(N)]


@pytest.mark.parametrize("every_key", [True, False])
def test_the_starter_runs_as_it_is(every_key):
    config = parse_config(tomllib.loads(starter(every_key=every_key)))
    train, test = read_datasets(**config.data_arguments)
    fit_models(config.models, train)
    assert (train.n_samples + test.n_samples, test.n_samples) == (442, 111)


def test_the_starter_is_short_and_shows_defaults():
    text = starter()
    assert len(text.splitlines()) <= 45
    every = tomllib.loads(starter(every_key=True))
    for section in ("data", "report", "limits"):
        own = tomllib.loads(text)[section]
        assert own == {key: every[section][key] for key in own}


COUNTS = '(or counts? then task = "regression")'


@pytest.mark.parametrize(
    ("y", "task", "reason", "positive"),
    [
        (NUMBERS, "regression", "24 different numbers", None),
        (cycle(0, 1), "binary", 'two values: "0", "1"', None),
        (cycle(1, 2), "binary", 'two values: "1", "2"', "2"),
        (cycle("true", "false"), "binary", 'two values: "false", "true"', None),
        (cycle("yes", "no"), "binary", 'two values: "no", "yes"', "yes"),
        (cycle("ja", "nein"), "binary", 'two values: "ja", "nein"', "ja"),
        (cycle("a", "b"), "binary", 'two values: "a", "b"', "b"),
        (cycle(0, 1, 2), "multiclass", f"codes from 0 to 2 {COUNTS}", None),
        (cycle(*range(10)), "multiclass", f"codes from 0 to 9 {COUNTS}", None),
        (cycle(*range(11)), "regression", "11 different numbers", None),
        (cycle(3, 4, 8), "regression", "3 different numbers", None),
        (cycle("b", "a", "c"), "multiclass", '3 texts: "a", "b", "c"', None),
    ],
)
def test_the_task_is_proposed_with_its_reason(y, task, reason, positive, tmp_path):
    text, document = started(tmp_path, table(y))
    assert f'task = "{task}"  # proposed, because it holds {reason}\n' in text
    assert document["data"].get("positive_class") == positive


@pytest.mark.parametrize(
    "text",
    [
        table(NUMBERS),
        table(cycle("yes", "no"), cycle("a\nb", "größe", 'say ""x""')),
        table(cycle(0, 1, 2), cycle("1", "NA", "3", "")),
        table(cycle(0, 1), cycle("true", "false"), name='odd ""name""\n'),
    ],
)
def test_what_is_written_is_sound_and_its_rows_can_be_read(text, tmp_path):
    import jsonschema

    _, document = started(tmp_path, text)
    jsonschema.validate(document, audit_schema())
    train, test = read_datasets(
        **parse_config(document, base=tmp_path / "audit").data_arguments
    )
    assert (train.n_samples, test.n_samples) == (18, 6)


def test_the_file_is_named_from_where_the_configuration_lies(tmp_path):
    text, document = started(tmp_path, table(NUMBERS))
    assert document["data"]["train"] == {"file": "../table.csv"}
    (line,) = (line for line in text.splitlines() if line.startswith("train = "))
    assert line.endswith("# or { rds, sha256 }, { r_script }")


LISTED = (
    "# Levels are sorted; for another order, or a level not seen yet:\n"
    '# categories = { "x" = ["a", "b", "c"'
)


def test_a_target_of_yes_no_and_a_word_for_missing_lacks_some(tmp_path):
    _, document = started(tmp_path, table(cycle("ja", "nein", "ja", "nein", "k.A.")))
    data = document["data"]
    assert (data["task"], data["positive_class"]) == ("binary", "ja")
    assert (data["missing_values"], data["drop_missing_target"]) == (["k.A."], True)


@pytest.mark.parametrize("levels", [("low", "high", "none"), ("a", "b", "NA")])
def test_a_target_of_three_classes_keeps_them(tmp_path, levels):
    _, document = started(tmp_path, table(cycle(*levels)))
    assert document["data"]["task"] == "multiclass"
    assert "missing_values" not in document["data"]


@pytest.mark.parametrize(
    ("levels", "shown", "is_listed"),
    [
        (("NA", "EU"), ['2 levels: "EU", "NA"; if', '{ "x" = ["EU", "NA"] }\n'], True),
        (
            ("k.A.", "?", "low"),
            ['; if "?", "k.A." mean missing, add to missing_values\n'],
            True,
        ),
        (("none", "low"), ['2 levels: "low", "none"\n'], True),
        (("a", "A", "b"), ['"A", "a", "b"; some differ in case only\n'], True),
        ("abcdefghij", [LISTED, '"i", "j"\n'], True),
        ("abcdefghijkl", ['12 levels: "a", "b"', '"j" and 2 more\n'], False),
    ],
)
def test_levels_are_shown_and_up_to_ten_are_listed_to_be_declared(
    levels, shown, is_listed, tmp_path
):
    text, document = started(tmp_path, table(NUMBERS, cycle(*levels)))
    assert [words for words in shown if words not in text] == []
    assert ("# categories" in text) == is_listed
    assert "missing_values" not in document["data"]  # "NA" is a level here


def test_what_was_found_is_shown_beside_each_feature(tmp_path):
    words = ["1", "2", "NA", "?"]
    rows = "".join(
        f"{i // 2},{i % 2 == 0},{i / 4},{words[i % 4]},{i}\n".lower().replace(
            "na", "NA"
        )
        for i in range(N)
    )
    text, document = started(tmp_path, f"n,flag,share,gaps,y\n{rows}")
    assert document["data"]["features"] == ["n", "flag", "share", "gaps"]
    assert document["data"]["missing_values"] == ["NA", "?"]
    for line in (
        '"n",  # integer, 0 to 11\n',
        '"flag",  # true or false\n',
        '"share",  # number, 0 to 5.75\n',
        '"gaps",  # number, 1 to 2; 12 of 24 missing\n',
    ):
        assert line in text


LEFT_OUT = {
    "when": (
        [f"{i % 12 + 1:02}/{i % 5 + 1:02}/2024" for i in range(N)],
        "holds dates such as '01/01/2024', whose format may be \"%d/%m/%Y\" or ",
    ),
    "day": (["2024-01-31"] * N, "holds dates such as '2024-"),
    "code": ([f"c{i}" for i in range(N)], "every value is different, so it identifies"),
    "same": (["5"] * N, 'constant, "5"'),
    "rare": (cycle(*[""] * 5, "1"), "20 of 24 missing"),
    "none": ([""] * N, "empty"),
    "comma": (
        cycle("1,5", "2,5"),
        "holds numbers that are not written like 1234.5: '1,5', '2,5'",
    ),
    "key": (
        [f"{2**60 + i}" for i in range(N)],
        "holds whole numbers with more digits than float64 keeps: "
        "1152921504606846977, ",
    ),
    "mixed": (
        cycle("1", "2", "low"),
        "holds mostly numbers, but 8 of 24 cells are text: 'low'",
    ),
    "far": (["1e400", *NUMBERS[1:]], "has 1 infinite cell"),
    "customer_id": (cycle(1.5, 2.5), "its name suggests an identifier"),
    "customerId": (cycle(1.5, 2.5), "its name suggests an identifier"),
    "ID": (cycle(1.5, 2.5), "its name suggests an identifier"),
    "number": ([*range(100, 124)], "every value is different, so it identifies rows"),
    "once": ([*"ab" * 10, *"xxab"], 'in the test rows only: "x"; merge rare levels'),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_column_that_cannot_be_a_feature_is_left_out_with_the_reason(name, tmp_path):
    cells, reason = LEFT_OUT[name]
    rows = zip(cells, NUMBERS, NUMBERS, strict=True)
    text, document = started(tmp_path, csv_of((name, "good", "y"), *rows))
    assert f'    # "{name}",  # left out: {reason}' in text
    assert document["data"]["features"] == ["good"]
    read_datasets(**parse_config(document, base=tmp_path / "audit").data_arguments)


def test_a_column_that_holds_the_target_is_left_out_with_the_reason(tmp_path):
    rows = [(i % 7, i % 2, 10 * (i % 2)) for i in range(100)]
    text, document = started(tmp_path, csv_of(("good", "y", "paid"), *rows))
    assert document["data"]["features"] == ["good"]
    assert (
        '"paid",  # left out: it holds the target in nearly all rows, up to unit or '
        "labels\n"
    ) in text


def test_a_name_or_values_that_only_look_like_an_identifier_keep_their_column(tmp_path):
    kept = {"humid": cycle(1.5, 2.5), "valid": cycle("true", "false"), "share": NUMBERS}
    rows = zip(*kept.values(), NUMBERS, strict=True)
    text = csv_of((*kept, "y"), *rows)
    _, document = started(tmp_path, text)
    assert document["data"]["features"] == [*kept]


def rows_of(document, folder):
    """Return the training and test rows of what was written, and fit its models."""
    config = parse_config(document, base=folder / "audit")
    train, test = read_datasets(**config.data_arguments)
    fit_models(config.models, train)
    return train, test


def test_parts_of_dates_become_features(tmp_path):
    when = [f"{i % 28 + 1}.{i % 12 + 1}.2024 0{i % 3}:00" for i in range(N)]
    rows = "".join(f"{a},{b},{b}\n" for a, b in zip(when, NUMBERS, strict=True))
    text, document = started(tmp_path, f"when,x,y\n{rows}")
    assert '    # "when",  # dates: see [[derived]] below\n' in text
    assert [item["part"] for item in document["derived"]] == [
        "month",
        "weekday",
        "hour",
    ]
    assert {item["format"] for item in document["derived"]} == {"%d.%m.%Y %H:%M"}
    train, test = rows_of(document, tmp_path)
    assert train.features == ("x", "when_month", "when_weekday", "when_hour")
    months = [*train.X["when_month"], *test.X["when_month"]]
    assert sorted(months) == sorted(2 * [*range(1, 13)])


def test_rare_levels_are_read_as_missing_and_keep_their_column(tmp_path):
    levels = ["rare" if i == 5 else "ab"[i % 2] for i in range(100)]  # 5 is a test row
    rows = "".join(f"{level},{i % 7}.5\n" for i, level in enumerate(levels))
    text, document = started(tmp_path, f"x,y\n{rows}")
    assert document["data"]["unseen"] == "missing"
    assert '\n# "x": "rare"\n' in text
    _, test = rows_of(document, tmp_path)
    assert test.X["x"].isna().sum() == 1


def test_large_tables_get_limits(tmp_path):
    rows = "".join(f"{i % 11},{i % 7}.5\n" for i in range(40_004))
    _, document = started(tmp_path, f"x,y\n{rows}")
    assert document["limits"] == {"max_rows": 10_000}


def test_of_many_columns_those_left_out_are_named(tmp_path):
    names = ",".join(f"x{k}" for k in range(300))
    rows = "".join(f"{','.join([v] * 300)},c{v},{v}\n" for v in NUMBERS)
    text, document = started(tmp_path, f"{names},code,y\n{rows}")
    assert document["data"]["exclude"] == ["code"]
    assert '    "code",  # left out: every value is different' in text
    assert document["limits"] == {"minutes": 30.0}
    assert len(text.splitlines()) < 60
    train, _ = rows_of(document, tmp_path)
    assert len(train.features) == 300


@pytest.mark.parametrize(
    ("y", "x", "target", "message"),
    [
        (NUMBERS, cycle("5"), "y", "has no column that can be a feature ('x':"),
        (NUMBERS, NUMBERS, "yy", "is not in table.csv. Did you mean 'y'?"),
        (cycle(1), NUMBERS, "y", "target 'y' has 1 value, and a target needs two or"),
        (cycle(""), NUMBERS, "y", "target 'y' has no value, and a target needs two"),
    ],
)
def test_a_table_without_a_usable_target_or_feature_is_told_why(
    y, x, target, message, tmp_path
):
    with pytest.raises(DataError) as error:
        started(tmp_path, table(y, x), target=target)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("y", "task", "reason"),
    [
        (["1", "?", *NUMBERS[2:]], "regression", "1 of 24 rows lacks"),
        (["", "", *cycle("yes", "no")[2:]], "binary", "2 of 24 rows lack"),
        (["NA", *cycle("0", "1", "2")[1:]], "multiclass", "1 of 24 rows lacks"),
    ],
)
def test_rows_without_a_target_are_proposed_as_left_out(y, task, reason, tmp_path):
    text, document = started(tmp_path, table(y))
    assert document["data"]["task"] == task
    assert f"\ndrop_missing_target = true  # proposed: {reason} the target\n" in text
    train, test = rows_of(document, tmp_path)
    assert train.n_samples + test.n_samples == 24 - int(reason[0])


@pytest.mark.parametrize(
    ("x", "y", "names"),
    [
        (NUMBERS, NUMBERS, ["RandomForestRegressor", "LinearRegression"]),
        (NUMBERS, cycle(0, 1), ["RandomForestClassifier", "LogisticRegression"]),
        (cycle("1", "", "2"), NUMBERS, ["HistGradientBoostingRegressor"]),
        (cycle("1", "", "2"), cycle(*"abc"), ["HistGradientBoostingClassifier"]),
    ],
)
def test_models_are_proposed_that_fit_task_and_features(x, y, names, tmp_path):
    _, document = started(tmp_path, table(y, x))
    estimators = [model["estimator"].rpartition(".")[2] for model in document["models"]]
    assert estimators == names
    config = parse_config(document, base=tmp_path / "audit")
    fitted = fit_models(config.models, read_datasets(**config.data_arguments)[0])
    assert [type(model.estimator).__name__ for model in fitted] == names


@pytest.mark.parametrize("installed", [(), ("DALEX",), ("DALEX", "vip")])
def test_the_engines_are_those_that_are_here(installed, tmp_path, monkeypatch):
    def described(name):
        return EngineInfo(name, name in installed, "", "", "")

    monkeypatch.setattr(init_file, "describe_engine", described)
    _, document = started(tmp_path, table(NUMBERS))
    assert sorted(document["importance"][0]["engines"]) == sorted(installed)


@pytest.mark.parametrize(("n_features", "is_wide"), [(56, False), (57, True)])
def test_of_many_features_the_cost_is_said_and_pairs_of_few_are_offered(
    n_features, is_wide, tmp_path
):
    """A column of dates counts as two: the month and the weekday of each."""
    names = [*(f"x{k}" for k in range(n_features)), "seen", "sold", "y"]
    days = [f"2024-{i % 12 + 1:02}-{i + 1:02}" for i in range(N)]
    of_row = zip(NUMBERS, days, strict=True)
    lines = ([v] * n_features + [day] * 2 + [v] for v, day in of_row)
    text, document = started(tmp_path, csv_of(names, *lines))
    parse_config(document)
    cost = "# Cost: 61 features. Each repeat needs 61 predictions of all test rows"
    assert (cost in text) == is_wide
    assert ("# top = 10\n" in text) == is_wide
    if is_wide:
        _, head, offered = text.partition("# [[importance]]")
        entry = (head + offered.partition("\n\n")[0]).replace("# ", "")
        parse_config(tomllib.loads(entry))
