"""Who signed a run, and how its findings were answered."""
