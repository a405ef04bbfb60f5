from pathlib import Path

import pytest
from tests.robustness.pipelines import COMMAND, ROOT, Copy


@pytest.fixture(scope="session")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The quick configuration, made without an interruption; not to be changed."""
    copy = Copy.of_checkout(tmp_path_factory.mktemp("ordinary") / "project")
    copy.take_compiled(ROOT)
    copy.make(*COMMAND)
    return copy


@pytest.fixture
def empty(ordinary: Copy, tmp_path: Path) -> Copy:
    """A copy without results, with compiled searches."""
    return ordinary.copied(tmp_path / "project", made=False)


@pytest.fixture
def complete(ordinary: Copy, tmp_path: Path) -> Copy:
    """A copy in which the quick configuration is complete."""
    return ordinary.copied(tmp_path / "project", made=True)
