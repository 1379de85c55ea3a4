"""The folder of templates, texts and frameworks, and the English texts."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any


def templates() -> Path:
    """Return the folder of the templates, which is a separate package."""
    return Path(str(files("importance_audit.templates")))


def english_text() -> str:
    """Return the content of strings.en.toml: every text of the report, in English."""
    return (templates() / "strings.en.toml").read_text(encoding="utf-8")


@cache
def english() -> Mapping[str, Any]:
    """Return the English texts, parsed."""
    return tomllib.loads(english_text())
