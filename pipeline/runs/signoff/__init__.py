"""Sign-offs of runs, and answers to their findings."""
