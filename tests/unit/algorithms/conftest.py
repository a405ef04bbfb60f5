"""Algorithms of other packages."""

import pytest
from tests.unit.algorithms.plugins import install


@pytest.fixture
def plugins(monkeypatch, tmp_path, tmp_path_factory):
    """The folder of the algorithms in ``plugins``, as if they were installed, seen from an empty folder."""
    site = tmp_path_factory.mktemp("site")
    install(monkeypatch, site)
    monkeypatch.chdir(tmp_path)
    return site
