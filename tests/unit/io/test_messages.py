"""Mistakes in files: `messages.txt` has the answers, each beginning with the file and, where there is one, the line."""

import io
import os
import zipfile
from functools import partial
from pathlib import Path

from tests.messages import calls

from narxbench import look
from narxbench._io import csv
from narxbench._io.csv import FLAG, INTEGER, NAME, NUMBER, list_of, matching, one_of, optional, read_table
from narxbench._io.files import MOST_DATA, read_bytes, read_json, read_text, write_atomically
from narxbench._io.yaml import read_mapping

FIELDS = [
    *((NUMBER, "number", text) for text in ["", "x", "nan", "1e400", "1_0", " 1", "١"]),
    *((INTEGER, "integer", text) for text in ["1.0", "9" * 19, "１"]),
    *((optional(NUMBER), "number or none", "x"), (list_of(INTEGER), "list", "1;"), (FLAG, "flag", "True")),
    *((NAME, "name", ""), (one_of("upso2d", "ga"), "word", "upso"), (matching(r"\d", "a digit"), "digit", "５")),
]
TABLES = [
    *(b"", b"x,a\n1,2\n", b"a,X\n1,2\n", b"a,x\n", b"a,x\n1,2\n1,2,3\n", b"a,x\n1,2\n3,x\n", b'a,x\n1,"2\n'),
    *(b'a,x\n1,"2"x\n', b'a,x\n1,"2\n3"\n', b"a,x\n1," + b"1" * 200_000, b"a,x\n1,\xff\n", b"a," * 100_000 + b"b\n"),
]
MEASURED = [
    *("u,y\n1,2\n1,x\n", "u,y\n1,2\n1,inf\n", "u,y\n1,2\n1,1e999\n", "u,y\n1,2\n1,٣\n"),
    *("# one\nu;y\n1;2\n1;1.234,5.6\n", 'u,y\n1,2\n1,"1,234"\n', "u;y\n1,5;2\n1;2.5\n", "u;y\n1;2\n2;false\n"),
    *("u,y\n1,2\n1\n", "u,y\n1,2\n1,2,3\n", 'u,y\n1,2\n"1,2\n3,4\n', 'u,y\n1,2\n"1"x,2\n3,4\n', '"', ";;;\n;;;\n"),
    *("u;y\n1;2\n3;4\n1;2;;4\n", "u\ty\n999\t1\n1,000\t2", "1.5,x\n1,2", "u;y\n5,123;4,999\n1,001;2,345\n"),
    *(f"u;y\n7;{text}\n" for text in ("1.23.456", "12,34.5", "0,123.4", "1,234,56")),
    *("u,y\n", "# u,y\n\n", "", b"u,y\n1,2\n\xe9,3\n", b"u,y\n1,2\n\0\0\0", b"\xff\xfeu\0,\0y\0\0", b"PAR1\0\xff"),
    *(b"PK\3\4\0\xff", b"\x1f\x8b\0\xff", b"MATLAB 5.0 MAT-file\0\xff", b"\xd0\xcf\x11\xe0\0"),
    *("u,y\n" + "1," * 10**5, "abc,def\n" * 30, "x" * 10**7),
]
ARCHIVES = [("mimetype", "content.xml"), ("a.csv", "b.csv"), ("a.csv.gz",)]
READ = [{"separator": ";"}, {"sep": "xy"}, {"decimal": "'"}, {"header": 3}, {"skiprows": -1}, {"encoding": "utf-9"}]
LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
YAML = [
    *(LAUGHS, "a: *b\n", "a: 1\n*b : 1\n", "a: !!int 1\n", "a: " + "[" * 60 + "]" * 60, "- " * 2000, "&" * 5000),
    *(f"a: {'9' * 5000}\n", "a: 9223372036854775808\n", "a: -1e400\n", "a: 010\n", 'a: "\\ud800"\n', "a: [b\n"),
    *('a: "\\UFFFFFFFF"\n', f"%YAML {'9' * 5000}.1\n--- {{}}\n", "a: 1\na: 2\n", "a: \x00\n", "a: 1\n--- \nb: 2\n"),
    *("- 1", "a: 1".encode("utf-16"), b"a: \xed\xa0\x80"),
]
JSON = [b"", b"[1,]", b"NaN", b'"\\ud800"', b"\xff", b"[" * 100_000]
NO_FILES = ["none", "folder", "a\x00b", "\ud800", "pipe", "loop", "a" * 256, "/dev/zero", "/proc/self/status"]
SIZES = [(read_bytes, MOST_DATA), (read_json, MOST_DATA), (read_mapping, 100_000)]


def _read(reader, content):
    if isinstance(content, str):
        content = content.encode()
    Path("it").write_bytes(content)
    return reader("it")


def _archive(names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, b"\x1f\x8b")
    return stream.getvalue()


def _field(kind, text):
    return _read(lambda path: read_table(path, {"a": INTEGER, "x": kind}), f"a,x\n1,{text}\n")


def _measured(path, **options):
    return look(path, input="u", output="y", time=False, **options)


def _table(path):
    return read_table(path, {"a": INTEGER, "x": INTEGER})


READERS = [read_json, read_mapping, _table, _measured]


def _too_large(reader, size):
    Path("large").touch()
    os.truncate("large", size + 1)  # takes no room on the disk
    return reader("large")


def _short(text):
    if len(repr(text)) <= 50:
        return repr(text)
    return f"{text!r:.50}… ({len(text)})"


def _contents(label, reader, contents):
    """Return a call of a reader for the content of each file, by a label and the content."""
    return calls(label, partial(_read, reader), contents, describe=_short)


def test_messages(review):
    os.mkfifo("pipe")
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    mistakes = {}
    for kind, allowed, text in FIELDS:
        mistakes[f"field {_short(text)} of {allowed}"] = partial(_field, kind, text)
    mistakes |= _contents("table", _table, TABLES)
    mistakes["a reader's own"] = lambda: str(csv.wrong("t.csv", 3, "system", "S11", "one of S1, S2", ["S1", "S2"]))
    mistakes |= _contents("measured", _measured, MEASURED)
    for names in ARCHIVES:
        mistakes[f"measured, an archive of {names}"] = partial(_read, _measured, _archive(names))
    for options in READ:
        mistakes[f"measured, read {options}"] = partial(_read, partial(_measured, read=options), "u;y\n1;2\n")
    mistakes["measured, an array with read"] = partial(_read, partial(_measured, read={"sep": ";"}), b"\x93NUMPY")
    mistakes |= _contents("yaml", read_mapping, YAML)
    mistakes |= _contents("json", read_json, JSON)
    for name in NO_FILES:
        mistakes[f"no file {_short(name)}"] = partial(read_text, name)
    for reader in READERS:
        mistakes[f"{reader.__name__}, no file"] = partial(reader, "pipe")
    for reader, size in SIZES:
        mistakes[f"{reader.__name__}, too large"] = partial(_too_large, reader, size)
    mistakes["no folder to write to"] = lambda: write_atomically("pipe/file.txt", "new")
    review(mistakes)
