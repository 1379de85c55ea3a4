"""Pages and files of the report: HTML, PDF, Word, notebook, summaries."""
