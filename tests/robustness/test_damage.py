"""Results that were deleted, damaged, edited or exchanged: refused by name, never taken into a table.

What Snakemake can see is a file that is missing or newer than what was made of it. A change that keeps the time of a
file is seen when a step reads the file, and by `verify`.
"""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.robustness.outcomes import told, wrong_results
from tests.robustness.pipelines import COMMAND, QUICK, Copy, differences

AGAIN = "; delete it and run again"
EDITED = "damaged or edited, its content has another digest"
NOT_JSON = r"damaged, not valid JSON \(.*\)"
OTHER_DATA = "damaged or edited, these settings make another data set"
OTHER_CELL = "summary of another cell or of other settings"
OTHER_CELLS = "made of other cells than these"

Damage = Callable[[Path], None]


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def one_bit(path: Path) -> None:
    """Change the last digit of a number: the file stays well-formed."""
    content = bytearray(path.read_bytes())
    digits = [match.start() for match in re.finditer(rb"[0-9](?=[,\n])", content)]
    content[digits[len(digits) // 2]] ^= 1
    path.write_bytes(content)


def exchanged(source: Path) -> Damage:
    def put(path: Path) -> None:
        assert source.read_bytes() != path.read_bytes()
        shutil.copyfile(source, path)

    return put


def keeping_the_time(path: Path, damage: Damage) -> None:
    times = path.stat()
    damage(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run_of(cell: str, seed: int = 2) -> str:
    return f"data/runs/{cell}/seed-{seed}.json"


@pytest.fixture(scope="module")
def others(ordinary: Copy, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Results of other settings: S1 to S3 with more evaluations, a run on S4 with more mutations."""
    copy = ordinary.copied(tmp_path_factory.mktemp("others") / "project", made=False)
    copy.write("more.yaml", "systems: [S1, S2, S3]\nevaluations: 1800\nsearches: {upso2d: {criteria: [bic]}}\n")
    copy.write("mutation.yaml", "searches: {ga: {settings: {mutation_probability: 0.02}}}\n")
    copy.snakemake("reports/claims.json", "reports/statistics.json", *QUICK, "more.yaml")
    copy.snakemake(run_of("S4/30dB/ga/bic"), *QUICK, "mutation.yaml")
    return copy


def refused(copy: Copy, ordinary: Copy, expected: dict[str, str]) -> None:
    """Run the pipeline, in which each of the damaged files must be named with its reason and no other file be wrong."""
    damaged = wrong_results(copy, ordinary)
    said = told(copy.make(*COMMAND, "--keep-going", code=1), AGAIN)
    assert set(said) == set(expected)
    assert {path: said[path] for path, words in expected.items() if not re.fullmatch(words, said[path])} == {}
    assert wrong_results(copy, ordinary) == damaged


def mended(copy: Copy, ordinary: Copy, files: list[str]) -> None:
    """Do as the message says, and make everything."""
    for path in files:
        (copy / path).unlink()
    copy.make(*COMMAND)
    assert differences(ordinary, copy) == []
    assert wrong_results(copy, ordinary) == set()


def test_run_files(ordinary: Copy, complete: Copy, others: Copy) -> None:
    s1, s2, s3, s4 = (f"{system}/30dB/ga/bic" for system in ("S1", "S2", "S3", "S4"))
    swarm = "S1/30dB/upso2d/bic"
    damages: dict[str, tuple[Damage, str]] = {
        run_of(s1): (truncated, NOT_JSON),
        run_of("S1/30dB/upso2d/aic-2"): (emptied, NOT_JSON),
        run_of("S2/30dB/upso2d/aic-2"): (one_bit, EDITED),
        run_of(swarm): (exchanged(ordinary / run_of(swarm, 1)), "another seed: found 1; needed: 2"),
        run_of(s2): (exchanged(others / run_of(s2)), "another evaluations: found 1800; needed: 900"),
        run_of(s4): (exchanged(others / run_of(s4)), "another settings: .*'mutation_probability': 0.02.*"),
        run_of(s3): (exchanged(ordinary / run_of(s4)), "another (data_sha256|system): .*"),
        run_of("S3/30dB/upso2d/bic"): (exchanged(ordinary / run_of(s3)), "another search: found 'ga'; .*"),
        run_of("S4/30dB/upso2d/bic"): (
            exchanged(ordinary / run_of("S4/30dB/upso2d/aic-2")),
            "another criterion: found 'aic-2'; needed: 'bic'",
        ),
    }
    for path, (damage, _) in damages.items():
        damage(complete / path)
    lost = run_of("S4/30dB/upso2d/aic-256")
    (complete / lost).unlink()
    refused(complete, ordinary, {path: words for path, (_, words) in damages.items()})
    assert (complete / lost).read_bytes() == (ordinary / lost).read_bytes()
    mended(complete, ordinary, list(damages))


def test_data_sets(ordinary: Copy, complete: Copy) -> None:
    data = {system: f"data/generated/{system}/30dB.csv" for system in ("S1", "S2", "S3", "S4")}
    truncated(complete / data["S1"])
    one_bit(complete / data["S2"])
    exchanged(ordinary / data["S4"])(complete / data["S3"])
    (complete / data["S4"]).unlink()
    damaged = [data[system] for system in ("S1", "S2", "S3")]
    refused(complete, ordinary, dict.fromkeys(damaged, OTHER_DATA))
    mended(complete, ordinary, damaged)


def test_cells(ordinary: Copy, complete: Copy, others: Copy) -> None:
    """One cell of each system, for a step tells the first that it finds."""
    s1, s2, s3, s4 = (f"data/cells/{system}/30dB/ga/bic.json" for system in ("S1", "S2", "S3", "S4"))
    lost = "data/cells/S1/30dB/upso2d/bic.json"
    one_bit(complete / s1)
    exchanged(others / s2)(complete / s2)
    exchanged(ordinary / s4)(complete / s3)
    truncated(complete / s4)
    (complete / lost).unlink()
    refused(complete, ordinary, {s1: EDITED, s2: OTHER_CELL, s3: OTHER_CELL, s4: NOT_JSON})
    assert (complete / lost).read_bytes() == (ordinary / lost).read_bytes()
    mended(complete, ordinary, [s1, s2, s3, s4])


def test_claims_and_statistics(ordinary: Copy, complete: Copy, others: Copy) -> None:
    claims, statistics = "reports/claims.json", "reports/statistics.json"
    for path, damage, words in (
        (claims, one_bit, EDITED),
        (statistics, truncated, NOT_JSON),
        (claims, exchanged(others / claims), OTHER_CELLS),
        (statistics, exchanged(others / statistics), OTHER_CELLS),
    ):
        damage(complete / path)
        said = told(complete.make("reports/report.html", *COMMAND, code=1), AGAIN)
        assert set(said) == {path}
        assert re.fullmatch(words, said[path])
        assert wrong_results(complete, ordinary) == {path}
        (complete / path).unlink()
    mended(complete, ordinary, [])


def test_changes_that_keep_the_time_of_the_file(ordinary: Copy, complete: Copy, others: Copy) -> None:
    """Snakemake does not see them: `verify` does, and so does every step that reads the file."""
    shutil.copy(ordinary / "reports/manifest.csv", complete / "docs/results/manifest.csv")
    cell = "data/cells/S3/30dB/ga/bic.json"
    damages: dict[str, Damage] = {
        "data/generated/S1/30dB.csv": one_bit,
        run_of("S2/30dB/ga/bic"): one_bit,
        cell: exchanged(others / cell),
        "reports/claims.json": truncated,
        "reports/tables/agreement.csv": emptied,
        "reports/figures/convergence.pdf": one_bit,
        "reports/report.html": exchanged(ordinary / "reports/fidelity.md"),
    }
    for path, damage in damages.items():
        keeping_the_time(complete / path, damage)
    assert "\nNothing to be done " in complete.make(*COMMAND)

    printed = complete.make("verify", *COMMAND, code=1)
    assert "Traceback" not in printed
    assert wrong_results(complete, ordinary) == set(damages)
    (different,) = re.findall(r"^Different: (.*)\.$", printed, re.MULTILINE)
    assert [part.split(" of ")[0] for part in different.split(", ")] == ["1"] * len(damages)
    assert "1 of 64 run files" in different
    assert f"\nThe first, in the order of causes: {next(iter(damages))}\n" in printed

    # From the end: Snakemake deletes what it is going to make again.
    for target, path, words in (
        ("reports/tables/comparison_S3.csv", cell, OTHER_CELL),
        ("data/cells/S2/30dB/ga/bic.json", run_of("S2/30dB/ga/bic"), EDITED),
        ("data/cells/S1/30dB/ga/bic.json", "data/generated/S1/30dB.csv", OTHER_DATA),
    ):
        said = told(complete.make("--force", target, *COMMAND, code=1), AGAIN)
        assert set(said) == {path}
        assert re.fullmatch(words, said[path])
        assert wrong_results(complete, ordinary) <= set(damages)

    for path in damages:
        (complete / path).unlink(missing_ok=True)
    complete.make(*COMMAND)
    printed = complete.make("verify", *COMMAND)
    assert "files are the same as in docs/results/manifest.csv.\n" in printed
    assert differences(ordinary, complete) == []
