"""Run folders over time: files, chain, index, locks."""
