"""`python -m importance_audit`: the command line.

Jobs from a checkout before the package had this name call `-m pipeline`,
which is this file too. Absolute imports, so that both load the same modules.
"""

import sys
from importlib.util import find_spec


def _start() -> None:
    if find_spec("importance_audit") is None:
        sys.exit(_old_name())
    from importance_audit.cli.main import main

    main(prog_name="importance-audit")


def _old_name() -> int:
    """Say what became of `-m pipeline`; return the exit code."""
    print(
        "importance-audit is not installed in this Python, and `-m pipeline` is its "
        "old name. Install it, and print schedules again: importance-audit schedule "
        "AUDIT",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    _start()
