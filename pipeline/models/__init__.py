"""Fitting, loading, wrapping and evaluating models."""
