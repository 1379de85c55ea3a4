"""Read, split, type and encode tables; derive columns."""
