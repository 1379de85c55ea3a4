"""The one function `audit`, and its steps."""
