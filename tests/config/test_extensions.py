"""Claims about methods, losses, engines of a user's own: found, checked, recorded."""

import linecache
import re
import sys
from dataclasses import replace
from hashlib import sha256
from html import unescape
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from tests.cases import for_each
from tests.docs.pages import blocks

import importance_audit as ia
from importance_audit.auditing.audit import audit
from importance_audit.cli.main import main
from importance_audit.config import extensions
from importance_audit.config.load import load_config, parse_config
from importance_audit.data.datasets import read_datasets
from importance_audit.methods.importance import METHODS
from importance_audit.operate.recomputation import read_evaluation_rows
from importance_audit.operate.render import render_result
from importance_audit.operate.replay import replay
from importance_audit.operate.run import run_audit
from importance_audit.records.errors import ConfigError
from importance_audit.records.losses import LOSSES
from importance_audit.report.pages.short_views import reason
from importance_audit.runs.baseline.change import compare_runs
from importance_audit.runs.folder import load_run

HEAD = """
[data]
train = { sklearn = "load_diabetes" }
test = { fraction = 0.33 }
target = "target"
task = "regression"
[[models]]
name = "linear"
estimator = "sklearn.linear_model.LinearRegression"
"""
ASKED = """
[[importance]]
method = "permutation"
losses = ["rmse", "my_module:pinball"]
n_repeats = 2
[[importance]]
method = "my_module:reversal"
engines = ["DALEX"]
n_repeats = 3
"""
OF_AN_ENGINE = """
[[importance]]
method = "permutation"
losses = ["rmse", "my_module:pinball"]
engines = ["my_module:Halves"]
n_repeats = 60
"""
OF_PAGE = "\n".join(b.text for b in blocks("python") if b.page == "docs/extending.md")
CONSTANT = """
import numpy as np
def level(model, data, *, seed, n_repeats=1):
    "A constant."
    return np.full((len(data.groups), 1, 1), {value}), np.zeros((1, 1))
"""


def written(folder, code, asked=ASKED, name="my_module.py"):
    folder.mkdir(exist_ok=True)
    (folder / "audit.toml").write_text(HEAD + asked, encoding="utf8")
    (folder / name).write_text(code, encoding="utf8")
    return folder


def entry_for(function, more=""):
    return f'[[importance]]\nmethod = "my_module:{function}"\n{more}'


def text_of(page):
    text = re.sub(r"<[^>]+>", " ", page if isinstance(page, str) else page.decode())
    return re.sub(r"\s+", " ", unescape(text))


def result_of(folder):
    """Return the result of an audit alone, without its pages."""
    config = load_config(folder)
    return audit(*read_datasets(**config.data_arguments), config)


def record_of(result, method):
    return next(r for r in result.importances if r.method == method)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = written(tmp_path_factory.mktemp("audits") / "own", OF_PAGE)
    return run_audit(folder, pdf=False)


@pytest.mark.slow
def test_the_method_of_the_page_has_ranking_card_digest_and_comparison(outcome):
    digest = sha256(OF_PAGE.encode()).hexdigest()
    record = record_of(outcome.result, "my_module:reversal")
    assert (record.raw.shape, record.unit) == ((10, 3), "y")
    page = text_of((outcome.folder / "report.html").read_bytes())
    for words in (
        "How far do predictions move if some rows get each other's values?",
        "Correlated features are moved apart, to where no training row was.",
        "An example of this page.",
        f"in my_module.py , SHA-256 {digest}",
        "Σ w max(0.9 (y − p), 0.1 (p − y)) / Σ w",
    ):
        assert words in page
    rows = outcome.result.agreement
    (row,) = rows[rows["method"] == "my_module:reversal"].to_dict("records")
    assert (row["engine_b"], row["verdict"]) == ("DALEX", "not compared")
    entries = outcome.result.run.config["extensions"]
    assert {entry["sha256"] for entry in entries} == {digest}


@pytest.mark.slow
def test_a_stored_run_is_rendered_without_the_file_as_it_was_with_it(outcome):
    file = outcome.folder.parents[1] / "my_module.py"
    code = file.read_bytes()
    file.unlink()
    result = load_run(outcome.folder)
    rendered = render_result(result, {"audit.toml": "x"}, pdf=False)
    file.write_bytes(code)
    cards = [
        text_of(page).partition("Estimand card")[2].partition("Ranking")[0]
        for page in (
            rendered.pages["report.html"],
            (outcome.folder / "report.html").read_bytes(),
        )
    ]
    assert cards[0] == cards[1]
    assert "my_module:reversal" in text_of(rendered.pages["report.html"])


@pytest.mark.slow
def test_a_changed_file_is_a_difference_for_replay_and_diff(tmp_path):
    asked = entry_for("level") + '[report]\nprofile = "bundle"\n'
    folder = written(tmp_path / "a", CONSTANT.format(value=2.0), asked)
    first = run_audit(folder, pdf=False)
    assert not replay(first.folder).is_mismatch
    (folder / "my_module.py").write_text(CONSTANT.format(value=2.0) + "# other\n")
    paths = [difference.path for difference in replay(first.folder).differences]
    assert "run.config.extensions[0].sha256" in paths
    second = run_audit(folder, pdf=False)
    change = compare_runs(first.result, second.result)
    assert "extensions[1].sha256" in {item.what for item in change.differences}
    words = ["diff", str(first.folder), str(second.folder)]
    answer = CliRunner().invoke(main, words)
    assert answer.exit_code == 0, answer.output
    assert "extensions[1].sha256" in answer.output


def level_of(config):
    """Return what the one method of an audit says, and its extension."""
    (item,) = config.extensions
    raw, _ = item.row.function(None, rows(), seed=1)
    return raw.max(), item


def test_a_helper_beside_the_file_is_recorded_and_read_again_once_it_changed(tmp_path):
    code = "from helper import LEVEL\n" + CONSTANT.format(value="LEVEL")
    for level in (1.0, 2.0):
        helper = f"LEVEL = {level}\n"
        written(tmp_path / "a", helper, name="helper.py")
        folder = written(tmp_path / "a", code, entry_for("level"))
        answer, item = level_of(load_config(folder))
        assert answer == level
        digest = sha256(helper.encode()).hexdigest()
        assert item.facts["imports"] == {"helper.py": digest}


def test_two_audits_in_one_process_have_their_own_functions(tmp_path):
    configs = [
        load_config(
            written(tmp_path / name, CONSTANT.format(value=value), entry_for("level"))
        )
        for name, value in (("one", 1.0), ("two", 2.0))
    ]
    levels = [level_of(config)[0] for config in (*configs, configs[0])]
    assert levels == [1.0, 2.0, 1.0]
    assert "my_module:level" not in METHODS
    assert "my_module:level" not in LOSSES
    with pytest.raises(KeyError):
        METHODS["my_module:level"]


def rows():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return ia.dataset(X, y, task="regression", name="rows")


ROOT_MEAN = """
import numpy as np
def root_mean(y, prediction, weights):
    return np.sqrt(np.average((y - prediction) ** 2, weights=weights))
def spoil(y, prediction, weights):
    prediction[:] = 0
def twice(y, prediction, weights):
    return y - prediction
"""


def losses_of(*names, more=""):
    named = ", ".join(f'"{name}"' for name in names)
    return f'[[importance]]\nmethod = "permutation"\nlosses = [{named}]\n{more}'


@pytest.mark.processes
def test_a_loss_of_ones_own_measures_what_ours_of_the_same_formula_does(tmp_path):
    more = "[execution]\nn_jobs = 2\n[stability]\nresamples = 3\n"
    asked = losses_of("rmse", "my_module:root_mean", more=more)
    result = result_of(written(tmp_path / "a", ROOT_MEAN, asked))
    ours, own = result.importances
    np.testing.assert_allclose(own.raw, ours.raw, rtol=1e-12)
    frame = result.stability
    ranks = [frame[frame["loss"] == r.loss]["rank_low"].tolist() for r in (ours, own)]
    assert ranks[0] == ranks[1]
    messages = " ".join(finding.message for finding in result.findings)
    assert "main process" not in messages


def test_a_loss_that_breaks_its_contract_is_refused(tmp_path):
    y = np.arange(20.0)
    for name, message in {
        "spoil": "raised ValueError: assignment destination is read-only (my_module.py",
        "twice": "must return one number; it returned ndarray of shape (20,).",
    }.items():
        asked = losses_of(f"my_module:{name}")
        (item,) = load_config(written(tmp_path / name, ROOT_MEAN, asked)).extensions
        with pytest.raises(ia.AuditError) as error:
            item.row.function(y, y, y)
        assert str(error.value).startswith(f"my_module:{name} {message}")


ANSWERS = """
import numpy as np
def method(model, data, *, seed):
    n, one = len(data.groups), np.ones((1, 1))
    data.X.iloc[:, :] = 0.0
    {line}
"""
RAW = (
    "raw of shape (10, n_repeats, 1), features or groups first; it has shape (9, 1, 1)."
)
BROKEN = [
    ("return np.zeros((n - 1, 1, 1)), one", RAW),
    ("return np.zeros((n, 2, 1)), one", "baseline of shape (2, 1); it has shape (1, 1"),
    ("return np.zeros((n, 1, 1)), np.nan * one", "a baseline without NaN; only raw"),
    ("return np.zeros((n, 1, 1))", "two arrays, raw and baseline; it returned ndarray"),
    ("return [['a']], 1", "numbers: ValueError: could not convert string to float: 'a"),
    ("return np.full((n, 1, 1), 1j), one", "real numbers; some are complex."),
]


@pytest.mark.slow
@for_each(
    [
        *((line, f"must return {words}") for line, words in BROKEN),
        ("raise KeyError('x')", "raised KeyError: 'x' (my_module.py, line 6)."),
    ]
)
def test_a_method_that_breaks_its_contract_is_a_finding_and_spoils_nothing(
    case, tmp_path
):
    line, message = case
    asked = entry_for("method") + '[[importance]]\nmethod = "permutation"\n'
    code = ANSWERS.format(line=line)
    result = result_of(written(tmp_path / "a", code, asked))
    (finding,) = [f for f in result.findings if f.check == "method_failed"]
    assert f"failed: my_module:method {message}" in finding.message
    assert finding.cause.startswith("own_code: ")
    (record,) = result.importances
    assert np.ptp(record.mean) > 1


def with_keys(keys):
    return f"def method(model, data, *, seed{keys}): ..."


PROBLEMS = [
    ("x = 1", "is no function of my_module.py; it has none."),
    ("from json import dumps\ndef metod(): ...", "is no function of my_module.py; it "),
    ("import gone", "cannot be imported: ModuleNotFoundError: No module named 'gone'."),
    ("def method(:", "cannot be imported: SyntaxError: "),
    ("raise SystemExit(3)", "cannot be imported: SystemExit: 3."),
    ("def method(model): ...", "must take (model, data, *, seed, …); it takes (model)"),
    (with_keys(", share"), "has an option share without a default. Give it one."),
    (with_keys(", curves=1"), "has an option curves, which the audit sets or keeps"),
    (with_keys(", how=print"), "has an option how, whose type or default is none of"),
    (with_keys("") + "\nmethod.unit = 'euro'", "has unit = 'euro'; it must be one of "),
]


def test_a_file_that_is_not_there_or_hides_an_installed_module_is_named(tmp_path):
    with pytest.raises(ConfigError) as error:
        parse_config({"importance": [{"method": "none_such:f"}]}, base=tmp_path)
    where = f"there is no none_such.py in the folder of the audit, {str(tmp_path)!r}."
    assert str(error.value) == f"Method 'none_such:f' cannot be imported: {where}"
    (tmp_path / "statistics.py").write_text("def mean(y, p, w): return 0.0")
    entry = {"method": "permutation", "losses": ["statistics:mean"]}
    with pytest.raises(ConfigError, match=r"Rename statistics\.py"):
        parse_config({"importance": [entry]}, base=tmp_path)


def test_an_option_of_ones_own_is_checked_as_ours_are(tmp_path):
    more = "n_repeats = 0\nshares = 1.0"
    folder = written(tmp_path / "a", OF_PAGE, entry_for("reversal", more))
    with pytest.raises(ConfigError) as error:
        load_config(folder)
    assert error.value.problems == (
        "audit.toml: [importance] n_repeats must be at least 1; 0 was given.",
        "audit.toml: [importance] has no key 'shares'. Did you mean 'share'?",
    )


def test_the_rows_of_a_run_with_an_own_loss_are_read_again_for_a_hand_off(tmp_path):
    entry = '[[importance]]\nmethod = "permutation"\nlosses = ["my_module:pinball"]\n'
    folder = written(tmp_path / "a", OF_PAGE, entry + "n_repeats = 2\n")
    run = run_audit(folder, pdf=False).folder
    rows = read_evaluation_rows(run, load_run(run))
    assert rows.n_samples == len(rows.row_numbers)


def flat(model, data, *, seed, n_repeats=2):
    """Nothing at all."""
    del model, seed
    return np.zeros((len(data.groups), n_repeats, 1)), np.zeros((n_repeats, 1))


def off_by(y, prediction, weights):
    """The mean distance."""
    return np.average(np.abs(y - prediction), weights=weights)


class Unmoved:
    """Says that nothing matters."""

    @staticmethod
    def permutation(model, data, *, seed, n_repeats=10):
        """Zeros."""
        return flat(model, data, seed=seed, n_repeats=n_repeats)


def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return LinearRegression().fit(X, y), X, y


def test_a_call_from_python_takes_functions_and_a_class_as_an_engine():
    asked = {"methods": ["permutation", flat], "losses": ["mae", off_by]}
    result = ia.audit(*diabetes(), **asked, n_repeats=3).result
    ours, own, of_flat = result.importances
    np.testing.assert_allclose(own.mean, ours.mean, rtol=1e-12)
    assert (of_flat.method, of_flat.n_repeats) == ("test_extensions:flat", 3)
    with pytest.raises(ConfigError, match=r"'<lambda>' was given\. Write it with def"):
        ia.audit(*diabetes(), losses=[lambda *_: 0.0])
    (row,) = ia.audit(*diabetes(), engines=[Unmoved]).result.agreement.to_dict(
        "records"
    )
    assert (row["engine_b"], row["verdict"]) == ("test_extensions:Unmoved", "disagrees")
    with pytest.raises(ConfigError, match="Engine 'test_extensions:flat' must be a cl"):
        ia.audit(*diabetes(), engines=[flat])


def test_an_own_loss_may_be_a_mean_over_rows_and_gives_one_number():
    asked = {"losses": ["mae", off_by], "n_repeats": 2}
    config = {"significance": {"tests": ["cpi"]}}
    result = ia.audit(*diabetes(), **asked, config=config).result
    assert set(result.significance["loss"]) == {"mae"}
    (note,) = (f.message for f in result.findings if f.message.startswith("P-values"))
    assert note == (
        "P-values of permutation of features: 'test_extensions:off_by' is a loss of "
        "your own, which gives one number for all rows, so there are no losses of "
        "single rows to test. Use another loss as well."
    )


@pytest.mark.parametrize("has_source", [True, False])
def test_what_a_notebook_cell_defines_is_taken_and_said_not_to_be_stored(
    tmp_path, monkeypatch, has_source
):
    name = str(tmp_path / "cell-1.py")  # no such file, as in a notebook
    if has_source:
        lines = OF_PAGE.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, name, (len(OF_PAGE), None, lines, name))
    session = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", session)
    cell = vars(session)
    exec(compile(OF_PAGE, name, "exec"), cell)
    asked = {"methods": ["permutation", cell["reversal"]]}
    asked |= {"losses": ["mae", cell["pinball"]], "engines": [cell["Halves"]]}
    audit = ia.audit(*diabetes(), **asked, n_repeats=3)
    assert {r.method for r in audit.importances} == {"permutation", "__main__:reversal"}
    facts = {item["kind"]: item for item in audit.run.config["extensions"]}
    source = (
        re.search(r"def reversal.*?\n(?=\S)", OF_PAGE, re.DOTALL)[0].rstrip() + "\n"
    )
    digest = sha256(source.encode()).hexdigest() if has_source else ""
    assert {item["file"] for item in facts.values()} == {""}
    assert facts["method"]["sha256"] == digest
    page = text_of(audit.report().html.encode()).replace("\u200b", "")
    what = f"SHA-256 of its source {digest}" if digest else "its source is not known"
    assert f"defined in the session, not stored; {what}" in page


@pytest.mark.slow
def test_the_engine_of_the_page_agrees_with_ours_also_on_a_loss_of_ones_own(tmp_path):
    outcome = run_audit(written(tmp_path / "a", OF_PAGE, OF_AN_ENGINE), pdf=False)
    rows = outcome.result.agreement
    assert dict(zip(rows["loss"], rows["verdict"], strict=True)) == {
        "rmse": "equivalent",
        "my_module:pinball": "equivalent",
    }
    assert {*rows["engine_b"]} == {"my_module:Halves"}
    assert rows["reasons"].str.startswith("STREAM: the draws are independent").all()
    assert "R" not in outcome.result.run.versions
    digest = sha256(OF_PAGE.encode()).hexdigest()
    page = text_of((outcome.folder / "report.html").read_bytes())
    for words in (
        f"my_ module: Halves in my_module.py , SHA-256 {digest}",
        "Permutation that exchanges the halves of a shuffled column.",
        "my_module:Halves 1.0",
        "the report cannot tell how much of that code is independent.",
        "but no R package that ran here did: an engine of this audit's own",
    ):
        assert words in page.replace("\u200b", ""), words
    entries = outcome.result.run.config["extensions"]
    kinds = {entry["kind"] for entry in entries if entry["sha256"] == digest}
    assert kinds == {"loss", "engine"}
    # Alone it confirms nothing.
    result = replace(outcome.result, findings=())
    assert result.verdict == "confirmed with exceptions"
    assert "but no R package that ran here did" in reason(result)
    with_dalex = pd.concat([rows, rows.iloc[:1].assign(engine_b="DALEX")])
    assert result.with_frames(agreement=with_dalex).verdict == "confirmed"


OF_OWN = '[[importance]]\nmethod = "permutation"\nengines = ["my_module:own"]\n'
SPEARMAN = """
import pandas as pd
class own:
    def spearman(model, data, *, seed):
        rank = pd.Series(data.y, index=data.X.index).rank()
        rho = [data.X[name].rank().corr(rank) for name in data.X]
        return [[[value]] for value in rho], [[0.0]]
"""


def test_an_engine_that_draws_nothing_and_has_the_same_numbers_is_replayed(tmp_path):
    entry = '[[importance]]\nmethod = "{}"\nengines = ["my_module:own"]\n'
    asked = entry.format("spearman") + entry.format("lowess_r2")
    result = result_of(written(tmp_path / "a", SPEARMAN, asked))
    rows = result.agreement.set_index("method")
    assert rows["verdict"].to_dict() == {
        "spearman": "replayed",
        "lowess_r2": "not compared",
    }
    reason = "my_module:own has no equivalent of 'lowess_r2'."
    assert rows.loc["lowess_r2", "reasons"] == reason


def test_an_engine_that_breaks_its_contract_is_a_finding_and_not_compared(tmp_path):
    line = "return [[[0.0]]] * (len(data.groups) - 1), [[0.0]]"
    code = f"class own:\n    def permutation(model, data, *, seed):\n        {line}\n"
    result = result_of(written(tmp_path / "a", code, OF_OWN))
    (finding,) = [f for f in result.findings if f.check == "method_failed"]
    message = f"my_module:own.permutation must return {RAW}"
    assert finding.message.endswith(f"failed: {message}")
    assert finding.cause.startswith("own_code: ")
    assert finding.engines == ("my_module:own",)
    (row,) = result.agreement.to_dict("records")
    assert row["verdict"] == "not compared"
    assert row["reasons"].endswith(message)
    (ours,) = result.importances
    assert ours.engine == "python"


def own(keys, name="permutation"):
    return f"class own:\n    def {name}({keys}): ..."


SEEDED = "model, data, *, seed"
ENGINES = [
    ("other = 1", "is no class of my_module.py; it has none."),
    ("def own(): ...", "must be a class; it is a function."),
    ("class own: pass", "must have a function with the name of a method, such as"),
    (own(SEEDED, "permutaton"), "has the function 'permutaton', which no method of"),
    (own("self, model, data"), "has a function permutation that must take (model,"),
    (own(f"{SEEDED}, share=0.5"), "has a function permutation with 'share', which the"),
    ("class own:\n    version = 1", "has version = 1; it must be a text."),
]


@for_each(
    [
        *(("Method", "method", *p) for p in PROBLEMS),
        *(("Engine", "own", *p) for p in ENGINES),
    ]
)
def test_what_cannot_serve_is_named_before_anything_is_read(case, tmp_path):
    kind, name, code, message = case
    asked = entry_for(name) if kind == "Method" else OF_OWN
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path / "a", code, asked))
    start = f"audit.toml: {kind} 'my_module:{name}' {message}"
    assert str(error.value).startswith(start)


class EntryPoint:
    """One of an installed package."""

    def load(self):
        return Unmoved


def test_an_installed_package_offers_an_engine_by_name(monkeypatch):
    def entry_points(*, group, name):
        is_offered = (group, name) == ("importance_audit.engines", "house")
        return [EntryPoint()] if is_offered else []

    monkeypatch.setattr(extensions, "entry_points", entry_points)
    entry = {"method": "permutation", "engines": ["house"]}
    (item,) = parse_config({"importance": [entry]}).extensions
    assert (item.kind, item.name, item.facts["file"]) == (
        *("engine", "house"),
        "test_extensions.py",
    )
    with pytest.raises(ConfigError, match="engines must be"):
        parse_config({"importance": [entry | {"engines": ["home"]}]})
