"""What R models say of themselves is what vip's vi_model said, refitted or recorded."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.methods.importance.test_model_specific_reference import (
    CASES,
    DATA,
    LEFT_OUT,
    THROUGH_R,
    short,
)
from tests.methods.importance.test_model_specific_reference import frame as columns_of
from tests.methods.importance.toys import refused, rows_of
from tests.report.reading import page_files

from importance_audit.auditing.audit import audit
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.engines.vip import vip_model_specific
from importance_audit.methods.importance.r_model_specific import model_specific
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.r_bridge import host
from importance_audit.r_bridge.model_specific import own_numbers
from importance_audit.r_bridge.r_models import read_model

HERE = Path(__file__).parent
pytestmark = pytest.mark.needs_r

TREE = "cp = 0.02, minsplit = 15"
RECIPES = {
    "lm1": ("reg", "lm(y ~ ., d)"),
    "lm2": ("reg", "lm(y ~ x1 * x2 + poly(x3, 2) + I(x4^2) + k, d)"),
    "lm3": ("reg", "lm(y ~ 0 + x1 + x2 + x3, d)"),
    "lm4": ("reg", "lm(y ~ x1 + dup + x2, transform(d, dup = x1))"),
    "glm1": ("bin", "glm(y ~ ., binomial, d)"),
    "glm2": ("reg", "glm(k ~ x1 + x2 + x3 + g, poisson, d)"),
    "rpart1": ("reg", f"rpart::rpart(y ~ ., d, {TREE})"),
    "rpart2": ("bin", f"rpart::rpart(y ~ ., d, {TREE})"),
    "rpart3": ("reg", f"rpart::rpart(y ~ ., d, {TREE}, maxsurrogate=0, maxcompete=0)"),
    "earth1": ("reg", "earth::earth(y ~ ., data = d, degree = 2, nk = 15)"),
    "earth2": (
        "bin",
        "earth::earth(y ~ x1 + x2 + x3 + x4, data = d, nk = 11, "
        "glm = list(family = binomial))",
    ),
}
REFITTED = (
    r"(lm[1234]|glm[12])-(stat|raw)|rpart[123]|earth[12]-(nsubsets|rss|gcv)|"
    r"earth1-default"
)
NOTHING = {
    "ranger-none-(reg|bin)": "have stored its importance",
    "rpart0": "have a split",
    "svm": "be one of lm, glm, randomForest, ranger, gbm, rpart, nnet and earth",
}
RECIPES |= {
    f"ranger-none-{block}": (block, "ranger::ranger(y ~ ., d, num.trees = 50)")
    for block in ("reg", "bin")
} | {
    "rpart0": ("reg", "rpart::rpart(y ~ ., d, cp = 1)"),
    "svm": ("reg", "e1071::svm(y ~ ., d)"),
}
# Forests are drawn, and their seeds were not recorded; what they had stored was.
STORED = r"ranger-(?!none).*"
FORESTS = r"rf[12]-(default|type1|type2|type1-noscale)|rf3-(default|type2)"
NETS = r"nnet[1234]-olden|nnet1-default|nnet[125]-garson"
BOOSTINGS = r"gbm[12]-(ri|default)"
TYPES = {
    "default": "",
    "ri": "relative.influence",
    "type1": {"rf1": "%IncMSE", "rf2": "MeanDecreaseAccuracy"},
    "type1-noscale": {
        "rf1": "%IncMSE unscaled",
        "rf2": "MeanDecreaseAccuracy unscaled",
    },
    "type2": {
        "rf1": "IncNodePurity",
        "rf2": "MeanDecreaseGini",
        "rf3": "MeanDecreaseGini",
    },
}


RANKED = "earth1-vi-rank"


def of(pattern):
    """Return the cases of vip 0.5 of a pattern, as a parametrisation.

    Those of vip 0.4 have the same numbers, which is asserted below.
    """
    whole = f"model-v05-({pattern})"
    return for_each([case[10:] for case in CASES if re.fullmatch(whole, case)])


def truth(case):
    result = CASES[f"model-v05-{case}"]["result"]
    return dict(zip(result["Variable"], result["Importance"], strict=True))


def type_of(case):
    """Return what we call the quantity of a case."""
    model, _, kind = case.partition("-")
    quantity = TYPES.get(kind, kind)
    return quantity[model] if isinstance(quantity, dict) else quantity


@pytest.fixture(scope="module", autouse=True)
def r():
    files = [HERE.parents[1] / "engines/fit_in_r.R", HERE / "inside.R"]
    with host.session(extra_r_files=files) as worker:
        yield worker


def frame(block):
    """Return a recorded block as R had it."""
    return columns_of(block, " ".join(DATA[block]["columns"]))


@pytest.fixture(scope="module")
def fitted(r, tmp_path_factory):
    """Return a function that fits a model in R, once."""
    file, models = tmp_path_factory.mktemp("rds") / "model.rds", {}

    def model(block, code):
        if (block, code) not in models:
            arguments = {"d": frame(block), "code": code, "file": str(file)}
            r.call("fit_and_save", arguments)
            models[block, code] = read_model(code, file.read_bytes())
        return models[block, code]

    return model


def audited(model, block):
    """Return the model and the rows as an audit has them."""
    X = frame(block).drop(columns="y")
    facts = {"name": "m", "features": tuple(X), "losses": (), "estimator": model}
    return replace(linear_model(1), **facts), rows_of(X)


def by_term(report):
    """Return the numbers of terms, without those that R could not estimate."""
    numbers = dict(zip(report.terms, report.values.tolist(), strict=True))
    return {term: value for term, value in numbers.items() if not np.isnan(value)}


@of(REFITTED)
def test_a_model_fitted_again_says_what_was_recorded(case, fitted):
    name, type_ = (case, "")
    if not case.startswith("rpart"):
        name, type_ = case.split("-")[0], type_of(case)
    report = own_numbers(fitted(*RECIPES[name]), type_)
    assert by_term(report) == pytest.approx(truth(case), rel=1e-9, abs=1e-12)


def inside_forest(fitted):
    table, error = fitted["importance"], fitted.get("importanceSD", {})
    errors = np.array(error["values"] if "rows" in error else list(error.values()))
    table_parts = {"rows": table["rows"], "cols": table["cols"]}
    if errors.size:
        table_parts["error"] = errors
    return table_parts | {"values": np.array(table["values"])}


def inside_net(fitted):
    numbers = {name: np.array(fitted[name], float) for name in ("n", "wts", "conn")}
    names = fitted["coefnames"]
    weights = numbers | {"nconn": np.array(fitted["nconn"], float)}
    return weights | ({"coefnames": names} if names else {})


def inside_boosting(fitted):
    names, trees = fitted["var_names"], fitted["splits"]
    at = [np.array([names.index(v) for v in tree["var"]], float) for tree in trees]
    falls = [np.array(tree["error_reduction"], float) for tree in trees]
    return {"names": names, "columns": at, "decreases": falls}


@of(f"{FORESTS}|{NETS}|{BOOSTINGS}")
def test_a_model_of_recorded_inside_says_what_was_recorded(case, r):
    inside = DATA[CASES[f"model-v05-{case}"]["model"]]
    make = {"rf": inside_forest, "nn": inside_net, "gb": inside_boosting}[case[:2]]
    function = {"rf": "forest_inside", "nn": "net_inside", "gb": "boosting_inside"}
    answer = r.call(function[case[:2]], {"type": type_of(case)} | make(inside))
    terms = [str(term[0]) for term in answer["terms"]]
    by_name = dict(
        zip([t.replace("X", "x") for t in terms], answer["values"], strict=True)
    )
    assert by_name == pytest.approx(truth(case), rel=1e-9, abs=1e-12)


@of(STORED)
def test_a_forest_of_ranger_says_what_it_stored(case, r):
    importance = DATA[CASES[f"model-v05-{case}"]["model"]]["variable_importance"]
    arguments = {
        "names": list(importance),
        "values": np.array(list(importance.values())),
    }
    answer = r.call("ranger_inside", arguments | {"mode": case.split("-")[1]})
    assert answer["type"][0] == case.split("-")[1]
    terms = [str(term[0]) for term in answer["terms"]]
    assert dict(zip(terms, answer["values"], strict=True)) == truth(case)


@of("nnet[34]-garson")
def test_a_net_that_r_refuses_has_oldens_products_only(case, r):
    inside = inside_net(DATA[CASES[f"model-v05-{case}"]["model"]])
    answer = r.call("net_inside", {"type": "garson"} | inside)
    assert [str(name[0]) for name in answer["types"]] == ["olden"]
    assert "error" in CASES[f"model-v05-{case}"]["result"]


@of(RANKED)
def test_terms_rank_as_in_vip(case, fitted):
    report = own_numbers(fitted(*RECIPES["earth1"]), "gcv")
    ranks = pd.Series(report.values, report.terms).rank(ascending=False)
    assert ranks.to_dict() == truth(case)


def test_every_case_that_is_asked_through_r_is_compared():
    patterns = [p for p, reason in LEFT_OUT.items() if reason == THROUGH_R]
    here = f"{REFITTED}|{FORESTS}|{BOOSTINGS}|{STORED}|{RANKED}"
    for case in map(short, CASES):
        if any(re.fullmatch(pattern, case) for pattern in patterns):
            assert re.fullmatch(here, case), case


@of("|".join(NOTHING))
def test_what_has_no_numbers_in_r_has_none_here(case, fitted):
    (rule,) = (rule for name, rule in NOTHING.items() if re.fullmatch(name, case))
    assert "error" in CASES[f"model-v05-{case}"]["result"]
    sentence = refused(model_specific, *audited(fitted(*RECIPES[case]), "reg"))
    assert sentence.startswith(f"Model 'm' must {rule} for method")


def answered(fitted, name, type_=""):
    """Return what the row of METHODS answers, by feature."""
    block, code = RECIPES[name]
    model, rows = audited(fitted(block, code), block)
    raw, baseline = model_specific(model, rows, seed=1, type=type_)
    assert raw.shape == (len(rows.groups), 1, 1)
    assert baseline.tolist() == [[0.0]]
    return dict(zip(rows.features, raw[:, 0, 0].tolist(), strict=True))


def test_the_levels_of_a_category_are_tested_together(fitted):
    by_feature, terms = answered(fitted, "lm1"), truth("lm1-stat")
    drop = "local({m <- lm(y ~ ., d); sqrt(anova(update(m, . ~ . - g), m)$F[2])})"
    assert {name: by_feature[name] for name in ("x1", "k")} == pytest.approx(
        {name: terms[name] for name in ("x1", "k")}
    )
    assert by_feature["g"] == pytest.approx(number(drop), rel=1e-9)


def number(code):
    """Return what R makes of code and the recorded rows."""
    arguments = {"d": frame("reg"), "code": code}
    return float(host.current().call("number_of", arguments)[0])


def test_what_cannot_be_put_together_has_no_number(fitted):
    raw = answered(fitted, "lm2", "raw")
    assert [name for name, value in raw.items() if np.isnan(value)] == [
        "x1",
        "x2",
        "x3",
    ]
    assert raw["g"] == 0.0  # not in the formula
    assert np.isnan(answered(fitted, "lm1", "raw")["g"])
    assert np.isnan(answered(fitted, "earth1")["g"])


REFUSED = {
    "lm(y ~ g, d)": (
        "have a feature whose terms make one number for method 'model_specific'; it "
        "has the terms 'gb', 'gc'. Use permutation importance."
    ),
    "earth::earth(y ~ log(k + 1) + x1, d)": (
        "have terms that are columns or dummies of one for method 'model_specific'; it "
        "has 'log(k + 1)'. Use permutation importance."
    ),
    "lm(y ~ ., d)": (
        "be asked for what its class knows for method 'model_specific'; it was asked "
        "for type 'gcv'. A lm like this one knows 'stat', 'raw'."
    ),
}


@for_each(REFUSED)
def test_what_a_model_of_r_does_not_know_is_refused(code, fitted):
    model, rows = audited(fitted("reg", code), "reg")
    type_ = {"lm(y ~ g, d)": "raw", "lm(y ~ ., d)": "gcv"}.get(code, "")
    rows = rows.with_groups({"g": ("g",)}) if type_ == "raw" else rows
    sentence = refused(model_specific, model, rows, type=type_)
    assert sentence == f"Model 'm' must {REFUSED[code]}"


def test_a_model_of_python_is_referred_to_its_own_methods():
    assert refused(model_specific, linear_model(2, 1), normal_data()) == (
        "Model 'linear' must be a fitted model of R for method 'model_specific'; "
        "it is only known by its predictions. What Python models say of themselves is "
        "measured by 'impurity', 't_statistic', 'standardised_coefficient', "
        "'raw_weights', 'oob_permutation', 'garson', 'olden'."
    )


FOREST = "randomForest::randomForest(y ~ ., d, importance = TRUE, ntree = 20)"


def audit_of(fitted, **entry):
    """Return the audit of what a linear model and a forest of R say of themselves."""
    models, X = [], frame("reg").drop(columns="y")
    for name, code in (("linear", "lm(y ~ ., d)"), ("forest", FOREST)):
        model, _ = audited(fitted("reg", code), "reg")
        fields = {"predict": lambda X: X["x1"].to_numpy(), "losses": ("rmse",)}
        models.append(replace(model, name=name, **fields))
    rows = dataset(X, frame("reg")["y"], name="rows", task="regression")
    config = parse_config({"importance": [{"method": "model_specific", **entry}]})
    return audit(None, rows, config, models=tuple(models))


def test_tables_say_which_number_of_the_model_they_show(fitted):
    page = page_files(audit_of(fitted), pdf=False)["report.html"]
    text = re.sub("<[^>]*>", "", page)
    for name in ("stat", "%IncMSE"):
        assert f"Reported value ({name})" in text
        assert f"importance of one feature as reported by the model ({name})" in text
    assert 'type = ""' not in unescape(text)


@pytest.mark.needs_vip
def test_both_engines_tell_which_number_they_read(fitted):
    result = audit_of(fitted, engines=["vip"])
    types = {(r.model, r.engine): r.options["type"] for r in result.importances}
    assert types == {
        ("linear", "python"): "stat",
        ("linear", "vip"): "stat",
        ("forest", "python"): "%IncMSE",
        ("forest", "vip"): "%IncMSE",
    }
    verdicts = result.agreement.set_index("model")["verdict"]
    assert verdicts["forest"] == "replayed"
    assert verdicts["linear"] == "comparable"  # vip has no number for the factor


@pytest.mark.needs_vip
def test_what_vip_refuses_is_said_in_its_words(fitted):
    asked = audited(fitted("reg", "aov(y ~ x1 + g, d)"), "reg")
    sentence = refused(vip_model_specific, *asked)
    assert sentence.startswith("vip::vi_model has no answer: ")
