"""Installing a schedule: only the user's own, only when asked, only our lines."""

import os
import pty
import select
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.test_cli import configured, rows, runner

from importance_audit.cli.main import main
from importance_audit.config.load import load_config
from importance_audit.operate import doctor
from importance_audit.operate.install_schedule import (
    cron_zone,
    crontab_plan,
    job_of,
    outdated_jobs,
    units_plan,
)
from importance_audit.operate.schedule import cron_line, name_of, units

CRONTAB = """#!/bin/sh
case $1 in
-l) if [ -f "$HOME/tab" ]; then cat "$HOME/tab"
    else echo "no crontab for me" >&2; exit 1; fi ;;
-) cat >"$HOME/tab" ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
echo "$*" >>"$HOME/asked"
case "$*" in
*is-enabled*|*is-active*) [ -f "$HOME/on" ] ;;
*enable*.timer) touch "$HOME/on" ;;
*disable*) rm "$HOME/on" ;;
esac
"""
MINE = b"# mine: importance-audit\n\nMAILTO=me\r\n5 4 * * * echo \xff 100\\%\n"
CONFIRM = (
    "The change was not confirmed: there is no terminal on which to ask. Nothing "
    "was changed. Add --yes to confirm.\n"
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a home of its own, with a crontab and a systemctl that know no other."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/usr/bin:/bin")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    program(home, "crontab", CRONTAB)
    program(home, "systemctl", SYSTEMCTL)
    return home


@pytest.fixture
def audit(tmp_path):
    (tmp_path / "audit").mkdir()
    for name in ("train.csv", "test.csv"):
        rows().to_csv(tmp_path / "audit" / name, index=False)
    return configured(tmp_path / "audit")


def program(home, name, text):
    (home / "bin" / name).write_text(text)
    (home / "bin" / name).chmod(0o755)


def run_schedule(audit, *words):
    return runner().invoke(main, ["schedule", str(audit), *words])


def tab(home):
    return (home / "tab").read_bytes() if (home / "tab").exists() else None


def test_a_line_goes_to_the_top_and_leaves_all_others_as_they_are(home, audit):
    (home / "tab").write_bytes(MINE)
    answer = run_schedule(audit, "--install", "--yes")
    assert answer.exit_code == 0, answer.stderr
    line = run_schedule(audit).stdout.encode()
    assert tab(home) == line + MINE
    assert line.decode() in answer.stdout
    assert run_schedule(audit, "--remove", "--yes").exit_code == 0
    assert tab(home) == MINE


def test_installing_again_changes_nothing(home, audit):
    run_schedule(audit, "--install", "--yes")
    once = tab(home)
    (home / "bin" / "crontab").write_text(CRONTAB.replace("-) cat", "-) exit 9; cat"))
    again = run_schedule(audit, "--install", "--yes")
    assert again.exit_code == 0, again.stderr
    assert again.stdout == (
        "The same schedule is already installed. Nothing was changed.\n"
    )
    assert tab(home) == once


def test_another_time_takes_the_place_of_the_one_before(home, audit):
    run_schedule(audit, "--install", "--yes")
    configured(audit, more='[schedule]\ntime = "07:30"\n')
    differs = "A different schedule is installed; --install replaces it.\n"
    assert run_schedule(audit).stderr.endswith(differs)
    run_schedule(audit, "--install", "--yes")
    assert tab(home).decode() == run_schedule(audit).stdout
    assert differs not in run_schedule(audit).stderr


@pytest.mark.parametrize("kind", ["cron", "systemd"])
def test_a_job_that_calls_the_former_name_is_named_and_replaced(home, audit, kind):
    install = ("--as", kind, "--install", "--yes")
    assert run_schedule(audit, *install).exit_code == 0
    assert (outdated_jobs(), doctor._schedules()) == ((), ())
    folder = home / ".config/systemd/user"
    path = {"cron": home / "tab", "systemd": folder / f"{name_of(audit)}.service"}[kind]
    today = path.read_text()
    words = {"cron": "-m {} run", "systemd": '"-m" "{}" "run"'}[kind]
    former = today.replace(words.format("importance_audit"), words.format("pipeline"))
    assert former != today
    path.write_text(former)
    assert doctor._schedules() == (
        doctor.Row(
            "Scheduled audits",
            "optional",
            "these use the former name of the package, -m pipeline: "
            f"{name_of(audit)!r}",
            "importance-audit schedule AUDIT --install (units: --as systemd)",
        ),
    )
    assert run_schedule(audit, *install).exit_code == 0
    assert path.read_text() == today
    assert doctor._schedules() == ()


def test_a_job_of_another_programme_or_in_a_comment_is_none_of_ours(home, audit):
    mine = "1 2 * * * python -m pipeline run x # mine\n"
    comment = f"#1 2 * * * python -m pipeline run x # {name_of(audit)}\n"
    (home / "tab").write_text(mine + comment)
    assert outdated_jobs() == ()


def test_a_line_from_before_a_change_of_the_zone_is_told_of(home, audit):
    offset = cron_zone().offsets[0] + 15
    line = cron_line(job_of(load_config(audit), audit), (offset,))
    (home / "tab").write_text(f"{line}\n")
    differs = "A different schedule is installed; --install replaces it.\n"
    assert run_schedule(audit).stderr.endswith(differs)


def test_only_the_line_of_this_audit_leaves(home, audit):
    run_schedule(audit, "--install", "--yes")
    ours = tab(home)
    name = name_of(audit).encode()
    others = b"1 2 * * * x # %s-other\n#3 4 * * * y # %s\n" % (name, name)
    (home / "tab").write_bytes(others + ours)
    assert run_schedule(audit, "--remove", "--yes").exit_code == 0
    assert tab(home) == others
    left = run_schedule(audit, "--remove", "--yes")
    assert left.stdout == "Nothing is installed. Nothing was changed.\n"


def test_the_job_of_an_audit_that_is_gone_can_be_removed(home, audit):
    run_schedule(audit, "--install", "--yes")
    for path in audit.iterdir():
        path.unlink()
    audit.rmdir()
    assert run_schedule(audit / "audit.toml", "--remove", "--yes").exit_code == 0
    assert tab(home) == b""


def test_without_a_terminal_a_change_needs_yes(home, audit):
    (home / "tab").write_bytes(MINE)
    answer = run_schedule(audit, "--install")
    assert (answer.exit_code, answer.stderr) == (2, CONFIRM)
    assert tab(home) == MINE


def on_terminal(audit, typed):
    """Return exit code and output of --install on a terminal, once `typed` is asked."""
    words = [
        sys.executable,
        "-m",
        "importance_audit",
        "schedule",
        str(audit),
        "--install",
    ]
    main_end, other = pty.openpty()
    with subprocess.Popen(
        words, stdin=other, stdout=other, stderr=other, cwd=Path(__file__).parents[2]
    ) as process:
        os.close(other)
        output, until = b"", time.monotonic() + 60
        while time.monotonic() < until:
            if select.select([main_end], [], [], 0.1)[0]:
                try:
                    output += os.read(main_end, 4096)
                except OSError:  # the other end is closed
                    break
                if output.endswith(b"Go on? [y/N]: "):
                    os.write(main_end, typed)
    os.close(main_end)
    return process.returncode, output.decode()


@pytest.mark.parametrize(("typed", "code"), [(b"n\n", 2), (b"y\n", 0)])
def test_on_a_terminal_it_shows_the_line_and_asks(home, audit, typed, code):
    (home / "tab").write_bytes(MINE)
    answer, output = on_terminal(audit, typed)
    assert answer == code, output
    assert f"# {name_of(audit)}" in output
    assert (tab(home) == MINE) is (code == 2)
    refused = "The change was not confirmed. Nothing was changed."
    assert (refused in output) is (code == 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            CRONTAB.replace("-) cat", "-) echo 'No space left.' >&2; exit 1; cat"),
            "Your crontab could not be changed; crontab says: No space left. A copy "
            "of its previous contents is in {kept}. Check with: crontab -l\n",
        ),
        (
            CRONTAB.replace('-) cat >"$HOME/tab"', "-) cat >/dev/null"),
            "Your crontab could not be changed; crontab says: nothing, and ends "
            "with 0. A copy of its previous contents is in {kept}. Check with: "
            "crontab -l\n",
        ),
    ],
)
def test_a_crontab_that_cannot_be_written_is_kept_in_a_file(home, audit, text, message):
    (home / "tab").write_bytes(MINE)
    program(home, "crontab", text)
    answer = run_schedule(audit, "--install", "--yes")
    (backup,) = home.glob(".local/state/importance-audit/crontab-*")
    assert (answer.exit_code, answer.stderr) == (2, message.format(kept=backup))
    assert backup.read_bytes() == tab(home) == MINE
    assert backup.stat().st_mode & 0o777 == 0o600


def test_a_change_that_succeeds_leaves_no_copy(home, audit):
    (home / "tab").write_bytes(MINE)
    run_schedule(audit, "--install", "--yes")
    assert list(home.glob(".local/state/importance-audit/*")) == []


def test_a_crontab_that_cannot_be_read_is_not_written(home, audit):
    denied = 'echo "You (me) are not allowed to use this program (crontab)" >&2; exit 1'
    program(
        home, "crontab", f'#!/bin/sh\n[ "$1" = - ] && touch "$HOME/tab"\n{denied}\n'
    )
    answer = run_schedule(audit, "--install", "--yes")
    assert (answer.exit_code, answer.stderr) == (
        2,
        "Your crontab cannot be read; crontab says: You (me) are not allowed to use "
        "this program (crontab). Nothing was changed.\n",
    )
    assert tab(home) is None


def test_without_a_place_for_the_copy_nothing_is_changed(home, audit):
    (home / "tab").write_bytes(MINE)
    (home / ".local").write_text("a file")
    answer = run_schedule(audit, "--install", "--yes")
    assert answer.exit_code == 2
    assert "could not be copied to" in answer.stderr
    assert answer.stderr.endswith("Not a directory. Nothing was changed.\n")
    assert tab(home) == MINE


@pytest.mark.parametrize(
    ("kind", "name", "other"),
    [("cron", "crontab", "systemd"), ("systemd", "systemctl", "cron")],
)
def test_a_program_that_is_absent_is_named(home, audit, monkeypatch, kind, name, other):
    monkeypatch.setenv("PATH", str(home))
    for what in ("--install", "--remove"):
        answer = run_schedule(audit, "--as", kind, what, "--yes")
        assert (answer.exit_code, answer.stderr) == (
            2,
            f"Program {name!r} is not on PATH. Install it, or use --as {other}.\n",
        )
    assert run_schedule(audit, "--as", kind).exit_code == 0


def unit_files(home):
    folder = home / ".config" / "systemd" / "user"
    return {path.name: path.read_text() for path in folder.glob("*")}


def test_units_are_written_and_the_timer_is_started(home, audit):
    answer = run_schedule(audit, "--as", "systemd", "--install", "--yes")
    assert answer.exit_code == 0, answer.stderr
    assert unit_files(home) == units(job_of(load_config(audit), audit))
    timer = f"{name_of(audit)}.timer"
    calls = (home / "asked").read_text().splitlines()
    started = [f"--user {what} {timer}" for what in ("enable", "restart")]
    assert calls[-3:] == ["--user daemon-reload", *started]
    again = run_schedule(audit, "--as", "systemd", "--install", "--yes")
    assert again.stdout == (
        "The same schedule is already installed. Nothing was changed.\n"
    )


def test_removing_units_leaves_those_of_others(home, audit):
    run_schedule(audit, "--as", "systemd", "--install", "--yes")
    other = home / ".config/systemd/user/importance-audit-other-00000000.timer"
    other.write_text("[Timer]\n")
    answer = run_schedule(audit, "--as", "systemd", "--remove", "--yes")
    assert answer.exit_code == 0, answer.stderr
    assert unit_files(home) == {other.name: "[Timer]\n"}
    calls = (home / "asked").read_text().splitlines()
    assert calls[-2:] == [
        f"--user disable --now {name_of(audit)}.timer",
        "--user daemon-reload",
    ]


def test_units_that_cannot_be_started_are_taken_back(home, audit):
    run_schedule(audit, "--as", "systemd", "--install", "--yes")
    before = unit_files(home)
    configured(audit, more='[schedule]\ntime = "07:30"\n')
    no_bus = 'echo "Failed to connect to bus: No medium found" >&2; exit 1'
    program(home, "systemctl", f"#!/bin/sh\n{no_bus}\n")
    answer = run_schedule(audit, "--as", "systemd", "--install", "--yes")
    assert (answer.exit_code, answer.stderr) == (
        2,
        "'systemctl --user daemon-reload' failed: Failed to connect to bus: No medium "
        "found. The files are as they were.\n",
    )
    assert unit_files(home) == before


def test_the_first_units_that_cannot_be_started_leave_nothing(home, audit):
    program(home, "systemctl", "#!/bin/sh\nexit 1\n")
    assert run_schedule(audit, "--as", "systemd", "--install", "--yes").exit_code == 2
    assert unit_files(home) == {}


def test_a_folder_of_units_that_cannot_be_made_is_named(home, audit):
    (home / ".config").write_text("a file")
    answer = run_schedule(audit, "--as", "systemd", "--install", "--yes")
    assert answer.exit_code == 2
    assert "cannot be made for units: Not a dir" in answer.stderr


@pytest.mark.parametrize(
    ("zone", "offsets"),
    [
        ("Etc/UTC", (0,)),
        ("Europe/Berlin", (60, 120)),
        ("Asia/Kolkata", (330,)),
        ("Australia/Lord_Howe", (630, 660)),
        ("America/Phoenix", (-420,)),
    ],
)
def test_the_zone_of_cron_is_that_of_the_machine(tmp_path, zone, offsets):
    file = Path("/usr/share/zoneinfo") / zone
    if not file.exists():
        pytest.skip("no zoneinfo on this machine")
    (tmp_path / "localtime").symlink_to(file)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    cron = cron_zone(tmp_path / "localtime", now=now)
    assert cron.offsets == offsets
    assert cron.name in {zone, str(file.resolve()).rpartition("zoneinfo/")[2]}
    assert cron_zone(tmp_path / "absent").offsets == (0,)


def test_nothing_is_written_before_a_plan_is_applied(home):
    crontab_plan("importance-audit-x", "0 6 * * * x # importance-audit-x")
    units_plan("importance-audit-x", {"importance-audit-x.timer": "[Timer]\n"})
    assert (tab(home), unit_files(home)) == (None, {})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Either AUDIT or --example must be given."),
        (["x", "--as", "github", "--install"], "--install works with --as cron and"),
        (["x", "--example", "mail"], "Either AUDIT or --example must be given."),
    ],
)
def test_words_that_do_not_go_together_are_usage_errors(words, message):
    answer = runner().invoke(main, ["schedule", *words])
    assert answer.exit_code == 2
    assert message in answer.stderr


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


def test_an_unsound_audit_is_not_scheduled(home, audit):
    (audit / "audit.toml").write_text("[schedule]\ntime = '25:00'\n")
    answer = run_schedule(audit, "--install", "--yes")
    assert answer.exit_code == 2
    assert "'25:00'" in answer.stderr
    assert tab(home) is None
