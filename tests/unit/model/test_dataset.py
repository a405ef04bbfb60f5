"""Data sets as CSV files: every digit comes back, and mistakes are reported with their places."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench._io.errors import NarxbenchError
from narxbench._model.dataset import read_signals, signals_csv, write_signals

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(values=st.lists(st.tuples(finite, finite), min_size=1, max_size=30))
@quick
def test_every_data_set_reads_back_to_the_last_bit(tmp_path, values):
    u, y = (np.array(column) for column in zip(*values, strict=True))
    write_signals(tmp_path / "data.csv", u, y)
    assert (tmp_path / "data.csv").read_text() == signals_csv(u, y)
    assert [c.tobytes() for c in read_signals(tmp_path / "data.csv")] == [u.tobytes(), y.tobytes()]


def test_other_columns_and_layouts(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b'\xef\xbb\xbftime, y ,u,note\r\n0,1e-3, -2,\r\n1,+4.,"0.5","a,b"\r\n\r\n')
    u, y = read_signals(path)
    np.testing.assert_array_equal(u, [-2.0, 0.5])
    np.testing.assert_array_equal(y, [1e-3, 4.0])
    assert len(read_signals(path, ("time",))) == 1


@given(data=st.binary(max_size=60) | st.text("u,y\n\r\"' 1e-.;", max_size=60).map(str.encode))
@quick
def test_any_bytes_are_signals_or_a_clear_error(tmp_path, data):
    path = tmp_path / "data.csv"
    path.write_bytes(b"u,y\n" + data)
    try:
        u, y = read_signals(path)
    except NarxbenchError as error:
        assert str(error).startswith(f"{path}: ") and str(error).isprintable()
        return
    assert len(u) == len(y) > 0 and np.isfinite([u, y]).all()
