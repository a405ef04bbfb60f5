"""Encodings of texts: a file of data is decoded as its user says, or as its bytes show."""

import codecs
import re
from typing import NamedTuple

from narxbench._io.errors import FieldError, FileError, printable, show

# Beginnings of texts that say their encoding; that of UTF-32 begins like one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Bytes that no text has: control characters but tab, line breaks, and the mark of the end of old files.
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")
# Letters of Western Europe with one byte each; Latin-1 has a character for each byte, the other one not for all.
_WESTERN = ("cp1252", "latin-1")


class Text(NamedTuple):
    """The text of a file, and a sentence on what was guessed of its encoding, or ""."""

    text: str
    guess: str = ""


def check_encoding(encoding: object) -> None:
    """Raise FieldError unless an encoding is None or the name of one that Python knows."""
    if encoding is None:
        return
    is_known = isinstance(encoding, str)
    try:
        "a".encode(str(encoding))
    except (LookupError, ValueError):
        is_known = False
    if not is_known:
        allowed = "utf-8, utf-16, cp1252, latin-1 or another encoding that Python knows"
        raise FieldError("encoding", f"found {show(encoding, kind=False)}; allowed: {allowed}")


def decoded(path: str, content: bytes, encoding: str | None = None) -> Text:
    """Return the text of a file; bytes that are none raise FileError.

    Without ``encoding``, it is that of the byte order mark, or UTF-8, or UTF-16 where every second byte is null, or
    else that of Western Europe.
    """
    if encoding is not None:
        return Text(_strictly_decoded(path, content, encoding).removeprefix("\ufeff"))
    for mark, marked_encoding in _MARKS:
        if content.startswith(mark):
            return Text(_strictly_decoded(path, content, marked_encoding))
    for unmarked_encoding, high_bytes in (("utf-16-le", content[1:1000:2]), ("utf-16-be", content[:1000:2])):
        if high_bytes.count(0) > 0.9 * len(high_bytes):
            text = _strictly_decoded(path, content, unmarked_encoding)
            return Text(text, f"the text was read as {unmarked_encoding.upper()}, for every second byte is null.")
    control_character = _NO_TEXT.search(content)
    if control_character:
        raise _no_text(path, content, control_character.start(), "any encoding")
    try:
        return Text(content.decode("utf-8"))
    except UnicodeDecodeError:
        return _western_text(content)


def _strictly_decoded(path: str, content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _no_text(path, content, error.start, encoding.removesuffix("-sig").upper()) from None
    if "\0" in text:
        raise _no_text(path, content, content.find(b"\0"), encoding.removesuffix("-sig").upper())
    return text


def _western_text(content: bytes) -> Text:
    for encoding in _WESTERN:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        break
    return Text(text, f"the text was read as {encoding}, for it is not UTF-8.")


def _no_text(path: str, content: bytes, position: int, encoding: str) -> FileError:
    line_number = content.count(b"\n", 0, position) + 1
    problem = f"found the byte 0x{content[position]:02x}, which is not text in {printable(encoding)}"
    return FileError(f"{path}: line {line_number}: {problem}; needed: a text file such as CSV, or its encoding")
