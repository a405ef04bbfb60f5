"""Jobs with files between them lead to the result of one call, and damaged files are reported."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

import narxbench
from narxbench._identification.search.scan import Scan
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json
from narxbench._studies.measured import jobs

SETTINGS = {"degree": 2, "y_lags": 2, "u_lags": 2, "seeds": 2, "blocks": 3, "resamples": 3, "effort": 1}


READING = {"data": ["mine.csv"], "input": "u", "output": "y", "test": "20%"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    u, y = narxbench.load_system("S1").simulate(400, snr_db=30)
    pd.DataFrame({"u": u, "y": y}).to_csv("mine.csv", index=False)
    return tmp_path


def write_jobs(scan: Scan) -> tuple[list[str], ...]:
    """Write the files of all jobs before the conclusion, and return those of three kinds of searches."""
    briefs: list[str] = []
    searches: list[str] = []
    resampled: list[str] = []

    def write(name: str, text: str) -> str:
        Path(name).write_text(text)
        return name

    for number, configuration in enumerate(scan.configurations):
        briefs.append(write(f"brief-{number}", jobs.brief_search(scan, configuration.name)))
    write("ranking", jobs.ranking(scan, briefs))
    for rank, (part, seed) in product(range(1, scan.n_finalists + 1), scan.jobs()):
        text = jobs.thorough_search(scan, "ranking", rank=rank, part=part, seed=seed)
        searches.append(write(f"thorough-{rank}-{part}-{seed}", text))
    write("choice", jobs.choice(scan, briefs, "ranking", searches))
    # One more than the settings ask for.
    for number in range(1, 5):
        resampled.append(write(f"resampled-{number}", jobs.resampled_search(scan, "choice", number)))
    return briefs, searches, resampled


def reported(job: Callable[[], object]) -> str:
    with pytest.raises(NarxbenchError) as error:
        job()
    return str(error.value)


@pytest.mark.slow
def test_jobs_lead_to_the_result_of_one_call(folder: Path) -> None:
    scan = jobs.scan_of(READING, SETTINGS)
    _, searches, resampled = write_jobs(scan)
    assert len(searches) == scan.n_finalists * (2 + 3)
    assert json.loads(Path("resampled-4").read_text())["structure"] is None
    identification = jobs.conclusion(scan, "choice", resampled)
    whole = narxbench.identify("mine.csv", input="u", output="y", test="20%", **SETTINGS)
    assert canonical_json(identification.to_dict()) == canonical_json(whole.to_dict())
    assert identification.tried.equals(whole.tried) and identification.structures == whole.structures
    assert identification.selection.equals(whole.selection) and identification.notes == whole.notes


def test_jobs_check_the_files_that_they_read(folder: Path) -> None:
    scan = jobs.scan_of(READING, SETTINGS)
    briefs, searches, resampled = write_jobs(scan)
    again = "; delete it and run again"
    # The file of another search, in the place of one.
    assert reported(lambda: jobs.choice(scan, briefs, "ranking", [searches[1], *searches[1:]])).endswith(again)
    message = reported(lambda: jobs.conclusion(scan, "choice", resampled[::-1]))
    assert message.startswith("resampled-4: found the search ")
    Path("ranking").write_text('{"configurations": ["q9"]}')
    message = reported(lambda: jobs.choice(scan, briefs, "ranking", searches))
    assert message.startswith("ranking: found the configuration q9;")
    damaged, empty = Path("choice").read_text()[:-5], {"finalists": [], "notes": [], "density": 1}
    texts = {damaged: "damaged, not valid JSON", "{}": "finalists: missing", json.dumps(empty): "finalists: found []"}
    for text, words in texts.items():
        Path("choice").write_text(text)
        message = reported(lambda: jobs.resampled_search(scan, "choice", 1))
        assert message.startswith(f"choice: {words}") and message.endswith(again)


def test_a_search_is_prepared_once_unless_its_settings_or_files_change(folder: Path) -> None:
    reading = {"data": ["mine.csv"], "input": "u", "output": "y"}
    scan = jobs.scan_of(reading, SETTINGS)
    assert jobs.scan_of(dict(reading), dict(SETTINGS)) is scan
    assert jobs.scan_of(reading, {**SETTINGS, "degree": 1}) is not scan
    Path("mine.csv").write_text(Path("mine.csv").read_text() + "0.5,0.25\n")
    longer = jobs.scan_of(reading, SETTINGS)
    assert len(longer.recording.records[0]) == len(scan.recording.records[0]) + 1
    with pytest.raises(NarxbenchError):
        jobs.scan_of({**reading, "data": ["gone.csv"]}, SETTINGS)
