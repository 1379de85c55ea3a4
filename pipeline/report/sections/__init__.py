"""One file per section of the report: what it says."""
