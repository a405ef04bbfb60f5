"""A file that one process at a time can hold."""

import errno
import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from narxbench.io.files import hold

HOLDER = "import sys; from narxbench.files import hold; print(hold(sys.argv[1]), flush=True); sys.stdin.read()"


def test_a_file_is_held_by_one_process_until_its_end(tmp_path: Path) -> None:
    path = tmp_path / "held"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert not hold(path)
        other.kill()
        other.wait()
        assert hold(path)
    done = subprocess.run(command, input="", capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_cannot_be_held_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hold(tmp_path / "no folder/held")

    def unsupported(handle: int, operation: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert hold(tmp_path / "held")
    assert hold(tmp_path / "held")
