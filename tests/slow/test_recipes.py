"""Each recipe of CONTRIBUTING, followed in a copy of the project: the files that it touches, and what it does."""

import json
import math
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from itertools import chain, product
from statistics import median

import pandas as pd
import pytest
import yaml
from tests.workflow.project import ROOT, TINY, Project

import narxbench

pytestmark = pytest.mark.slow

SECTION = (
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## How to add …\n")[2].partition("\n## ")[0]
)
# The name of each recipe, the numbers of files that it says it touches, and its text.
RECIPES = {}
for _name, _counts, _text in re.findall(r"^\*\*an? ([^*]+)\*\* \(([^)]+)\): ((?:.+\n)+)", SECTION, re.MULTILINE):
    RECIPES[_name] = set(map(int, re.findall(r"\d+", _counts))), _text
# What renews the files that are written from the code.
RENEWING = re.findall(r"^python -m .*$", SECTION, re.MULTILINE)
FOLLOWED = {
    *("system", "study", "method", "algorithm", "setting of an identification", "criterion", "kind of noise"),
    *("noise model", "file format", "metric", "column of a table", "table", "figure"),
}


def test_every_recipe_has_a_test():
    assert {*RECIPES} == FOLLOWED and len(RENEWING) == 2


class Copy(Project):
    """A copy of the project that notes which of its files are written by hand."""

    def __init__(self, root, study="tiny"):
        super().__init__(root, study)
        self.edited = set()

    def write(self, path, text):
        """Write a file as a reader of the recipe does."""
        super().write(path, text)
        self.edited.add(path)

    def trial(self, name, settings):
        """Return a study that tries what was added; its file is none that the recipe asks for."""
        Project(self.root).write(f"{name}.yaml", settings)
        return Project(self.root, name)

    def run(self, *words):
        """Return what a command of Python prints in the copy; it must end well, and only tell that it compiles."""
        environment = os.environ | {"PYTHONPATH": str(self.root / "src")}
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, encoding="utf-8")
        messages = [line for line in done.stderr.splitlines() if not line.startswith("narxbench: compiling ")]
        assert (done.returncode, messages) == (0, []), done.stdout + done.stderr
        return done.stdout

    def renew(self):
        """Renew what is written from the code, by the commands of the page, and return the schema of a study."""
        for command in RENEWING:
            words, _, target = command.removeprefix("python ").partition(" > ")
            printed = self.run(*words.split())
            if target:
                (self / target).write_text(printed, encoding="utf-8")
        return (self / "workflow/schemas/study.schema.json").read_text(encoding="utf-8")

    def check(self, name):
        """Check that the files written by hand since the last check are those of a recipe, and as many as it says."""
        counts, text = RECIPES[name]
        # Words in capitals are names that the reader chooses.
        patterns = [
            re.escape(path).replace("NAME", r"\w+") for path in re.findall(r"`([\w./-]+\.(?:py|yaml|smk))`", text)
        ]
        assert len(self.edited) in counts, f"{name}: {sorted(self.edited)}; CONTRIBUTING says {counts}"
        for path in self.edited:
            assert any(re.fullmatch(pattern, path) for pattern in patterns), (
                f"{name}: CONTRIBUTING does not name {path}"
            )
        self.edited.clear()


@contextmanager
def following(name, folder, project=None):
    """Give a copy of the checkout, or of a project, in which a recipe is followed."""
    source = Project.of_checkout(folder / "project") if project is None else project.copied(folder / "project")
    copy = Copy(source.root)
    yield copy
    copy.check(name)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile in the checkout what searches and identifications call, so that no copy of it has to."""
    u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=100)
    for algorithm in ("pem", "upso2d", "ga", "stepwise"):
        narxbench.search(problem, algorithm=algorithm, seed=1, evaluations=100)
    narxbench.identify(u, y, decimation=1, degree=2, y_lags=1, u_lags=1, effort=1.0)


def run_of(path):
    """Return the content of a run file and its first run."""
    content = json.loads(path.read_bytes())
    return content, content["runs"][0]


def text_of(project, path):
    return (project / path).read_text(encoding="utf-8")


X1 = "n_u: 2\nn_y: 1\ndegree: 2\nequation: y(k) = 0.6*y(k-1) + u(k-2)^2\n"
ADDED = """\
systems: [S3, X1]
snr_db: [30, 300]
seeds: 2
evaluations: 1500
data: {realisation: per_run}
methods:
  upso2d: {criteria: [bic, aic-16]}
  ga: null
  ga-tournament: {algorithm: ga, criteria: [bic], settings: {selection: tournament}}
"""


def test_system_study_and_method(tmp_path):
    with following("system", tmp_path) as copy:
        copy.write("config/systems/X1.yaml", X1)
        copy.write("config/added.yaml", ADDED)
    copy.edited.add("config/added.yaml")
    copy.check("study")
    copy.edited.add("config/added.yaml")
    copy.check("method")
    project = Project(copy.root, "config/added")
    for path in chain(*project.planned().values()):
        assert path.startswith(("data/added/", "reports/added/", "logs/added/", "reports/report.html")), path
    project.snakemake()
    conditions = pd.read_csv(copy / "data/added/frames/conditions.csv")
    keys = conditions["method"] + "/" + conditions["criterion"]
    searches = ("upso2d/bic", "upso2d/aic-16", "ga-tournament/bic")
    expected = set(product(("S3", "X1"), (30.0, 300.0), searches))
    assert set(zip(conditions["system"], conditions["snr_db"], keys, strict=True)) == expected
    data = [pd.read_csv(copy / f"data/added/problems/as-described/data-1/X1/300dB/realisation-{i}.csv") for i in (1, 2)]
    u, y = data[0]["u"], data[0]["y"]
    assert len(y) == 2000 and (data[1]["u"] != u).any()
    # With so little noise its equation can be seen in the data, and a search finds its terms.
    assert (0.6 * y.shift(1) + u.shift(2) ** 2)[2:].tolist() == pytest.approx(y[2:].tolist(), abs=1e-12)
    summary = json.loads(text_of(copy, "data/added/conditions/as-described/data-1/X1/300dB/ga-tournament/bic.json"))
    assert summary["realisations"] == 2 and summary["settings"]["selection"] == "tournament"
    assert {"y(k-1)", "u(k-2)^2"} <= {summary["candidates"][place] for place in summary["structures"][0]}
    for name, word in (("table_2", "population size"), ("selection_X1", "ga-tournament"), ("selection_X1", "AIC")):
        assert word in text_of(copy, f"reports/added/tables/{name}.md"), name
    assert project.planned() == {}


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


def test_algorithm(tmp_path):
    with following("algorithm", tmp_path) as copy:
        copy.write(MODULE, SMALL_STRUCTURES)
        assert copy.run("-m", "narxbench", "check-algorithm", "small_structures").endswith(": all checks passed\n")
        assert "Settings-small_structures" in copy.renew()
        assert copy.run("-c", SEARCH).split() == ["120", "120", "True", "True", "False"]
        copy.check("algorithm")
        # A reviewed one runs in the main process of a study, which knows what it costs.
        registry, entry = "src/narxbench/_algorithms/registry.py", '    "stepwise": Cost'
        copy.edit(registry, entry, f'    "small_structures": Cost(4e-6, most=120),\n{entry}')
        assert copy.run("-c", SEARCH).split()[-1] == "True"
        methods = {"small": {"algorithm": "small_structures", "criteria": ["bic"], "settings": {"most_terms": 1}}}
        path = "data/small/runs/as-described/data-1/S3/30dB/small/bic/seed-1.json"
        copy.trial("small", yaml.safe_dump({**yaml.safe_load(TINY), "methods": methods})).snakemake(path)
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
    with following("setting of an identification", tmp_path) as copy:
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
    with following("criterion", tmp_path, finished) as copy:
        copy.write("src/narxbench/_fitness/criteria/caic.py", CONSISTENT_AIC)
        assert ", caic, " in copy.renew()
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
        size = {name: content["problem"][name] for name in ("n_u", "n_y", "degree", "n_validation")}
        u, y = narxbench.read_signals(copy / "data/tiny/problems/as-described/data-1/S3/30dB.csv")
        sse = narxbench.StructureProblem(u, y, **size, rescaled=False).evaluate(run["terms"]).sse
        n_samples = size["n_validation"]
        penalty = (math.log(n_samples) + 1.0) * len(run["terms"])
        assert run["fitness"] == pytest.approx(n_samples * math.log(sse) + penalty, rel=1e-9)


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
    with following("kind of noise", tmp_path) as copy:
        copy.edit(
            "src/narxbench/_model/noise.py",
            "NOISES: dict[str, Callable[[CleanExperiment], Signals]] = {\n",
            RANDOM_WALK,
        )
        assert copy.renew().count('"walk"') == 2
        truths, outputs, message = copy.run("-c", SIMULATE).splitlines()
        assert truths == "True True"
        assert message.startswith("simulate: noise: found 'walks'; allowed: 'walk' or 'output' or 'equation' or ")
        # The same data in a study; and no study runs with noise that there is not.
        data = "data/walking/problems/as-described/data-1/S3/30dB.csv"
        project = copy.trial("walking", TINY + "data: {noise: walk}\n")
        project.snakemake(data)
        assert pd.read_csv(copy / data)["y"].tolist() == pytest.approx(list(map(float, outputs.split())), abs=1e-12)
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
    with following("noise model", tmp_path) as copy:
        module = "src/narxbench/_model/noise_models.py"
        copy.edit(module, "NOISE_MODELS: dict", "\n".join(lines) + "\n\n\nNOISE_MODELS: dict")
        copy.edit(module, "Noe, BoxJenkins)", "Noe, BoxJenkins, Daily)")
        copy.edit(module, '"noe", "box-jenkins"]', '"noe", "box-jenkins", "daily"]')
        assert '"daily"' in copy.renew()
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
    with following("file format", tmp_path) as copy:
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


RULES = "workflow/rules/paper.smk"
BUDGETS_TABLE = '''\
def budgets_table(metrics: pd.DataFrame) -> Table:
    """Return the evaluations that all runs of each condition may make together."""
    head = (Column("system", "System"), Column("snr_db", "SNR", kind="snr"), *columns("count", budget="Evaluations"))
    data = metrics.assign(budget=metrics["runs"] * metrics["evaluations"])
    return Table("budgets", "Evaluations of all runs", head, data, row_headers=2, merged=1)


def claims_table('''


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


def test_metric_column_table_and_figure_of_the_report(tmp_path, finished):
    tables, figures = (f"src/narxbench/_studies/paper/{name}.py" for name in ("tables", "figures"))
    with following("metric", tmp_path, finished) as copy:
        copy.edit("src/narxbench/_studies/paper/metrics.py", "CONDITION = (R, NU_MAX)\n", METRIC_OF_CONDITIONS)
    copy.edit(tables, 'missed="Clear misses", published', 'missed="Clear misses", places="Places", published')
    copy.edit(tables, '*of_run, published["verdict"]', '*of_run, run["places"], published["verdict"]')
    copy.check("column of a table")
    copy.edit(tables, "def claims_table(", BUDGETS_TABLE)
    claims = '    tables.append(claims_table(claims, frames["claims"], is_trial=is_trial))\n'
    copy.edit(tables, claims, f'{claims}    tables.append(budgets_table(frames["metrics"]))\n')
    copy.edit(RULES, 'TABLES += ["claims"', 'TABLES += ["budgets", "claims"')
    copy.check("table")
    copy.edit(figures, "def convergence(", LAST_FIGURE)
    drawn = 'last_fitness(shown_rows("convergence", frames, settings))'
    copy.edit(figures, "    drawings = {\n", f'    drawings = {{\n        "last_fitness": {drawn},\n')
    copy.edit(RULES, 'FIGURES = ["figure_1", "figure_2"]', 'FIGURES = ["figure_1", "figure_2", "last_fitness"]')
    copy.check("figure")
    reports = [
        f"reports/tiny/{path}" for path in ("tables/budgets.csv", "tables/claims.csv", "figures/last_fitness.svg")
    ]
    Project(copy.root).snakemake(*reports)
    frames = {name: pd.read_csv(copy / f"data/tiny/frames/{name}.csv") for name in ("metrics", "claims")}
    check_sizes(copy, frames["metrics"])
    budgets, shown_claims = (pd.read_csv(copy / report) for report in reports[:2])
    assert budgets["budget"].tolist() == [400] * 6
    of_run = frames["claims"].query("side == 'here'")
    assert shown_claims["places"].tolist() == of_run["places"].tolist() and of_run["places"].nunique() > 2
    for form, (name, heading) in product(("md", "tex"), [("budgets", "Evaluations of all runs"), ("claims", "Places")]):
        assert heading in text_of(copy, f"reports/tiny/tables/{name}.{form}")
    # A bar for each system.
    assert len(re.findall(r'<path d="M [^"]+" clip-path[^>]*style="fill: #1f77b4', text_of(copy, reports[-1]))) == 2
    assert (copy / "reports/tiny/figures/last_fitness.pdf").read_bytes().startswith(b"%PDF")


def check_sizes(project, metrics):
    """Check the metric of each condition: the median share of the candidates that its runs choose."""
    assert len(metrics) == 6
    for row in metrics.to_dict("records"):
        place = f"{row['system']}/30dB/{row['method']}/{row['criterion']}"
        summary = json.loads(text_of(project, f"data/tiny/conditions/as-described/data-1/{place}.json"))
        size = median(map(len, summary["structures"])) / len(summary["candidates"])
        assert row["size"] == row["size_high"] == pytest.approx(size)
