"""The orchestration: who is asked what, with which seed, and what a fault leaves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from importance_audit.auditing.audit import audit, exit_code
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset, read_datasets
from importance_audit.engines import EngineInfo
from importance_audit.models.fit import wrap
from importance_audit.r_bridge import host
from importance_audit.r_bridge.errors import RUnavailable
from importance_audit.records.as_json import dumps, loads
from importance_audit.records.errors import ConfigError, DataError, ModelError
from importance_audit.records.finding import by_cause
from importance_audit.records.streams import seed_of
from importance_audit.report.pages.html import show

pytestmark = pytest.mark.usefixtures("shared_r")
PERMUTATION = {"method": "permutation", "n_repeats": 5}


def rows(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=["a", "b", "unread"])
    return X, 3 * X["a"] - X["b"] + random.normal(scale=0.1, size=n)


def linear(name="linear"):
    X, y = rows()
    estimator = LinearRegression().fit(X[["a", "b"]], y)
    return wrap(estimator, name=name, task="regression")


def callable_model(predict, name="given"):
    return wrap(predict, name=name, task="regression", features=("a", "b", "unread"))


def rows_to_audit():
    X, y = rows(80, seed=1)
    return dataset(X, y, name="test rows", task="regression")


def audited(*models, entries=(PERMUTATION,), **config):
    config = parse_config({"importance": list(entries), "seed": 5, **config})
    return audit(None, rows_to_audit(), config, models=models)


@pytest.mark.parametrize("end", ["", "."])
def test_why_a_required_engine_is_missing_ends_with_one_full_stop(end, monkeypatch):
    why = f"R has no package 'vip'. Run: importance-audit install-r vip{end}"
    missing = EngineInfo("vip", False, "", "", why)
    monkeypatch.setattr(
        "importance_audit.auditing.audit.describe_engine",
        lambda name, _: missing._replace(name=name, available=name == "python"),
    )
    with pytest.raises(RUnavailable) as error:
        audited(linear(), require=["vip"])
    assert str(error.value) == (
        "Engine 'vip' is not available, but `require` names it: R has no package "
        "'vip'. Run: importance-audit install-r vip."
    )


def test_checks_and_losses_share_a_prediction_of_the_rows_as_they_are():
    X, y = rows(300)  # more than the checks that any rows will do for
    data, as_they_are = dataset(X, y, name="rows", task="regression"), []

    def predict(X):
        as_they_are.append(X.equals(data.X))
        return X["a"].to_numpy() - X["b"].to_numpy()

    config = parse_config({"importance": [PERMUTATION]})
    audit(None, data, config, models=(callable_model(predict),))
    # Twice to see whether it answers the same; a third time from the permuted copy.
    assert sum(as_they_are) == 3


def by(result, engine):
    return [record for record in result.importances if record.engine == engine]


@pytest.mark.parametrize("scale", [1e-320, 1e300])
def test_the_unit_of_the_target_decides_nothing(scale):
    config = parse_config({"importance": [{**PERMUTATION, "losses": ["mae"]}]})
    X, y = rows(80, seed=1)
    model = callable_model(lambda X: (3 * X["a"] - X["b"]) * scale)
    test = dataset(X, y * scale, name="test rows", task="regression")
    result = audit(None, test, config, models=(model,))
    (importance,) = result.importances
    assert (result.run.status, exit_code(result)) == ("complete", 0)
    assert importance.mean[0] > importance.mean[1] > importance.mean[2] == 0
    assert loads(dumps(result)).verdict == result.verdict
    assert "</html>" in show(result).html


@pytest.mark.parametrize("which", ["training rows", "test rows"])
def test_a_target_that_never_varies_is_refused(which):
    X, y = rows(80, seed=1)
    sides = [
        dataset(X, y * 0 + 0.1 if name == which else y, name=name, task="regression")
        for name in ("training rows", "test rows")
    ]
    with pytest.raises(DataError) as error:
        audit(*sides, parse_config({}), models=(linear(),))
    assert str(error.value) == (
        f"{which}: target 'y' holds only the value 0.1, and importances need one "
        "that varies. Name another target, or split the rows otherwise."
    )


@pytest.mark.parametrize(
    ("loss", "needs"),
    [
        ("poisson_deviance", "of 0 or more"),
        ("gamma_deviance", "above 0"),
        ("mape", "other than 0"),
        ("mean_relative_error", "other than 0"),
    ],
)
def test_a_target_that_a_loss_is_not_defined_for_is_refused(loss, needs):
    X, y = rows(80, seed=1)
    y = np.abs(y) + 1
    y[:2] = -1 if loss == "poisson_deviance" else 0
    test = dataset(X, y, name="test rows", task="regression")
    config = parse_config({"importance": [{**PERMUTATION, "losses": [loss]}]})
    with pytest.raises(DataError) as error:
        audit(None, test, config, models=(linear(),))
    assert str(error.value) == (
        f"test rows: loss '{loss}' needs a target {needs}, and 'y' is not in 2 rows. "
        "Leave these rows out, or name another loss."
    )


def audited_classes(predict, X, y, **entry):
    """Return the audit of one function of a frame that predicts a class of two."""
    names = tuple(X)
    model = wrap(predict, name="given", task="binary", classes=[0, 1], features=names)
    data = dataset(X, y, name="rows", task="binary", classes=[0, 1])
    config = parse_config({"importance": [{**PERMUTATION, **entry}], "seed": 5})
    return audit(None, data, config, models=(model,))


def sure_of_a_wrong_class(losses):
    """Return the audit of a model that gives some observed classes probability 0."""
    X, y = rows(80, seed=1)
    return audited_classes(lambda X: (X["a"] < 0) * 1.0, X, (y > 0) * 1, losses=losses)


def test_an_audit_that_measured_nothing_is_not_established():
    result = sure_of_a_wrong_class(["log_loss"])
    assert np.isnan(result.importances[0].mean).all()
    assert (result.verdict, exit_code(result)) == ("not established", 4)
    assert [f.message for f in result.findings if f.check == "nothing_measured"] == [
        "No importance was measured: no ranking has a finite number."
    ]
    assert "Nothing was measured" in show(result).html
    one_finite = sure_of_a_wrong_class(["log_loss", "brier"])
    assert "nothing_measured" not in {finding.check for finding in one_finite.findings}
    assert one_finite.verdict != "not established"


def test_the_seed_of_a_question_is_named_by_model_method_and_what_it_is_of():
    (importance,) = audited(linear()).importances
    assert importance.seed == seed_of(5, "linear", "permutation", "features")


def test_an_audit_without_a_model_is_refused():
    with pytest.raises(ModelError, match="The audit has no model: none was configured"):
        audited()


@pytest.mark.parametrize(
    ("asked", "problems"),
    [
        (
            {
                "entries": [{**PERMUTATION, "models": ["Givn"]}],
                "groups": {"both": ["a", "B1"]},
            },
            (
                "The names of the models must differ; 'given' is given twice.",
                "A model must be one that the audit has; 'Givn' is not. "
                "Did you mean 'given'?",
                "A column of a group must be one that the audit has; 'B1' is not. "
                "Did you mean 'b'?",
            ),
        ),
        (
            # Two entries with the same mistake are told of it once.
            {
                "entries": [
                    {**PERMUTATION, "n_rows": 81},
                    {**PERMUTATION, "n_rows": 81, "name": "again"},
                ]
            },
            (
                "[importance] permutation n_rows must be at most the 80 rows of the "
                "test data; 81 was given.",
            ),
        ),
        (
            {
                "report": {
                    "rationale": {"a": "asked for", "B": "of the register"},
                    "always_show": ["a", "unred"],
                }
            },
            (
                "[report] rationale must name features of the audit; 'B' is none. "
                "Did you mean 'b'?",
                "[report] always_show must name features of the audit; 'unred' "
                "is none. Did you mean 'unread'?",
            ),
        ),
        (
            {
                "groups": {"both": ["a", "b"]},
                "labels": {"a": "Age", "B": "Body", "given": "One", "both": "b"},
            },
            (
                "[labels] must name features, groups or models of the audit; 'B' is "
                "none. Did you mean 'b'?",
                "[labels] 'both' must differ from every other name that the report "
                "shows; 'b' is another's too.",
            ),
        ),
    ],
    ids=["names", "rows", "report", "labels"],
)
def test_names_that_only_meet_in_the_audit_are_refused_before_any_predict(
    asked, problems
):
    def never(_):
        raise AssertionError

    models = [callable_model(never)] * (2 if "models" in str(asked) else 1)
    with pytest.raises(ConfigError) as refusal:
        audited(*models, **asked)
    assert refusal.value.problems == problems


def test_a_predict_that_fails_is_a_failed_method_and_the_others_are_answered():
    def fails(_):
        raise RuntimeError("the service is down")

    result = audited(linear(), callable_model(fails))
    assert [importance.model for importance in result.importances] == ["linear"]
    messages = [f.message for f in result.findings if f.check == "method_failed"]
    assert any("the service is down" in message for message in messages)
    assert result.verdict == "not established"
    assert exit_code(result) == 4


def audited_with_a_new_level(engines=()):
    """Audit a model that met "u" and "v" on rows whose levels are declared u, v, w."""
    X, y = rows(80, seed=1)
    kinds = pd.Categorical(["u", "v"] * 40, categories=["u", "v", "w"])
    data = dataset(X.assign(kind=kinds), y, name="rows", task="regression")

    def predict(X):
        if (X["kind"] == "w").any():
            raise ValueError("unknown category 'w'")
        return X["a"].to_numpy() + (X["kind"] == "v").to_numpy()

    model = wrap(predict, name="given", task="regression", features=tuple(data.X))
    entry = {"method": "partial_dependence", "engines": list(engines)}
    config = parse_config({"importance": [entry]})
    return audit(None, data, config, models=(model,))


def test_a_level_the_model_cannot_predict_touches_its_feature_only():
    result = audited_with_a_new_level()
    (importance,) = result.importances
    assert importance.features == ("a", "b", "unread", "kind")
    assert np.isnan(importance.mean).tolist() == [False, False, False, True]
    assert {effect.feature for effect in result.effects} == set(importance.features)
    findings = [f for f in result.findings if f.check != "bias"]
    ((first, other),) = by_cause(findings)
    assert {first.cause, other.cause} == {"unseen_levels: kind"}
    assert (first.check, other.check) == ("unmeasured", "not_applicable")
    assert other.message == (
        "Model 'given' cannot predict these declared levels of 'kind': 'w'. The curve "
        "is shown at the other levels, and no importance is taken from it."
    )


def test_only_models_from_files_need_no_training_rows():
    model = {"name": "m", "estimator": "sklearn.linear_model.LinearRegression"}
    data = {"train": {}, "test": {"sklearn": "load_diabetes"}}
    data |= {"target": "target", "task": "regression"}
    config = parse_config({"data": data, "models": [model]})
    train, test = read_datasets(**config.data_arguments)
    with pytest.raises(DataError, match="have no training rows to be fitted on"):
        audit(train, test, config)


@pytest.mark.needs_dalex
def test_dalex_is_asked_about_the_levels_the_model_can_predict():
    result = audited_with_a_new_level(["DALEX"])
    assert set(result.agreement["verdict"]) == {"replayed"}
    checks = [finding.check for finding in result.findings]
    assert checks.count("not_applicable") == 1
    assert "method_failed" not in checks


def test_a_predict_that_returns_no_prediction_fails_and_says_what_to_do():
    result = audited(callable_model(lambda X: np.zeros(len(X) - 1)))
    failures = [f for f in result.findings if f.check == "method_failed"]
    problem = "returned (79,). Return one number per row."
    assert any(problem in f.message for f in failures)
    assert {f.remedy[:23] for f in failures} == {"Make sure that predict "}
    assert exit_code(result) == 4


def test_an_optional_package_that_is_absent_is_not_compared_because_of_that(
    monkeypatch,
):
    installation = {"r_version": "4.2.2", "packages": {}, "broken": {}, "reason": ""}
    installation |= {"platform": "", "rng_kind": ()}
    monkeypatch.setattr(host, "installed", lambda: installation)
    result = audited(linear(), entries=[{**PERMUTATION, "engines": ["DALEX"]}])
    (row,) = result.agreement.to_dict("records")
    assert (row["verdict"], row["reasons"]) == (
        "not compared",
        "R 4.2.2 has no package 'DALEX'. Run: importance-audit install-r",
    )
    assert exit_code(result) == 0


@pytest.mark.parametrize("method", ["impurity", "drop_column"])
def test_what_has_no_answer_of_a_model_is_a_note_of_the_result(method):
    result = audited(linear(), entries=[PERMUTATION, {"method": method}])
    (note,) = (f for f in result.findings if f.check == "not_applicable")
    words = method.replace("_", " ").capitalize()
    assert note.message.startswith(f"{words} of features by Python: ")
    assert exit_code(result) == 0


def rows_that_say_the_same():
    X, y = rows(80, seed=1)
    X = X.assign(unread=1 - 2 * X["a"], flat=0.0)
    return dataset(X, y, name="test rows", task="regression")


def findings_of(result, *checks):
    """Return check, severity and subject of the findings of some checks."""
    findings = [f for f in result.findings if f.check in checks]
    return [(f.check, f.severity, f.subject) for f in findings]


@pytest.mark.parametrize("asked_together", [False, True])
def test_columns_are_judged_once_for_all_models_losses_and_engines(asked_together):
    groups = {"both": ["a", "unread"]}
    entries = [{**PERMUTATION, "losses": ["rmse", "mae"]}]
    entries += [{**PERMUTATION, "of": "groups"}] * asked_together
    config = parse_config({"importance": entries, "groups": groups})
    models = (linear(), linear("second"))
    result = audit(None, rows_that_say_the_same(), config, models=models)
    words = ("same_columns", "constant_column", "constant_feature")
    assert findings_of(result, *words) == [
        ("same_columns", "info" if asked_together else "warning", "test rows"),
        ("constant_column", "info", "test rows"),
    ]


@pytest.mark.parametrize(
    ("limits", "set_by"),
    [({}, "default"), ({"dependence": 0.5}, "[checks] dependence")],
)
def test_the_limit_of_dependence_is_that_of_the_configuration(limits, set_by):
    config = parse_config({"importance": [PERMUTATION], "checks": limits})
    frame = audit(None, rows_that_say_the_same(), config, models=(linear(),)).checks
    row = frame[frame["check"] == "dependence"].iloc[0]
    limit_and_source = (row["threshold"], row["set_by"])
    assert limit_and_source == (limits.get("dependence", 0.8), set_by)


def test_correlated_features_are_known_before_any_model_is_asked():
    def interrupts(X):
        raise KeyboardInterrupt(len(X))

    config = parse_config({"importance": [PERMUTATION]})
    models = (callable_model(interrupts),)
    result = audit(None, rows_that_say_the_same(), config, models=models)
    assert result.run.status == "interrupted"
    assert set(result.clusters["feature"]) == {"a", "unread"}


@pytest.mark.needs_dalex
def test_dalex_replays_every_repeat_of_features_and_groups():
    entry = {**PERMUTATION, "engines": ["DALEX"]}
    groups = {"both": ["a", "b"], "rest": ["unread"]}
    result = audited(
        linear(), entries=[entry, {**entry, "of": "groups"}], groups=groups
    )
    assert list(result.agreement["verdict"]) == ["replayed", "replayed"]
    assert result.agreement["max_relative_difference"].max() <= 1e-9
    assert result.verdict == "confirmed"


@pytest.mark.needs_dalex
def test_a_tie_that_only_permuted_rows_make_explains_a_difference_of_half_pairs():
    """0.3 and 0.3 + 1e-13 are tied by us and not by DALEX; the rows have neither."""
    X = pd.DataFrame({"a": [0.0, 1.0] * 30, "b": [0.0, 1.0] * 30})

    def predict(X):
        of_rows = [[0.2, 0.3], [0.3 + 1e-13, 0.7]]
        return np.array(of_rows)[X["a"].astype(int), X["b"].astype(int)]

    asked = {"engines": ["DALEX"], "losses": ["one_minus_auc"]}
    result = audited_classes(predict, X, [0, 1] * 25 + [1, 0] * 5, **asked)
    (pair,) = result.agreement.to_dict("records")
    assert (pair["verdict"], pair["cause"]) == ("disagrees", "known defect")
    assert "TIE_MERGE" in pair["reasons"]
    assert "DALEX-TIE" in pair["reasons"]


@pytest.mark.needs_hstats
@pytest.mark.needs_iml
@pytest.mark.needs_pdp
def test_referees_replay_what_can_be_and_are_equivalent_where_draws_are_their_own():
    ratio = {"standardised": True, "engines": ["hstats", "iml"]}
    result = audited(
        linear(),
        entries=[
            {**PERMUTATION, "engines": ["hstats", "iml"]},
            {"method": "h_statistic", "of": "pairs", **ratio},
            {"method": "pd_importance", "engines": ["hstats"]},
            {"method": "partial_dependence", "engines": ["pdp", "iml"]},
            {"method": "curve_impact", "curve": "ale", "engines": ["iml"]},
        ],
    )
    frame = result.agreement[result.agreement["engine_a"] == "python"]
    verdicts = frame.groupby(["method", "engine_b"])["verdict"].unique()
    assert verdicts.map(list).to_dict() == {
        ("permutation", "hstats"): ["replayed"],
        ("permutation", "iml"): ["equivalent"],
        ("h_statistic", "hstats"): ["replayed"],
        ("h_statistic", "iml"): ["replayed"],
        ("pd_importance", "hstats"): ["replayed"],
        ("partial_dependence", "iml"): ["replayed"],
        ("partial_dependence", "pdp"): ["replayed"],
        ("ale", "iml"): ["replayed"],
    }
    assert [r.method for r in by(result, "python")].count("permutation") == 1


def test_a_package_that_is_newer_than_those_tried_is_a_warning(monkeypatch):
    installation = {"reason": "", "r_version": "4.5.0", "broken": {}, "rng_kind": ()}
    installation |= {"packages": {"hstats": "9.0"}, "platform": ""}
    monkeypatch.setattr(host, "installed", lambda: installation)
    entry = {"method": "impurity", "engines": ["hstats"]}
    result = audited(callable_model(lambda X: X["a"].to_numpy()), entries=[entry])
    (note,) = (f for f in result.findings if f.check == "engine_untested")
    assert (note.severity, note.subject) == ("warning", "hstats")
    assert note.message.startswith(
        "hstats 9.0 is newer than any tested version (newest tested: "
    )


def test_an_audit_counts_the_leaves_that_say_nothing_of_a_feature():
    # "rare" differs in two of 120 rows, so in two leaves of each trial at most.
    X, y = rows()
    data = dataset(X.assign(rare=X.index < 2), y, name="rows", task="regression")
    entry = {"method": "stratified_impact", "n_repeats": 2, "min_samples_leaf": 5}
    config = parse_config({"importance": [entry]})
    result = audit(None, data, config, models=(linear(),))
    (finding,) = (f for f in result.findings if f.check == "silent_leaves")
    assert finding.evidence["features"] == 1
    assert "'rare' in " in finding.message


def test_another_model_or_a_label_changes_no_number():
    (alone,) = audited(linear()).importances
    beside = audited(linear(), linear("second"), labels={"a": "Age"})
    assert beside.run.config["labels"] == {"a": "Age"}
    assert beside.importances[0].features == alone.features
    np.testing.assert_array_equal(alone.raw, beside.importances[0].raw)
