"""Properties of all inputs, drawn by Hypothesis: what is written is read back, and what is read is in order."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.targets import (
    ROOT,
    RUN_FILES,
    Target,
    equation_of,
    fast_readings,
    merged,
    outcome,
    scratch,
    sealed,
    targets,
)

from narxbench.experiment.study_settings import load_experiment
from narxbench.model.dataset import read_signals, write_signals
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json
from narxbench.experiment.runs import read_run, write_run
from narxbench.model.system import parse_equation
from narxbench.model.terms import SIGNALS, Monomial, parse_term, term_name
from narxbench.io.yaml import read_mapping, read_value

quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
monomials = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 9999)), max_size=12).map(lambda m: tuple(sorted(m)))
coefficients = st.floats(allow_nan=False, allow_infinity=False).filter(bool)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=12,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def by_name() -> Iterator[dict[str, Target]]:
    with scratch() as folder:
        yield {target.name: target for target in targets(folder)}


@pytest.mark.parametrize("name", ["term", "equation", "criterion", "signals", "run file", "system terms", "YAML"])
@given(text=st.text(max_size=200) | st.text("yuk(-)^*1290.te+ \n,:'\"[]{}", max_size=200))
@quick
def test_any_text_is_accepted_or_refused_clearly(by_name: dict[str, Target], name: str, text: str) -> None:
    outcome(by_name[name], text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", ["term", "equation", "signals", "run file", "published values", "YAML", "system file"])
@given(data=st.binary(max_size=100))
@quick
def test_any_bytes_are_accepted_or_refused_clearly(by_name: dict[str, Target], name: str, data: bytes) -> None:
    outcome(by_name[name], data)


@given(monomial=monomials, data=st.data())
@quick
def test_every_way_to_write_a_term_is_read(monomial: Monomial, data: st.DataObject) -> None:
    factors = data.draw(st.permutations(monomial))
    blank = st.sampled_from(["", " ", "\t", "\n"])
    written = data.draw(st.sampled_from(["*", " * ", " "])).join(
        f"{SIGNALS[signal]}{data.draw(blank)}({data.draw(st.sampled_from('kt'))}-{data.draw(blank)}{lag})"
        + data.draw(st.sampled_from(["", "^1", "**1", " ^ 1"]))
        for signal, lag in factors
    )
    assert parse_term(written or "1") == monomial
    assert parse_term(term_name(monomial)) == monomial


@given(pairs=st.lists(st.tuples(monomials, coefficients), min_size=1, max_size=8, unique_by=lambda pair: pair[0]))
@quick
def test_every_equation_reads_back(pairs: list[tuple[Monomial, float]]) -> None:
    assert parse_equation(equation_of(pairs)) == pairs


@given(values=st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2), min_size=1, max_size=30))
@quick
def test_every_data_set_reads_back_to_the_last_bit(tmp_path: Path, values: list[tuple[float, float]]) -> None:
    u, y = (np.array(column) for column in zip(*values, strict=True))
    write_signals(tmp_path / "data.csv", u, y)
    assert [c.tobytes() for c in read_signals(tmp_path / "data.csv")] == [u.tobytes(), y.tobytes()]


@given(value=json_values, place=st.data())
@quick
def test_a_run_file_with_any_value_anywhere(tmp_path: Path, value: Any, place: st.DataObject) -> None:
    content = json.loads(RUN_FILES[0])
    group = place.draw(st.sampled_from([content, *(part for part in content.values() if isinstance(part, dict))]))
    group[place.draw(st.sampled_from(sorted(group)) | st.text())] = value
    path = tmp_path / "run.json"
    path.write_bytes(sealed(json.dumps(content).encode()))
    try:
        run = read_run(path)
    except NarxbenchError as error:
        assert str(error).startswith(f"{path}: ")
        return
    write_run(path, run)
    written = path.read_bytes()
    assert json.loads(written).items() >= run.model_dump(mode="json").items()
    write_run(path, read_run(path))
    assert path.read_bytes() == written


@given(value=plain, place=st.data())
@quick
def test_a_configuration_with_any_value_anywhere(tmp_path: Path, value: Any, place: st.DataObject) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({}))
    base = read_mapping(ROOT / "config" / "config.yaml")
    group: dict[str, Any] = {}
    overlay = group
    for key in place.draw(st.sampled_from([(), ("data",), ("data", "excitation"), ("searches",), ("searches", "ga")])):
        group = group.setdefault(key, {})
    group[place.draw(st.sampled_from(sorted({**base, **base["data"], **base["searches"]["ga"]})) | st.text())] = value
    try:
        with fast_readings():
            experiment = load_experiment(merged(base, overlay), [ROOT / "config" / "config.yaml", path])
    except NarxbenchError as error:
        assert all(line.isprintable() for line in str(error).split("\n"))
        return
    canonical_json(experiment.model_dump(mode="json")).encode()


@given(value=json_values)
@quick
def test_json_is_yaml_with_the_same_values(value: Any) -> None:
    text = json.dumps({"value": value}, allow_nan=False) if _finite(value) else "{}"
    try:
        found = read_value(text, "text")
    except NarxbenchError as error:
        assert str(error).startswith("text: line 1")
        assert any(word in str(error) for word in ("64 bits", "surrogate"))
        return
    if text != "{}":
        assert _numbers_as_text(found["value"]) == _numbers_as_text(value)


def _finite(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def _numbers_as_text(value: Any) -> Any:
    # YAML 1.1 reads 1e-05 as text.
    if isinstance(value, dict):
        return {key: _numbers_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_numbers_as_text, value))
    return repr(value) if isinstance(value, float) else value
