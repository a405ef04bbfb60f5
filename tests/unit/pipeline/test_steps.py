"""How a step ends: its log, and a mistake in one line."""

import re
from pathlib import Path

import pytest

from narxbench._pipeline import steps
from narxbench._pipeline.steps import StepFailedError, call

SCRIPT = "from pathlib import Path\nfrom narxbench._io.errors import NarxbenchError\n"
SCRIPT += "def main(job):\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script of another name for each test, for one is executed once."""
    monkeypatch.setattr(steps, "SCRIPTS", tmp_path)
    return tmp_path / f"step_{tmp_path.name}.py"


def test_a_step_writes_its_time(tmp_path: Path, script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "logs" / "step.log"
    script.write_text(SCRIPT + "    Path(job.output[0]).write_text(job.params)\n")
    call(script.stem, output=[str(tmp_path / "made")], params="text", log=[str(log)])
    assert (tmp_path / "made").read_text() == "text"
    assert re.fullmatch(r"cpu [0-9.]+ s, wall [0-9.]+ s\n", log.read_text())
    assert capsys.readouterr() == ("", "")


def test_a_mistake_is_reported_in_one_line(tmp_path: Path, script: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = tmp_path / "step.log"
    script.write_text(SCRIPT + "    raise NarxbenchError('a.csv: empty')\n")
    with pytest.raises(StepFailedError):
        call(script.stem, log=[str(log)])
    assert caplog.messages == ["narxbench: a.csv: empty"]
    assert log.read_text() == "narxbench: a.csv: empty\n"


def test_a_log_without_room_hides_no_mistake(tmp_path: Path, script: Path, caplog: pytest.LogCaptureFixture) -> None:
    script.write_text(SCRIPT + "    raise NarxbenchError('a.csv: empty')\n")
    with pytest.raises(StepFailedError):
        call(script.stem, log=[str(script / "step.log")])
    assert caplog.messages == ["narxbench: a.csv: empty"]
