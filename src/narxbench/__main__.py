"""The command ``narxbench``, also as ``python -m narxbench``: the commands of the library and of the studies."""

import sys
from collections.abc import Sequence

from narxbench import _cli
from narxbench._studies.paper.explain_command import add_explain


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with the given words, by default from the command line, and return its exit code."""
    return _cli.main(arguments, [add_explain])


if __name__ == "__main__":
    sys.exit(main())
