"""Where the templates, words and frameworks are, and the words in English."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any


def templates() -> Path:
    """Return the folder of the templates, which is a package of its own."""
    return Path(str(files("importance_audit.templates")))


def english_text() -> str:
    """Return the file of every sentence of the report, in English."""
    return (templates() / "strings.en.toml").read_text(encoding="utf-8")


@cache
def english() -> Mapping[str, Any]:
    """Return the catalogue in English."""
    return tomllib.loads(english_text())
