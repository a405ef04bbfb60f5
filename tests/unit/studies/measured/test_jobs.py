"""Jobs with files between them lead to what one call finds, and damaged files are reported."""

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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    u, y = narxbench.load_system("S1").simulate(400, snr_db=30)
    pd.DataFrame({"u": u, "y": y}).to_csv("mine.csv", index=False)
    return tmp_path


def made(scan: Scan) -> tuple[list[str], ...]:
    """Write the files of all jobs before the conclusion, and return those of three kinds of searches."""
    kinds: tuple[list[str], ...] = ([], [], [])

    def written(name: str, text: str, kind: int | None = None) -> None:
        Path(name).write_text(text)
        if kind is not None:
            kinds[kind].append(name)

    for i, configuration in enumerate(scan.configurations):
        written(f"brief-{i}", jobs.brief_search(scan, configuration.name), 0)
    written("ranking", jobs.ranking(scan, kinds[0]))
    for rank, (part, seed) in product(range(1, scan.n_finalists + 1), scan.jobs()):
        text = jobs.thorough_search(scan, "ranking", rank=rank, part=part, seed=seed)
        written(f"thorough-{rank}-{part}-{seed}", text, 1)
    written("choice", jobs.choice(scan, kinds[0], "ranking", kinds[1]))
    # One more than the settings ask for.
    for number in range(1, 5):
        written(f"resampled-{number}", jobs.resampled_search(scan, "choice", number), 2)
    return kinds


def test_jobs_lead_to_what_one_call_finds_and_check_what_they_read(folder: Path) -> None:
    scan = jobs.scan_of({"data": ["mine.csv"], "input": "u", "output": "y", "test": "20%"}, SETTINGS)
    briefs, searches, resampled = made(scan)
    assert (len(searches), json.loads(Path("resampled-4").read_text())["structure"]) == (
        scan.n_finalists * (2 + 3),
        None,
    )
    found = jobs.conclusion(scan, "choice", resampled)
    whole = narxbench.identify("mine.csv", input="u", output="y", test="20%", **SETTINGS)
    assert canonical_json(found.to_dict()) == canonical_json(whole.to_dict())
    assert found.tried.equals(whole.tried) and found.structures == whole.structures
    assert found.selection.equals(whole.selection) and found.notes == whole.notes

    def reported(job: Callable[[], object]) -> str:
        with pytest.raises(NarxbenchError) as error:
            job()
        return str(error.value)

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
    other = jobs.scan_of(reading, SETTINGS)
    assert len(other.recording.records[0]) == len(scan.recording.records[0]) + 1
    with pytest.raises(NarxbenchError):
        jobs.scan_of({**reading, "data": ["gone.csv"]}, SETTINGS)
