# The validated experiment, and the names of the pipeline's files.
import os
import sys

import yaml
from snakemake.utils import update_config

# Jobs that are processes of their own use this checkout too, not a copy of the library that is installed elsewhere.
CODE = [workflow.basedir, f"{workflow.basedir}/src"]
sys.path[:0] = CODE
inherited = dict(os.environ).get("PYTHONPATH", "").split(os.pathsep)
os.environ.update(PYTHONPATH=os.pathsep.join([*CODE, *filter(None, inherited)]))

from narxbench.config import Cell, check_config_files, label, load_experiment
from narxbench.errors import NarxbenchError
from narxbench.provenance import code_digest as code_of
from narxbench.systems import SYSTEMS_FOLDER, load_system
from scripts.aggregate import aggregate
from scripts.search import run_search
from scripts.simulate import simulate


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
for name, value in (entry.split("=", 1) for entry in workflow.config_settings.config_args or () if "=" in entry):
    if isinstance(parsed := yaml.safe_load(value), (list, dict)):
        update_config(config, {name: parsed})

finished_only = str(config.pop("finished_only", False)).lower()
if finished_only not in ("true", "false"):
    stop(f"command line (--config): finished_only: found {finished_only!r}; allowed: true or false")
FINISHED_ONLY = finished_only == "true"

try:
    EXPERIMENT = load_experiment(config, CONFIG_FILES)
    SYSTEMS = {name: load_system(name) for name in EXPERIMENT.systems}
except NarxbenchError as mistake:
    stop(mistake)

DATA = "data/generated/{system}/{snr_db}dB.csv"
RUN = "data/runs/{system}/{snr_db}dB/{search}/{criterion}/seed-{seed}.json"
CELL = "data/cells/{system}/{snr_db}dB/{search}/{criterion}.json"
DATA_LOG = "logs/generated/{system}/{snr_db}dB.json"
CELL_LOG = "logs/cells/{system}/{snr_db}dB/{search}/{criterion}.json"
RUN_LOG = "logs/runs/{system}/{snr_db}dB/{search}/{criterion}/seed-{seed}.json"

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


# Where runs have failed, finished_only=true makes tables and report of the cells that are complete.
MATRIX = [cell for cell in EXPERIMENT.cells() if not FINISHED_ONLY or os.path.exists(CELL.format(**axes_of(cell)))]


def cells(system=None, snr_db=None, search=None, criterion=None):
    """Return the summary files of the matrix, or of the part of it that is named."""
    wanted = Cell(system, snr_db, search, criterion)
    named = [cell for cell in MATRIX if all(want is None or want == have for want, have in zip(wanted, cell))]
    return [CELL.format(**axes_of(cell)) for cell in named]


def run_files(pattern=RUN):
    """Return every run file, or its log: Snakemake would not miss a run whose summary is there."""
    return [pattern.format(seed=seed, **axes_of(cell)) for cell in MATRIX for seed in EXPERIMENT.seeds]


def logs():
    """Return the timing logs of the steps that compute."""
    cell_logs = [CELL_LOG.format(**axes_of(cell)) for cell in MATRIX]
    data_logs = sorted({DATA_LOG.format(system=cell.system, snr_db=label(cell.snr_db)) for cell in MATRIX})
    return {"simulate": data_logs, "search": run_files(RUN_LOG), "aggregate": cell_logs}


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


def orders(name):
    """Return the orders that span the candidate terms, and the length of the validation part."""
    system = SYSTEMS[name]
    return {
        "n_u": system.n_u,
        "n_y": system.n_y,
        "degree": system.degree,
        "n_validation": EXPERIMENT.data.validation_samples,
    }


def modules(names, script):
    """Return a digest of the named modules of the library and of a step's script."""
    return code_of(*(f"narxbench.{name}" for name in names), f"scripts.{script}")


def search_settings(name):
    """Return the resolved settings of a search's algorithm."""
    return EXPERIMENT.searches[name].settings.model_dump(mode="json")


def run_code(name):
    """Return a digest of what computes a run of the named search: the kernel and its algorithm."""
    return modules((*RUN_CODE, "search.population", f"search.{EXPERIMENT.searches[name].algorithm}"), "search")


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


def results_to_keep():
    """Return the files of docs/results, which hold the experiment of config/config.yaml and no other."""
    if len(CONFIG_FILES) > 1:
        stop(f"publish: found the overlay {CONFIG_FILES[-1]}; allowed: {CONFIG_FILES[0]} alone")
    kept = (".md", "cells.csv", "published_and_reproduced.csv", ".svg")
    files = [file for file in (*table_files(), *figure_files()) if file.endswith(kept)]
    return [f"docs/results/{os.path.basename(file)}" for file in files]
