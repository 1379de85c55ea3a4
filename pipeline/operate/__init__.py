"""What a command does: run, render, replay, sign, schedule, batch, hand-off, doctor."""
