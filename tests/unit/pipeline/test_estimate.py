"""What a study costs is told before any job, and what costs too much or cannot be made is refused in one line."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from narxbench.cli import main
from narxbench.io.errors import NarxbenchError
from narxbench.pipeline.estimate import Estimate, memory_of_machine, refusal
from narxbench.pipeline.plan import Plan
from narxbench.pipeline.session import plan_of

ROOT = Path(__file__).parents[3]
GB = 1e9
SMALL = "systems: [S1]\nsnr_db: [30]\nmethods: {upso2d: {criteria: [bic]}, ga: null}\n"
COMPARED = "page: methods\n" + SMALL.replace("[S1]", "[S1, S2]") + "scenarios: {base: {description: plain}}\n"
COUNTED = """
page: methods
systems: [S1, S2]
snr_db: [30, 40]
data: {seeds: 3}
seeds: 5
seeds_per_job: 2
methods: {frols: {algorithm: frols, criteria: [bic, aic-2]}}
scenarios: {base: {description: x}, own: {description: x, systems: [S2], seeds: 2, snr_db: [10, 20, 30]}}
"""
Planned = Callable[..., Estimate]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's settings and data."""
    for name in ("config", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "buck").symlink_to(ROOT / "data" / "buck")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def planned(folder: Path) -> Planned:
    """Return the estimate of the overlay ``mine.yaml``."""

    def estimate(text: str, *command_line: str) -> Estimate:
        Path("mine.yaml").write_text(text)
        return plan_of(["mine.yaml"], command_line).estimate

    return estimate


def refused(planned: Planned, text: str, *command_line: str) -> str:
    started = time.process_time()
    with pytest.raises(NarxbenchError) as error:
        planned(text, *command_line)
    told = str(error.value)
    assert "\n" not in told and "found " in told and "allowed: " in told and len(told) < 400
    assert time.process_time() - started < 5
    return told


class TestEstimate:
    def test_counts_are_those_of_the_plan(self, planned: Planned) -> None:
        paper = Plan()
        assert (paper.estimate.runs, len(paper.all_conditions)) == (2880, 72)
        assert 2880 + 12 + 72 < paper.estimate.jobs < 2880 + 12 + 72 + 20
        for text in (
            SMALL + "seeds: [7, 3, 5]\nseeds_per_job: 2\ndata: {realisation: per_run}\n",
            COUNTED,
            Path("config/interpretations.yaml").read_text(),
        ):
            found = planned(text)
            plan = plan_of(["mine.yaml"], ())
            assert isinstance(plan, Plan)
            names = [condition.name for condition in plan.all_conditions]
            assert found.runs == sum(len(plan.seeds(name)) for name in names)
            made = sum(len(plan.run_files(name)) for name in names) + len(plan.data_sets) + len(plan.summaries())
            assert made + 6 <= found.jobs <= made + 8

    def test_line_tells_runs_jobs_time_and_memory(self) -> None:
        line = Plan().estimate.line()
        assert line.startswith("2880 runs in 29") and " min of CPU time; the largest step takes about 0." in line

    def test_every_setting_counts(self, planned: Planned) -> None:
        # Each is dearer than the one before, in time and in memory.
        for setting, values in (
            ("evaluations", (1000, 100_000, 10_000_000)),
            ("data", ("{samples: 2000}", "{samples: 200000}", "{samples: 5000000}")),
            ("data", ("{washout: 100}", "{washout: 1000000}", "{washout: 10000000}")),
            ("seeds", (1, 100, 10_000)),
        ):
            found = [planned(SMALL, f"{setting}={value}") for value in values]
            assert found[0].seconds < found[1].seconds < found[2].seconds, setting
            assert found[0].memory() < found[2].memory(), setting

    def test_large_sets_of_candidate_terms_cost_their_cube(self, planned: Planned) -> None:
        few, many = (planned(COMPARED, f"scenarios={{base: {{description: x, n_u: {n}, n_y: {n}}}}}") for n in (5, 45))
        assert many.seconds > 100 * few.seconds and many.memory() > 2 * few.memory()

    def test_of_measured_data(self, planned: Planned) -> None:
        text = Path("config/measured.yaml").read_text()
        plain = planned(text)
        assert plain.line().startswith(f"{plain.jobs} jobs: about ")
        more = planned(text, "identification={seeds: 100, resamples: 1000}")
        assert more.jobs > plain.jobs + 500 and more.seconds > 1.5 * plain.seconds


class TestRefusal:
    @pytest.mark.parametrize(
        ("setting", "place"),
        [
            ("evaluations=1000000000", "evaluations: found 1000000000"),
            ("evaluations=100000000", "evaluations: found 100000000"),
            ("data={samples: 1000000000}", "data.samples: found 1000000000"),
            ("data={washout: 1000000000}", "data.washout: found 1000000000"),
            ("statistics={bootstrap_samples: 1000000000}", "statistics.bootstrap_samples: found 1000000000"),
            ("seeds=1000000", "seeds: found 1000000; allowed: a whole number from 1 to 100000"),
            ("seeds=1:30", "seeds: found '1:30' (text); allowed: a whole number"),
        ],
    )
    def test_what_nobody_means(self, planned: Planned, setting: str, place: str) -> None:
        assert refused(planned, SMALL, setting).startswith(f"command line (--config): {place}")

    @pytest.mark.parametrize(
        ("text", "setting", "place"),
        [
            (SMALL, "evaluations=10000000", "evaluations: found 10000000, with which a search of upso2d on S1 would"),
            (SMALL, "data={samples: 10000000}", "data.samples: found 10000000, with which a search of upso2d on S1"),
            (SMALL, "data={washout: 10000000}", "data.washout: found 10000000, with which the simulation of S1 would"),
            (SMALL, "seeds=100000", "seeds: found 100000, with which planning would take about"),
            (
                COMPARED,
                "statistics={bootstrap_samples: 10000000}",
                "statistics.bootstrap_samples: found 10000000, with which the ranking of the methods would take about",
            ),
            (
                COMPARED,
                "scenarios={base: {description: x, n_u: 48, n_y: 48}}",
                "scenarios.base: candidate terms of n_y, n_u and degree: found 4753, with which a search of upso2d on",
            ),
        ],
    )
    def test_more_than_the_machine_has(
        self, planned: Planned, monkeypatch: pytest.MonkeyPatch, text: str, setting: str, place: str
    ) -> None:
        monkeypatch.setattr("narxbench.pipeline.estimate.memory_of_machine", lambda: 0.7 * GB)
        told = refused(planned, text, setting)
        assert told.startswith(place)
        assert " GB of memory; allowed: up to 0.7 GB on this machine" in told

    @pytest.mark.parametrize("text", [SMALL, COMPARED])
    def test_no_ordinary_study(self, planned: Planned, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        monkeypatch.setattr("narxbench.pipeline.estimate.memory_of_machine", lambda: 0.7 * GB)
        planned(text)

    def test_steps_that_nobody_waits_for(self, planned: Planned) -> None:
        told = refused(planned, SMALL, "evaluations=10000000", "data={samples: 4100000, validation_samples: 4000000}")
        assert told.startswith("data.validation_samples: found 4000000, with which a search of upso2d on S1 would take")
        assert told.endswith(" of CPU time; allowed: up to 24 h")
        # Together in a job they are too long, not one by one.
        settings = ("evaluations=100000", "data={samples: 110000, validation_samples: 100000}", "seeds=10000")
        told = refused(planned, SMALL, *settings, "seeds_per_job=10000")
        assert told.startswith("seeds_per_job: found 10000, with which a search of upso2d on S1 would take about ")
        planned(SMALL, *settings)

    def test_conditions_are_counted_before_there_are_any(self, planned: Planned) -> None:
        text = Path("config/methods.yaml").read_text()
        assert refused(planned, text, "data={seeds: 100000}").startswith(
            "data.seeds: found 100000, with which planning"
        )

    def test_cores_that_together_take_too_much(self, planned: Planned) -> None:
        found = planned(SMALL, "evaluations=1000000", "seeds=100")
        assert refusal(found, 4 * GB, cores=4) is None
        told = str(refusal(found, 4 * GB, cores=64))
        assert told.startswith("cores: found 64, with which a search of upso2d on S1, that often at a time, would take")
        most = int(told.partition("allowed: up to ")[2].split()[0])
        assert refusal(found, 4 * GB, cores=most) is None
        assert refusal(found, 4 * GB, cores=most + 1) is not None

    def test_too_many_terms_of_measured_data(self, planned: Planned) -> None:
        text = Path("config/measured.yaml").read_text()
        given = "identification={degree: 2, y_lags: 100, u_lags: 100, decimation: 1, blocks: 2}"
        told = refused(planned, text, given)
        assert "identification.degree: found 20301 candidate terms" in told and told.endswith("allowed: at most 5000")

    @pytest.mark.parametrize(
        ("setting", "told"),
        [
            ("identification={include: ['y(k-999)'], degree: 1}", "found none that 1001 samples are enough for"),
            ("identification={exclude: ['*']}", "candidate terms: none is left by exclude"),
            ("identification={y_lags: 900, u_lags: 3, degree: 1}", "found none that 1001 samples are enough for"),
            ("identification={confidence: 0.9999999999999999}", "identification.confidence: found 0.9999999999999999"),
            ("data={test: 0.999}", "data.test: found no record of at least 10 samples"),
            ("data={roles: {nothing: test}}", "data.roles: found 'nothing'; allowed: buck_id.csv"),
        ],
    )
    def test_what_the_data_do_not_allow(self, folder: Path, setting: str, told: str) -> None:
        with pytest.raises(NarxbenchError) as error:
            plan_of(["config/measured.yaml"], [setting])
        assert str(error.value).startswith("command line (--config): ") and told in str(error.value)
        assert "\n" not in str(error.value)

    def test_parts_of_measured_data(self, planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("narxbench.pipeline.estimate.memory_of_machine", lambda: 4 * GB)
        text = Path("config/measured.yaml").read_text()
        given = "degree: 2, y_lags: 10, u_lags: 83, decimation: 1, centre: auto"
        told = refused(planned, text, f"identification={{{given}, blocks: 100}}")
        assert told.startswith(("identification.blocks: found", "identification.degree with the lags: candidate terms"))

    def test_on_the_command_line_of_identify(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("narxbench.pipeline.estimate.memory_of_machine", lambda: 0.5 * GB)
        command = "identify data/buck/buck_id.csv --input input --output y --degree 3 --y-lags 10 --u-lags 10"
        assert main([*command.split(), "--blocks", "100", "--decimation", "1"]) == 2
        told = capsys.readouterr().err
        assert told.startswith(
            ("narxbench: blocks: found 1", "narxbench: degree with the lags: candidate terms: found")
        )
        assert told.count("\n") == 1 and " GB of memory; allowed: up to 0.5 GB on this machine" in told


def test_memory_is_that_of_the_machine_or_less() -> None:
    assert 0 < memory_of_machine() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
