"""Run the blocks of the README as a reader would once `make report` has run.

    .venv/bin/python -m tests.docs.as_a_reader

Word for word, from top to bottom: Python, R and shell are run, and an audit.toml is
written where its first line says. The targets of make are left to who calls this.
"""

import subprocess
import sys

from tests.docs.pages import ROOT, all_blocks, name_of

COMMANDS = {"python": [sys.executable], "r": ["Rscript"], "sh": ["sh", "-e"]}


def main():
    """Run every block, and end with exit code 1 at the first that fails."""
    file = ROOT / ".cache" / "block"
    file.parent.mkdir(exist_ok=True)
    for block in all_blocks():
        if block.page != "README.md" or block.text.startswith("make "):
            continue
        print(f"--- {name_of(block)}\n{block.text}", flush=True)
        if block.language == "toml":
            path = ROOT / block.text.splitlines()[0].removeprefix("# ")
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            continue
        file.write_text(block.text, encoding="utf-8")
        command = [*COMMANDS[block.language], file]
        ran = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
        if ran.returncode:
            sys.exit(f"{name_of(block)} ended with exit code {ran.returncode}.")


if __name__ == "__main__":
    main()
