"""The report as HTML, PDF and short views."""
