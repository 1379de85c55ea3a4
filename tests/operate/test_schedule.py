"""Schedules: what is printed runs as it is, and is read as it was meant."""

import base64
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.cli.test_cli import ROOT, invoke, written
from tests.operate.test_notify import wait_for

from importance_audit.cli.schedule import SCRIPTS
from importance_audit.config.load import load_config
from importance_audit.config.settings import DAYS, ScheduleSection
from importance_audit.operate.schedule import (
    Job,
    cron_job,
    cron_line,
    cron_text,
    dag,
    example,
    job_of,
    units,
    utc_offset,
    workflow,
)
from importance_audit.records.errors import AuditError

HOSTILE = "h o$t `q` 'q' \"d\" 5%n #; ü\\x=1"
VARIABLES = {"R_LIBS": f"/{HOSTILE}", "TZ": "UTC"}
RECORDER = """#!/usr/bin/python3
import json, os, sys
seen = {"argv": sys.argv, "environ": dict(os.environ)}
json.dump(seen, open(os.path.dirname(sys.argv[0]) + "/seen.json", "w"))
print("to stdout", flush=True)
print("to stderr", file=sys.stderr)
sys.exit(7)
"""
LISTENING = """#!/usr/bin/python3
import os, signal, sys

def end(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # timeout asks twice
    print("asked to end", flush=True)
    os._exit(130)

signal.signal(signal.SIGTERM, end)
file = os.path.dirname(sys.argv[0]) + "/listening"
with open(file + ".part", "w") as part:
    part.write(str(os.getppid()))
os.rename(file + ".part", file)
while True:
    signal.pause()
"""
"""No shell: on a busy machine dash now and then dies of a signal that it traps."""
needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not on PATH"
)


def put_program(path, text):
    """Write a program where it can be run; return its path."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def read_yaml(text):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(text)


def job(folder, environment=None, **section):
    """Return a job whose interpreter records how it was called, and ends with 7."""
    folder.mkdir(exist_ok=True)
    program = put_program(folder / "python", RECORDER)
    words = "-P -m importance_audit run --unattended".split()
    command = (program, *words, str(folder))
    schedule = ScheduleSection(**section)
    return Job(folder, folder, schedule, schedule.minutes, command, environment or {})


def as_cron(line):
    """Return the command of a line, as cron hands it to the shell."""
    command = line.split(" ", 5)[5]
    assert not re.search(r"(?<!\\)%", command)  # would be a new line
    return command.replace(r"\%", "%")


def bare(command, path="/usr/bin:/bin"):
    """Run a command in the environment that cron gives."""
    words = ["env", "-i", "HOME=/", f"PATH={path}", "/bin/sh", "-c", command]
    return subprocess.run(words, cwd="/", capture_output=True)


def assert_called(recorder, variables=VARIABLES):
    """The recorder was called with the words of its job, and with these variables."""
    seen = json.loads((recorder.folder / "seen.json").read_text())
    assert seen["argv"] == list(recorder.command)
    assert seen["environ"].items() >= variables.items()


@pytest.mark.parametrize(
    ("zone", "offset"), [("Asia/Kolkata", 330), ("America/Phoenix", -420)]
)
def test_the_offset_is_that_of_the_machine_whatever_tz_says(
    tmp_path, monkeypatch, zone, offset
):
    file = Path("/usr/share/zoneinfo") / zone
    if not file.exists():
        pytest.skip("no zoneinfo on this machine")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    (tmp_path / "localtime").symlink_to(file)
    assert utc_offset(tmp_path / "localtime") == offset
    assert utc_offset(tmp_path / "absent") == 0


def test_a_line_runs_in_the_bare_environment_of_cron_from_a_hostile_path(tmp_path):
    recorder = job(tmp_path / HOSTILE, VARIABLES)
    answer = bare(as_cron(cron_line(recorder)))
    assert (answer.returncode, answer.stdout, answer.stderr) == (7, b"", b"")
    assert_called(recorder)
    bare(as_cron(cron_line(recorder)))
    log = (recorder.folder / "schedule.log").read_text()
    assert log == "to stdout\nto stderr\n" * 2


def test_a_job_that_is_ended_may_say_so_and_its_exit_code_is_kept(tmp_path):
    endless, listening = job(tmp_path), tmp_path / "listening"
    (tmp_path / "python").write_text(LISTENING)
    ended = ThreadPoolExecutor(1).submit(bare, as_cron(cron_line(endless)))
    wait_for(lambda: listening.exists() or ended.done())
    os.kill(int(listening.read_text()), signal.SIGALRM)  # as its own clock would
    assert ended.result().returncode == 130
    assert (tmp_path / "schedule.log").read_text() == "asked to end\n"


def test_it_is_ended_later_than_it_ends_itself(tmp_path):
    limited = job(tmp_path, minutes=0.5, command_seconds=45)
    assert (limited.seconds, limited.grace) == (30 + 2 * 45 + 600, 300 + 2 * 45)
    assert f" --kill-after={limited.grace} {limited.seconds} " in cron_line(limited)
    service = units(limited)[f"{limited.name}.service"]
    assert lines_of(service, "TimeoutStartSec") == [str(limited.seconds)]
    assert lines_of(service, "TimeoutStopSec") == [str(limited.grace)]


def test_an_audit_runs_from_its_line_wherever_cron_starts_it(tmp_path, monkeypatch):
    folder = tmp_path / HOSTILE
    folder.mkdir()
    written(folder)
    (folder / "pipeline.py").write_text("1 / 0")  # not to be imported
    monkeypatch.chdir(folder)
    line = cron_line(job_of(load_config(Path()), Path()))
    answer = bare(f"cd {shlex.quote(str(folder))}; {as_cron(line)}")
    log = (folder / "schedule.log").read_text()
    assert answer.returncode == 0, log
    (run,) = folder.glob("runs/*")
    assert run.name in log


def test_the_interpreter_and_what_decides_about_r_are_pinned(tmp_path, monkeypatch):
    folder = written(tmp_path)
    (tmp_path / "library").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("R_LIBS", "library:/opt/r")
    monkeypatch.setenv("PYTHONPATH", "library")
    left_behind = ["SECRET", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
    for name in left_behind:
        monkeypatch.setenv(name, "1")
    audit_job = job_of(load_config(folder), folder)
    environment = audit_job.environment
    assert audit_job.command[:2] == (sys.executable, "-P")
    assert audit_job.command[-2:] == ("--unattended", str(folder))
    assert environment["R_LIBS"] == f"{tmp_path}/library:/opt/r"
    assert (environment["TZ"], environment["LANG"]) == ("UTC", "C.UTF-8")
    assert not environment.keys() & set(left_behind)
    assert environment["PYTHONPATH"] == f"{tmp_path}/library"
    assert environment["PATH"].split(":")[0] == os.path.dirname(sys.executable)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("two\nlines", "which has '\\n'. Rename it, or unset the variable."),
        ("bytes \udcff", "which has '\\udcff'. Rename it, or unset the variable."),
        ("two\\\\back", "Rename the folder, or use --as systemd."),
        ("per\\%cent", "Rename the folder, or use --as systemd."),
    ],
)
def test_what_a_line_cannot_hold_is_refused(tmp_path, name, message):
    with pytest.raises(AuditError) as refused:
        cron_line(job(tmp_path / name))
    assert str(refused.value).endswith(message)


@pytest.mark.parametrize(
    ("days", "when"),
    [((), "*-*-* 06:00:00 UTC"), (("thu", "mon"), "Mon,Thu *-*-* 06:00:00 UTC")],
)
def test_a_service_runs_what_a_line_runs_and_its_timer_makes_up_for_what_was_missed(
    tmp_path, days, when
):
    recorder = job(tmp_path / HOSTILE, VARIABLES, days=days)
    service = units(recorder)[f"{recorder.name}.service"]
    (command,) = lines_of(service, "ExecStart")
    assert command.startswith(":/bin/sh ")
    assert subprocess.run(unescaped(command[1:])).returncode == 7
    assert_called(recorder, {})  # systemd sets the variables
    variables = [unescaped(value) for value in lines_of(service, "Environment")]
    assert variables == [[f"{name}={text}"] for name, text in VARIABLES.items()]
    (log,) = lines_of(service, "StandardOutput")
    assert unspecified(log) == f"append:{recorder.folder}/schedule.log"
    timer = units(recorder)[f"{recorder.name}.timer"]
    assert lines_of(timer, "OnCalendar") == [when]
    assert lines_of(timer, "Persistent") == ["true"]


def test_a_line_as_long_as_debian_takes_it_is_written(tmp_path):
    short = job(tmp_path)
    spare = 998 - len(cron_line(short).split(" ", 5)[5]) - len("R_LIBS= ")
    longest = cron_line(job(tmp_path, {"R_LIBS": "r" * spare}))
    assert len(longest.split(" ", 5)[5]) == 998
    with pytest.raises(AuditError, match="this one has 999"):
        cron_line(job(tmp_path, {"R_LIBS": "r" * (spare + 1)}))


def verified(folder, files, home):
    """Return what systemd says of units."""
    for name, text in files.items():
        (folder / name).write_text(text)
    words = ["systemd-analyze", "--user", "--man=no", "verify", *files]
    surroundings = {**os.environ, "XDG_RUNTIME_DIR": str(home), "HOME": str(home)}
    return subprocess.run(words, cwd=folder, env=surroundings, capture_output=True)


@needs_systemd
def test_units_pass_systemd_also_from_a_hostile_path(tmp_path):
    recorder = job(tmp_path / HOSTILE, VARIABLES, days=("mon", "thu"))
    answer = verified(tmp_path, units(recorder), tmp_path)
    assert (answer.returncode, answer.stdout + answer.stderr) == (0, b"")


def lines_of(unit, key):
    pairs = [line.partition("=") for line in unit.splitlines()]
    return [value for name, _, value in pairs if name == key]


def unspecified(text):
    """Return a text of a unit without specifiers, of which there must be none."""
    assert "%" not in text.replace("%%", "")
    return text.replace("%%", "%")


def unescaped(text):
    """Return the words of a line of a unit; `:` keeps systemd from reading a $."""
    return shlex.split(unspecified(text))


def test_the_name_of_a_job_is_that_of_its_folder_by_whatever_path(tmp_path):
    (tmp_path / "a b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a b")
    name = job(tmp_path / "a b").name
    assert job(tmp_path / "link").name == name
    assert job(tmp_path / "a-b").name != name
    assert re.fullmatch(r"importance-audit-a-b-[0-9a-f]{8}", name)


FAKE_TOOL = """#!/bin/sh
[ "$*" = "run --unattended $AUDIT" ] || exit 99
echo '{}' >>"${AUDIT%/*}/audit-log.jsonl"
[ -n "$NO_FOLDER" ] && exit 2
made="${AUDIT%/*}/runs/20261122T060000Z-new"
mkdir -p "$made"
echo "# The new summary" >"$made/summary.md"
cat >"$made/junit.xml" <<'END'
<testsuites><testsuite><testcase name="a, b: c"><failure message="50%&#10;off"/>
</testcase><testcase name="sound"/></testsuite></testsuites>
END
touch -d 2026-11-01 "$made"  # the clock went back
exit 1
"""


def ci(top, kind):
    """Return the workflow of an audit in a repository, with a run from before."""
    audit_job = job(top / HOSTILE, days=("mon", "thu"))
    old = top / "importance-audit-history" / "runs" / "20261121T060000Z-old"
    old.mkdir(parents=True)
    (old / "summary.md").write_text("# The old summary")
    (top / "bin").mkdir()
    put_program(top / "bin" / "importance-audit", FAKE_TOOL)
    # setup-python puts one there; Debian has no program of this name.
    put_program(top / "bin" / "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    text = workflow(kind, audit_job, top, tool="a${{b}}$c", asks_r=True)
    return audit_job, read_yaml(text)


def in_ci(top, audit_job, script, **more):
    """Run the lines of a step as the shell of a CI does."""
    path = f"{top / 'bin'}:{os.environ['PATH']}"
    audit = f"./{audit_job.folder.name}/audit.toml"
    environment = {"PATH": path, "AUDIT": audit, **more}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        words, cwd=top, env=environment, capture_output=True, text=True
    )


def test_a_workflow_of_github_keeps_exit_code_summary_and_faults(tmp_path):
    audit_job, document = ci(tmp_path, "github")
    # YAML 1.1: on is true
    assert document[True]["schedule"] == [{"cron": "0 6 * * 1,4"}]
    assert document["env"]["AUDIT"] == f"./{HOSTILE}/audit.toml"
    assert document["env"]["TOOL"] == "a${{ '${{' }}b}}$c"
    assert document["jobs"]["audit"]["timeout-minutes"] == 132
    steps = {step.get("name"): step for step in document["jobs"]["audit"]["steps"]}
    gather = steps["Gather what the run left"]["run"]
    environment = {"GITHUB_STEP_SUMMARY": str(tmp_path / "page.md")}

    ran = in_ci(tmp_path, audit_job, steps["Audit"]["run"], NO_FOLDER="1")
    answer = in_ci(tmp_path, audit_job, gather, **environment)
    assert (ran.returncode, answer.returncode) == (2, 0), answer.stderr
    words = "The audit left no run folder; its log says why.\n"  # not the run before
    assert (tmp_path / "page.md").read_text() == words

    (tmp_path / "page.md").unlink()
    assert in_ci(tmp_path, audit_job, steps["Audit"]["run"]).returncode == 1
    answer = in_ci(tmp_path, audit_job, gather, **environment)
    assert (tmp_path / "page.md").read_text() == "# The new summary\n"
    assert answer.stdout == "::error title=a%2C b%3A c::50%25%0Aoff\n", answer.stderr
    names = {path.name for path in tmp_path.glob("importance-audit-history/runs/*")}
    assert names == {"20261121T060000Z-old", "20261122T060000Z-new"}
    for step in list(steps.values())[-3:]:
        assert step["if"] == "always()"
    assert steps["Keep the run"]["with"]["path"] == "importance-audit-run/"


def test_a_job_of_gitlab_keeps_exit_code_summary_and_faults(tmp_path):
    audit_job, document = ci(tmp_path, "gitlab")
    ((name, steps),) = document.items()
    assert in_ci(tmp_path, audit_job, "\n".join(steps["script"])).returncode == 1
    answer = in_ci(tmp_path, audit_job, "\n".join(steps["after_script"]))
    assert answer.stdout == "# The new summary\n", answer.stderr
    reported = steps["artifacts"]["reports"]["junit"]
    assert (tmp_path / reported).read_text().startswith("<testsuites>")
    assert steps["artifacts"]["when"] == steps["cache"]["when"] == "always"
    assert steps["variables"]["AUDIT"] == f"./{HOSTILE}/audit.toml".replace("$", "$$")
    assert steps["resource_group"] == name


def pod_of(audit_job, image="importance-audit:1.0"):
    """Return the CronJob of an audit, and what its pod runs."""
    document = read_yaml(cron_job(audit_job, image))
    assert document["kind"] == "CronJob"
    return document, document["spec"]["jobTemplate"]["spec"]


def test_a_job_of_kubernetes_runs_the_mounted_audit_without_rights(tmp_path):
    audit_job = job(tmp_path / HOSTILE, days=("mon", "thu"))
    document, task = pod_of(audit_job)
    schedule, pod = document["spec"], task["template"]["spec"]
    assert (schedule["schedule"], schedule["timeZone"]) == ("0 6 * * 1,4", "Etc/UTC")
    assert schedule["concurrencyPolicy"] == "Forbid"
    assert task["activeDeadlineSeconds"] == audit_job.seconds
    assert pod["terminationGracePeriodSeconds"] == audit_job.grace
    assert (pod["restartPolicy"], task["backoffLimit"]) == ("Never", 0)
    (container,) = pod["containers"]
    assert container["image"] == "importance-audit:1.0"
    assert container["args"] == ["run", "--unattended", f"/audits/{HOSTILE}"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["securityContext"]["runAsNonRoot"]
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounted == {"/audits", "/tmp"}
    named = {mount["name"] for mount in container["volumeMounts"]}
    assert named == {volume["name"] for volume in pod["volumes"]}

    file = audit_job.folder / "a $(HOME) b.toml"
    _, task = pod_of(audit_job._replace(audit=file))
    (container,) = task["template"]["spec"]["containers"]
    # $$( is the one way to write $( there
    assert container["args"][-1] == f"/audits/{HOSTILE}/a $$(HOME) b.toml"


@pytest.mark.parametrize("name", ["a", "Übung", "A" * 60, "a" * 25 + "--b", "42"])
def test_the_name_of_a_job_of_kubernetes_is_one_that_it_takes(tmp_path, name):
    names = set()
    for parent in ("x", "y"):
        (tmp_path / parent).mkdir()
        document, task = pod_of(job(tmp_path / parent / name))
        names.add(document["metadata"]["name"])
        claim = task["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]
        assert claim["claimName"] in names
    assert len(names) == 2
    for one in names:
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?", one)


FAKE_AIRFLOW = """
import json, sys

class DAG:
    def __init__(self, **facts):
        self.facts = facts
    def __enter__(self):
        print(json.dumps(self.facts, default=str))
    def __exit__(self, *error):
        pass

class BashOperator:
    def __init__(self, **facts):
        print(json.dumps(facts, default=lambda time: time.total_seconds()))
"""


def load_dag(folder, text):
    """Return what a DAG file hands to Airflow, of which only the names are here."""
    modules = folder / "modules"
    (modules / "airflow" / "operators").mkdir(parents=True)
    (modules / "airflow" / "__init__.py").write_text(FAKE_AIRFLOW)
    (modules / "airflow" / "operators" / "__init__.py").write_text("")
    operators = "from airflow import BashOperator"
    (modules / "airflow" / "operators" / "bash.py").write_text(operators)
    (folder / "dag.py").write_text(text)
    answer = subprocess.run(
        [sys.executable, folder / "dag.py"],
        env={"PYTHONPATH": str(modules)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in answer.stdout.splitlines()]


@pytest.mark.parametrize("folder", [HOSTILE, "audit.sh"])
def test_a_dag_of_airflow_runs_the_audit_from_a_hostile_path(tmp_path, folder):
    """Airflow takes a command that ends with .sh for a file."""
    recorder = job(tmp_path / folder, VARIABLES, days=("mon",))
    graph, task = load_dag(tmp_path, dag(recorder))
    assert graph["dag_id"] == recorder.name
    assert graph["schedule"] == "0 6 * * 1"
    assert graph["start_date"].endswith("+00:00")
    assert (graph["catchup"], graph["max_active_runs"]) == (False, 1)
    assert task["execution_timeout"] == recorder.seconds
    assert not task["bash_command"].endswith((".sh", ".bash"))
    command = ["bash", "-c", task["bash_command"]]
    answer = subprocess.run(command, env=task["env"], capture_output=True)
    assert answer.returncode == 7
    assert_called(recorder)


@pytest.mark.parametrize("sign", ["{{", "{%", "{#"])
def test_what_airflow_would_take_for_a_template_is_refused(tmp_path, sign):
    with pytest.raises(AuditError, match="begin its templates"):
        dag(job(tmp_path / f"a {sign} b"))


def test_the_action_of_github_installs_its_own_checkout_and_runs_the_audit():
    here = ROOT / "scripts" / "github-action"
    action = read_yaml((here / "action.yml").read_text())
    steps = {step.get("name"): step for step in action["runs"]["steps"]}
    assert (here / ".." / ".." / "pyproject.toml").exists()
    assert '"$GITHUB_ACTION_PATH/../.."' in steps["Install"]["run"]
    for step in steps.values():
        if "run" in step:
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
            assert "${{" not in step["run"]  # an input is no line of a shell


NEWS = 'The cause: a\n.\n"quoted" \\ back $(id) `id` <b> é 世 %s\t\n' + "long " * 400


def run_hook(script, *words, folder, **changes):
    """Run a script that tells people as `run` does: in a folder, with variables."""
    (folder / "email.py").write_text("1 / 0")  # not to be imported
    (folder / "json.py").write_text("1 / 0")
    path = folder / f"{script}.sh"
    path.write_text(example(script))
    facts = {"AUDIT": 'ünsound\nBcc: "x"', "VERDICT": "not confirmed", "EXIT_CODE": "1"}
    facts |= {"EVENT": "change", "RUN": "/r", "SUMMARY": "in short", "NEWS": NEWS}
    facts |= changes
    environment = {f"IMPORTANCE_AUDIT_{name}": text for name, text in facts.items()}
    environment |= {"PATH": f"{folder}:{os.environ['PATH']}", "no_proxy": "*"}
    words = ["/bin/sh", path.name, *words]
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True
    )


class Hook(BaseHTTPRequestHandler):
    """A webhook that keeps what it is sent, and answers as its path says."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.headers["Content-Type"], body))
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def hook():
    server = HTTPServer(("127.0.0.1", 0), Hook)
    server.got = []
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on PATH")
def test_the_webhook_is_sent_json_whatever_the_texts_hold(tmp_path, hook):
    at = f"http://127.0.0.1:{hook.server_port}"
    (tmp_path / "address").write_text(f'url = "{at}/200"\n')
    answer = run_hook("webhook", "address", folder=tmp_path)
    assert answer.returncode == 0, answer.stderr
    ((kind, body),) = hook.got
    sent = json.loads(body)
    assert (kind, sent["news"], sent["exit_code"]) == ("application/json", NEWS, "1")
    assert sent["text"].endswith(NEWS)
    (tmp_path / "address").write_text(f'url = "{at}/500"\n')
    answer = run_hook("webhook", "address", folder=tmp_path)
    assert answer.returncode == 22  # curl --fail


def mail_of(folder, code=0, **facts):
    """Return how the script ended whose sendmail ends with a code, and what it sent."""
    text = f'#!/bin/sh\necho "$*" >words\ncat >sent\nexit {code}\n'
    put_program(folder / "sendmail", text)
    answer = run_hook("mail", "owner@example.org", folder=folder, **facts)
    sent = (folder / "sent").read_bytes()
    assert max(map(len, sent.splitlines())) <= 76
    mail = message_from_bytes(sent, policy=policy.default)
    return answer.returncode, mail, base64.b64decode(mail.get_payload()).decode()


def test_the_mail_holds_the_news_and_no_header_of_theirs(tmp_path):
    code, mail, text = mail_of(tmp_path)
    assert (code, mail["Bcc"]) == (0, None)
    assert (tmp_path / "words").read_text() == "-i -- owner@example.org\n"
    subject = 'ünsound Bcc: "x": not confirmed (exit code 1): The cause: a'
    assert mail["Subject"] == subject
    assert text == f"Event: change\n\n{NEWS}\n\nin short\n\n/r\n"
    assert mail_of(tmp_path, code=75)[0] == 75


def test_the_mail_of_an_audit_without_a_run_says_each_sentence_once(tmp_path):
    summary = "a is wrong.\nb is wrong."
    facts = {"RUN": "", "SUMMARY": summary, "VERDICT": "", "EXIT_CODE": "2"}
    facts["NEWS"] = f"It was killed before.\n{summary}"
    _, mail, text = mail_of(tmp_path, **facts)
    subject = 'ünsound Bcc: "x": no verdict (exit code 2): It was killed before.'
    assert mail["Subject"] == subject
    told = "It was killed before.\n\na is wrong.\nb is wrong.\n"
    assert text == f"Event: change\n\n{told}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_without_an_address_says_so(tmp_path, name):
    answer = run_hook(name, folder=tmp_path)
    assert answer.returncode == 2
    assert "must be" in answer.stderr


@pytest.fixture
def audit(tmp_path):
    (tmp_path / "audit").mkdir()
    return written(tmp_path / "audit")


def run_schedule(*words):
    return invoke("schedule", *words)


def test_units_say_where_they_are_saved_and_how_their_timer_is_started(audit):
    printed = run_schedule(audit, "--as", "systemd").stdout
    name = job_of(load_config(audit), audit).name
    for kind in ("service", "timer"):
        assert f"# Save as ~/.config/systemd/user/{name}.{kind}" in printed
    assert f"#     systemctl --user enable --now {name}.timer\n" in printed


@pytest.mark.parametrize(
    ("program", "where"),
    [("mail.sh", "on PATH"), ("./mail.sh", "in {audit!r}")],
)
def test_a_command_that_cannot_be_started_is_refused_where_it_is_to_run(
    audit, program, where
):
    with (audit / "audit.toml").open("a") as file:
        file.write(f'[schedule]\non_change = ["{program}", "me@example.org"]\n')
    answer = run_schedule(audit)
    assert (answer.exit_code, answer.stderr) == (
        2,
        f"[schedule] on_change cannot be started: {program!r} is no program "
        f"{where.format(audit=str(audit))}. A script of the audit's folder is started "
        'by ["/bin/sh", "mail.sh"].\n',
    )
    script = audit / "mail.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert run_schedule(audit).exit_code == (0 if "/" in program else 2)
    assert run_schedule(audit, "--as", "kubernetes").exit_code == 0


def test_an_audit_without_a_schedule_is_said_to_have_the_default_one(audit):
    said = "[schedule] is missing, so these are its defaults: every day at 06:00 UTC.\n"
    assert run_schedule(audit).stderr == said
    with (audit / "audit.toml").open("a") as file:
        file.write('[schedule]\ntime = "06:00"\n')
    assert run_schedule(audit).stderr == ""


@pytest.mark.parametrize("words", [[], ["x", "--example", "mail"]])
def test_either_an_audit_or_an_example_is_printed(words):
    answer = run_schedule(*words)
    assert answer.exit_code == 2
    assert "Either AUDIT or --example must be given." in answer.stderr


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_a_workflow_needs_a_repository(audit, kind):
    answer = run_schedule(audit, "--as", kind)
    assert (answer.exit_code, answer.stderr) == (
        2,
        f"Audit {str(audit)!r} is not in a git repository, which --as {kind} needs. "
        "Make one with: git init\n",
    )
    (audit.parent / ".git").mkdir()
    answer = run_schedule(audit, "--as", kind)
    assert './audit/audit.toml"' in answer.stdout, answer.stderr
    assert 'TOOL: "importance-audit' in answer.stdout


@pytest.mark.parametrize(
    ("time", "days", "offset", "fields", "there"),
    [
        ("06:05", ("thu", "mon"), 0, "5 6 * * 1,4", "06:05 {} UTC+00:00"),
        ("06:00", DAYS, 0, "0 6 * * *", ""),
        ("23:30", ("sat", "sun"), 60, "30 0 * * 0,1", "00:30 {} UTC+01:00"),
        ("00:15", ("mon",), -300, "15 19 * * 0", "19:15 {} UTC-05:00"),
        ("06:00", (), 330, "30 11 * * *", "11:30 {} UTC+05:30"),
        ("00:00", ("sun",), -1, "59 23 * * 6", "23:59 {} UTC-00:01"),
    ],
)
def test_a_line_names_the_time_in_the_zone_of_cron_and_a_comment_that_in_utc(
    tmp_path, time, days, offset, fields, there
):
    recorder = job(tmp_path, time=time, days=days)
    first, second, line = cron_text(recorder, offset).splitlines()
    assert line == cron_line(recorder, offset)
    assert line.split(" ", 5)[:5] == fields.split()
    if there:
        words = "at the offset of this machine when this was printed,"
        assert first == f"# {recorder.name}: {time} UTC is {there.format(words)}."
    assert second == (
        "# If that offset changes, as with daylight saving time, print the line again."
    )
