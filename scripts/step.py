"""What all steps that are processes of their own share."""

import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import read_sealed


@contextmanager
def step(log: str, cells: Sequence[str] = (), definitions: Sequence[str] = ()) -> Iterator[None]:
    """Send warnings to the log of a step, and end with the message alone where a file or setting is at fault.

    The cells that the step reads must be summaries of what ``definitions`` are the digests of.
    """
    logging.basicConfig(filename=log, format="%(levelname)s: %(message)s")
    logging.captureWarnings(True)
    # On a full disk the log cannot be written either; what matters is told on the terminal too.
    logging.raiseExceptions = False
    # Ctrl-C, a batch system and a terminal that is closed end all processes: an exit leaves no temporary file behind,
    # as the signal would, and shows no lines of code.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda ended, _: sys.exit(128 + ended))
    try:
        for path, definition in zip(cells, definitions, strict=True):
            if read_sealed(path).get("definition_sha256") != definition:
                raise NarxbenchError(f"{path}: summary of another cell or of other settings; delete it and run again")
        yield
    except NarxbenchError as mistake:
        logging.error("%s", mistake)
        sys.exit(f"narxbench: {mistake}")
