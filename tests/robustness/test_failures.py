"""Searches that fail for some seeds: the others finish, the failed ones are named, and no summary lacks a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from scripts.aggregate import aggregate
from snakemake.utils import update_config
from tests.robustness.kills import count_runs, missing, wrong_files
from tests.robustness.outcomes import wrong_results
from tests.robustness.pipelines import COMMAND, Copy, differences

from narxbench.experiment.study_settings import Experiment, load_experiment
from narxbench.io.errors import NarxbenchError
from narxbench.io.yaml import read_mapping
from narxbench.model.system import load_system

# A fault of the code, as a new algorithm may have one, that only some runs meet.
PLACE = "        problem = load_problem("
FAULT = '        if (named.system, named.search, named.seed) == ("S3", "ga", 2):\n'
FAULT += '            raise ArithmeticError("no pivot")\n'
AXES = {"system": "S3", "snr_db": "30", "search": "ga", "criterion": "bic"}
CELL = "data/cells/S3/30dB/ga/bic.json"
RUNS = [f"data/runs/S3/30dB/ga/bic/seed-{seed}.json" for seed in (1, 2, 3, 4)]
# What is made of cells of all systems, and what is made of those of S3.
OF_ALL = {
    "reports/claims.json",
    "reports/statistics.json",
    "reports/manifest.csv",
    "reports/made.md",
    "reports/report.html",
    "reports/tables/claims.md",
    "reports/tables/recovery.csv",
    "reports/tables/search_comparison.csv",
    "reports/tables/selection_frequency.csv",
    "reports/tables/cells.csv",
    "reports/tables/published_and_reproduced.csv",
    *(f"reports/tables/agreement.{form}" for form in ("csv", "md", "tex")),
    *(f"reports/figures/{name}.{form}" for name in ("convergence", "term_frequency") for form in ("pdf", "svg")),
}
OF_S3 = {f"reports/tables/{kind}_S3.{form}" for kind in ("fitness", "comparison") for form in ("csv", "md", "tex")}


def test_search_that_fails_for_one_seed(ordinary: Copy, empty: Copy) -> None:
    """The steps that need it are left out; asked for, there is a report of the rest; mended, everything is made."""
    right = (empty / "scripts/search.py").read_text(encoding="utf-8")
    empty.edit("scripts/search.py", PLACE, FAULT + PLACE)

    printed = empty.make(*COMMAND, "--keep-going", code=1)
    assert "Traceback" not in printed
    assert "\nArithmeticError in file " in printed
    assert "\nno pivot\n" in printed
    *_, named, counts = printed.splitlines()
    assert named == "failed: search: system=S3, snr_db=30, search=ga, criterion=bic, seed=2"
    assert counts.startswith(f"searches {count_runs(ordinary) - 1}/{count_runs(ordinary)} · other steps ")
    assert " · 1 failed · " in counts
    assert {path for path in {*ordinary.results(), "reports/made.md"} if not (empty / path).exists()} == {
        RUNS[1],
        CELL,
        *OF_ALL,
        *OF_S3,
    }
    assert wrong_results(empty, ordinary) == set()

    printed = empty.make(*COMMAND, "--config", "finished_only=true")
    assert "Traceback" not in printed
    assert not (empty / CELL).exists()
    page = (empty / "reports/report.html").read_text(encoding="utf-8")
    assert "Missing cells:</p><ul><li>S3, 30 dB, GA, BIC</li></ul>" in page
    cells = (empty / "reports/tables/cells.csv").read_text(encoding="utf-8").splitlines()
    # One row less than there are cells, below the header.
    assert len(cells) == len(list((ordinary / "data/cells").rglob("*.json")))
    assert not [row for row in cells if "S3" in row and "ga" in row.split(",")]

    empty.write("scripts/search.py", right)
    empty.make(*COMMAND)
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []
    assert missing(empty, ordinary) == []
    assert differences(ordinary, empty) == []


def test_report_of_the_finished_cells_needs_one(empty: Copy) -> None:
    printed = empty.make(*COMMAND, "--config", "finished_only=true", code=1)
    assert printed.endswith(
        "narxbench: command line (--config): finished_only: found no complete cell; repeat the command without it\n"
    )
    assert "Traceback" not in printed
    assert empty.contents("reports", "data/runs", "data/cells") == {}


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    """The quick configuration."""
    files = ["config/config.yaml", "config/quick.yaml"]
    config: dict[str, Any] = {}
    for file in files:
        update_config(config, read_mapping(file))
    return load_experiment(config, files)


def summarised(experiment: Experiment, ordinary: Copy, runs: list[str], folder: Path) -> bytes:
    """Summarise the named runs as the pipeline does and return the summary."""
    system = load_system("S3")
    size = {"n_u": system.n_u, "n_y": system.n_y, "degree": system.degree}
    data = experiment.data.model_dump(mode="json", exclude={"validation_samples"})
    aggregate(
        [str(ordinary / path) for path in runs],
        [str(ordinary / "data/generated/S3/30dB.csv")],
        str(folder / "cell.json"),
        str(folder / "log.json"),
        axes=AXES,
        experiment={"system": {"name": "S3", "equation": system.equation, **size}, "snr_db": 30.0, "data": data},
        orders={**size, "n_validation": experiment.data.validation_samples, **experiment.fitness.model_dump()},
        algorithm="ga",
        settings=experiment.searches["ga"].settings.model_dump(mode="json"),
        seeds=experiment.seeds,
        evaluations=experiment.evaluations,
        **experiment.statistics.model_dump(),
    )
    return (folder / "cell.json").read_bytes()


def test_all_runs_give_the_summary_of_the_pipeline(experiment: Experiment, ordinary: Copy, tmp_path: Path) -> None:
    assert summarised(experiment, ordinary, RUNS, tmp_path) == (ordinary / CELL).read_bytes()
    assert json.loads((ordinary / CELL).read_bytes())["runs"] == len(RUNS)


OTHER_SEARCH = RUNS[1].replace("/ga/", "/upso2d/")


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        (RUNS[:3], "ga/bic: found 3 run files; needed: 4, one a seed"),
        ([*RUNS, RUNS[3]], "ga/bic: found 5 run files; needed: 4, one a seed"),
        ([], "found 0 run files; needed: 4, one a seed"),
        ([RUNS[0], RUNS[0], *RUNS[2:]], "seed-1.json: another seed: found 1; needed: 2; delete it and run again"),
        (
            [RUNS[0], RUNS[2], RUNS[1], RUNS[3]],
            "seed-3.json: another seed: found 3; needed: 2; delete it and run again",
        ),
        ([RUNS[0], OTHER_SEARCH, *RUNS[2:]], "another search: found 'upso2d'; needed: 'ga'; delete it and run again"),
        ([*RUNS[:3], "data/runs/S3/30dB/ga/bic/seed-5.json"], "cannot be read: No such file or directory"),
    ],
)
def test_no_summary_of_fewer_repeated_or_other_runs(
    experiment: Experiment, ordinary: Copy, tmp_path: Path, runs: list[str], told: str
) -> None:
    with pytest.raises(NarxbenchError) as error:
        summarised(experiment, ordinary, runs, tmp_path)
    assert str(error.value).endswith(told)
    assert list(tmp_path.iterdir()) == []
