"""The frozen records, their JSON and CSV, losses, streams, R's random numbers."""
