"""Numbers supplied by others: held against ours, labelled, or refused with a reason."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from subprocess import run

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.report.made_records import made_importance
from tests.report.reading import page_files

from importance_audit.auditing.audit import audit
from importance_audit.auditing.steps.supplied_numbers import numbers_of
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.engines.known_defects import defects_for
from importance_audit.methods.importance.permutation import permutation
from importance_audit.models import r_models
from importance_audit.models.fit import wrap
from importance_audit.models.prediction_digest import predictions_sha256
from importance_audit.models.section import ModelSection
from importance_audit.r_bridge import handoff, host
from importance_audit.records.errors import ConfigError, DataError
from importance_audit.records.streams import seed_of
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.verdicts import sentence
from importance_audit.report.text.blocks import plain

pytestmark = pytest.mark.usefixtures("shared_r")
SEED = 11
STREAMS = {"0.4.5": "vip-0.4", "0.5.0": "vip-0.5", "2.5.4": "DALEX"}


RANDOM = np.random.default_rng(5)
X = pd.DataFrame(RANDOM.normal(size=(50, 3)), columns=["a", "b", "c"])
Y = 3 * X["a"] - X["b"] + RANDOM.normal(size=50)
MODEL = wrap(LinearRegression().fit(X, Y), name="m", task="regression")
ROWS = dataset(X, Y, name="rows", task="regression")
DIGEST = predictions_sha256(MODEL.predict(X))


def load_config(folder, *entries, importance=None):
    usual = [
        {"method": "permutation", "n_repeats": 4},
        {"method": "partial_dependence"},
    ]
    config = {"seed": 3, "importance": importance or usual, "supplied": list(entries)}
    return parse_config(config, base=folder)


def entry(folder, **changes):
    """Return one [[supplied]]; None leaves a key out."""
    file = changes.pop("file", "v.csv")
    path = folder / file
    keys = {
        "file": file,
        "sha256": sha256(path.read_bytes()).hexdigest() if path.exists() else "0" * 64,
        "package": "vip",
        "version": "0.5.0",
        "by": "another team",
        "date": "2026-11-21",
        "model": "m",
        "predictions_sha256": DIGEST,
        "method": "permutation",
        "loss": "rmse",
        "n_repeats": 4,
        "seed": SEED,
        **changes,
    }
    return {key: value for key, value in keys.items() if value is not None}


def permuted(**draws):
    """Return the losses of four repeats, and those of the full model."""
    raw, full = permutation(MODEL.with_losses(("rmse",)), ROWS, n_repeats=4, **draws)
    return raw[:, :, 0], full[:, 0]


def reference_scores(seed=SEED, stream="vip-0.5", form="difference"):
    """Return what another programme would measure: the scores of one seed."""
    raw, full = permuted(seed=seed, stream=stream)
    return raw / full if form == "ratio" else raw - full


def write(folder, values, names=("a", "b", "c"), file="v.csv"):
    lines = [
        f"{name},{repeat},{float(value)!r}"
        for name, row in zip(names, values.tolist(), strict=True)
        for repeat, value in enumerate(row, start=1)
    ]
    (folder / file).write_text("\n".join(["feature,repeat,value", *lines]), "utf8")


def compared(folder, *, importance=None, **changes):
    """Return the audit that takes one file of supplied numbers."""
    supplied = entry(folder, **changes)
    return audited(load_config(folder, supplied, importance=importance))


def audited(config, **options):
    return audit(None, ROWS, config, models=(MODEL,), **options)


@pytest.mark.parametrize(
    ("drawn", "changes", "stream", "reason"),
    [  # four repeats are too few to be equivalent
        (
            99,
            {"seed": None},
            "numpy / unknown",
            "STREAM: the draws are independent: numpy with seed "
            f"{seed_of(3, 'm', 'permutation', 'features')} and vip 0.5.0 (supplied) "
            "with an unknown seed",
        ),
        (
            *(SEED, {"n_rows": 20}, "numpy / vip-0.5"),
            "SUBSAMPLE: the numbers of rows are n_rows all and 20",
        ),
    ],
)
def test_numbers_of_another_question_or_an_unknown_seed_are_comparable_at_best(
    tmp_path, drawn, changes, stream, reason
):
    write(tmp_path, reference_scores(seed=drawn))
    result = compared(tmp_path, **changes)
    (row,) = supplied_pairs(result).to_dict("records")
    assert (row["verdict"], row["stream"]) == ("comparable", stream)
    assert reason in row["reasons"]
    page = page_files(result, pdf=False)["report.html"]
    assert ("with an unknown seed" in page) == ("unknown" in stream)


def supplied_pairs(result):
    frame = result.agreement
    return frame[frame["engine_b"].str.endswith("(supplied)")]


def test_numbers_of_the_same_draws_are_replayed(tmp_path):
    """They carry no loss of a target that we permuted, and alone confirm nothing."""
    write(tmp_path, reference_scores())
    result = compared(tmp_path)
    (row,) = supplied_pairs(result).to_dict("records")
    assert (row["engine_b"], row["verdict"]) == ("vip 0.5.0 (supplied)", "replayed")
    assert row["stream"] == "vip-0.5"
    (record,) = [r for r in result.importances if r.engine.endswith("(supplied)")]
    assert record.y_permuted.size == 0
    assert result.verdict == "confirmed with exceptions"
    verdict_text = plain(sentence(facts_of(result, "")))
    assert verdict_text.startswith(
        "vip 0.5.0 (supplied) reproduced 1 of the 2 rankings within the stated limits, "
        "but from supplied numbers: no second implementation that ran here reproduced "
        "a ranking or curve"
    )
    page = page_files(result, pdf=False)["report.html"]
    for words in ("Supplied, not run here", "another team", "file of supplied numbers"):
        assert words in page


def test_numbers_that_claim_draws_they_have_not_disagree(tmp_path):
    """A seed that was only stated accuses no implementation."""
    write(tmp_path, reference_scores(seed=99))
    result = compared(tmp_path)
    assert supplied_pairs(result)["verdict"].tolist() == ["disagrees"]
    assert supplied_pairs(result)["cause"].tolist() == ["not explained"]
    assert result.verdict == "not confirmed"
    (finding,) = (f for f in result.findings if f.check == "disagreement")
    assert finding.remedy.startswith("Ask whoever supplied the numbers for the seed")


@pytest.mark.needs_r
@pytest.mark.parametrize(
    ("fit", "verdict", "code"),
    [
        ("ranger::ranger(y ~ ., train, num.trees = 9, seed = 1)", "comparable", True),
        ("lm(y ~ ., train)", "disagrees", False),
    ],
)
def test_a_seed_promises_no_draws_where_predict_in_r_draws_too(
    tmp_path, fit, verdict, code
):
    """Four repeats are too few to be equivalent."""
    (tmp_path / "fit.R").write_text(fit)
    section = ModelSection(name="m", r_script="fit.R")
    train = replace(ROWS, split="train")
    model = r_models.load(section, train, base=tmp_path).with_losses(("rmse",))
    draws = {"n_repeats": 4, "seed": 99, "stream": "DALEX"}
    raw, full = permutation(model, ROWS, **draws)
    write(tmp_path, raw[:, :, 0] - full[:, 0])
    digest = predictions_sha256(model.predict(X))
    source = {"package": "DALEX", "version": "2.5.4", "predictions_sha256": digest}
    config = load_config(tmp_path, entry(tmp_path, **source))
    (row,) = supplied_pairs(audit(train, ROWS, config, models=(model,))).to_dict(
        "records"
    )
    assert (row["verdict"], "PRED_RNG: " in row["reasons"]) == (verdict, code)


def test_a_supplied_curve_of_other_rows_says_what_to_ask(tmp_path):
    config = load_config(tmp_path)
    lines = [
        f"{e.feature},{x!r},{y!r}"
        for e in audited(config).effects
        for x, y in zip(e.grid.tolist(), (e.values + 0.01).tolist(), strict=True)
    ]
    (tmp_path / "v.csv").write_text("\n".join(["feature,x,value", *lines]), "utf8")
    about = {"method": "partial_dependence", "package": "DALEX", "version": "2.5.4"}
    without = {"loss": None, "n_repeats": None, "seed": None}
    result = compared(tmp_path, **about, **without)
    found = [f for f in result.findings if f.check == "disagreement"]
    assert {f.cause for f in found} == {"not explained"}
    assert all("100 rows drawn at random unless N = NULL" in f.remedy for f in found)
    evidence = set(result.disagreements["evidence"].str.partition(", at ")[0])
    assert evidence == {"same definition, nothing drawn"}


def test_numbers_of_other_predictions_are_not_compared(tmp_path):
    write(tmp_path, reference_scores())
    result = compared(tmp_path, predictions_sha256="f" * 64)
    (row,) = supplied_pairs(result).to_dict("records")
    reason = f"the supplied ones have the digest {'f' * 16}, ours {DIGEST[:16]}"
    assert row["verdict"] == "not compared"
    assert row["reasons"] == f"the predictions differ: {reason}"
    assert not [r for r in result.importances if r.engine != "python"]
    assert [f.check for f in result.findings if f.severity == "warning"] == [
        "supplied_refused"
    ]


def test_one_file_of_two_versions_may_be_one_measurement(tmp_path):
    write(tmp_path, reference_scores())
    write(tmp_path, reference_scores(), file="same.csv")
    write(tmp_path, reference_scores(seed=12), file="other.csv")
    entries = [
        entry(tmp_path, version=version, file=file, seed=None)
        for version, file in (
            ("0.4.5", "v.csv"),
            ("0.4.6", "other.csv"),
            ("0.5.0", "same.csv"),
        )
    ]
    findings = audited(load_config(tmp_path, *entries)).findings
    (finding,) = [f for f in findings if f.check == "supplied_twice"]
    assert (finding.severity, finding.measure, finding.message) == (
        "info",
        "same.csv",
        "The files of vip 0.4.5 (supplied) and vip 0.5.0 (supplied), 'v.csv' and "
        "'same.csv', are equal byte for byte: they may be one measurement, not two.",
    )


WRITE = """
source("write_importance.R")
for (file in list.files(".", "[.]rds$")) {
  write_importance(readRDS(file), sub("rds$", "csv", file))
}
"""


def tables_of(plans, folder):
    """Return the text that write_importance in R writes of each object, by its key."""
    with host.session():
        objects = handoff.written(plans)
    script = "write_importance.R"
    (folder / script).write_text(handoff.scripts()[script], "utf8")
    for n, content in enumerate(objects.values()):
        (folder / f"{n}.rds").write_bytes(content)
    run(["Rscript", "--vanilla", "-e", WRITE], check=True, cwd=folder)
    return {
        key: (folder / f"{n}.csv").read_text("utf8") for n, key in enumerate(objects)
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The table of each version's scores and of our curves, written in one go."""
    scores = {v: reference_scores(stream=stream) for v, stream in STREAMS.items()}
    plans = {
        version: handoff.vi(
            list("abc"), scores[version], type_="permutation", line=version[:3]
        )
        for version in ("0.4.5", "0.5.0")
    }
    nothing = np.zeros(4)
    words = {"form": "difference", "label": "m", "loss_name": "rmse"}
    options = {"full": nothing, "y_permuted": nothing, **words}
    plans["2.5.4"] = handoff.parts(list("abc"), scores["2.5.4"], **options)
    ours = audited(load_config(Path())).effects
    curves = {e.feature: (e.grid.tolist(), e.values) for e in ours}
    words = {"label": "m", "mean_prediction": 0.0, "method": "partial"}
    plans["profile"] = handoff.profile(curves, **words)
    curves_of_words = {
        name: (list(map("no {}".format, x)), y) for name, (x, y) in curves.items()
    }
    plans["named points"] = handoff.profile(curves_of_words, **words)
    return tables_of(plans, tmp_path_factory.mktemp("tables"))


@pytest.mark.needs_r
@pytest.mark.parametrize("version", STREAMS)
def test_what_r_writes_of_an_object_of_every_package_is_replayed(
    tables, tmp_path, version
):
    package = "DALEX" if version == "2.5.4" else "vip"
    (tmp_path / "v.csv").write_text(tables[version], "utf8")
    result = compared(tmp_path, package=package, version=version)
    assert supplied_pairs(result)["verdict"].tolist() == ["replayed"]


def rounds_of_dalex(n_rows):
    """Return each round's losses, its full model's, and the keys of their entry."""
    losses, full = permuted(seed=SEED, stream="DALEX", n_rows=n_rows)
    source = {"package": "DALEX", "version": "2.5.4", "n_rows": n_rows}
    return losses, full, source


def ours_of(form, n_rows):
    return [{"method": "permutation", "n_repeats": 4, "n_rows": n_rows, "form": form}]


def test_a_table_of_differences_without_each_rounds_full_loss_is_refused(tmp_path):
    losses, full, source = rounds_of_dalex(n_rows=30)
    write(tmp_path, losses - full.mean())  # as DALEX shows each round
    with pytest.raises(ConfigError) as refusal:
        compared(tmp_path, **source)
    assert refusal.value.problems == (
        "[supplied] 'v.csv' lacks the loss of the full model in each round: each "
        "drew 30 of 50 rows, and DALEX subtracts the mean over the rounds. "
        "Supply what write_importance writes in R, or losses: "
        'form = "raw", here and under [[importance]].',
    )


@pytest.mark.parametrize(
    ("shown", "form", "n_rows"),
    [
        *(("raw", form, 30) for form in ("difference", "ratio", "raw")),
        ("raw", "difference", 50),
        *((form, form, 30) for form in ("difference", "ratio")),
    ],
)
def test_losses_of_dalex_are_shown_as_ours_are_whatever_their_form(
    tmp_path, shown, form, n_rows
):
    losses, full, source = rounds_of_dalex(n_rows)
    write_parts(tmp_path, losses, full, form=shown)
    own = {} if shown == "raw" else {"form": shown}
    ours = ours_of(form, n_rows)
    result = compared(tmp_path, importance=ours, **source, **own)
    assert supplied_pairs(result)["verdict"].tolist() == ["replayed"]
    (theirs,) = (r for r in result.importances if r.is_supplied)
    assert theirs.form == form
    if shown == "raw":
        np.testing.assert_array_equal(theirs.raw, losses)
        np.testing.assert_array_equal(theirs.baseline, full)


def write_parts(folder, losses, full, *, form="raw"):
    """Write what write_importance makes of an answer of model_parts."""
    rounds = np.vstack([full, losses, full + 1.0])
    if form == "difference":
        rounds = rounds - full.mean()
    if form == "ratio":
        rounds = rounds / full.mean()
    write(folder, rounds, ("_full_model_", "a", "b", "c", "_baseline_"))


@pytest.mark.parametrize(
    ("shown", "form", "problem"),
    [
        (
            *("ratio", "difference"),
            "must be shown as a difference, as `form` says; _full_model_ is at 1. Set "
            'form = "ratio" if type = "ratio" was asked for, else form = "raw".',
        ),
        (
            *("difference", "ratio"),
            "must be shown as a ratio, as `form` says; _full_model_ is at 0. Supply "
            'what type = "raw" returns, of which every form follows.',
        ),
    ],
)
def test_a_form_that_cannot_be_converted_is_refused_with_the_remedy(
    tmp_path, shown, form, problem
):
    losses, full, source = rounds_of_dalex(n_rows=50)
    write_parts(tmp_path, losses, np.full(4, full[0]), form=shown)
    with pytest.raises(DataError) as refusal:
        compared(tmp_path, form=form, **source)
    assert str(refusal.value) == f"[[supplied]] 'v.csv' {problem}"


PROFILE = {
    **{"package": "DALEX", "version": "2.5.4", "method": "partial_dependence"},
    **{"loss": None, "n_repeats": None},
}


@pytest.mark.needs_r
def test_profiles_are_held_against_our_curves(tables, tmp_path):
    """Those with words for numbers are not compared, and that is said."""
    (tmp_path / "v.csv").write_text(tables["profile"], "utf8")
    pairs = supplied_pairs(compared(tmp_path, **PROFILE))
    assert pairs["verdict"].tolist() == ["replayed"] * 3
    assert set(pairs["kind"]) == {"effect"}
    (tmp_path / "v.csv").write_text(tables["named points"], "utf8")
    result = compared(tmp_path, **PROFILE)
    reason = "the points of 'a', 'b', 'c' are words, ours numbers"
    assert [f.check for f in result.findings].count("supplied_refused") == 1
    refused_rows = result.agreement[result.agreement["reasons"] == reason]
    curves = refused_rows[refused_rows["kind"] == "effect"]
    assert curves["verdict"].tolist() == ["not compared"] * 3


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("feature,repeat,value\na,1,1\na,1,2", "per feature and repeat; 'a' has"),
        (
            "feature,repeat,value\n_full_model_,1,1",
            "hold what vip returns, as `package`",
        ),
        ("feature,repeat,value\na,1,1\nb,2,2", "every feature; some are missing"),
        ("feature,value\na,1\nb,2", "repeats that n_repeats says; it has 1"),
        ("feature,value\na,x", "'repeat'; it cannot be read: could not convert"),
        ("feature,repeat\na,1", "'value' and 'repeat'; it has no 'value'."),
        ("feature,value\n", "have a row; it has none."),
        ("", "'value' and 'repeat'; it has no 'feature'."),
        ("feature,x,value\na,1,2", "measures; it holds partial profiles."),
    ],
)
def test_a_table_that_is_not_whole_is_refused_before_anything_runs(
    tmp_path, text, finding
):
    (tmp_path / "v.csv").write_text(text, "utf8")
    config = load_config(tmp_path, entry(tmp_path))
    steps = []
    with pytest.raises(DataError) as refusal:
        audited(config, on_step=lambda *step: steps.append(step))
    assert str(refusal.value).startswith("[[supplied]] 'v.csv' must")
    assert finding in str(refusal.value)
    assert not steps


def test_files_are_refused_all_at_once_by_their_digests_before_anything_runs(tmp_path):
    write(tmp_path, reference_scores())
    wrong = entry(tmp_path, sha256="1" * 64)
    missing = entry(tmp_path, file="w.csv", version="0.4.5")
    with pytest.raises(DataError) as refusal:
        audited(load_config(tmp_path, wrong, missing))
    first, second = str(refusal.value).splitlines()
    digest = sha256((tmp_path / "v.csv").read_bytes()).hexdigest()
    assert first.startswith(
        f"[[supplied]] 'v.csv' has the SHA-256 {digest}; the entry says {'1' * 64}."
    )
    assert second.startswith("[[supplied]] 'w.csv' cannot be read: ")


@pytest.mark.needs_r
def test_what_is_read_is_what_was_written_digit_by_digit(tmp_path):
    values = np.array([[0.1, 0.2], [3.0, 4e300], [np.nan, -1 / 3], [np.inf, 1]])
    names = ["a", 'fare, "new" (£)', "=cmd()", "'-1"]
    plan = handoff.vi(names, values, type_="permutation", line="0.5")
    tables_of({"v": plan}, tmp_path)
    supplied = entry(tmp_path, file="0.csv", n_repeats=2)
    (section,) = load_config(tmp_path, supplied).supplied
    numbers = numbers_of(section, tmp_path)
    assert numbers.features == tuple(names[n] for n in (3, 1, 0, 2))  # as vi() sorts
    np.testing.assert_array_equal(numbers.raw, values[[3, 1, 0, 2]])


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"method": "shapley"}, "loss does not work with 'shapley', which measures no"),
        ({"loss": ""}, "loss is missing; 'permutation' needs it."),
        ({"form": "absolute"}, "form = 'absolute' does not work with 'permutation',"),
        ({"of": "groups"}, "answers what nobody asks: no [[importance]] asks"),
        ({"method": "spearman"}, "method must be one of"),
        ({"sha256": "x"}, "sha256 must be 64 hexadecimal digits; 'x' was given."),
        ({"date": "today"}, "date must be a date such as '2026-11-21'; 'today'"),
        ({"version": "new"}, "version must be a version such as '0.4.5'; 'new'"),
        (
            {"file": "v.rds"},
            "file must be a .csv file, such as write_importance in R writes of what "
            "vip or DALEX returned; 'v.rds' was given.",
        ),
        ({"n_repeat": 3}, "has no key 'n_repeat'. Did"),
        (None, "has the same model, question, "),
    ],
)
def test_each_wrong_key_is_named(tmp_path, changes, problem):
    entries = [entry(tmp_path, **(changes or {}))]
    if not changes:
        entries.append(entry(tmp_path, file="w.csv"))
    with pytest.raises(ConfigError) as refusal:
        load_config(tmp_path, *entries)
    section = "[supplied]" if changes else "[supplied 2]"
    assert f"{section} {problem}" in refusal.value.problems[0]


def test_a_defect_is_that_of_the_version_that_measured():
    old = {"engine": "vip 0.4.5 (supplied)", "engine_version": "0.4.5"}
    options = {"options": {"n_rows": 5}, "supplied_by": "vip"}
    record = made_importance("m", ("a", "b"), (2, 1), **old, **options)
    defects = defects_for(record, {"vip": "0.5.0"})
    assert [defect.id for defect in defects] == ["VIP-SUBSAMPLE"]
    newer = replace(record, engine="vip 0.5.0 (supplied)", engine_version="0.5.0")
    assert defects_for(newer, {"vip": "0.4.5"}) == ()
