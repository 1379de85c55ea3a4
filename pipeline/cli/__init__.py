"""The commands: one file each, with its arguments, calls and output.

`main.GROUPS` lists them. Not: numbers, HTML, or the steps of a run (`operate.run`).
"""
