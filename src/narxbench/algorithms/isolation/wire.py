"""Messages between the two processes: a line of JSON and arrays as bytes. Neither side runs what the other sends."""

import json
import math
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.io.errors import is_whole_number

Arrays = Mapping[str, NDArray[Any]]
_LENGTH = struct.Struct("!I")
# No message but the first has much to say in addition to its arrays.
_LONGEST_HEADER = 16 * 1024 * 1024
_KINDS = ("<f8", "|u1")
# What the first message has of a ProblemView in addition to its arrays.
VIEW_FIELDS = ("terms", "monomials", "n_u", "n_y", "degree", "criterion", "penalty", "n_validation")
VIEW_ARRAYS = ("gram", "moments", "u", "y", "rows", "penalties", "training_u", "training_y", "stretches", "segments")
TOO_MUCH = "it evaluates more than the budget allows"
ENDED = "its process has ended before it has returned a structure"


class BrokenMessageError(Exception):
    """The other side has ended, or sends something else than messages."""


def send(to: socket.socket, content: Mapping[str, Any], arrays: Arrays | None = None) -> None:
    """Send plain data and arrays of float64 or uint8."""
    arrays = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    shapes = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    header = json.dumps({"content": content, "arrays": shapes}).encode()
    to.sendall(b"".join([_LENGTH.pack(len(header)), header, *(array.tobytes() for array in arrays.values())]))


def receive(at: socket.socket, most: int, end: float | None = None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Receive plain data and arrays, which may have so many bytes together; BrokenMessageError for anything else.

    When ``end`` has passed, by ``time.monotonic``, and the whole message is not here, TimeoutError is raised.
    """
    try:
        (length,) = _LENGTH.unpack(_exactly(at, _LENGTH.size, end))
        if length > _LONGEST_HEADER:
            raise BrokenMessageError("it sends no message")
        message = json.loads(_exactly(at, length, end))
        content, arrays = message["content"], {}
        for name, (kind, shape) in message["arrays"].items():
            if kind not in _KINDS or len(shape) > 2 or not all(is_whole_number(extent, 0) for extent in shape):
                raise BrokenMessageError("it sends another array than of numbers")
            size = math.prod(shape) * np.dtype(kind).itemsize
            most -= size
            if most < 0:
                raise BrokenMessageError(TOO_MUCH)
            arrays[name] = np.frombuffer(_exactly(at, size, end), kind).reshape(shape)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BrokenMessageError(f"it sends no message ({error})") from None
    if not isinstance(content, dict):
        raise BrokenMessageError("it sends no message")
    return content, arrays


def _exactly(at: socket.socket, size: int, end: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if end is not None:
            at.settimeout(max(end - time.monotonic(), 1e-6))
        try:
            part = at.recv(min(size - len(parts), 1 << 20))
        except ConnectionError:
            part = b""
        if not part:
            raise BrokenMessageError(ENDED)
        parts += part
    return bytes(parts)
