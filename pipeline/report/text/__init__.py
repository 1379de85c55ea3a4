"""Blocks, numbers and words of the report."""
