"""Copies of records are no test and are noted elsewhere, in whatever file; repeated measurements are no copies."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter
from tests.readings import check_refused, read

M, PERIOD = 200, 100
DRAW = np.random.default_rng(7)
LONG = pd.DataFrame({"u": DRAW.normal(size=M), "y": np.convolve(DRAW.normal(size=M), [0.5, 0.3])[:M]})
BY_NAME: dict[str, Any] = {"input": "u", "output": "y"}
ALL, SECOND_HALF = "lines 2 to 201", "lines 102 to 201"
COPIES: dict[str, Any] = {
    "all": (LONG, {}, f"{ALL} of b.csv", f"{ALL} of a.csv"),
    "another separator": (LONG[100:], {"sep": ";", "decimal": ","}, "lines 2 to 101 of b.csv", SECOND_HALF),
    "another order": (LONG[["y", "u"]][30:], {"sep": "\t"}, "lines 2 to 171 of b.csv", "lines 32 to 201 of a.csv"),
    "15 digits": (LONG[100:], {"float_format": "%.15g"}, "lines 2 to 101 of b.csv", f"{SECOND_HALF} of a.csv"),
    "behind others": (pd.concat([LONG[::-1][:60], LONG[40:]]), {}, "lines 62 to 221 of b.csv", "lines 42 to 201 of a"),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_no_test_and_counts_twice_elsewhere(tmp_path: Path, name: str) -> None:
    frame, form, rows, before = COPIES[name]
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    LONG.to_csv(files[0], index=False)
    frame.to_csv(files[1], index=False, **form)
    recording = read(files, **BY_NAME, roles={"b.csv": "selection"})
    assert f"{rows} are the same data as {before}" in " ".join(recording.notes)
    message = f"found in {rows} the same data as in {before}"
    check_refused(f"roles: {message}", files, roles={"b.csv": "test"}, **BY_NAME)
    check_refused(f"test: {message}", files[0], test=files[1], **BY_NAME)
    twice = pd.concat([LONG, LONG])
    check_refused("rows 201 to 400 of data the same data as in rows 1 to 200 of data", twice, **BY_NAME, test=0.5)


def _response(u: Any, noise: float, draw: np.random.Generator) -> Any:
    """Return the output of x(k) = 0.8 x(k-1) + 0.2 u(k-1) + 0.05 u(k-1)^2 with noise."""
    return lfilter([0.0, 1.0], [1.0, -0.8], 0.2 * u + 0.05 * u**2) + noise * draw.standard_normal(len(u))


def _input_of(kind: str, n: int, draw: np.random.Generator) -> Any:
    on_off = draw.integers(0, 2, n).astype(float)
    inputs = {
        "white": draw.standard_normal(n),
        "on/off": on_off.repeat(8)[:n],
        "long rests": np.resize(on_off[: n // 60 + 1].repeat(draw.integers(20, 100, n // 60 + 1)), n),
        "periodic": np.resize(LONG.u[:PERIOD], n),  # equal in all records
    }
    return inputs[kind]


KINDS, SEEDS = st.sampled_from(["white", "on/off", "periodic", "long rests"]), st.integers(0, 999)


@given(KINDS, st.sampled_from([None, 8, 64, 4096]), st.sampled_from([60, 300, 2000]), SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_repeated_measurement_is_no_copy(kind, levels, n, seed):
    """Measure twice, without rounding or with the noise of a converter of this many levels."""
    draw = np.random.default_rng(seed)
    frames = []
    for _ in range(2):
        u = _input_of(kind, n, draw)
        if levels is None:
            y = _response(u, 0.01, draw)
        else:
            y = np.round(_response(u, 1 / levels, draw) * levels / 2)
        frames.append({"u": u, "y": y})
    assert "the same data" not in " ".join(read(frames, **BY_NAME).notes)
