"""The columns of frames that later schema versions brought."""

QUANTILES = ("split", "column", "role", "kind", "place", "value", "level", "rows")
ANSWERS = (
    *("key", "check", "subject", "owner", "due", "response"),
    *("accepted_until", "reason", "control", "approved_by", "state", "overdue"),
)
