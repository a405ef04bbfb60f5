"""Records and recordings: parts, phases, roles, and the digest of what a model comes from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lookups import values_of

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
    assert sorted(np.concatenate(values_of(phases, "y"))) == Y.tolist()
    for first, phase in enumerate(phases):
        samples = [*range(first, 20, decimation)]
        np.testing.assert_array_equal(phase.y, Y[samples])
        np.testing.assert_array_equal(phase.u, U[samples])
        assert (phase.name, phase.role, phase.u.shape[1]) == ("a.csv", "estimation", 2)


def _with_first_record(**changes):
    return replace(RECORDING, records=(replace(RECORD, **changes), *RECORDING.records[1:]))


OTHER_Y = Y.copy()
OTHER_Y[7] = np.nextafter(OTHER_Y[7], 0.0)


@pytest.mark.parametrize(
    "different",
    [
        _with_first_record(y=OTHER_Y),
        _with_first_record(u=U[:, ::-1].copy()),
        _with_first_record(role=None),
        replace(RECORDING, records=RECORDING.records[::-1]),
        replace(RECORDING, inputs=("q", "p")),
        # The same numbers, cut elsewhere.
        replace(RECORDING, records=(RECORD.part(0, 10), RECORD.part(10, 20), RECORDING.records[1])),
        _with_first_record(u=U.reshape(10, 4)[:, :2].repeat(2, axis=0)),
    ],
)
def test_the_digest_tells_data_apart(different):
    assert different.digest != RECORDING.digest


def test_the_digest_is_that_of_the_data_alone():
    same = _with_first_record(name="copy.csv", u=np.asfortranarray(U), y=np.repeat(Y, 2)[::2])
    same = replace(same, sampling_time=0.1, units={}, notes=("A note.",))
    assert same.digest == RECORDING.digest and len(same.digest) == 64 and int(same.digest, 16) >= 0
