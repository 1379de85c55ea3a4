"""Assessment of the measured numbers: checks, claims, stability, significance."""
