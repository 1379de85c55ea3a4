"""What is measured: importance and effects."""
