"""Models that an R script fits: on which rows, from which stream, told how."""

import hashlib
import os
import re
import signal
import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.report.reading import page_files

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models import r_models
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import host
from importance_audit.records.as_json import dumps
from importance_audit.records.errors import ModelError, NotApplicable

pytestmark = [pytest.mark.needs_r, pytest.mark.usefixtures("shared_r")]

FRAME = pd.DataFrame(
    {
        "fare (£)": np.arange(40) % 7 + 0.5,
        "class": pd.Categorical(["2nd", "1st"] * 20, categories=["2nd", "1st"]),
        "age": np.arange(40) % 11,
    }
)
Y = FRAME["age"] + (FRAME["class"] == "1st") * 3 + np.sin(np.arange(40))
ROWS = dataset(FRAME, Y.rename("y"), task="regression", name="rows", split="train")
FOREST = "randomForest::randomForest(train[1:3], train$y, ntree = 5)"


@pytest.fixture
def fitted(tmp_path):
    """Fit by the text of a script."""

    def fit(script, rows=ROWS, **more):
        (tmp_path / "model.R").write_text(textwrap.dedent(script), encoding="utf-8")
        section = ModelSection(name="m", r_script="model.R", **more)
        return r_models.load(section, rows, base=tmp_path)

    return fit


def classes(labels, target):
    return dataset(
        FRAME, target, task="binary", name="rows", split="train", classes=labels
    )


def value_in_script(fitted, expression, rows=ROWS):
    """What an expression is where the script is evaluated."""
    with pytest.raises(ModelError) as refusal:
        fitted(f"stop({expression})", rows)
    start = "Model 'm' cannot be fitted by R script 'model.R'. R says: "
    return str(refusal.value).removeprefix(start)


def test_a_script_finds_the_rows_with_their_own_names_types_and_levels(fitted):
    for expression, value in {
        "toString(names(train))": "fare (£), class, age, y",
        "toString(sapply(train, class))": "numeric, factor, integer, numeric",
        "toString(levels(train$class))": "2nd, 1st",
        "nrow(train)": "40",
        "is.null(weights)": "TRUE",
    }.items():
        assert value_in_script(fitted, expression) == value
    weighted = replace(ROWS, weights=np.tile([1.0, 2.0], 20))
    assert value_in_script(fitted, "toString(weights[1:3])", weighted) == "1, 2, 1"


@pytest.mark.parametrize(
    ("labels", "target", "description"),
    [
        (["no", "yes"], np.where(Y > 5, "yes", "no"), "factor no yes"),
        ([0, 1], (Y > 5).astype(int), "integer 0 1"),
        ([False, True], Y > 5, "logical FALSE TRUE"),
    ],
)
def test_classes_reach_a_script_as_what_they_were(fitted, labels, target, description):
    rows = classes(labels, target)
    as_levels = "c(class(train$y), as.character(sort(unique(train$y))))"
    assert (
        value_in_script(fitted, f"paste({as_levels}, collapse = ' ')", rows)
        == description
    )


def test_a_target_named_like_a_column_is_refused_and_not_put_in_its_place(fitted):
    words = r"^The target and a column .* are both named 'age'\. Rename one"
    with pytest.raises(ModelError, match=words):
        fitted("lm(age ~ ., train)", replace(ROWS, target="age"))


def test_the_value_of_a_script_is_the_model(fitted):
    model = fitted("cars <- 1\nlm(y ~ age + class, train)")
    X = np.column_stack([np.ones(40), FRAME["age"], FRAME["class"] == "1st"])
    b = np.linalg.lstsq(X, Y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(FRAME), X @ b, rtol=1e-10)
    assert (model.source, model.n_train) == ("r_script", 40)
    assert model.features == ("age", "class")


def test_a_script_is_known_by_its_digest_and_its_text(fitted):
    text = "lm(y ~ age, train)\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    model = fitted(text, sha256=digest)
    assert model.sha256 == digest
    call = "lm(formula = y ~ age, data = train)"
    assert model.parameters == {"call": call, "script": text}
    words = r"the sha256 of 'model.R' is .* State the new one, or leave"
    with pytest.raises(ModelError, match=words):
        fitted(text + "# more", sha256=digest)


def test_a_script_without_a_seed_draws_the_same_every_time(fitted):
    first = fitted(FOREST).predict(FRAME)
    fitted('RNGkind("Wichmann-Hill")\nset.seed(9)\nlm(y ~ age, train)')
    np.testing.assert_array_equal(fitted(FOREST).predict(FRAME), first)
    other = fitted(f"set.seed(2)\n{FOREST}").predict(FRAME)
    assert not np.array_equal(other, first)


def test_a_script_leaves_no_option_changed_and_what_it_was_warned_of_is_told(fitted):
    model = fitted("options(digits = 3)\nwarning('careful')\nlm(y ~ age, train)")
    assert model.parameters["warnings"] == ["careful"]
    assert value_in_script(fitted, "getOption('digits')") == "7"


@pytest.mark.parametrize(
    "levels", ["relevel(train$class, '1st')", "as.character(train$class)"]
)
@pytest.mark.parametrize(
    "rows", ["y ~ age + class, train", "x = train[2:3], y = train$y"]
)
def test_a_forest_of_ranger_is_asked_with_the_levels_that_its_script_made(
    fitted, levels, rows
):
    grown = f"ranger::ranger({rows}, num.trees = 9, seed = 1)"
    script = f"train$class <- {levels}\nm <- {grown}"
    own = f"{script}\nsprintf('%.17g', predict(m, train)$predictions[7:8])"
    expected = value_in_script(fitted, f"paste({{{own}}}, collapse = ' ')")
    predictions = fitted(f"{script}\nm").predict(FRAME)[6:8]
    assert predictions.tolist() == [float(number) for number in expected.split()]


def test_a_machine_that_met_other_levels_is_refused_not_misread(fitted):
    turned = "train$class <- relevel(train$class, '1st')"
    model = fitted(f"{turned}\ne1071::svm(y ~ age + class, train)")
    with pytest.raises(ModelError, match="age, class1st, class2nd, but is given age, "):
        model.predict(FRAME)


def test_splines_of_two_values_predict_the_second(fitted):
    if value_in_script(fitted, "requireNamespace('earth', quietly = TRUE)") == "FALSE":
        pytest.skip("earth is not installed")
    script = "library(earth)\nearth(y ~ age, train, glm = list(family = binomial))"
    for labels, target in (([False, True], Y > 5), ([0, 1], (Y > 5).astype(int))):
        predictions = fitted(script, classes(labels, target)).predict(FRAME)
        assert predictions[Y > 5].mean() > 0.5 > predictions[Y <= 5].mean()


BY_R = " cannot be fitted by R script 'model.R'. R says: "
BY_US = " (R script 'model.R'): R "


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("stop('no £ here')", f"{BY_R}no £ here"),
        ("1 +", f"{BY_R}<text>:2:0: unexpected end of input 1: 1 + ^"),
        (
            "function() 1",
            f"{BY_US}model 'model.R' must be of a class that can be audited (",
        ),
        (
            "quit(status = 5)",
            f"{BY_US}ended during the call of R script 'model.R', with exit status 5",
        ),
    ],
)
def test_a_script_that_fits_no_model_is_told_by_whom_and_the_next_one_runs(
    fitted, script, words
):
    with pytest.raises(ModelError) as refusal:
        fitted(script)
    assert str(refusal.value).startswith(f"Model 'm'{words}")
    assert fitted("lm(y ~ age, train)").features == ("age",)


def test_a_model_of_a_script_is_not_fitted_to_other_columns(fitted):
    with pytest.raises(NotApplicable) as refusal:
        fitted("lm(y ~ age, train)").refit(["age"])
    assert str(refusal.value) == (
        "Model 'm' cannot be fitted again: an R script fits it, and may use columns "
        "that other fits do not receive. Name an estimator under [[models]]."
    )


@pytest.mark.needs_dalex
def test_two_models_of_r_are_replayed_and_outlive_the_death_of_their_r(tmp_path):
    (tmp_path / "linear.R").write_text("lm(y ~ ., train)")
    (tmp_path / "forest.R").write_text(FOREST)
    models = [{"name": name, "r_script": f"{name}.R"} for name in ("linear", "forest")]
    entry = {"method": "permutation", "engines": ["DALEX"], "n_repeats": 2}
    config = parse_config({"models": models, "importance": [entry]}, base=tmp_path)
    killed = []

    def kill_once(*step):
        label = step[2]
        if label.endswith("forest") and "permutation" in label and not killed:
            killed.append(host.current_models().pid)
            os.kill(killed[0], signal.SIGKILL)
            os.waitid(os.P_PID, killed[0], os.WEXITED | os.WNOWAIT)

    test = dataset(FRAME, Y.rename("y"), task="regression", name="test")
    result = audit(ROWS, test, config, on_step=kill_once)
    assert result.agreement["verdict"].tolist() == ["replayed", "replayed"]
    assert ("r_restarted", "R") in [(f.check, f.subject) for f in result.findings]
    digest = hashlib.sha256(FOREST.encode()).hexdigest()
    assert digest in dumps(result)
    page = page_files(result, pdf=False)["report.html"]
    unbroken = re.sub("</?(?:wbr|span)[^>]*>", "", str(page))
    assert f'<td class="m">{FOREST.replace("$", "$")}</td>' in unbroken
