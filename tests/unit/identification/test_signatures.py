"""Signatures, descriptions and options that are written from the fields of the settings."""

from pathlib import Path

import pytest

from narxbench._identification.signatures import FILES, GeneratedFile, renewed_text
from narxbench._io.errors import NarxbenchError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.name)
def test_texts_from_the_settings_are_current(file):
    command = "python -m narxbench._identification.signatures"
    assert file.path.read_text(encoding="utf-8") == renewed_text(file), f"run: {command}"


def test_a_module_without_marked_lines_is_refused(tmp_path):
    file = GeneratedFile(tmp_path / "any.py")
    file.path.write_text("# Written by hand\n", encoding="utf-8")
    with pytest.raises(NarxbenchError, match=r"any\.py: found no lines to write anew"):
        renewed_text(file)
