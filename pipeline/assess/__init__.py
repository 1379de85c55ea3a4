"""What is said about numbers once they are there."""
