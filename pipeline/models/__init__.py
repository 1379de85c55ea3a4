"""Fit, load, wrap and ask a model."""
