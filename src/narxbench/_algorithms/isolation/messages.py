"""Messages between the calling process and the process of an algorithm: a length, then this many bytes."""

import json
import socket
import struct
import time
from typing import Any

_LENGTH = struct.Struct("!Q")
# Seconds to import an algorithm with all that it needs: large packages take some on a busy machine, none takes minutes.
START_SECONDS = 120
# The first byte of what a run sends: structures to evaluate, or its answer.
EVALUATE, ANSWER = b"e", b"a"


class BrokenChannelError(Exception):
    """The other side sends something else than messages, or has ended: then ``is_closed`` is True."""

    def __init__(
        self, text: str = "its process has ended before it has returned a structure", *, is_closed: bool = False
    ) -> None:
        super().__init__(text)
        self.is_closed = is_closed


class Channel:
    """One end of a connection. Both methods raise TimeoutError at the deadline, a time of ``time.monotonic``."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self.deadline: float | None = None

    def send(self, content: bytes) -> None:
        """Send a message."""
        self._set_timeout()
        try:
            self.socket.sendall(_LENGTH.pack(len(content)) + content)
        except ConnectionError:
            raise BrokenChannelError(is_closed=True) from None

    def receive(self, longest: int) -> bytes:
        """Receive a message of at most this many bytes."""
        (length,) = _LENGTH.unpack(self._receive_exactly(_LENGTH.size))
        if length > longest:
            raise BrokenChannelError(f"it sends a message of {length} bytes; allowed: {longest}")
        return self._receive_exactly(length)

    def _receive_exactly(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            self._set_timeout()
            try:
                part = self.socket.recv(min(size - len(content), 1 << 20))
            except ConnectionError:
                raise BrokenChannelError(is_closed=True) from None
            if not part:
                raise BrokenChannelError(is_closed=True)
            content += part
        return bytes(content)

    def _set_timeout(self) -> None:
        self.socket.settimeout(None if self.deadline is None else max(self.deadline - time.monotonic(), 1e-6))


def plain_data(message: bytes) -> dict[str, Any]:
    """Return the plain data of a message."""
    try:
        content = json.loads(message)
    except (ValueError, RecursionError) as error:
        raise BrokenChannelError(f"it sends no message ({error})") from None
    if not isinstance(content, dict):
        raise BrokenChannelError("it sends no message")
    return content
