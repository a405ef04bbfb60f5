"""Definitions: another content has another name, and what has changed is named."""

from pathlib import Path
from typing import Any

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline.definitions import changes, definition_file, read_definition, run_definition, write_definition
from narxbench._pipeline.plans import plan_of

CONTENT: dict[str, Any] = {
    "settings": {"evaluations": 900, "settings": {"swarm_size": 30}},
    "code": {"_algorithms/ga.py": "0123", "search.py": "4567"},
    "versions": {"numpy": "2.0"},
    "files": {"claims.yaml": "89ab"},
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """The path of a definition, without digest and suffix."""
    return str(tmp_path / "methods/ga [x]/bic")


def edited(kind: str, **values: Any) -> dict[str, Any]:
    return {**CONTENT, kind: {**CONTENT[kind], **values}}


def test_it_reads_back_and_any_other_content_has_another_name(path: str) -> None:
    file = definition_file(path, CONTENT)
    write_definition(file, CONTENT)
    assert read_definition(file) == CONTENT
    # The order of methods is part of the results.
    reordered = {**CONTENT, "code": dict(reversed(CONTENT["code"].items()))}
    changed_contents = [edited("settings", evaluations=901), edited("versions", numpy="2.1"), reordered]
    assert len({file, *(definition_file(path, content) for content in changed_contents)}) == 4


def test_a_definition_takes_the_place_of_former_ones_only(path: str) -> None:
    neighbour = definition_file(f"{path}-2", CONTENT)
    write_definition(neighbour, CONTENT)
    contents = [CONTENT, edited("settings", evaluations=901)]
    for content in contents:
        write_definition(definition_file(path, content), content)
    kept = {str(file) for file in Path(path).parent.iterdir()}
    assert kept == {neighbour, definition_file(path, contents[-1])}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (edited("settings", settings={"swarm_size": 31}), ["setting settings.swarm_size"]),
        (edited("code", **{"_algorithms/ga.py": "ffff"}), ["code _algorithms/ga.py"]),
        (edited("versions", numpy="2.1", numba="1"), ["versions numpy", "versions numba"]),
        (edited("files", **{"claims.yaml": "ffff"}), ["files claims.yaml"]),
    ],
)
def test_what_has_changed_is_named(path: str, content: dict[str, Any], names: list[str]) -> None:
    assert changes(definition_file(path, content), content) == []
    write_definition(definition_file(path, CONTENT), CONTENT)
    assert changes(definition_file(path, content), content) == names


def test_an_edited_definition_is_refused_and_a_damaged_former_one_replaced(path: str) -> None:
    file = definition_file(path, CONTENT)
    write_definition(file, CONTENT)
    Path(file).write_text(Path(file).read_text().replace("900", "901"))
    read_definition.cache_clear()
    with pytest.raises(NarxbenchError, match="damaged or edited; delete it and run again"):
        read_definition(file)
    Path(file).write_text("{")
    content = edited("settings", evaluations=901)
    assert "setting evaluations" in changes(definition_file(path, content), content)


def test_problem_and_method_give_the_parameters_of_runs(folder: Path) -> None:
    """They are those that a condition of the study has."""
    plan = plan_of(["config/methods.yaml"])
    condition = plan.conditions[-1]
    paths = [f"data/methods/problems/{condition.problem.name}", f"data/methods/{plan.method_path(condition)}"]
    for path in paths:
        write_definition(plan.file_of(path), plan.content(plan.file_of(path)))
    definition = run_definition(*map(plan.file_of, paths))
    assert definition == {
        "condition": condition.key.model_dump(exclude_defaults=True),
        "structure": condition.problem.structure,
        "axes": condition.problem.axes,
        "algorithm": condition.algorithm,
        "settings": dict(condition.settings),
        "evaluations": condition.evaluations,
        "time_limit": plan.study.time_limit,
    }
