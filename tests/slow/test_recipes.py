"""Each recipe of CONTRIBUTING, followed in a copy of the project: the files that it touches, and what it does."""

import csv
import json
import math
import re
from itertools import chain, product
from statistics import mean, median

import pandas as pd
import pytest
import yaml
from tests.slow.recipes import RECIPES, following
from tests.workflow.project import ROOT, TINY, Project

import narxbench

pytestmark = pytest.mark.slow

TESTS = {
    "algorithm": ["test_algorithm_of_your_own", "test_reviewed_algorithm"],
    "column of a table": ["test_column_of_a_table"],
    "criterion": ["test_criterion"],
    "figure": ["test_figure"],
    "file format": ["test_file_format"],
    "kind of noise": ["test_kind_of_noise"],
    "method": ["test_method"],
    "metric": ["test_metric_of_methods", "test_metric_of_conditions"],
    "noise model": ["test_noise_model"],
    "setting of an identification": ["test_setting_of_an_identification"],
    "study": ["test_study"],
    "system": ["test_system"],
    "table": ["test_table"],
}


def test_every_recipe_has_a_test():
    assert {*RECIPES} == {*TESTS}
    for names in TESTS.values():
        assert {*names} <= globals().keys()


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile in the checkout what searches and identifications call, so that no copy of it has to."""
    u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=100)
    for algorithm in ("pem", "upso2d", "ga", "stepwise"):
        narxbench.search(problem, algorithm=algorithm, seed=1, evaluations=100)
    narxbench.identify(u, y, decimation=1, degree=2, y_lags=1, u_lags=1, effort=1.0)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def signals_of(path):
    """Return the input and the output of a data set."""
    signals = pd.read_csv(path)
    return signals["u"].tolist(), signals["y"].tolist()


def run_of(path):
    """Return the content of a run file and its first run."""
    content = json.loads(path.read_bytes())
    return content, content["runs"][0]


def summaries_of(project):
    """Return the summaries of the conditions of a study by system, method and criterion."""
    summaries = {}
    for path in (project / f"data/{project.study}/conditions").rglob("*.json"):
        summary = json.loads(path.read_bytes())
        summaries[summary["system"], summary["method"], summary["criterion"]] = summary
    return summaries


def test_system(tmp_path):
    with following("system", tmp_path / "project") as copy:
        copy.write("config/systems/tank.yaml", "n_u: 2\nn_y: 1\ndegree: 2\nequation: y(k) = 0.6*y(k-1) + u(k-2)^2\n")
        # With so little noise its equation can be seen in the data.
        copy.write("config/tanks.yaml", "systems: [tank]\nsnr_db: [300]\nfigures: {snr_db: 300}\n")
        data = "data/tanks/problems/as-described/data-1/tank/300dB.csv"
        Project(copy.root, "config/tanks").snakemake(data)
        u, y = signals_of(copy / data)
        assert len(y) == 2000 and max(y) > 1.0
        assert y[2:] == pytest.approx([0.6 * y[k - 1] + u[k - 2] ** 2 for k in range(2, 2000)], abs=1e-12)


def test_study(tmp_path):
    with following("study", tmp_path / "project") as copy:
        settings = "systems: [S3]\nsnr_db: [30]\nseeds: 2\nevaluations: 100\nmethods: {upso2d: {criteria: [bic]}}\n"
        copy.write("config/small.yaml", settings)
        project = Project(copy.root, "config/small")
        outputs = list(chain(*project.planned().values()))
        assert len(outputs) > 50
        for path in outputs:
            assert path.startswith(("data/small/", "reports/small/", "logs/small/"))
        frame = "data/small/frames/conditions.csv"
        project.snakemake(frame)
        rows = rows_of(copy / frame)
        assert {(row["system"], row["method"], row["runs"], row["evaluations"]) for row in rows} == {
            ("S3", "upso2d", "2", "100"),
            ("S3", "ga", "2", "100"),
        }


SEARCH_AGAIN = """
import narxbench
u, y = narxbench.read_signals("data/mine/problems/as-described/data-1/S3/30dB.csv")
problem = narxbench.StructureProblem(u, y, n_u={n_u}, n_y={n_y}, degree={degree}, rescaled=False)
axes = {{"system": "S3", "snr_db": "30"}}
print(narxbench.search(problem, algorithm="ga", seed=1, evaluations=200, axes=axes, selection="tournament").fitness)
"""


def test_method(tmp_path):
    with following("method", tmp_path / "project") as copy:
        methods = {"ga-tournament": {"algorithm": "ga", "criteria": ["bic"], "settings": {"selection": "tournament"}}}
        copy.write("config/mine.yaml", yaml.safe_dump({**yaml.safe_load(TINY), "methods": methods}))
        runs = "data/mine/runs/as-described/data-1/S3/30dB"
        paths = f"{runs}/ga-tournament/bic/seed-1.json", f"{runs}/ga/bic/seed-1.json"
        Project(copy.root, "config/mine").snakemake(*paths)
        tournament, tournament_run = run_of(copy / paths[0])
        proportional, proportional_run = run_of(copy / paths[1])
        assert (tournament["settings"]["selection"], proportional["settings"]["selection"]) == (
            "tournament",
            "proportional",
        )
        assert tournament_run["history"] != proportional_run["history"]
        assert float(copy.run("-c", SEARCH_AGAIN.format(**tournament["problem"]))) == tournament_run["fitness"]


SMALL_STRUCTURES = '''\
"""All structures of up to a few terms, the smaller ones first."""

from itertools import combinations

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._io.settings import Settings as BaseSettings

ABOUT = About(
    reference="none: it tries them all", deterministic=True, stops_early=True, options={"most_terms": [1]}
)


class Settings(BaseSettings):
    """Settings of the search through all small structures."""

    most_terms: int = Field(default=2, ge=1, le=4, description="terms of the largest structures")


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Evaluate one structure after the other."""
    for size in range(1, settings.most_terms + 1):
        for terms in combinations(range(objective.n_terms), size):
            structure = np.zeros(objective.n_terms, np.uint8)
            structure[list(terms)] = 1
            objective.evaluate(structure[None])
    return Found(objective.best_position)
'''
MODULE = "src/narxbench/_algorithms/small_structures.py"
SEARCH = """
from itertools import combinations
import narxbench
from narxbench._algorithms.registry import algorithm
u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
result = narxbench.search(problem, algorithm="small_structures", seed=1, evaluations=500)
structures = [terms for size in (1, 2) for terms in combinations(problem.terms, size)]
best = min((problem.evaluate(terms) for terms in structures), key=lambda evaluation: evaluation.fitness)
print(result.evaluations, len(structures), result.terms == best.terms, result.fitness == best.fitness)
print(algorithm("small_structures").in_process)
"""


def test_algorithm_of_your_own(tmp_path):
    with following("algorithm", tmp_path / "project") as copy:
        copy.write(MODULE, SMALL_STRUCTURES)
        assert copy.run("-m", "narxbench", "check-algorithm", "small_structures").endswith(": all checks passed\n")
        copy.renew()
        assert "Settings-small_structures" in copy.schema()
        assert copy.run("-c", SEARCH).split() == ["120", "120", "True", "True", "False"]


def test_reviewed_algorithm(tmp_path):
    with following("algorithm", tmp_path / "project") as copy:
        copy.write(MODULE, SMALL_STRUCTURES)
        registry = "src/narxbench/_algorithms/registry.py"
        copy.edit(
            registry, '    "stepwise": Cost', '    "small_structures": Cost(4e-6, most=120),\n    "stepwise": Cost'
        )
        assert copy.run("-c", SEARCH).split() == ["120", "120", "True", "True", "True"]
        # It comes with the package, so that studies know what it costs, and run it in the main process.
        methods = {"small": {"algorithm": "small_structures", "criteria": ["bic"], "settings": {"most_terms": 1}}}
        project = copy.trial("small", yaml.safe_dump({**yaml.safe_load(TINY), "methods": methods}))
        path = "data/small/runs/as-described/data-1/S3/30dB/small/bic/seed-1.json"
        project.snakemake(path)
        content, run = run_of(copy / path)
        assert (content["algorithm"], len(run["terms"])) == ("small_structures", 1)
        assert run["evaluations"] == content["problem"]["n_terms"]


SETTING = '''\
    largest_power: Annotated[int, option(_CANDIDATES, "N")] = Field(default=MAX_DEGREE, ge=1, le=MAX_DEGREE)
    """Largest power of a signal in a term."""
    include: '''
USE = """\
    for monomial in _all_candidates(configuration, settings):
        if any(monomial.count(factor) > settings.largest_power for factor in monomial):
            continue
"""
IDENTIFY = """
import inspect, json, narxbench
from narxbench._identification.estimator import NarxRegressor
for function in (narxbench.identify, NarxRegressor):
    parameter = inspect.signature(function).parameters["largest_power"]
    assert (parameter.annotation, parameter.default) == (int, 12), parameter
    assert "largest_power : int, default 12\\n" in inspect.getdoc(function)
u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
small = {"decimation": 1, "degree": 2, "y_lags": 1, "u_lags": 1, "effort": 1.0}
identifications = [narxbench.identify(u, y, largest_power=power, **small) for power in (2, 1)]
regressor = NarxRegressor(largest_power=1, **small).fit(u[:, None], y)
models = [identifications[0].model, identifications[1].model, regressor.model_]
print(json.dumps([model.terms for model in models]))
try:
    narxbench.identify(u, y, largest_power=0)
except narxbench.NarxbenchError as error:
    print(error)
"""


def test_setting_of_an_identification(tmp_path):
    with following("setting of an identification", tmp_path / "project") as copy:
        copy.edit("src/narxbench/_identification/settings.py", "    include: ", SETTING)
        parameter = "    largest_power: int = 12,\n"
        copy.edit("src/narxbench/_identification/entry.py", "    include: ", f"{parameter}    include: ")
        estimator = "src/narxbench/_identification/estimator.py"
        copy.edit(estimator, "        include: ", f"    {parameter}        include: ")
        copy.edit(estimator, "        self.include", "        self.largest_power = largest_power\n        self.include")
        configurations = "src/narxbench/_identification/search/configurations.py"
        copy.edit(configurations, "    for monomial in _all_candidates(configuration, settings):\n", USE)
        copy.renew()
        terms, message = copy.run("-c", IDENTIFY).splitlines()
        squares, *without_squares = json.loads(terms)
        assert "u(k-1)^2" in squares
        for names in without_squares:
            assert names and "^" not in "".join(names)
        assert message == "identify: largest_power: found 0; allowed: a whole number of at least 1 and at most 12"
        help_text = " ".join(copy.run("-m", "narxbench", "identify", "--help").split())
        assert "--largest-power N largest power of a signal in a term" in help_text


CONSISTENT_AIC = '''\
"""The consistent AIC."""

from narxbench._fitness.criterion import Criterion


class ConsistentAIC(Criterion):
    """ln(L) + 1 for each term (H. Bozdogan, Psychometrika 52, 1987, 345-370)."""

    form, heading, example = "caic", "CAIC", "caic"

    def per_term(self, samples: float) -> float:
        """Return ln(L) + 1."""
        return super().per_term(samples) + 1.0


CRITERION = ConsistentAIC
'''
EVALUATE = """
import narxbench
u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
for n_terms in (1, 3, 7):
    values = []
    for criterion in ("bic", "caic"):
        problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300, criterion=criterion)
        values.append(problem.evaluate(problem.terms[:n_terms]).fitness)
    print(values[1] - values[0])
"""


def test_criterion(tmp_path, finished):
    with following("criterion", tmp_path / "project", finished) as copy:
        copy.write("src/narxbench/_fitness/criteria/caic.py", CONSISTENT_AIC)
        copy.renew()
        assert ", caic, " in copy.schema()
        assert [float(line) for line in copy.run("-c", EVALUATE).split()] == pytest.approx([1.0, 3.0, 7.0], abs=1e-9)
        # Tables and pages may show its title; of runs and summaries that are there nothing is made again.
        planned = Project(copy.root).planned()
        assert "tables" in planned
        assert not {"simulate", "search", "summarise"} & planned.keys()
        project = copy.trial("tiny", TINY.replace("aic-2]", "aic-2, caic]"))
        planned = project.planned()
        runs = "data/tiny/runs/as-described/data-1/{}/30dB/upso2d/caic/seed-{}.json"
        searched = [runs.format(system, seed) for system, seed in product(("S3", "S4"), (1, 2))]
        assert sorted(planned["search"]) == searched
        project.snakemake(searched[0])
        content, run = run_of(copy / searched[0])
        n_samples = content["problem"]["n_validation"]
        penalty = (math.log(n_samples) + 1.0) * len(run["terms"])
        assert run["fitness"] == pytest.approx(n_samples * math.log(run["sse"]) + penalty, rel=1e-9)


RANDOM_WALK = """\
def _random_walk(experiment: CleanExperiment) -> Signals:
    return Signals(experiment.clean.u, experiment.clean.y + np.cumsum(experiment.e))


NOISES: dict[str, Callable[[CleanExperiment], Signals]] = {
    "walk": _random_walk,
"""
SIMULATE = """
import numpy as np
import narxbench
system = narxbench.load_system("S3")
clean = system.simulate(50, washout=0).y
white, walk = (system.simulate(50, snr_db=30, noise=noise, washout=0).y for noise in ("output", "walk"))
print(np.abs(white - clean).max() > 0.01, np.allclose(walk - clean, np.cumsum(white - clean), rtol=0, atol=1e-12))
print(*system.simulate(2000, snr_db=30, noise="walk").y.tolist())
try:
    system.simulate(50, snr_db=30, noise="walks")
except narxbench.NarxbenchError as error:
    print(error)
"""


def test_kind_of_noise(tmp_path):
    with following("kind of noise", tmp_path / "project") as copy:
        copy.edit(
            "src/narxbench/_model/noise.py",
            "NOISES: dict[str, Callable[[CleanExperiment], Signals]] = {\n",
            RANDOM_WALK,
        )
        copy.renew()
        assert copy.schema().count('"walk"') == 2
        truths, outputs, message = copy.run("-c", SIMULATE).splitlines()
        assert truths == "True True"
        assert message.startswith("simulate: noise: found 'walks'; allowed: 'walk' or 'output' or 'equation' or ")
        # The same data in a study; and no study runs with noise that there is not.
        data = "data/walking/problems/as-described/data-1/S3/30dB.csv"
        project = copy.trial("walking", TINY + "data: {noise: walk}\n")
        project.snakemake(data)
        assert signals_of(copy / data)[1] == pytest.approx([float(text) for text in outputs.split()], abs=1e-12)
        printed = copy.trial("walking", TINY + "data: {noise: walks}\n").snakemake(data, code=1)
        assert "data.noise: found 'walks'; allowed: one of walk, output, equation, " in printed
        assert "(did you mean 'walk'?)" in printed


NOISY = """
import numpy as np
import narxbench
u, x = narxbench.load_system("S1").simulate(800, seed=3)
e, w = 0.05 * np.random.default_rng(7).standard_normal(800), np.zeros(800)
for k in range(800):
    w[k] = e[k] + (0.8 * w[k - 24] if k >= 24 else 0.0)
problem = narxbench.StructureProblem(u, x + w, n_u=2, n_y=2, degree=2, n_validation=200)
result = narxbench.search(problem, algorithm="pem", seed=1)
print(*result.terms)
print(result.details["noise"]["description"], result.details["noise"]["autoregression"][23], sep=",")
small = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 1.0}
for noise in ("auto", "daily"):
    model = narxbench.identify(u, x + w, noise=noise, **small).model
    print(model.noise_model, model.autoregression[23], sep=",")
"""


def test_noise_model(tmp_path):
    page = (ROOT / "docs/noise_models.md").read_text(encoding="utf-8")
    example = page.partition("## How to add a noise model")[2].partition("```python\n")[2]
    lines = re.findall(r"^(?:>>> (?=class)|\.\.\. ?)(.*)$", example.partition("```")[0], re.MULTILINE)
    with following("noise model", tmp_path / "project") as copy:
        module = "src/narxbench/_model/noise_models.py"
        copy.edit(module, "NOISE_MODELS: dict", "\n".join(lines) + "\n\n\nNOISE_MODELS: dict")
        copy.edit(module, "Noe, BoxJenkins)", "Noe, BoxJenkins, Daily)")
        copy.edit(module, '"noe", "box-jenkins"]', '"noe", "box-jenkins", "daily"]')
        copy.renew()
        assert '"daily"' in copy.schema()
        terms, description, *models = copy.run("-c", NOISY).splitlines()
        assert terms == "y(k-1) u(k-1) y(k-1)*u(k-1) u(k-1)^2"
        for line, name in zip((description, *models), ("Daily (AR 24)", "daily", "daily"), strict=True):
            printed_name, _, weight = line.partition(",")
            assert printed_name == name
            assert float(weight) == pytest.approx(-0.8, abs=0.05)


READ_SOUND = """\
def _read_wav(file: DataFile) -> Columns:
    import scipy.io.wavfile

    _, samples = scipy.io.wavfile.read(io.BytesIO(file.content))
    return _columns_of_arrays({"channel": samples}, file)


_READERS: """
READ = """
import numpy as np
import scipy.io.wavfile
import narxbench
u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
scipy.io.wavfile.write("run.wav", 100, np.column_stack([u, y]))
small = {"decimation": 1, "degree": 2, "y_lags": 1, "u_lags": 1, "effort": 1.0}
of_file = narxbench.identify("run.wav", output="channel_2", input="channel_1", **small)
of_arrays = narxbench.identify({"valve": u, "level": y}, output="level", input="valve", **small)
print(len(of_file.model.terms) > 2, of_file.model.coefficients == of_arrays.model.coefficients)
for column in ("flow", "channel_1"):
    scipy.io.wavfile.write("run.wav", 100, np.column_stack([u, np.where(np.arange(400) == 7, np.inf, y)]))
    try:
        narxbench.identify("run.wav", output="channel_2", input=column)
    except narxbench.NarxbenchError as error:
        print(error)
"""


def test_file_format(tmp_path):
    with following("file format", tmp_path / "project") as copy:
        copy.edit(
            "src/narxbench/_io/formats.py",
            '    (b"TDSm", "tdms"),\n',
            '    (b"TDSm", "tdms"),\n    (b"RIFF", "wav"),\n',
        )
        copy.edit("src/narxbench/_io/binary.py", "_READERS: ", READ_SOUND)
        copy.edit(
            "src/narxbench/_io/binary.py", '    "npy": _read_npy,\n', '    "npy": _read_npy,\n    "wav": _read_wav,\n'
        )
        truths, unknown, wrong = copy.run("-c", READ).splitlines()
        assert truths == "True True"
        assert unknown.startswith("run.wav: input: found no column 'flow'; allowed: ")
        assert wrong.startswith("run.wav: row 8, column channel_2: found inf; allowed: ")


COMPARED = """
kind: methods
systems: [S1]
snr_db: [30]
seeds: 2
evaluations: 100
data: {seeds: [1]}
figures: {snr_db: 30}
methods: {upso2d: {criteria: [bic]}, ga: null, stepwise: {algorithm: stepwise, criteria: [bic]}}
scenarios: {base: {description: plain}}
"""
METRIC_OF_METHODS = """\
COMPARISON = (
    ComparisonMetric(
        name="largest_weight",
        heading="Largest weight",
        words="largest weight",
        form="significant",
        of_run=lambda score, run, best: math.nan if run.largest_weight is None else run.largest_weight,
        negligible=0.01,
        region="0.01 of the largest weight",
        description="size of the largest weight of a run.",
    ),
"""


def test_metric_of_methods(tmp_path):
    with following("metric", tmp_path / "project") as copy:
        copy.edit("src/narxbench/_studies/methods/metrics.py", "COMPARISON = (\n", METRIC_OF_METHODS)
        scores = "src/narxbench/_studies/methods/scores.py"
        begin = "            seed=run.seed,\n            fitness"
        copy.edit(scores, begin, f"            largest_weight=max(map(abs, run.coefficients), default=None),\n{begin}")
        project = copy.trial("compared", COMPARED)
        project.snakemake("reports/compared/tables/leaderboard.md")
        ranking = pd.read_csv(copy / "data/compared/frames/ranking.csv")
        ranking = ranking[ranking["group"] == "all"].set_index("method")
        values = {}
        for method in ("upso2d", "stepwise"):
            paths = (copy / f"data/compared/runs/base/data-1/S1/30dB/{method}").rglob("*.json")
            values[method] = mean(max(map(abs, run_of(path)[1]["coefficients"])) for path in paths)
            assert ranking["largest_weight"][method] == pytest.approx(values[method], rel=1e-11)
        assert values["upso2d"] != values["stepwise"]
        assert "largest weight" in (copy / "reports/compared/tables/differences.md").read_text(encoding="utf-8")


METRIC_OF_CONDITIONS = """\
SIZE = ConditionMetric(
    name="size",
    heading="Size",
    form="frequency",
    description="median share of the candidate terms that are chosen",
    compute=lambda row, level: Interval(*[row["cardinality"] / row["n_terms"]] * 3),
)
CONDITION = (R, NU_MAX, SIZE)
"""


def median_sizes(project):
    """Return the median number of terms of the runs of each condition, and the number of its candidate terms."""
    return {
        key: (median(map(len, summary["runs"]["structures"])), len(summary["candidates"]))
        for key, summary in summaries_of(project).items()
    }


def test_metric_of_conditions(tmp_path, finished):
    with following("metric", tmp_path / "project", finished) as copy:
        copy.edit("src/narxbench/_studies/paper/metrics.py", "CONDITION = (R, NU_MAX)\n", METRIC_OF_CONDITIONS)
        project = Project(copy.root)
        frame = "data/tiny/frames/metrics.csv"
        project.snakemake(frame)
        sizes = median_sizes(project)
        rows = rows_of(copy / frame)
        assert len(rows) == len(sizes) == 6
        for row in rows:
            size, n_terms = sizes[row["system"], row["method"], row["criterion"]]
            assert float(row["size"]) == float(row["size_high"]) == pytest.approx(size / n_terms)


def test_column_of_a_table(tmp_path, finished):
    with following("column of a table", tmp_path / "project", finished) as copy:
        tables = "src/narxbench/_studies/paper/tables.py"
        copy.edit(tables, 'missed="Clear misses", published', 'missed="Clear misses", places="Places", published')
        copy.edit(tables, '*of_run, published["verdict"]', '*of_run, run["places"], published["verdict"]')
        Project(copy.root).snakemake("reports/tiny/tables/claims.csv")
        verdicts = rows_of(copy / "data/tiny/frames/claims.csv")
        places = [row["places"] for row in verdicts if row["side"] == "here"]
        assert [row["places"] for row in rows_of(copy / "reports/tiny/tables/claims.csv")] == places
        assert len(set(places)) > 2
        for form in ("md", "tex"):
            assert "Places" in (copy / f"reports/tiny/tables/claims.{form}").read_text(encoding="utf-8")


RULES = "workflow/rules/paper.smk"
BUDGETS_TABLE = '''\
def budgets_table(metrics: pd.DataFrame) -> Table:
    """Return the evaluations that all runs of each condition may make together."""
    head = (Column("system", "System"), Column("snr_db", "SNR", kind="snr"), *columns("count", budget="Evaluations"))
    data = metrics.assign(budget=metrics["runs"] * metrics["evaluations"])
    return Table("budgets", "Evaluations of all runs", head, data, row_headers=2, merged=1)


def claims_table('''


def test_table(tmp_path, finished):
    with following("table", tmp_path / "project", finished) as copy:
        tables = "src/narxbench/_studies/paper/tables.py"
        copy.edit(tables, "def claims_table(", BUDGETS_TABLE)
        claims = '    tables.append(claims_table(claims, frames["claims"], is_trial=is_trial))\n'
        copy.edit(tables, claims, f'{claims}    tables.append(budgets_table(frames["metrics"]))\n')
        copy.edit(RULES, 'TABLES += ["claims"', 'TABLES += ["budgets", "claims"')
        Project(copy.root).snakemake("reports/tiny/tables/budgets.csv")
        budgets = pd.read_csv(copy / "reports/tiny/tables/budgets.csv")["budget"]
        assert budgets.tolist() == [400] * 6
        for form in ("md", "tex"):
            assert "Evaluations of all runs" in (copy / f"reports/tiny/tables/budgets.{form}").read_text(
                encoding="utf-8"
            )


LAST_FIGURE = '''\
def last_fitness(curves: pd.DataFrame) -> dict[str, bytes]:
    """Return the figure of the mean J of the GA at the end of its runs, by system."""
    with _in_print("last_fitness"):
        figure = new_figure(2.3)
        (axis,) = panels(figure, 1, 1)
        last = curves[curves["method"] == GA].groupby("system", sort=False)["mean"].last()
        axis.bar(last.index, last)
        return saved(figure)


def convergence('''


def test_figure(tmp_path, finished):
    with following("figure", tmp_path / "project", finished) as copy:
        figures = "src/narxbench/_studies/paper/figures.py"
        copy.edit(figures, "def convergence(", LAST_FIGURE)
        first = "    drawings = {\n"
        drawn = 'last_fitness(shown_rows("convergence", frames, settings))'
        copy.edit(figures, first, f'{first}        "last_fitness": {drawn},\n')
        copy.edit(RULES, 'FIGURES = ["figure_1", "figure_2"]', 'FIGURES = ["figure_1", "figure_2", "last_fitness"]')
        project = Project(copy.root)
        project.snakemake("reports/tiny/figures/last_fitness.svg")
        drawing = (copy / "reports/tiny/figures/last_fitness.svg").read_text(encoding="utf-8")
        heights = []
        for path in re.findall(r'<path d="M ([^"]+)" clip-path[^>]*style="fill: #1f77b4', drawing):
            corners = list(map(float, re.findall(r"-?\d+\.?\d*", path)))
            heights.append(max(corners[1::2]) - min(corners[1::2]))
        curves = pd.read_csv(copy / "data/tiny/frames/convergence.csv")
        curves = curves[(curves["criterion"] == "bic") & (curves["method"] == "ga")]
        last = curves.groupby("system")["mean"].last()
        assert len(heights) == 2
        assert heights[0] / heights[1] == pytest.approx(abs(last["S3"] / last["S4"]), rel=1e-3)
        assert (copy / "reports/tiny/figures/last_fitness.pdf").read_bytes().startswith(b"%PDF")
