"""Where the templates, words and frameworks are. Not: reading them."""

from importlib.resources import files
from pathlib import Path


def templates() -> Path:
    """Return the folder of the templates, which is a package of its own."""
    return Path(str(files("importance_audit.templates")))
