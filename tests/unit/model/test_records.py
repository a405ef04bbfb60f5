"""Records and recordings: parts, phases, roles, and the digest of what a model comes from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench._model.records import Record, Recording

U, Y = np.arange(40.0).reshape(20, 2), 100.0 + np.arange(20.0)
RECORD = Record("a.csv", U, Y, "estimation")
RECORDING = Recording((RECORD, Record("b.csv", U[:12] + 1.0, Y[:12], "test")), ("p", "q"), "T", units={"T": "K"})


def test_a_part():
    part = RECORD.part(5, 9)
    assert (part.name, part.role, len(part)) == ("a.csv, samples 6 to 9", "estimation", 4)
    np.testing.assert_array_equal(part.u, U[5:9])
    np.testing.assert_array_equal(part.y, Y[5:9])
    assert RECORD.part(0, 1, "test").role == "test" and len(RECORD) == 20


@given(decimation=st.integers(1, 25))
@settings(max_examples=25, deadline=None)
def test_the_phases_have_each_sample_once(decimation):
    phases = [RECORD.phase(first, decimation) for first in range(decimation)]
    assert sorted(np.concatenate([p.y for p in phases]).tolist()) == Y.tolist()
    for first, phase in enumerate(phases):
        assert phase.y.tolist() == [Y[k] for k in range(first, 20, decimation)]
        assert phase.u.tolist() == [U[k].tolist() for k in range(first, 20, decimation)]
        assert (phase.name, phase.role, phase.u.shape[1]) == ("a.csv", "estimation", 2)


def _changed(i, **changes):
    return replace(
        RECORDING, records=tuple(replace(r, **changes) if j == i else r for j, r in enumerate(RECORDING.records))
    )


OTHER_Y = Y.copy()
OTHER_Y[7] = np.nextafter(OTHER_Y[7], 0.0)


@pytest.mark.parametrize(
    "other",
    [
        _changed(0, y=OTHER_Y),
        _changed(0, u=U[:, ::-1].copy()),
        _changed(0, role=None),
        replace(RECORDING, records=RECORDING.records[::-1]),
        replace(RECORDING, inputs=("q", "p")),
        # The same numbers, cut elsewhere.
        replace(RECORDING, records=(RECORD.part(0, 10), RECORD.part(10, 20), RECORDING.records[1])),
        _changed(0, u=U.reshape(10, 4)[:, :2].repeat(2, axis=0)),
    ],
)
def test_the_digest_tells_data_apart(other):
    assert other.digest != RECORDING.digest


def test_the_digest_is_that_of_the_data_alone():
    same = _changed(0, name="copy.csv", u=np.asfortranarray(U), y=np.repeat(Y, 2)[::2])
    same = replace(same, sampling_time=0.1, units={}, notes=("A note.",))
    assert same.digest == RECORDING.digest and len(same.digest) == 64 and int(same.digest, 16) >= 0
