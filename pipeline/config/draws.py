"""What an entry of ``[[importance]]`` says of its draws: which seed, which order."""

from ..methods.importance import METHODS
from ..records.dataset_and_model import Dataset
from ..records.streams import seed_of
from .load import ImportanceSection


def seed_for(section: ImportanceSection, seed: int, model: str) -> int:
    """Return the seed of a question: that of its entry, else one of the audit's.

    Parameters
    ----------
    section : ImportanceSection
    seed : int
        Of the audit.
    model : str
        Who is asked; empty for the data.
    """
    if section.seed is not None:
        return section.seed
    drawn_as = METHODS[section.method].seeded_as or section.method
    return seed_of(seed, model, drawn_as, section.of)


def in_its_order(section: ImportanceSection, rows: Dataset) -> Dataset:
    """Return rows asked for the features of an entry, in its order; all by default."""
    if not section.features:
        return rows
    return rows.asked_by({name: rows.groups[name] for name in section.features})
