"""Signatures, descriptions and options that are written from the fields of the settings."""

from pathlib import Path

import pytest

from narxbench._identification.signatures import FILES, renewed_text

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.name)
def test_texts_from_the_settings_are_current(file):
    command = "python -m narxbench._identification.signatures"
    assert file.path.read_text(encoding="utf-8") == renewed_text(file), f"run: {command}"
