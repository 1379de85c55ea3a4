"""A sketch of every column of the rows, so that two stored runs can be compared."""

QUANTILES = ("split", "column", "role", "kind", "place", "value", "level", "rows")
"""The columns of ``AuditResult.quantiles``."""
