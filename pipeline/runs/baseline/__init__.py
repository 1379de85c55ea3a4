"""Comparison of a run with the approved baseline or the run before."""
