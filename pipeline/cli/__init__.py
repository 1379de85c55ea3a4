"""The commands: one file each, holding arguments, calls and what is printed.

Each is a row of `main.GROUPS`. Not: numbers, HTML, or what a run consists of
(`operate.run`).
"""
