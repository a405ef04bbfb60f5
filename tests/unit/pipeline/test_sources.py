"""Data sets and run files that were changed after they were summed up."""

import json
import os
from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, sha256, write_atomically
from narxbench._pipeline.data_sets import simulated
from narxbench._pipeline.sources import _changed_data_sets, _changed_runs
from narxbench._study.runs import read_sealed, seal_of, seals_of_runs


@pytest.fixture
def summarised(tmp_path: Path) -> tuple[Path, list[Path]]:
    """A summary and its two run files, in the order in which they are made."""
    runs = []
    for seed in (1, 2):
        condition = {"method": "ga", "criterion": "bic"}
        record = {"condition": condition, "runs": [{"seed": seed, "fitness": -1.5}]}
        runs.append(tmp_path / f"runs/S1/ga/bic/seed-{seed}.json")
        write_atomically(runs[-1], canonical_json({**record, "seal": seal_of(record)}))
    summary = tmp_path / "conditions/bic.json"
    seals = seals_of_runs(read_sealed(runs[0])) | seals_of_runs(read_sealed(runs[1]))
    write_atomically(summary, canonical_json({"seals": seals}))
    return summary, runs


def changed(summary: Path, runs: list[Path]) -> list[str]:
    return _changed_runs(str(summary), {str(run): [seed] for seed, run in enumerate(runs, start=1)})


def edit(path: Path, *, sealed: bool) -> None:
    """Change a number and set the date back; with another seal that fits if so asked."""
    times = path.stat()
    record = json.loads(path.read_bytes())
    record["runs"][0]["fitness"] = -2.5
    if sealed:
        record["seal"] = seal_of(record)
    path.write_text(canonical_json(record))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize("sealed", [False, True])
def test_a_changed_run_file_of_the_same_date_is_named(summarised: tuple[Path, list[Path]], sealed: bool) -> None:
    summary, runs = summarised
    assert changed(summary, runs) == []
    edit(runs[1], sealed=sealed)
    assert changed(summary, runs) == [str(runs[1])]


def test_a_run_of_another_seed_or_method_is_named(summarised: tuple[Path, list[Path]]) -> None:
    """Its seal is among those that the summary keeps."""
    summary, runs = summarised
    times = runs[0].stat()
    right = runs[0].read_bytes()
    runs[0].write_bytes(runs[1].read_bytes())
    os.utime(runs[0], ns=(times.st_atime_ns, times.st_mtime_ns))
    assert changed(summary, runs) == [str(runs[0])]
    other = runs[0].parents[1] / "upso2d/bic/seed-1.json"
    write_atomically(other, right)
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert changed(summary, [other]) == [str(other)]


def test_younger_missing_and_copied_files_are_no_changed_ones(summarised: tuple[Path, list[Path]]) -> None:
    summary, runs = summarised
    edit(runs[0], sealed=True)
    os.utime(runs[0])  # made again: Snakemake sums it up again
    assert changed(summary, runs) == []
    runs[0].unlink()
    os.utime(runs[1], ns=(0, 0))  # as a copy that keeps dates
    assert changed(summary, runs) == []
    summary.unlink()
    assert changed(summary, runs) == []


def test_a_seal_that_does_not_fit_is_refused(summarised: tuple[Path, list[Path]]) -> None:
    _, (run, _) = summarised
    edit(run, sealed=False)
    with pytest.raises(NarxbenchError, match=r"seed-1\.json: changed since it was made: .*; delete it and run again"):
        read_sealed(run)


def test_data_sets_that_were_changed_after_their_summary(tmp_path: Path) -> None:
    system = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", "n_u": 1, "n_y": 1, "degree": 1}
    data = {"samples": 20, "washout": 10, "excitation": {"kind": "uniform"}, "noise": "output"}
    simulation = {"system": system, "snr_db": 30.0, "seed": 1, "data": data}
    path, summary = tmp_path / "30dB.csv", tmp_path / "bic.json"
    text = simulated(str(path), simulation)
    write_atomically(path, text)

    def changed() -> list[str]:
        return _changed_data_sets(str(summary), {str(path): simulation})

    assert changed() == []  # nothing is summed up
    write_atomically(summary, canonical_json({"data_sha256": sha256(text)}))
    for date in (0.0, 1e9):
        write_atomically(path, text.replace("0", "1", 1))
        os.utime(path, (date, date))
        assert changed() == [str(path)]
    write_atomically(path, text)
    os.utime(path, (0.0, 0.0))
    assert changed() == []
    # A younger one is left to Snakemake, which makes again what is made of it: the step compares it.
    write_atomically(path, text.replace("0", "1", 1))
    assert changed() == []
