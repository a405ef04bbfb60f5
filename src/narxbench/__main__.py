"""The command ``narxbench``, as ``python -m narxbench``."""

import sys

from narxbench._cli import main

if __name__ == "__main__":
    sys.exit(main())
