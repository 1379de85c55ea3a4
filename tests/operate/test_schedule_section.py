"""Who is told of a fault is known in spite of it."""

import pytest

from importance_audit.operate.schedule_section import read_schedule

SECTION = '[schedule]\non_failure = ["mail", "me"]\n'


def test_the_section_is_read_from_a_file_that_is_wrong_elsewhere(tmp_path):
    (tmp_path / "audit.toml").write_text(f'seed = "x"\n[modls]\na = 1\n{SECTION}')
    source = read_schedule(tmp_path / "audit.toml")
    assert (source.section.on_failure, source.note) == (("mail", "me"), "")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("", 120),
        ("[schedule]\nminutes = 5", 5),
        ("[limits]\nminutes = 7\n[schedule]\nminutes = 5", 7),
        ("[limits]\nminute = 7\n[schedule]\nminutes = 5", 5),
    ],
)
def test_the_time_limit_is_that_of_limits_and_else_of_the_schedule(
    tmp_path, text, minutes
):
    (tmp_path / "audit.toml").write_text(text)
    assert read_schedule(tmp_path / "audit.toml").minutes == minutes


def test_a_command_may_have_an_argument_twice(tmp_path):
    words = ("curl", "-H", "A: b", "-H", "C: d")
    text = f"[schedule]\non_failure = {list(words)}\n"
    (tmp_path / "audit.toml").write_text(text)
    source = read_schedule(tmp_path / "audit.toml")
    assert (source.section.on_failure, source.note) == (words, "")


@pytest.mark.parametrize("text", ["[schedule", "[schedule]\nkeep = -1\n", None])
def test_where_it_cannot_be_read_that_of_the_last_run_holds(tmp_path, text):
    if text is not None:
        (tmp_path / "audit.toml").write_text(text)
    for name in ("20251120T084600Z-a", "20251121T084600Z-a"):
        run = tmp_path / "runs" / name
        run.mkdir(parents=True)
        (run / "audit.toml").write_text(SECTION.replace("me", name))
    source = read_schedule(tmp_path / "audit.toml")
    assert source.section.on_failure == ("mail", "20251121T084600Z-a")
    assert source.note == (
        "[schedule] of audit.toml cannot be read: that of run '20251121T084600Z-a' "
        "holds."
    )


def test_where_there_is_none_at_all_that_is_said(tmp_path):
    source = read_schedule(tmp_path / "audit.toml")
    assert source.section.on_failure == ()
    assert source.note == (
        "[schedule] of audit.toml cannot be read, nor in any run, so no "
        "notification is sent."
    )
