"""What moved between a run and the one it is compared with."""
