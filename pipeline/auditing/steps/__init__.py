"""The steps of an audit, each of which returns rows and findings."""
