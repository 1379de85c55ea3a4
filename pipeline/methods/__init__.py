"""What is measured: importance, effects, interactions."""
