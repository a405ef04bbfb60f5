"""Score the results of all methods on one problem."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from narxbench._algorithms.registry import algorithm
from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import check_data_sets
from narxbench._pipeline.definitions import read_definition, run_definition
from narxbench._studies.methods.scores import score


def main(job: Any) -> None:
    """Write the score file."""
    check_data_sets([job.input.data], job.input.problem[0])
    problem = read_definition(job.input.problem[0])["settings"]
    simulation, methods = problem["simulation"], {}
    for path in job.input.methods:
        definition = run_definition(job.input.problem[0], path)
        about = algorithm(definition["algorithm"]).about
        name = definition["condition"].pop("method")
        methods[name] = {
            "algorithm": definition["algorithm"],
            "settings": definition["settings"],
            "evaluations": definition["evaluations"],
            "seeds": job.params.seeds[name],
            "deterministic": about.deterministic,
            "stops_early": about.stops_early,
            "minimises": about.minimises,
        }
    text = score(
        by_method(job.input.runs),
        job.input.data,
        problem=definition["condition"],
        methods=methods,
        system=simulation["system"],
        structure=definition["structure"],
        held_out=problem["held_out"],
        fresh={name: simulation["data"][name] for name in ("washout", "excitation")},
    )
    write_atomically(job.output[0], text)


def by_method(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return run files by their method, the folder above that of the criterion."""
    runs = defaultdict(list)
    for path in paths:
        runs[Path(path).parts[-3]].append(path)
    return dict(runs)
