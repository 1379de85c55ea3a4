"""Text of the report: its blocks, formatted numbers, sentences and labels."""
