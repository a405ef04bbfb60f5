"""The comparison of methods and programs of others: its problems as files for them, their results checked and kept."""

import io
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from narxbench.experiment.contributions import Contribution, check_name, contributed_runs, load_contribution
from narxbench.experiment.data_sets import simulated_csv
from narxbench.experiment.interpretations import load_design_choices
from narxbench.experiment.kinds.methods import MethodsStudy
from narxbench.experiment.layers import read_layers
from narxbench.experiment.runs import finite
from narxbench.experiment.study import Condition, Study
from narxbench.experiment.study_settings import load_study
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError, did_you_mean, show
from narxbench.io.files import StrPath, canonical_json, sha256, write_atomically
from narxbench.io.settings import Problem, SettingsError
from narxbench.model.system import load_system
from narxbench.model.terms import SIGNALS

BASE, OVERLAY = "config/paper.yaml", "config/methods.yaml"
CONTRIBUTED = "data/reference/methods/contributed"

_README = """Problems of the study {study}: choose model terms of polynomial NARX models.

problems.json lists the problems by NAME; NAME.json describes one. Paths are seen from this folder.

data, data_sha256    its data set, a CSV file with the columns u (input) and y (output), and the file's SHA-256 digest
terms, factors       the candidate terms: names, and each as a list of factors [signal, lag]; the constant has none
n_u, n_y, degree     largest lags and degree of the candidate terms
estimation_rows      [first, end): the samples that estimate the weights, counted from 0; end is not one of them
validation_rows      [first, end) of each part that is simulated
error                free_run: the model sees its own past outputs, at first the measured ones before the part;
                     one_step: it sees the measured outputs
criterion            J = L ln(e) + penalty, e the sum of the L squared errors, lower is better
penalties            the penalty of a structure of 0, 1, 2 and more terms; null: so many are not allowed
penalty              that of one term; under a linear criterion, such as bic and aic-RHO, each term adds as much
bound                a simulated |y| above it has diverged: J is infinite
evaluations          J may be evaluated this often in a run; equal structures count each time
seeds                make a run for each of these seeds; a method that draws no random numbers makes one
example              a structure and its J, to try your own J on

A method that uses the validation rows does so through J only.
"""


def problems_of(study: Study) -> dict[str, Condition]:
    """Return the problems of a comparison of methods by name: data set, candidate terms and criterion of a condition.

    Raises
    ------
    NarxbenchError
        For a study that compares no methods, and one where each run has data of its own.
    """
    if not isinstance(study, MethodsStudy) or study.data.realisation == "per_run":
        raise NarxbenchError(
            f"study {study.study}: found page {study.page} and realisation {study.data.realisation}; "
            "allowed: methods and shared"
        )
    systems = {name: load_system(name) for name in study.all_systems}
    found: dict[str, Condition] = {}
    for condition in study.conditions(load_design_choices(), systems):
        found.setdefault(f"{condition.problem.name}/{condition.criterion}", condition)
    return found


def check(
    contribution: Contribution, study: Study, source: StrPath, taken: Collection[str] = ()
) -> tuple[int, int, int, int]:
    """Check all results of a contribution against a study: data sets are made again, structures evaluated again.

    Returns
    -------
    problems, of_all, runs, failed : int
        Problems with results, all problems of the study, runs, and runs without a structure of finite J.

    Raises
    ------
    NarxbenchError
        One line for each mistake.
    """
    check_name(contribution, source, [*study.methods, *taken])
    known = problems_of(study)
    places: dict[str, int] = {}
    for i, result in enumerate(contribution.results):
        places.setdefault(result.problem, i)
    mistakes = []
    for name, i in places.items():
        if name not in known:
            allowed = "a problem of the study, SCENARIO/SYSTEM/SNRdB/data-SEED/CRITERION"
            text = f"found {show(name, kind=False)}; allowed: {allowed}{did_you_mean(name, known)}"
            mistakes.append(Problem(("results", i, "problem"), text))
    seeds = sorted({result.seed for result in contribution.results})
    if not contribution.deterministic and seeds != sorted(study.seeds):
        text = f"found the seeds {show(seeds, kind=False)}; allowed: {show(study.seeds, kind=False)}, one run for each"
        mistakes.append(Problem(("results",), text))
    runs = []
    for name in [name for name in places if name in known]:
        text, searched = _posed(known[name])
        made: dict[str, Any] = {"searched": searched, "data_sha256": sha256(text), "budget": study.evaluations}
        try:
            runs += contributed_runs(contribution, source, problem=name, **made)
        except SettingsError as error:
            mistakes += error.problems
    if mistakes:
        raise SettingsError(mistakes, str(source))
    return len(places), len(known), len(runs), sum(run.fitness is None for run in runs)


def _posed(condition: Condition) -> tuple[str, StructureProblem]:
    """Return the data set (CSV) of a condition and its structure problem."""
    text = simulated_csv(**condition.problem.simulation)
    u, y = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, unpack=True)
    return text, StructureProblem(u, y, criterion=condition.criterion, **condition.problem.structure)


def _compared(root: StrPath) -> tuple[Study, Collection[str]]:
    """Return the comparison of methods of a copy of the project, and the methods that cannot be used here."""
    left_out: dict[str, str] = {}
    layers = read_layers([Path(root) / BASE, Path(root) / OVERLAY])
    return load_study(layers, left_out=left_out), left_out


def add_results(path: StrPath, root: StrPath = ".") -> str:
    """Check a result file, add it to those that the comparison of methods shows, and return what to do next.

    Parameters
    ----------
    path : path
        The result file.
    root : path
        Top folder of a copy of the project. Results that it has of a method of this name are replaced.

    Raises
    ------
    NarxbenchError
        One line for each mistake; nothing is written then.
    """
    contribution = load_contribution(path)
    study, left_out = _compared(root)
    covered, problems, runs, failed = check(contribution, study, path, left_out)
    target = Path(root) / CONTRIBUTED / f"{contribution.method}.json"
    earlier = [file.name for file in target.parent.glob("*.json") if file.stem.casefold() == target.stem.casefold()]
    if earlier not in ([], [target.name]):
        raise NarxbenchError(
            f"{path}: method: found {contribution.method!r} next to {earlier[0]}; allowed: one spelling"
        )
    write_atomically(target, canonical_json(contribution.model_dump(mode="json", exclude_defaults=True)))
    some = "it is shown, and ranked in the scenarios that it covers whole"
    ranked = "all of them, so that it is ranked" if covered == problems else some
    return (
        f"{contribution.method}: {runs} runs checked; without a structure of finite J: {failed}\n"
        f"problems: {covered} of {problems}; {ranked}\n"
        f"{'replaced' if earlier else 'written'}: {target}\n"
        f"next: snakemake --cores 8 --configfile {OVERLAY}"
    )


def export_problems(folder: StrPath, root: StrPath = ".") -> str:
    """Write the problems of the comparison of methods as CSV and JSON, for programs in any language, and tell how many.

    Parameters
    ----------
    folder : path
        A folder that is new or empty.
    root : path
        Top folder of a copy of the project.

    Raises
    ------
    NarxbenchError
        For a folder with files, mistakes in the settings, and a full disk.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise NarxbenchError(f"{folder}: found files there; allowed: a new or empty folder")
    study, _ = _compared(root)
    names = problems_of(study)
    for name, condition in names.items():
        text, searched = _posed(condition)
        data = f"{condition.problem.name}.csv"
        write_atomically(target / data, text)
        about = {"format": 1, "problem": name, "data": data, "data_sha256": sha256(text)}
        about |= {"evaluations": study.evaluations, "seeds": study.seeds, **_described(searched)}
        write_atomically(target / f"{name}.json", canonical_json(about))
    write_atomically(target / "problems.json", canonical_json(list(names), indent=1))
    write_atomically(target / "README.txt", _README.format(study=study.study))
    return f"{len(names)} problems written to {folder}; README.txt there says how they are described"


def _described(searched: StructureProblem) -> Mapping[str, Any]:
    linear = [name for name, factors in zip(searched.terms, searched.monomials, strict=True) if len(factors) == 1]
    first, last = searched.estimation_rows[[0, -1]].tolist()
    return {
        **{name: getattr(searched, name) for name in ("n_u", "n_y", "degree", "terms", "criterion", "error")},
        "factors": [[[SIGNALS[signal], lag] for signal, lag in monomial] for monomial in searched.monomials],
        "estimation_rows": [first, last + 1],
        "validation_rows": [[part.start, part.stop] for part in searched.segments],
        "penalty": float(searched.data.penalties[1]),
        "penalties": [finite(penalty) for penalty in searched.data.penalties.tolist()],
        "bound": searched.data.bound,
        "example": {"terms": linear, "fitness": finite(searched.evaluate(linear).fitness)},
    }
