"""Where the templates, words and frameworks stand. Not: reading them."""

from pathlib import Path


def templates() -> Path:
    """Return the folder of the templates: inside the package, or beside it."""
    package = Path(__file__).parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"
