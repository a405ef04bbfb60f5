"""Asks another machine."""

import contextlib
import socket

from dishonest._climb import ABOUT, Settings, climb

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    return climb(objective, rng.integers)
