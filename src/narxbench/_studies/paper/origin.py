"""Where the values of a condition come from: its data sets, its run files with their seals, and the command."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from narxbench._study.settings import problem_name


def condition_path(condition: Mapping[str, Any]) -> str:
    """Return the path of a condition below the folders of a study."""
    return f"{_problem(condition)}/{condition['method']}/{condition['criterion']}"


def _problem(condition: Mapping[str, Any]) -> str:
    """Return the path of the problem of a condition below the problems of a study."""
    return problem_name(condition["interpretation"], condition["data_seed"], condition["system"], condition["snr_db"])


def data_paths(summary: Mapping[str, Any], study: str) -> list[str]:
    """Return the data sets of a condition: one, or one for each seed."""
    problem = f"data/{study}/problems/{_problem(summary)}"
    if summary["realisations"] > 1:
        return [f"{problem}/realisation-{seed}.csv" for seed in summary["seeds"]]
    return [f"{problem}.csv"]


def origin_lines(summary: Mapping[str, Any], study: str, command: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines on a condition by its summary. ``command`` returns the command that makes a file."""
    path = condition_path(summary)
    paths = data_paths(summary, study)
    yield f"data sets, SHA-256 {summary['data_sha256']}:"
    yield f"  {paths[0]}" + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    yield f"run files in data/{study}/runs/{path}, the seal of each run:"
    for name, seal in summary["seals"].items():
        yield f"  seed {name.rpartition('/')[2]}  {seal}"
    yield "made by:"
    yield f"  {command(f'data/{study}/conditions/{path}.json')}"
