"""The function `audit` and its steps."""
