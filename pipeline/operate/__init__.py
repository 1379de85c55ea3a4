"""The work of the commands: run, render, replay, sign, schedule, batch, doctor, …."""
