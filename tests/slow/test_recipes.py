"""Each recipe of CONTRIBUTING, followed in a copy of the project: the files that it touches, and what it does."""

import json
import re
from contextlib import contextmanager
from itertools import product

import pandas as pd
import pytest
from tests.command import python
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
        done = python(*words, folder=self.root, PYTHONPATH=str(self.root / "src"))
        assert all(line.startswith("narxbench: compiling ") for line in done.err.splitlines()), done.err
        return done.out

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
        paths = re.findall(r"`([\w./-]+\.(?:py|yaml|smk))`", text)
        patterns = [re.escape(path).replace("NAME", r"\w+") for path in paths]
        assert len(self.edited) in counts, f"{name}: {sorted(self.edited)}; CONTRIBUTING says {counts}"
        for path in self.edited:
            assert any(re.fullmatch(pattern, path) for pattern in patterns), f"{name}: {path} is not named"
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
    project.snakemake()
    conditions = pd.read_csv(copy / "data/added/frames/conditions.csv")
    keys = conditions["method"] + "/" + conditions["criterion"]
    searches = ("upso2d/bic", "upso2d/aic-16", "ga-tournament/bic")
    expected = set(product(("S3", "X1"), (30.0, 300.0), searches))
    assert set(zip(conditions["system"], conditions["snr_db"], keys, strict=True)) == expected
    # With so little noise its equation can be seen in the data.
    data = pd.read_csv(copy / "data/added/problems/as-described/data-1/X1/300dB/realisation-1.csv")
    u, y = data["u"], data["y"]
    assert (0.6 * y.shift(1) + u.shift(2) ** 2)[2:].tolist() == pytest.approx(y[2:].tolist(), abs=1e-12)
    summary = json.loads(text_of(copy, "data/added/conditions/as-described/data-1/X1/300dB/ga-tournament/bic.json"))
    assert summary["settings"]["selection"] == "tournament"
    assert "ga-tournament" in text_of(copy, "reports/added/tables/selection_X1.md")


SEARCH = """
import narxbench
from narxbench._algorithms.registry import algorithm
u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
result = narxbench.search(problem, algorithm="threshold", seed=1, evaluations=500)
print(result.evaluations, algorithm("threshold").in_process)
"""


def test_algorithm(tmp_path):
    page = (ROOT / "docs/own_algorithm.md").read_text(encoding="utf-8")
    ((path, module),) = re.findall(r"^```python\n# (src/\S+/threshold\.py)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    with following("algorithm", tmp_path) as copy:
        copy.write(path, module)
        assert copy.run("-m", "narxbench", "check-algorithm", "threshold").endswith(": all checks passed\n")
        assert "Settings-threshold" in copy.renew()
        assert copy.run("-c", SEARCH) == "500 False\n"
        copy.check("algorithm")
        # A reviewed one runs in the main process.
        registry, entry = "src/narxbench/_algorithms/registry.py", '    "stepwise": Cost'
        copy.edit(registry, entry, f'    "threshold": Cost(4e-6),\n{entry}')
        assert copy.run("-c", SEARCH) == "500 True\n"


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
print(json.dumps([identification.model.terms for identification in identifications]))
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
        squares, without_squares = json.loads(terms)
        assert "u(k-1)^2" in squares and without_squares and "^" not in "".join(without_squares)
        assert message == "identify: largest_power: found 0; allowed: a whole number of at least 1 and at most 12"
        help_text = " ".join(copy.run("-m", "narxbench", "identify", "--help").split())
        assert "--largest-power N largest power of a signal in a term" in help_text


CONSISTENT_AIC = '''\
"""The consistent AIC: ln(L) + 1 for each term.

Source: H. Bozdogan, Psychometrika 52, 1987, pages 345-370.
"""

from narxbench._fitness.criterion import Criterion, log_samples


def _log_samples_and_1(samples: float, number: float) -> float:
    return log_samples(samples, number) + 1.0


CRITERION = Criterion("caic", "CAIC", "caic", per_term=_log_samples_and_1)
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
        assert list(map(float, copy.run("-c", EVALUATE).split())) == pytest.approx([1.0, 3.0, 7.0], abs=1e-9)
        # A study searches with it alone; no run that is there is made again.
        planned = copy.trial("tiny", TINY.replace("aic-2]", "aic-2, caic]")).planned()
        runs = "data/tiny/runs/as-described/data-1/{}/30dB/upso2d/caic/seed-{}.json"
        assert sorted(planned["search"]) == [runs.format(*place) for place in product(("S3", "S4"), (1, 2))]


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
"""


def test_kind_of_noise(tmp_path):
    with following("kind of noise", tmp_path) as copy:
        table = "NOISES: dict[str, Callable[[CleanExperiment], Signals]] = {\n"
        copy.edit("src/narxbench/_model/noise.py", table, RANDOM_WALK)
        assert copy.renew().count('"walk"') == 2
        assert copy.run("-c", SIMULATE) == "True True\n"
        data = "data/walking/problems/as-described/data-1/S3/30dB.csv"
        copy.trial("walking", TINY + "data: {noise: walk}\n").snakemake(data)
        assert (copy / data).exists()


NOISY = """
import numpy as np
import narxbench
u, x = narxbench.load_system("S1").simulate(800, seed=3)
e, w = 0.05 * np.random.default_rng(7).standard_normal(800), np.zeros(800)
for k in range(800):
    w[k] = e[k] + (0.8 * w[k - 24] if k >= 24 else 0.0)
small = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 1.0}
model = narxbench.identify(u, x + w, noise="daily", **small).model
print(model.noise_model, model.autoregression[23])
"""


def test_noise_model(tmp_path):
    page = (ROOT / "docs/noise_models.md").read_text(encoding="utf-8")
    example = page.partition("## How to add a noise model")[2].partition("```python\n")[2]
    lines = re.findall(r"^(?:>>> (?=def |Daily = )|\.\.\. ?)(.*)$", example.partition("```")[0], re.MULTILINE)
    with following("noise model", tmp_path) as copy:
        module = "src/narxbench/_model/noise_models.py"
        copy.edit(module, "NOISE_MODELS = ", "\n".join(lines) + "\n\n\nNOISE_MODELS = ")
        copy.edit(module, "Noe, BoxJenkins)", "Noe, BoxJenkins, Daily)")
        copy.edit(module, '"noe", "box-jenkins"]', '"noe", "box-jenkins", "daily"]')
        assert '"daily"' in copy.renew()
        name, weight = copy.run("-c", NOISY).split()
        assert name == "daily" and float(weight) == pytest.approx(-0.8, abs=0.05)


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
"""


def test_file_format(tmp_path):
    with following("file format", tmp_path) as copy:
        known = '    (b"TDSm", "tdms"),\n'
        copy.edit("src/narxbench/_io/formats.py", known, f'{known}    (b"RIFF", "wav"),\n')
        readers, reader = "src/narxbench/_io/binary.py", '    "npy": _read_npy,\n'
        copy.edit(readers, "_READERS: ", READ_SOUND)
        copy.edit(readers, reader, f'{reader}    "wav": _read_wav,\n')
        assert copy.run("-c", READ) == "True True\n"


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
    names = ("tables/budgets.csv", "tables/claims.csv", "figures/last_fitness.svg")
    budgets_file, claims_file, figure = map("reports/tiny/{}".format, names)
    Project(copy.root).snakemake(budgets_file, claims_file, figure)
    frames = {name: pd.read_csv(copy / f"data/tiny/frames/{name}.csv") for name in ("metrics", "claims")}
    assert frames["metrics"]["size"].between(0.0, 1.0, inclusive="neither").all()
    assert pd.read_csv(copy / budgets_file)["budget"].tolist() == [400] * 6
    places = frames["claims"].query("side == 'here'")["places"].tolist()
    assert pd.read_csv(copy / claims_file)["places"].tolist() == places and len(set(places)) > 2
    assert "Evaluations of all runs" in text_of(copy, "reports/tiny/tables/budgets.tex")
    # A bar for each system.
    assert len(re.findall(r'<path d="M [^"]+" clip-path[^>]*style="fill: #1f77b4', text_of(copy, figure))) == 2
