# The validated experiment, and the names of the pipeline's files.
import os
import sys
from types import SimpleNamespace

from snakemake.utils import update_config

# Jobs that are processes of their own use this checkout too, not a copy of the library that is installed elsewhere.
CODE = [workflow.basedir, f"{workflow.basedir}/src"]
sys.path[:0] = CODE
inherited = dict(os.environ).get("PYTHONPATH", "").split(os.pathsep)
os.environ.update(PYTHONPATH=os.pathsep.join([*CODE, *filter(None, inherited)]))

from narxbench.config import COMMAND_LINE, Cell, check_config_files, label, load_experiment
from narxbench.errors import NarxbenchError
from narxbench.files import hold
from narxbench.manifest import check_configuration
from narxbench.provenance import code_digest as code_of
from narxbench.readings import choices_text, load_readings, parse_choices, reading_settings
from narxbench.search import settings_model
from narxbench.sensitivity import load_plan, planned_cells
from narxbench.systems import SYSTEMS_FOLDER, load_system
from narxbench.yaml_files import read_value
from scripts.aggregate import aggregate, definition_digest
from scripts.reading_cell import run_reading_cell
from scripts.search import run_searches
from scripts.simulate import simulate
from snakemake_logger_plugin_narxbench import HELD


def stop(mistake):
    """End with the message alone: an exception would be shown with lines of this file, but the mistake is the user's."""
    sys.exit(f"narxbench: {mistake}")


CONFIG_FILES = ["config/config.yaml", *(os.path.relpath(path) for path in workflow.overwrite_configfiles)]

try:
    check_config_files(CONFIG_FILES)
except NarxbenchError as mistake:
    stop(mistake)


configfile: CONFIG_FILES[0]


# Snakemake takes a list or a mapping of --config as text.
try:
    for name, value in (entry.split("=", 1) for entry in workflow.config_settings.config_args or () if "=" in entry):
        if isinstance(parsed := read_value(value, COMMAND_LINE), (list, dict)):
            update_config(config, {name: parsed})
except NarxbenchError as mistake:
    stop(mistake)

finished_only = str(config.pop("finished_only", False)).lower()
if finished_only not in ("true", "false"):
    stop(f"command line (--config): finished_only: found {finished_only!r}; allowed: true or false")
FINISHED_ONLY = finished_only == "true"

# On clusters, how many seeds one job runs. It decides what runs together and no result: it is no part of the experiment.
seeds_per_job = config.pop("seeds_per_job", None)
SEEDS_PER_JOB = 1 if seeds_per_job is None else seeds_per_job
if type(SEEDS_PER_JOB) is not int or SEEDS_PER_JOB < 1:
    stop(f"command line (--config): seeds_per_job: found {seeds_per_job!r}; allowed: a positive whole number")

FIDELITY_PLAN = str(config.pop("fidelity_plan", "config/fidelity.yaml"))

try:
    READINGS = load_readings("config/readings.yaml")
    PLAN = load_plan(FIDELITY_PLAN, READINGS)
    EXPERIMENT = load_experiment(config, CONFIG_FILES)
    SYSTEMS = {name: load_system(name) for name in EXPERIMENT.systems}
except NarxbenchError as mistake:
    stop(mistake)

# One data set for all runs of a cell, or one for each run.
OWN_DATA = EXPERIMENT.data.realisation == "per_run"
DATA_SET = "{system}/{snr_db}dB/seed-{seed}" if OWN_DATA else "{system}/{snr_db}dB"
DATA = f"data/generated/{DATA_SET}.csv"
RUN = "data/runs/{system}/{snr_db}dB/{search}/{criterion}/seed-{seed}.json"
CELL = "data/cells/{system}/{snr_db}dB/{search}/{criterion}.json"
READING_CELL = "data/fidelity/{algorithm}/{choices}/data-{data_seed}/{system}/{snr_db}dB/{criterion}.json"
READING_CELL_LOG = "logs/fidelity/{algorithm}/{choices}/data-{data_seed}/{system}/{snr_db}dB/{criterion}.json"
DATA_LOG = f"logs/generated/{DATA_SET}.json"
CELL_LOG = "logs/cells/{system}/{snr_db}dB/{search}/{criterion}.json"
RUN_LOG = "logs/runs/{system}/{snr_db}dB/{search}/{criterion}/seed-{seed}.json"

# Digests of the results of config/config.yaml, which the repository keeps.
KEPT_MANIFEST = "docs/results/manifest.csv"

FIDELITY_FIGURES = ["effects", "ranking", "beside", "claims", "gaps"]
FIDELITY_TABLES = ["distances", "effects", "claims", "gaps"]

# Modules by what they decide, so that an edit re-runs the steps that it can change and no others.
DATA_CODE = ("arithmetic", "data", "randomness", "signals", "systems", "terms")
RUN_CODE = (
    "arithmetic",
    "data",
    "fitness",
    "kernel",
    "lanes",
    "randomness",
    "runs",
    "terms",
    "search.__init__",
    "search.objective",
)
CELL_CODE = ("arithmetic", "cells", "data", "fitness", "kernel", "lanes", "metrics", "randomness", "runs")
CELL_CODE += ("systems", "terms")


wildcard_constraints:
    system="|".join(EXPERIMENT.systems),
    snr_db="|".join(label(snr_db).replace(".", r"\.") for snr_db in EXPERIMENT.snr_db),
    search="|".join(EXPERIMENT.searches),
    criterion=r"[a-z]+(-[0-9.eE+-]+)?",
    seed=r"[0-9]+",


def axes_of(cell):
    """Return what names a cell in paths."""
    return {"system": cell.system, "snr_db": label(cell.snr_db), "search": cell.search, "criterion": cell.criterion}


def finished(cell):
    """Return whether a cell is complete: where runs have failed, its summary may be one of earlier runs."""
    files = (path.format(seed=seed, **axes_of(cell)) for path in (CELL, RUN) for seed in EXPERIMENT.seeds)
    return all(os.path.exists(file) for file in files)


# Where runs have failed, finished_only=true makes tables and report of the cells that are complete.
MATRIX = [cell for cell in EXPERIMENT.cells() if not FINISHED_ONLY or finished(cell)]
if not MATRIX:
    stop("command line (--config): finished_only: found no complete cell; repeat the command without it")


def cells(system=None, snr_db=None, search=None, criterion=None):
    """Return the summary files of the matrix, or of the part of it that is named."""
    wanted = Cell(system, snr_db, search, criterion)
    named = [cell for cell in MATRIX if all(want is None or want == have for want, have in zip(wanted, cell))]
    return [CELL.format(**axes_of(cell)) for cell in named]


def run_files(pattern=RUN):
    """Return every run file, or its log: Snakemake would not miss a run whose summary is there."""
    return [pattern.format(seed=seed, **axes_of(cell)) for cell in MATRIX for seed in EXPERIMENT.seeds]


def data_files(system, snr_db, pattern=DATA):
    """Return the data set of all runs on a system at an SNR, or one for each run."""
    files = (pattern.format(system=system, snr_db=snr_db, seed=seed) for seed in EXPERIMENT.seeds)
    return list(dict.fromkeys(files))


def search_jobs():
    """Return name, data, run files and logs of the search rules: a job for each seed, or for SEEDS_PER_JOB of them."""
    if SEEDS_PER_JOB == 1:
        return [("search", DATA, [RUN], [RUN_LOG])]
    starts = range(0, len(EXPERIMENT.seeds), SEEDS_PER_JOB)
    blocks = [EXPERIMENT.seeds[start : start + SEEDS_PER_JOB] for start in starts]
    # The other axes stay wildcards.
    runs, timings = (
        [expand(pattern, seed=block, allow_missing=True) for block in blocks] for pattern in (RUN, RUN_LOG)
    )
    data = [expand(DATA, seed=block, allow_missing=True) if OWN_DATA else DATA for block in blocks]
    names = [f"search_{block[0]}_to_{block[-1]}" for block in blocks]
    return list(zip(names, data, runs, timings))


def data_sets(pattern=DATA):
    """Return every data set of the matrix, or its log."""
    places = dict.fromkeys((cell.system, label(cell.snr_db)) for cell in MATRIX)
    return [file for place in places for file in data_files(*place, pattern=pattern)]


def logs():
    """Return the timing logs of the steps that compute."""
    cell_logs = [CELL_LOG.format(**axes_of(cell)) for cell in MATRIX]
    return {"simulate": data_sets(DATA_LOG), "search": run_files(RUN_LOG), "aggregate": cell_logs}


def described(name):
    """Return what defines a system, for the steps that depend on it."""
    system = SYSTEMS[name]
    return {
        "name": name,
        "equation": system.equation,
        "n_u": system.n_u,
        "n_y": system.n_y,
        "degree": system.degree,
    }


def system_file(name):
    """Return the file that describes a system."""
    return os.path.relpath(SYSTEMS_FOLDER / f"{name}.yaml")


def recorded_input():
    """Return the file of a recorded excitation, as a list that is empty for the generated ones."""
    excitation = EXPERIMENT.data.excitation
    return [excitation.file] if excitation.kind == "recorded" else []


def data_experiment(w):
    """Return what defines the data sets of a system at an SNR."""
    data = EXPERIMENT.data.model_dump(mode="json", exclude={"validation_samples"})
    return {"system": described(w.system), "snr_db": float(w.snr_db), "data": data}


def orders(name):
    """Return what makes a structure problem of a data set: orders, length of the validation part, kind of fitness."""
    system = SYSTEMS[name]
    return {
        "n_u": system.n_u,
        "n_y": system.n_y,
        "degree": system.degree,
        "n_validation": EXPERIMENT.data.validation_samples,
        **EXPERIMENT.fitness.model_dump(),
    }


def modules(names, script):
    """Return a digest of the named modules of the library and of a step's script."""
    return code_of(*(f"narxbench.{name}" for name in names), f"scripts.{script}")


def search_settings(name):
    """Return the resolved settings of a search's algorithm."""
    return EXPERIMENT.searches[name].settings.model_dump(mode="json")


def cell_definition(w):
    """Return what defines a cell: what its runs must be made with, and how they are summarised."""
    return {
        "axes": {"system": w.system, "snr_db": w.snr_db, "search": w.search, "criterion": w.criterion},
        "experiment": data_experiment(w),
        "orders": orders(w.system),
        "algorithm": EXPERIMENT.searches[w.search].algorithm,
        "settings": search_settings(w.search),
        "seeds": EXPERIMENT.seeds,
        "evaluations": EXPERIMENT.evaluations,
        **EXPERIMENT.statistics.model_dump(),
    }


def definitions(w, input):
    """Return the digest of what defines each of the cells that a step reads, by which it knows them."""
    return [DEFINITIONS[file] for file in input.cells]


def run_code(name):
    """Return a digest of what computes a run of the named search: the kernel and its algorithm."""
    return modules((*RUN_CODE, "search.population", f"search.{EXPERIMENT.searches[name].algorithm}"), "search")


DEFINITIONS = {
    CELL.format(**axes): definition_digest(**cell_definition(SimpleNamespace(**axes))) for axes in map(axes_of, MATRIX)
}


def reading_cells():
    """Return the summary files of the sensitivity experiment."""
    return [
        READING_CELL.format(system=system, snr_db=label(snr_db), **cell._asdict())
        for cell in planned_cells(PLAN, READINGS)
        for system in EXPERIMENT.systems
        for snr_db in EXPERIMENT.snr_db
    ]


def cell_of_reading(w):
    """Return what one cell of the sensitivity experiment is made with: what the paper states is as in the experiment."""
    open_settings = reading_settings(READINGS, parse_choices(READINGS, w.choices))
    searches = [search.settings for search in EXPERIMENT.searches.values() if search.algorithm == w.algorithm]
    stated = searches[0] if searches else settings_model(w.algorithm)()
    seed = int(w.data_seed)
    return {
        "axes": {**dict(w.items()), "data_seed": seed},
        "system": described(w.system),
        "data": {**EXPERIMENT.data.model_dump(mode="json"), **open_settings["data"], "seed": seed},
        "fitness": open_settings["fitness"],
        "settings": {**stated.model_dump(mode="json"), **open_settings.get(w.algorithm, {})},
        "seeds": EXPERIMENT.seeds,
        "evaluations": EXPERIMENT.evaluations,
    }


def reading_code(algorithm):
    """Return a digest of what computes a cell of the sensitivity experiment."""
    names = (
        *DATA_CODE,
        *(name for name in RUN_CODE if name != "runs"),
        "metrics",
        "sensitivity",
        "search.population",
        f"search.{algorithm}",
    )
    return modules(names, "reading_cell")


def table_files():
    """Return every table of the paper's kinds, in each format, and the tidy tables."""
    names = ["test_systems", "search_settings", "agreement"]
    names += [f"{kind}_{system}" for kind in ("fitness", "comparison") for system in EXPERIMENT.systems]
    tidy = ["selection_frequency", "cells", "published_and_reproduced", "recovery", "search_comparison"]
    return [
        "reports/tables/claims.md",
        *expand("reports/tables/{name}.{form}", name=names, form=["csv", "md", "tex"]),
        *expand("reports/tables/{name}.csv", name=tidy),
    ]


def figure_files():
    """Return both figures in each format."""
    return expand("reports/figures/{name}.{form}", name=["convergence", "term_frequency"], form=["pdf", "svg"])


def fidelity_files():
    """Return what the kept cells of the sensitivity experiment say, beside the document itself."""
    figures = [f"{name}.svg" for name in FIDELITY_FIGURES]
    return [
        f"reports/fidelity/{file}" for file in (*figures, *(f"{name}.csv" for name in FIDELITY_TABLES), "summary.json")
    ]


def results():
    """Return every file that depends on code, settings and versions alone, hence has the same bytes everywhere."""
    summaries = [*cells(), "reports/claims.json", "reports/statistics.json"]
    study = ["reports/fidelity.md", *fidelity_files()]
    return [*data_sets(), *run_files(), *summaries, *table_files(), *figure_files(), *study, "reports/report.html"]


def manifest_to_verify():
    """Return the manifest of the results, which is comparable with that of config/config.yaml and no other."""
    try:
        check_configuration(KEPT_MANIFEST, EXPERIMENT.model_dump(mode="json"), CONFIG_FILES)
    except NarxbenchError as mistake:
        stop(mistake)
    return "reports/manifest.csv"


def results_to_keep():
    """Return the files that the repository keeps, of the experiment of config/config.yaml and no other."""
    if len(CONFIG_FILES) > 1:
        stop(f"publish: found the overlay {CONFIG_FILES[-1]}; allowed: {CONFIG_FILES[0]} alone")
    kept = (".md", "cells.csv", "published_and_reproduced.csv", ".svg")
    files = [file for file in (*table_files(), *figure_files()) if file.endswith(kept)]
    fidelity = [file.replace("reports/", "docs/") for file in ("reports/fidelity.md", *fidelity_files())]
    return [*(f"docs/results/{os.path.basename(file)}" for file in files), KEPT_MANIFEST, *fidelity]
