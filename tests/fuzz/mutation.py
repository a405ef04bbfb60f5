"""Seeded mutation of valid inputs: bytes, lines and tokens are changed, repeated, spliced and encoded anew."""

import codecs
import random
import re
from collections.abc import Callable, Sequence

LONGEST = 8192
_PIECES = re.compile(rb"[A-Za-z_]+|[0-9.]+|\s+|[^\sA-Za-z0-9_.]")

NASTY = [
    *(b"\x00", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xe2\x80\xa8", b"\xc2\x85"),
    *("−1", "１２", "٣", "²", "Ⅷ", "ﬁ", "\u202e", "\ufeff", "\U0001f600", "y(k−1)"),
    *("1e400", "-1e400", "1e-400", "nan", "inf", "-Infinity", "NaN", ".inf", ".nan", "-0", "-0.0", "0x1p3", "1_000"),
    *(
        "9" * 20,
        "9" * 400,
        "9" * 5000,
        "0x" + "f" * 4000,
        "0b_",
        "0x_",
        "0o17",
        "017",
        "190:20:30",
        "1:99.5",
        "1e",
        ".",
    ),
    *("true", "yes", "on", "null", "~", "{}", "[]", '""', "''", "2018-01-01", "2001-99-99", "2001-1-1T99:99:99Z"),
    *("!!python/object/apply:os.system ['touch PWNED']", "!!python/name:os.system", "!!int x", "!!float x", "!!bool x"),
    *("!!timestamp x", "!!binary x", "!!set {a}", "!!omap [a: 1]", "!!pairs [a: 1]", "!!merge x", "!x", "!<x> y", "!"),
    *(
        "&a",
        "*a",
        "&a [*a]",
        "<<: *a",
        "<<: [*a, *a]",
        "<<: x",
        "? [a]\n: b",
        "? ",
        "- ",
        ": ",
        "#",
        "---",
        "...",
        "%YAML 9.9",
    ),
    *('"\\ud800"', '"\\UFFFFFFFF"', '"\\x00"', '"\\u0000"', '"\\q"', "|", ">", "'", '"', "`", "@", "\t"),
    *(
        "y(k-1)^999999999",
        "y(k-99999999999999999999)",
        "u(k-0)",
        "y(k)",
        "1*1",
        "**",
        "^",
        "=",
        "--",
        "+-",
        "y (k - 1)",
    ),
    *("__import__('os').system('touch PWNED')", "${jndi:x}", "{{ 7*7 }}", "{0.__class__}", "%s%n", "$(touch PWNED)"),
    *("../../x", "/abs", "<script>alert(1)</script>", "CON", "a b", "a\nb", "\x1b[31m", ",", ";", ",,", '"",""', "\\"),
]
TOKENS = [token if isinstance(token, bytes) else token.encode() for token in NASTY]

ENCODINGS = [codecs.lookup(name).name for name in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252", "utf-7")]

Change = Callable[["Mutator", bytearray], bytes]


class Mutator:
    """Makes inputs from ``corpus``, which grows by what :meth:`keep` is told; equal seeds make equal inputs."""

    def __init__(self, seed: str, corpus: Sequence[bytes], most: int = 400) -> None:
        self.draw = random.Random(seed)
        self.longest = max(LONGEST, *(2 * len(data) for data in corpus))
        self.corpus, self.valid, self.most = list(corpus), len(corpus), most + len(corpus)

    def keep(self, data: bytes) -> None:
        """Use an input that did something new as the origin of others."""
        if len(self.corpus) < self.most:
            self.corpus.append(data)

    def next(self) -> bytes:
        """Return a new input."""
        # Valid origins lead deeper into a reader than those that it refused.
        data = self.draw.choice(self.corpus[: self.valid] if self.draw.random() < 0.5 else self.corpus)
        for _ in range(1 + min(int(self.draw.expovariate(1.2)), 8)):
            data = self.draw.choice(_CHANGES)(self, bytearray(data))[: self.longest]
        return data

    def span(self, data: bytes | bytearray, longest: int = 64) -> tuple[int, int]:
        """Return start and end of a random part."""
        start = self.draw.randrange(len(data) + 1)
        return start, min(len(data), start + self.draw.randrange(longest + 1))

    def piece(self, data: bytes | bytearray) -> tuple[int, int]:
        """Return start and end of a random word, number, blank or sign."""
        start = self.draw.randrange(len(data) + 1)
        match = _PIECES.search(data, start)
        return match.span() if match else (start, start)


def _flip(m: Mutator, data: bytearray) -> bytes:
    if data:
        data[m.draw.randrange(len(data))] ^= 1 << m.draw.randrange(8)
    return bytes(data)


def _set(m: Mutator, data: bytearray) -> bytes:
    if data:
        data[m.draw.randrange(len(data))] = m.draw.randrange(256)
    return bytes(data)


def _delete(m: Mutator, data: bytearray) -> bytes:
    start, end = m.span(data)
    return bytes(data[:start] + data[end:])


def _repeat(m: Mutator, data: bytearray) -> bytes:
    start, end = m.span(data)
    return bytes(data[:end] + data[start:end] * m.draw.choice((1, 1, 1, 2, 3, 20, 200)) + data[end:])


def _insert(m: Mutator, data: bytearray) -> bytes:
    at = m.draw.randrange(len(data) + 1)
    return bytes(data[:at] + m.draw.choice(TOKENS) + data[at:])


def _replace(m: Mutator, data: bytearray) -> bytes:
    start, end = m.piece(data)
    return bytes(data[:start] + m.draw.choice(TOKENS) + data[end:])


def _borrow(m: Mutator, data: bytearray) -> bytes:
    other = m.draw.choice(m.corpus)
    (start, end), (first, last) = m.piece(data), m.piece(other)
    return bytes(data[:start] + other[first:last] + data[end:])


def _splice(m: Mutator, data: bytearray) -> bytes:
    other = m.draw.choice(m.corpus)
    return bytes(data[: m.draw.randrange(len(data) + 1)] + other[m.draw.randrange(len(other) + 1) :])


def _lines(m: Mutator, data: bytearray) -> bytes:
    lines = bytes(data).split(b"\n")
    a, b = m.draw.randrange(len(lines)), m.draw.randrange(len(lines))
    what = m.draw.randrange(3)
    if what == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif what == 1:
        lines.insert(b, lines[a])
    else:
        del lines[a]
    return b"\n".join(lines)


def _number(m: Mutator, data: bytearray) -> bytes:
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return bytes(data)
    start, end = m.draw.choice(found).span()
    number = m.draw.choice((0, 1, -1, 2, 3, 12, 13, 127, 9999, 10000, 2**31, 2**63, 0.5, 1e308, 1e-300))
    return bytes(data[:start] + str(number).encode() + data[end:])


def _nest(m: Mutator, data: bytearray) -> bytes:
    start, end = m.span(data)
    opening, closing = m.draw.choice(((b"[", b"]"), (b"{a: ", b"}"), (b'{"a":', b"}"), (b"(", b")"), (b"- ", b"")))
    depth = m.draw.choice((1, 2, 10, 60, 500))
    return bytes(data[:start] + opening * depth + data[start:end] + closing * depth + data[end:])


def _encode(m: Mutator, data: bytearray) -> bytes:
    text = data.decode("utf-8", "replace")
    kind = m.draw.choice((*ENCODINGS, "crlf"))
    return text.replace("\n", "\r\n").encode() if kind == "crlf" else text.encode(kind, "replace")


_CHANGES: list[Change] = [_flip, _set, _delete, _repeat, _insert, _replace, _replace, _borrow, _borrow]
_CHANGES += [_splice, _lines, _number, _number, _nest]
# A file in another encoding is refused at once: few of these are enough.
_CHANGES = _CHANGES * 6 + [_encode]
