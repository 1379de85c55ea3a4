"""`make check` sees a wrong type: mypy that cannot resolve an import says Success."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
ROOT = Path(__file__).parents[1]
SOUND = """
from importance_audit.records.errors import listed as absolute

from .records.errors import listed


def joined() -> str:
    return listed(["a"]) + absolute(["b"])
"""


def errors_of(folder, code):
    """Return what mypy says of one module beside a link to ours."""
    (folder / ".cache/typed/importance_audit/beside.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--hide-error-context", "--no-pretty"]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert answer.stderr == ""
    return [line for line in answer.stdout.splitlines() if ": error: " in line]


def test_an_error_planted_across_modules_is_found(tmp_path):
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    records = tmp_path / ".cache/typed/importance_audit/records"
    records.mkdir(parents=True)
    for folder in (records.parent, records):
        (folder / "__init__.py").touch()
    (records / "errors.py").symlink_to(ROOT / "pipeline/records/errors.py")
    assert errors_of(tmp_path, SOUND) == []
    for sound in ('absolute(["b"])', 'listed(["a"])'):
        planted = sound.partition("(")[0] + "(3)"  # an error if the import is resolved
        (message,) = errors_of(tmp_path, SOUND.replace(sound, planted))
        assert message.startswith(
            ".cache/typed/importance_audit/beside.py:8: error: Arg"
        )
