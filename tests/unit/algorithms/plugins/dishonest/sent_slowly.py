"""Sends a message byte by byte."""

import struct
import time

from dishonest._climb import ABOUT, Settings

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    objective._to.sendall(struct.pack("!I", 1000))
    while True:
        objective._to.sendall(b" ")
        time.sleep(0.2)
