"""Which checks hold a run against the approved baseline; no run alone makes them."""

OF_BASELINE = (
    *("column_added", "column_removed", "column_kind", "category_new"),
    *("category_gone", "distribution_shift", "missing_share"),
)
"""An exception to their findings names the baseline; a run without it closes none."""
