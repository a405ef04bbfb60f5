"""Encodings of texts: a file of data is decoded as its user says, or as its bytes show."""

import codecs
import re

from narxbench._io.errors import FieldError, FileError, printable, show

# Beginnings of texts that say their encoding. The mark of UTF-32 begins like one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Control characters that no text has: all but tab, line breaks, and the mark of the end of old files.
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")
# Bytes at the beginning of a text by which its form is known: the header blocks of loggers are some kilobytes, and the
# form of these is found in less than .3 s.
BEGINNING = 65_536


def check_encoding(encoding: object) -> None:
    """Raise FieldError unless an encoding is the name of one that Python knows."""
    is_known = isinstance(encoding, str)
    try:
        "a".encode(str(encoding))
    except (LookupError, ValueError):
        is_known = False
    if not is_known:
        allowed = "utf-8, utf-16, cp1252, latin-1 or another encoding that Python knows"
        raise FieldError("read", f"encoding: found {show(encoding, kind=False)}; allowed: {allowed}")


def as_utf8(path: str, content: bytes, encoding: str | None = None) -> bytes:
    """Return the content of a text in UTF-8, with line feeds between the lines, and refuse bytes that are not text.

    Without ``encoding``, the byte order mark says it. If there is none, it is UTF-16 if every second byte is null,
    UTF-8 if the bytes allow it, or else the encoding of Western Europe.
    """
    encoding = encoding or _encoding_of(path, content)
    # ASCII, as most texts are, needs no decoding, which would take a third of the time of reading.
    if encoding != "utf-8" or not content.isascii():
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError as error:
            raise _no_text(path, content, error.start, encoding.removesuffix("-sig").upper()) from None
        content = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    if b"\0" in content:
        raise _no_text(path, content, content.find(b"\0"), encoding.removesuffix("-sig").upper())
    if b"\r" in content:
        content = re.sub(rb"\r+\n|\r", b"\n", content)
    return content


def _encoding_of(path: str, content: bytes) -> str:
    """Return the encoding that the bytes of a text show."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    for encoding, high_bytes in (("utf-16-le", content[1:1000:2]), ("utf-16-be", content[:1000:2])):
        if high_bytes.count(0) > 0.9 * len(high_bytes):
            return encoding
    control_character = _NO_TEXT.search(content, 0, BEGINNING)
    if control_character:
        raise _no_text(path, content, control_character.start(), "any encoding")
    if content.isascii():
        return "utf-8"
    for encoding in ("utf-8", "cp1252"):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    # It has a character for each byte.
    return "latin-1"


def _no_text(path: str, content: bytes, position: int, encoding: str) -> FileError:
    line_number = content.count(b"\n", 0, position) + 1
    problem = f"found the byte 0x{content[position]:02x}, which is not text in {printable(encoding)}"
    return FileError(f"{path}: line {line_number}: {problem}; needed: a text file such as CSV, or its encoding")
