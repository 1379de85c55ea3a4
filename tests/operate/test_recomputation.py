"""The hand-off asked again in R alone: same rows, same model, same question."""

import csv
import os
import shutil
import subprocess
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.cli.test_cli import answer_of

import importance_audit as ia
from importance_audit.config.load import load_config
from importance_audit.data.datasets import read_datasets
from importance_audit.operate.recomputation import read_evaluation_rows, rows_again
from importance_audit.r_bridge import handoff as objects
from importance_audit.r_bridge import host
from importance_audit.r_bridge.installation import library_folder
from importance_audit.records.errors import DataError
from importance_audit.records.ranking import options_text, question_of
from importance_audit.runs.digests import sha256
from importance_audit.runs.load import load_whole_run

FIT = """
set.seed(4)
n <- 160
d <- data.frame(a = rnorm(n), b = rnorm(n), n = sample(9L, n, TRUE),
                g = factor(sample(c("low", "high", "mid"), n, TRUE)),
                flag = sample(c(TRUE, FALSE), n, TRUE),
                code = sample(c("01", "02"), n, TRUE),
                mark = sample(c("T", "F"), n, TRUE),
                open = sample(c(TRUE, FALSE), n, TRUE), stringsAsFactors = TRUE)
d$b[c(3, 50, 120)] <- NA
d$open[c(5, 100)] <- NA
d$y <- 2 * d$a + (d$g == "low") + (d$code == "01") + (d$mark == "T") + rnorm(n) / 9
d$y <- d$y + d$flag + ifelse(is.na(d$open), 0, d$open)
score <- d$a + d$n / 5 + rnorm(n) / 9
d$z <- factor(ifelse(score > 1, "yes", "no"))
d$k <- cut(score, c(-Inf, 0.5, 1.5, Inf), c("few", "some", "many"))
write.csv(d, "rows.csv", row.names = FALSE)
train <- d[1:100, ]
save_tree <- function(target, method) {
  columns <- c("a", "b", "n", "g", "flag", "code", "mark", "open")
  formula <- stats::reformulate(columns, target)
  saveRDS(rpart::rpart(formula, train, method = method), paste0(target, ".rds"))
}
save_tree("y", "anova")
save_tree("z", "class")
save_tree("k", "class")
saveRDS(list(slope = 2), "own.rds")
# A predict function that draws, as that of ranger does, moves nothing that DALEX draws.
writeLines("function(model, data) model$slope * data$a + 0 * runif(1)", "predict.R")
"""
TASKS = {"y": "regression", "z": "binary", "k": "multiclass"}
LOSSES = {"y": ["rmse", "mae"], "z": ["one_minus_auc"], "k": ["log_loss_clipped"]}
AUDIT = """
seed = 5
stability.row_resamples = 0
report.profile = "bundle"
[data]
train = {{ file = "../rows.csv" }}
test = {{ fraction = 0.4 }}
features = ["a", "b", "n", "g", "flag", "code", "mark", "open"]
target = "{target}"
task = "{task}"{positive}
missing_values = ["NA"]
[groups]
left = ["a", "n"]
right = ["b", "g", "flag", "code", "mark", "open"]
[[models]]
name = "tree: 1"
file = "../{target}.rds"
sha256 = "{sha256}"
[[importance]]
method = "permutation"
n_repeats = 3
losses = {losses}
engines = ["DALEX"]
[[importance]]
method = "permutation"
of = "groups"
n_repeats = 3
n_rows = 30
losses = {losses}
engines = ["DALEX"]
"""
OWN = """
[[models]]
name = "own"
file = "../own.rds"
sha256 = "{own}"
predict = "../predict.R"
[[models]]
name = "python"
estimator = "sklearn.dummy.DummyRegressor"
"""


def digest(path):
    return sha256(path.read_bytes())


def invoke(*words):
    code, output = answer_of(*words)
    assert code in (0, 1), output
    return output


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The folder with rows and models of R."""
    folder = tmp_path_factory.mktemp("of R")
    subprocess.run(["Rscript", "--vanilla", "-e", FIT], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def runs(shared):
    """One run by target, made when it is first asked for."""
    made = {}

    def run_of(target):
        if target not in made:
            audit = shared / f"audit-{target}"
            audit.mkdir()
            facts = {"target": target, "task": TASKS[target], "losses": LOSSES[target]}
            facts["positive"] = '\npositive_class = "no"' if target == "z" else ""
            model = digest(shared / f"{target}.rds")
            text = AUDIT.format(**facts, sha256=model)
            if target == "y":
                text += OWN.format(own=digest(shared / "own.rds"))
            (audit / "audit.toml").write_text(text, "utf-8")
            invoke("run", audit, "--no-pdf", "--quiet")
            (made[target],) = (audit / "runs").glob("2*")
        return made[target]

    with host.session():
        yield run_of


def recompute(folder, *words, cwd=None):
    """Run recompute.R as somebody with DALEX would, and with vip if it is here."""
    folders = [str(library_folder()), *filter(None, [os.environ.get("R_LIBS")])]
    library = {**os.environ, "R_LIBS": os.pathsep.join(folders)}
    return subprocess.run(
        ["Rscript", "--vanilla", str(folder / "recompute.R"), *map(str, words)],
        cwd=cwd,
        env=library,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def recomputed(folder, *words, cwd=None):
    """Return what recompute.R prints, which must come to its end."""
    answer = recompute(folder, *words, cwd=cwd)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def without_rows(runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("handed") / "for R"
    output = invoke("handoff", runs("y"), "--to", folder)
    return folder, output


def gaps_in(printed):
    """How far DALEX in R alone is from each record of the audit."""
    lines = (line for line in printed.splitlines() if "gap" in line)
    return [float(line.rpartition(": ")[2].removesuffix(".")) for line in lines]


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.needs_dalex
@pytest.mark.parametrize("target", TASKS)
def test_dalex_measures_in_r_alone_what_it_measured_in_the_audit(
    runs, shared, tmp_path, target
):
    """Beside every .rds lies its table as Parquet."""
    folder = tmp_path / "for R"
    words = "may be personal data"
    assert words in invoke("handoff", runs(target), "--rows", "--to", folder)
    assert words in (folder / "README.md").read_text()
    printed = recomputed(folder, shared / f"{target}.rds", cwd=tmp_path)
    rows = "64 rows, which are those of the audit. The predictions are those of the"
    assert rows in printed
    gaps = gaps_in(printed)
    assert len(gaps) == 2 * len(LOSSES[target])
    assert max(gaps) < 1e-9
    with host.session():
        if objects.parquet_writer():
            kinds = (folder.rglob(f"*.{kind}") for kind in ("rds", "parquet"))
            of_r, parquet = ({path.with_suffix("") for path in k} for k in kinds)
            assert of_r == parquet


@pytest.mark.needs_dalex
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "No model was given. Run: Rscript recompute.R MODEL.rds [ROWS] [NAME]"),
        (
            ["rows.csv"],
            "rows.csv is none of the files that the audit loaded. The models of R are: "
            "tree: 1, own. Give the file that it loaded, or the name as the third "
            "argument.",
        ),
        (
            ["y.rds", "rows.csv", "python"],
            "Model 'python' was fitted in Python, and R cannot predict with it. "
            "Compare its printed numbers: importances.csv and rounds.csv, which read.R "
            "recomputes.",
        ),
        (["own.rds", "short.csv"], "short.csv has 20 rows; the audit evaluated 64 of"),
        (
            ["own.rds", "turned.csv"],
            "The rows are others, or differ in last digits. Give the model that the "
            "audit loaded, and ../rows.csv, 0.4 of the rows, drawn with seed 5.",
        ),
        (
            ["z.rds", "rows.csv", "own"],
            "The rows are those of the audit. Give the model that the audit loaded.",
        ),
    ],
)
def test_what_cannot_be_asked_again_is_said_with_the_remedy(
    without_rows, shared, words, message
):
    lines = (shared / "rows.csv").read_text("utf-8").splitlines(keepends=True)
    (shared / "short.csv").write_text("".join(lines[:21]), "utf-8")
    (shared / "turned.csv").write_text("".join([lines[0], *lines[:0:-1]]), "utf-8")
    answer = recompute(without_rows[0], *words, cwd=shared)
    assert answer.returncode == 1
    assert message in answer.stderr.replace("\n", " ")


@pytest.mark.needs_r
def test_the_numbers_and_the_digest_are_those_of_the_evaluation_rows(
    without_rows, runs
):
    folder, _ = without_rows
    audit = runs("y").parents[1]
    config = load_config(audit / "audit.toml")
    _, test = read_datasets(**config.data_arguments)
    numbers = [int(row["row"]) for row in table(folder / "row_numbers.csv")]
    texts = table(audit.parent / "rows.csv")
    assert [float(texts[n - 1]["a"]) for n in numbers] == test.X["a"].tolist()
    (facts,) = table(folder / "evaluation.csv")
    assert (facts["rows"], facts["sha256"]) == ("64", test.sha256)


@pytest.mark.needs_r
def test_no_row_is_handed_over_unless_it_is_asked_for(without_rows):
    folder, output = without_rows
    assert not list(folder.glob("rows.*"))
    assert "personal" not in output
    readme = (folder / "README.md").read_text()
    assert "a hand-off made with `--rows` has them" in readme


@pytest.mark.needs_r
def test_rows_that_changed_since_the_run_are_neither_numbered_nor_handed_over(
    runs, shared, tmp_path
):
    run = runs("y")
    path = shared / "rows.csv"
    text = path.read_text("utf-8")
    try:
        path.write_text(text.replace("0", "1"), "utf-8")
        with pytest.raises(DataError, match="has changed since the run: the rows have"):
            read_evaluation_rows(run, load_whole_run(run))
        output = invoke("handoff", run, "--to", tmp_path / "numbers")
        code, refusal = answer_of("handoff", run, "--rows")
    finally:
        path.write_text(text, "utf-8")
    assert (
        "The evaluation rows are not numbered: ../rows.csv, 0.4 of the rows" in output
    )
    assert not (tmp_path / "numbers" / "row_numbers.csv").exists()
    readme = (tmp_path / "numbers" / "README.md").read_text()
    assert "could not be read again" in readme
    assert "row_numbers.csv" not in readme
    assert code == 2
    assert "Restore the data." in refusal


@pytest.mark.needs_dalex
def test_a_model_of_r_that_python_handed_over_is_still_one_of_r(
    of_python, shared, tmp_path
):
    of_python[0].save(tmp_path / "audit", pdf=False)
    (run,) = (tmp_path / "audit" / "runs").glob("2*")
    output = invoke("handoff", run, "--to", tmp_path / "for R")
    assert "The rows were given in Python, so there is no table" in output
    assert table(tmp_path / "for R" / "models.csv")[0]["fitted_in"] == "R"
    answer = recompute(tmp_path / "for R", shared / "z.rds", shared / "rows.csv")
    assert answer.returncode == 1
    assert "Make the hand-off where the data are" in answer.stderr


@pytest.mark.needs_r
def test_a_machine_without_a_writer_of_parquet_says_so(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(objects, "parquet_writer", lambda: "")
    output = invoke("handoff", runs("k"), "--to", tmp_path / "all")
    assert "Run: importance-audit install-r nanoparquet" in output
    assert not list(tmp_path.rglob("*.parquet"))
    readme = (tmp_path / "all" / "README.md").read_text()
    assert "No table is here as Parquet" in readme


FOREST = """
set.seed(2)
d <- data.frame(a = rnorm(120), b = rnorm(120), c = rnorm(120),
                g = factor(sample(c("x", "y"), 120, TRUE)))
d$y <- 2 * d$a + d$b * (d$g == "x") + rnorm(120) / 4
write.csv(d, "rows.csv", row.names = FALSE)
saveRDS(randomForest::randomForest(y ~ ., d[1:80, ], ntree = 20), "forest.rds")
saveRDS(stats::lm(y ~ ., d[1:80, ]), "linear.rds")
"""
THERE = """
seed = 3
stability.row_resamples = 0
report.profile = "bundle"
[data]
train = {{ file = "rows.csv" }}
test = {{ fraction = 0.4 }}
target = "y"
task = "regression"
[groups]
noise = ["c", "g"]
rest = ["a", "b"]
[[models]]
name = "forest"
file = "forest.rds"
sha256 = "{forest}"
[[models]]
name = "linear"
file = "linear.rds"
sha256 = "{linear}"
[[importance]]
method = "permutation"
n_repeats = 5
losses = ["rmse"]
engines = ["DALEX"]
[[importance]]
method = "permutation"
of = "groups"
n_repeats = 5
n_rows = 30
form = "ratio"
losses = ["rmse"]
[[importance]]
method = "permutation"
n_repeats = 5
n_rows = 20
losses = ["rmse"]
engines = ["DALEX"]
[[importance]]
method = "permutation"
name = "in another order"
features = ["c", "b", "g", "a"]
seed = 8
n_repeats = 4
losses = ["rmse"]
engines = ["DALEX"]
[[importance]]
method = "partial_dependence"
n_grid = 3
"""
ASKED = (("features", 5), ("groups", 5), ("features", 5), ("features", 4))
"""What each model is asked among all rows, and its repeats."""


@pytest.fixture(scope="module")
def there_and_back(tmp_path_factory):
    """An audit, its hand-off, and what R alone answers to both models."""
    audit = tmp_path_factory.mktemp("there") / "audit"
    audit.mkdir()
    command = ["Rscript", "--vanilla", "-e", FOREST]
    library = {**os.environ, "R_LIBS": str(library_folder())}
    subprocess.run(command, cwd=audit, env=library, check=True)
    models = {name: digest(audit / f"{name}.rds") for name in ("forest", "linear")}
    (audit / "audit.toml").write_text(THERE.format(**models), "utf-8")
    with host.session():
        invoke("run", audit, "--no-pdf", "--quiet")
        (run,) = (audit / "runs").glob("2*")
        folder = audit.parent / "for R"
        invoke("handoff", run, "--to", folder)
        rows = audit / "rows.csv"
        printed = [recomputed(folder, audit / f"{name}.rds", rows) for name in models]
        yield audit, folder, printed


def run_with(audit, folder, tmp_path):
    """Return the result of the audit with the entries that R wrote pasted into it."""
    again = tmp_path / "again"
    shutil.copytree(audit, again, ignore=shutil.ignore_patterns("runs"))
    shutil.copytree(folder / "recomputed", again / "recomputed")
    blocks = sorted((again / "recomputed").glob("supplied-*.toml"))
    pasted = "".join(path.read_text("utf-8") for path in blocks)
    text = (again / "audit.toml").read_text("utf-8")
    (again / "audit.toml").write_text(text + pasted, "utf-8")
    invoke("run", again, "--no-pdf", "--quiet")
    (run,) = (again / "runs").glob("2*")
    return load_whole_run(run)


@pytest.fixture(scope="module")
def with_r(there_and_back, tmp_path_factory):
    """The result with the numbers that R supplied."""
    return run_with(*there_and_back[:2], tmp_path_factory.mktemp("again"))


@pytest.mark.needs_dalex
def test_every_entry_is_asked_again_or_named(there_and_back):
    for printed in there_and_back[2]:
        lines = printed.splitlines()
        of_dalex = [line for line in lines if line.startswith("DALEX")]
        assert len(of_dalex) == len(ASKED)
        assert sum("rmse of features, 5 rounds of 20 rows, seed" in x for x in of_dalex)
        (left,) = (line for line in lines if line.startswith("Not recomputed"))
        assert left.rpartition(" (record ")[0] == (
            "Not recomputed, because only permutation among all rows is asked here: "
            "partial_dependence of features"
        )
        gaps = gaps_in("\n".join(of_dalex))
        assert len(gaps) == len(ASKED) - 1  # groups were drawn by numpy
        assert max(gaps) < 1e-9


@pytest.mark.needs_dalex
def test_what_r_measured_alone_comes_back_replayed(with_r):
    frame = with_r.agreement
    of_dalex = frame["engine_b"].str.match(r"DALEX .* \(supplied\)")
    ours = frame[of_dalex & (frame["engine_a"] == "python")]
    asked = product(("forest", "linear"), (of for of, _ in ASKED))
    assert sorted(zip(ours["model"], ours["of"], strict=True)) == sorted(asked)
    assert ours["verdict"].unique().tolist() == ["replayed"]
    theirs = frame[of_dalex & (frame["engine_a"] == "DALEX")]
    assert theirs["verdict"].tolist() == ["equivalent"] * 6  # Python is on no side
    assert (theirs["max_relative_difference"] < 1e-9).all()


@pytest.mark.needs_dalex
def test_the_losses_of_r_alone_are_those_of_the_same_stream(with_r):
    records = with_r.importances
    supplied = [record for record in records if record.is_supplied]
    assert len(supplied) == 2 * len(ASKED)
    for theirs in supplied:
        (ours,) = (
            record
            for record in records
            if question_of(record) == question_of(theirs)
            and options_text(record) == options_text(theirs)
            and (record.engine, record.stream) == ("python", "DALEX")
        )
        np.testing.assert_allclose(theirs.raw, ours.raw, rtol=1e-9, atol=0)
        np.testing.assert_allclose(theirs.baseline, ours.baseline, rtol=1e-9, atol=0)


@pytest.mark.needs_vip
def test_what_vip_measured_in_r_alone_comes_back_replayed(with_r):
    frame = with_r.agreement
    of_vip = frame["engine_b"].str.match(r"vip .* \(supplied\)")
    ours = frame[of_vip & (frame["engine_a"] == "python") & (frame["of"] == "features")]
    of_all_rows = ours[ours["options"].str.contains("n_rows = None")]
    assert of_all_rows["verdict"].tolist() == ["replayed"] * 4


@pytest.fixture(scope="module")
def of_python(shared):
    """Every second row, labelled, and an audit of them started in Python."""
    table = pd.read_csv(shared / "rows.csv", dtype={"code": str})
    table = table.iloc[::-2].reset_index(drop=True)
    table.index = [f"row {n}" for n in range(len(table))]
    features = ["a", "b", "n", "g", "flag", "code", "mark", "open"]
    X, y = table[features], table["z"]
    model = ia.r_model(shared / "z.rds")
    return ia.audit(model, X, y, engines=["DALEX"], n_repeats=2), X, y


@pytest.mark.needs_dalex
@pytest.mark.parametrize("rows", [True, False])
def test_an_audit_of_python_is_recomputed_by_the_rows_given_once_more(
    of_python, shared, tmp_path, rows
):
    audit, X, y = of_python
    audit = ia.load(audit.save(tmp_path / "kept", pdf=False))
    folder = audit.handoff(tmp_path / "for R", X, y, rows=rows)
    X.assign(z=y).to_csv(tmp_path / "rows.csv", index=False)
    more = [] if rows else [tmp_path / "rows.csv"]
    printed = recomputed(folder, shared / "z.rds", *more)
    assert "80 rows, which are those of the audit. The predictions" in printed
    (gap,) = gaps_in(printed)
    assert gap < 1e-9


def test_rows_are_numbered_as_they_were_given_those_of_weight_0_too():
    X = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0) % 5})
    weights = np.tile([0, 1, 1], 4)
    model = LinearRegression().fit(X[:6], X["b"][:6])
    rows = {"X": X, "y": X["a"] + X["b"], "sample_weight": weights}
    audit = ia.audit(model, **rows, n_repeats=1)
    numbers = rows_again(audit.result, **rows).row_numbers
    assert numbers.tolist() == [2, 3, 5, 6, 8, 9, 11, 12]


@pytest.mark.needs_dalex
def test_other_rows_are_not_taken_for_those_of_an_audit_of_python(of_python, tmp_path):
    audit, X, y = of_python
    with pytest.raises(DataError, match="X and y are not the rows of the audit: the r"):
        audit.handoff(tmp_path / "for R", X.assign(a=X["a"] + 1), y)
    assert not (tmp_path / "for R").exists()


@pytest.mark.needs_dalex
@pytest.mark.parametrize("name", ["y", "own"])
def test_whoever_has_the_table_draws_the_same_rows_by_their_numbers(
    without_rows, shared, name
):
    """A model with a script, as `own`, predicts by it."""
    table = shared / "rows.csv"
    printed = recomputed(without_rows[0], shared / f"{name}.rds", table)
    assert "64 rows, which are those of the audit. The predictions" in printed
    assert max(gaps_in(printed)) < 1e-9
