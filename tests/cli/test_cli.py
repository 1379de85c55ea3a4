"""Commands: exit codes, what is written, and what bad input gets."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from html import unescape
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.auditing.test_stopping import assert_not_completed
from tests.operate.test_notify import is_running, wait_for
from tests.run_folders import below

from importance_audit.cli.main import GROUPS, main
from importance_audit.config.init_file import starter
from importance_audit.config.load import load_config
from importance_audit.data.datasets import read_datasets
from importance_audit.operate.unattended import UnattendedOutcome
from importance_audit.runs.audit_log import read_log

ROOT = Path(__file__).parents[2]
(BUNDLE,) = (ROOT / "tests" / "bundles" / "2.0" / "runs").iterdir()

AUDIT = """
seed = 3
[data]
train = {{ file = "train.csv" }}
test = {{ file = "test.csv" }}
target = "y"
task = "{task}"
[[models]]
name = "m"
estimator = "{estimator}"
parameters = {parameters}
[[importance]]
method = "permutation"
n_repeats = 3
"""


# To print the report takes most of the time of a small run.
UNPRINTED = '[report]\nprofile = "bundle"\n'
TABLE = "tables/importances.csv"
SHORT = '[report]\nprofile = "executive"\n'


def rows(n=40, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)).round(3), columns=["a", "b", "c"])
    return X.assign(y=(2 * X["a"] - X["b"]).round(3))


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a sound audit of a linear model, without pages."""
    return written(tmp_path)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return the folder of an audit that ran with all its pages, and the answer."""
    folder = written(tmp_path_factory.mktemp("printed"), report="")
    return folder, invoke("run", folder)


@pytest.mark.needs_pandoc
def test_render_writes_the_formats_and_the_profile_that_are_asked_for(
    printed, tmp_path
):
    (run_folder,) = runs(printed[0])
    options = ["--as", "docx", "--as", "html", "--profile", "executive"]
    told = sound("render", run_folder, "--output", tmp_path, *options)
    stem = f"{printed[0].name}-{run_folder.name}-executive"
    names = [f"{stem}.docx", f"{stem}.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert sorted(told.split()) == [str(tmp_path / name) for name in names]
    page = (tmp_path / names[1]).read_text("utf-8")
    assert "".join(re.findall(r'<section id="sec-(\w)"', page)) == "bajp"


def test_render_prints_every_path_that_it_writes(printed, tmp_path):
    (run_folder,) = runs(printed[0])
    told = sound("render", run_folder, "--output", tmp_path, "--as", "html")
    assert set(told.splitlines()) == {str(path) for path in tmp_path.iterdir()}
    assert len(told.splitlines()) == 2


def test_our_own_undefined_numbers_are_no_warnings_of_a_command():
    """They are findings, or marks in the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        main.callback()
        said = "overflow", RuntimeWarning, "file.py", 1
        warnings.warn_explicit(*said, "importance_audit.records.losses")
        with pytest.raises(RuntimeWarning):
            warnings.warn_explicit(*said, "a_model_of_the_user")


INIT = ["init", "new", "--data", "x.csv", "--target", "y"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["render", "{bundle}", "--reference", "{folder}/audit.toml"],
            "--reference requires --as docx.",
        ),
        (["init", "{folder}"], "{folder}/audit.toml exists already. Choose another fo"),
        (["init", "new", "--separator", "tab"], "--separator requires --data."),
        (
            [*INIT, "--separator", ";;"],
            "--separator must be one character, or tab; ';;' was given.",
        ),
        ([*INIT, "--every-key"], "--every-key does not work with --data."),
        (
            ["run", "{folder}", "--json", "--unattended"],
            "--json works with a single attended run only.",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence_and_ends_with_2(folder, words, message):
    facts = {"folder": folder, "bundle": BUNDLE}
    answer = invoke(*(word.format(**facts) for word in words))
    assert answer.exit_code == 2
    assert message.format(**facts) in answer.stderr


def written(folder, **words):
    """Write a sound audit of a linear model into a folder, with its rows."""
    rows().to_csv(folder / "train.csv", index=False)
    rows(seed=1).to_csv(folder / "test.csv", index=False)
    return configured(folder, **words)


def configured(
    folder,
    task="regression",
    estimator="sklearn.linear_model.LinearRegression",
    parameters="{}",
    more="",
    report=UNPRINTED,
):
    text = AUDIT.format(task=task, estimator=estimator, parameters=parameters)
    (folder / "audit.toml").write_text(text + more + report, encoding="utf8")
    return folder


def runner():
    """Return a runner that keeps the two streams apart, as click 8.2 always does."""
    old = "mix_stderr" in signature(CliRunner).parameters
    return CliRunner(**({"mix_stderr": False} if old else {}))


def invoke(*words):
    """Return the answer of a command."""
    return runner().invoke(main, [*map(str, words)])


def answer_of(*words):
    """Return the exit code of a command, and what it prints on both streams."""
    answer = invoke(*words)
    return answer.exit_code, answer.stderr + answer.stdout


def sound(*words):
    """Return what a command that must end with 0 prints to standard output."""
    answer = invoke(*words)
    assert answer.exit_code == 0, answer.stderr
    return answer.stdout


def run(folder, *options):
    return invoke("run", folder, "-q", *options)


def runs(folder):
    return sorted(folder.glob("runs/*"))


def add_twin(folder):
    """Let the audit fail on a column that says the same as another."""
    for name in ("train.csv", "test.csv"):
        frame = pd.read_csv(folder / name)
        frame.assign(twin=frame["a"]).to_csv(folder / name, index=False)
    change_config(folder, "seed = 3\n", 'seed = 3\nfail_on = "warning"\n')
    return folder


def test_quiet_and_json_tell_of_an_audit_that_is_not_confirmed(folder):
    answer = run(add_twin(folder))
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "not confirmed" in answer.stderr
    assert "warning, Duplicate columns" in answer.stderr
    (finding,) = json.loads(run(folder, "--json").stdout)["findings"]
    assert (finding["check"], finding["severity"]) == ("same_columns", "warning")


def test_diff_says_what_differs_between_two_stored_runs(folder):
    run(folder)
    (before,) = runs(folder)
    change_config(folder, "seed = 3\n", "seed = 99\n")
    run(folder)
    (after,) = {*runs(folder)} - {before}
    told = sound("diff", before, after)
    assert told.startswith("Change since the baseline\n")
    assert re.search(r"^seed +seed +\d+ +99$", told, re.M)
    assert "Dot plot" not in told  # a terminal shows no figure


def test_init_writes_every_key_where_asked(tmp_path):
    for options in ([], ["--every-key"]):
        folder = tmp_path / str(len(options))
        sound("init", folder, *options)
        text = (folder / "audit.toml").read_text("utf-8")
        assert text == starter(every_key=bool(options))


def test_help_lists_every_command_in_one_group():
    text = sound("--help")
    for title, commands in GROUPS.items():
        (block,) = re.findall(rf"^{title}:\n((?:  .+\n)+)", text, re.MULTILINE)
        names = [line.split()[0] for line in block.splitlines()]
        assert names == [command.name for command in commands]


def test_init_says_what_it_guessed_and_the_audit_runs(tmp_path):
    frame = rows(60)
    frame["day"] = [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(60)]
    frame.to_csv(
        tmp_path / "rows.csv", sep=";", decimal=",", index=False, encoding="utf-16"
    )
    words = ["--data", tmp_path / "rows.csv", "--target", "y"]
    told = sound("init", tmp_path, *words)
    assert 'Guessed: encoding = "utf-16"; ' in told
    assert 'Guessed: separator = ";"; 61 of the first 61 lines have ' in told
    assert 'Guessed: decimal = ","; line 2 holds ' in told
    change_config(tmp_path, "[report]\n", UNPRINTED)
    sound("run", tmp_path, "-q")


@pytest.mark.needs_openpyxl
@pytest.mark.parametrize("sheet", ["Data", "2"])
def test_init_takes_a_sheet_by_name_or_number(tmp_path, sheet):
    with pd.ExcelWriter(tmp_path / "rows.xlsx") as book:
        pd.DataFrame({"note": ["a"]}).to_excel(book, sheet_name="Notes", index=False)
        rows(60).to_excel(book, sheet_name="Data", index=False)
    words = ["--data", tmp_path / "rows.xlsx", "--target", "y", "--sheet", sheet]
    sound("init", tmp_path / "a", *words)
    train, test = read_datasets(**load_config(tmp_path / "a").data_arguments)
    assert len(train.y) + len(test.y) == 60


def test_doctor_names_every_part_as_json():
    document = json.loads(invoke("doctor", "--json").stdout)
    checks = {row["what"]: row for row in document["checks"]}
    assert {"Python", "numpy", "scikit-learn", "R through rpy2"} <= set(checks)
    assert checks["Python"]["verdict"] == "ok"


def test_a_terminal_that_lacks_a_letter_gets_its_escape(folder):
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    missing = folder / "größe→.toml"
    exit_status, errors = ended(command(missing, env=env, encoding="latin-1"))
    assert exit_status == 2
    assert "größe\\u2192.toml" in errors


COMMAND = "from importance_audit.cli.main import main; main"


def lines_and_loaded(code, heavy):
    """Return what code prints in a new Python, and which of some libraries it loads."""
    loaded = f"print({{*{heavy.split()}}} & {{*sys.modules}})"
    script = f"import atexit, sys\natexit.register(lambda: {loaded})\n{code}"
    words = [sys.executable, "-c", script]
    return subprocess.check_output(words, text=True, cwd=ROOT).splitlines()


READING = """import importance_audit.runs.folder, importance_audit.engines.agreement
import importance_audit.assess.checks"""


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (f"{COMMAND}(['--help'])", "numpy pandas sklearn jinja2 rpy2"),
        (READING, "scipy sklearn matplotlib rpy2 jsonschema"),
    ],
    ids=["help", "reading of a run"],
)
def test_what_begins_at_once_loads_no_heavy_library(code, heavy):
    assert lines_and_loaded(code, heavy)[-1] == "set()"


def text(name, content):
    """Return a step that replaces one of the two files."""
    return lambda folder: (folder / name).write_bytes(content)


def config(**words):
    return lambda folder: configured(folder, **words)


LINEAR_MODEL = "sklearn.linear_model"
BAD = {
    "missing file": (lambda f: (f / "train.csv").unlink(), "train.csv"),
    "duplicate names": (text("train.csv", b"a,a,c,y\n1,2,3,4\n2,3,4,5\n"), "'a'"),
    "unknown estimator": (config(estimator=f"{LINEAR_MODEL}.Rige"), "Did you mean"),
    "unknown key": (config(more="n_repeat = 3\n"), "n_repeats"),
    "a fit that fails": (
        config(estimator=f"{LINEAR_MODEL}.Ridge", parameters='{ alpha = "no" }'),
        "'m'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_message_exit_2_and_no_file(folder, name):
    spoil, fault = BAD[name]
    spoil(folder)
    answer = run(folder)
    assert answer.exit_code == 2, (answer.output, answer.exception)
    assert fault in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (folder / "runs").exists()


def command(folder, *, cwd=ROOT, **facts):
    """Return a process that runs an audit."""
    words = [sys.executable, "-m", "importance_audit", "run", str(folder)]
    facts = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **facts}
    return subprocess.Popen(words, text=True, cwd=cwd, **facts)


def ended(process):
    """Return exit code and standard error of a process, once it has ended."""
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def saved_run(folder):
    """Return the one run of a folder, with numbers and without a report."""
    (run_folder,) = runs(folder)
    names = {*below(run_folder)}
    assert {"result.json", "summary.txt", "audit.toml", TABLE} <= names
    assert "report.html" not in names
    return run_folder


def test_a_report_that_cannot_be_made_loses_no_number(folder, tmp_path_factory):
    configured(folder, report=SHORT)
    code = tmp_path_factory.mktemp("code")
    package = code / "importance_audit"
    shutil.copytree(ROOT / "pipeline", package)
    for name in ("r_bridge", "templates"):
        shutil.copytree(ROOT / name, package / name)
    for name in ("page.html.j2", "summary.txt.j2"):
        page = package / "templates" / name
        page.write_text(page.read_text() + "{{ words.no_such_field }}")
    env = os.environ | {"PYTHONPATH": str(code)}
    exit_status, errors = ended(command(folder, cwd=code, env=env))
    run_folder = saved_run(folder)
    (line,) = read_log(folder).of("run")
    assert exit_status == line["exit_code"] == 4
    fault = "The report could not be made; the numbers are saved. UndefinedError: "
    assert fault not in errors  # the summary on standard output says it
    assert errors.endswith(f"Try again: importance-audit render {run_folder}\n")
    assert fault in (run_folder / "summary.txt").read_text().splitlines()[-1]
    assert "no_such_field" in (run_folder / "report-failed.txt").read_text()
    sound("render", run_folder, "--output", code)


def without_room(folder, n_bytes):
    """Return a process that runs an audit on a disk where no file can grow larger.

    Python would cut the bytecode of our modules short there, and other tests read it.
    """
    return command(
        folder,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes,) * 2),
    )


def test_a_disk_that_has_no_room_for_the_report_keeps_the_numbers(folder):
    # the report has 87 kB, the numbers have 50
    configured(folder, report="")
    exit_status, errors = ended(without_room(folder, 70_000))
    assert exit_status == 4, errors
    summary = (saved_run(folder) / "summary.txt").read_text()
    assert "the numbers are saved. The system reports: File too large." in summary


def children(pid):
    """Return the processes that a process has started."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return path.read_text().split() if path.exists() else []


def words(pid):
    """Return the words that a process was started with, "" if it has ended."""
    path = Path(f"/proc/{pid}/cmdline")
    try:
        return path.read_text()
    except OSError:
        return ""


def interruptible():
    # A suite that runs in the background passes on that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform != "linux", reason="children are read from /proc")
def test_ctrl_c_while_the_report_is_printed_keeps_the_numbers(folder):
    configured(folder, report=SHORT)
    process, renderer = command(folder, preexec_fn=interruptible), []
    while process.poll() is None and not renderer:
        time.sleep(0.02)
        renderer = [pid for pid in children(process.pid) if "print_page" in words(pid)]
    process.send_signal(signal.SIGINT)
    exit_status, errors = ended(process)
    assert exit_status == 130, errors
    assert saved_run(folder)
    wait_for(lambda: not any(map(is_running, renderer)))


def stopped(folder, *, code, step):
    """Return the page of a run that did not come to its end, which names its step."""
    (run_folder,) = runs(folder)
    (line,) = read_log(folder).of("run")
    assert (line["exit_code"], line["verdict"]) == (code, "not established")
    assert (run_folder / "report.pdf").exists()
    page = unescape((run_folder / "report.html").read_text(encoding="utf8"))
    assert_not_completed(page, step)
    return page


def change_config(folder, old, new):
    """Replace a text of audit.toml by another."""
    path = folder / "audit.toml"
    path.write_text(path.read_text("utf8").replace(old, new), "utf8")


@pytest.fixture
def without_r(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("R_HOME", str(folder))


@pytest.mark.usefixtures("without_r")
def test_a_required_engine_that_is_absent_stops_with_3_before_any_fit(folder):
    configured(folder, report=SHORT)
    change_config(folder, "seed = 3\n", 'require = ["DALEX"]\n')
    exit_status, errors = ended(command(folder))
    assert exit_status == 3, errors
    assert "'DALEX' is not available" in errors
    page = stopped(folder, code=3, step="engines and models")
    assert "'DALEX' is not available" in page
    assert "The run ended before any model was evaluated: " in page


@pytest.mark.usefixtures("without_r")
def test_an_optional_engine_that_is_absent_is_said_and_exits_0(folder):
    configured(folder, more='engines = ["DALEX"]\n')
    exit_status, errors = ended(command(folder))
    assert exit_status == 0, errors
    agreement = pd.read_csv(runs(folder)[0] / "tables" / "agreement.csv")
    assert set(agreement["verdict"]) == {"not compared"}
    no_r = "R ended with status|R was not found"  # by the version of rpy2
    assert agreement["reasons"].str.contains(no_r).all()


@pytest.mark.needs_dalex
def test_a_request_to_stop_leaves_a_partial_report_130_and_no_process(folder):
    forest = "sklearn.ensemble.RandomForestRegressor"
    slow = "{ n_estimators = 100, random_state = 1 }"
    asked = 'engines = ["DALEX"]\n'
    configured(folder, estimator=forest, parameters=slow, more=asked, report=SHORT)
    change_config(folder, "repeats = 3", "repeats = 5000")
    process, started = command(folder), []
    for line in process.stderr:
        if "permutation of features" in line:
            break
    while process.poll() is None and not started:
        time.sleep(0.02)
        started = children(process.pid)
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 130
    assert started
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    page = stopped(folder, code=130, step="permutation of features, m")
    assert 'id="tab-quality"' in page  # what was measured until then
    assert "The audit was interrupted by SIGTERM in the step" in page


def test_the_first_line_is_printed_before_a_library_is_loaded(folder):
    (folder / "train.csv").unlink()
    command = [sys.executable, "-X", "importtime", "-m", "importance_audit", "run"]
    answer = subprocess.run([*command, folder], capture_output=True, text=True)
    lines = answer.stderr.splitlines()
    first = lines.index(f"audit {folder}")
    loaded = [n for n, line in enumerate(lines) if line.endswith(("| numpy", "pandas"))]
    assert first < min(loaded)


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ([], []),
        (["--no-pdf"], ["--no-pdf"]),
        (
            ["--no-pdf", "--unattended", "--keep", "0", "--minutes", "1.5"],
            ["--no-pdf", "--unattended", "--minutes", "1.5", "--keep", "0"],
        ),
    ],
)
def test_the_runs_that_a_run_starts_get_its_options(folder, monkeypatch, given, passed):
    calls = []

    def started(_, **keywords):
        calls.append([*keywords["options"]])
        return UnattendedOutcome(0)

    monkeypatch.setattr("importance_audit.operate.unattended.run_unattended", started)
    invoke("run", folder, "--unattended", *given[:1])
    monkeypatch.setattr(
        "importance_audit.cli.run_all.run_all",
        lambda _, **keywords: calls.append([*keywords["options"]]) or 0,
    )
    invoke("run", "--all", folder, *given)
    assert calls == [passed[:1], passed]


def test_a_run_leaves_both_reports_and_tells_its_phases_with_their_seconds(printed):
    """After them come the reports, why the verdict is so, and what was not checked."""
    folder, answer = printed
    assert answer.exit_code == 0, answer.stderr
    (run_folder,) = runs(folder)
    names = {*below(run_folder)}
    assert {"result.json", "report.html", "report.pdf", "SHA256SUMS"} <= names
    assert {"summary.txt", "audit.toml", TABLE, "tables/findings.csv"} <= names
    assert "tables/checks.csv" in names

    lines = answer.stderr.splitlines()
    report = [f"report: {part}" for part in ("runs before", "tables", "sections")]
    phases = ["reading of the rows", "model m", *report]
    assert lines[0] == f"audit {folder}"
    assert [line for line in lines if line in phases] == phases
    log = [json.loads(line) for line in (run_folder / "log.jsonl").open()]
    timed = {line["step"] for line in log if line["seconds"] is not None}
    labels = [line.split("] ")[1] for line in lines if line.startswith("[")]
    assert "permutation of features, m" in labels
    assert timed >= {*phases, "engines", "supplied files", "models", *labels} - {"done"}
    for kind in ("html", "pdf"):
        place = run_folder / f"report.{kind}"
        assert f"{kind.upper():5} {place}" in answer.stdout
    assert answer.stdout.split("\n\n")[0].splitlines()[-1] == (
        "reason: Python alone computed the numbers: no second implementation was "
        "requested (section\u00a0Scope and independence)."
    )
    assert answer.stdout.splitlines()[-1] == (
        "not checked: how the pages of the report look, whether the numbers come out "
        "again (importance-audit verify --replay), and who signs (approve records "
        "names and authenticates nobody)"
    )


def test_json_is_one_document_and_all_of_standard_output(folder):
    document = json.loads(sound("run", folder, "--json"))
    saved = runs(folder)[0]
    assert document["folder"] == str(saved)
    assert document["exit_code"] == 0
    assert document["verdict"] == "not cross-checked"
    assert document["reports"] == []
    assert document["reason"].startswith("Python alone computed the numbers")
    for command in (["verify", saved], ["verify", folder], ["diff", saved, saved]):
        document = json.loads(sound(*command, "--json"))
    assert document["baseline"] == document["run"] == saved.name
    assert document["differences"] == []
    outcomes = {f["outcome"] for q in document["questions"] for f in q["features"]}
    assert outcomes == {"no evidence of change"}


def test_an_option_that_would_be_ignored_is_refused(folder):
    for option in (
        ("--every-key",),
        ("--sheet", "1"),
        ("--data", "x", "--target", "y"),
    ):
        result = invoke("init", folder, "--strings", "de", *option)
        assert result.exit_code == 2
        assert f"{option[0]} does not work with --strings." in result.stderr
