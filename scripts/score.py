"""Score the results of all methods on one problem."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.data_sets import check_data_sets
from narxbench._studies.methods.scores import score


def main(job: Any) -> None:
    """Write the score file."""
    check_data_sets([job.input.data], job.simulation)
    text = score(by_method(job.input.runs), job.input.data, methods=job.params.methods, **job.params.problem)
    write_atomically(job.output[0], text)


def by_method(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return run files by their method, the folder above that of the criterion."""
    runs = defaultdict(list)
    for path in paths:
        runs[Path(path).parts[-3]].append(path)
    return dict(runs)
