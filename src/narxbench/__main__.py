"""The command ``narxbench``, also as ``python -m narxbench``: the library's commands, and those of the studies."""

import sys
from collections.abc import Sequence

from narxbench import _cli
from narxbench._studies.paper.explain_command import EXPLAIN


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with some words, or those of the program, and return its exit code."""
    return _cli.main(arguments, [EXPLAIN])


if __name__ == "__main__":
    sys.exit(main())
