"""Public benchmark records are read from files as documented and scored as they officially are."""

import numpy as np
import pandas as pd
import pytest
from benchmarks import measured, records

import narxbench


def write_record(folder, name, estimation=400, test=200):
    """Write a record of S1 in the documented layout; the test part is the shorter one."""
    u, y = narxbench.load_system("S1").simulate(estimation + test, snr_db=40)
    columns = {"uEst": u[:estimation], "yEst": y[:estimation], "uVal": u[estimation:], "yVal": y[estimation:]}
    frame = pd.DataFrame({key: pd.Series(values) for key, values in columns.items()})
    frame["Ts"] = pd.Series([4.0])
    frame.to_csv(folder / f"{name}.csv", index=False)
    return u, y


def test_parts_of_a_record_are_read_from_all_its_files(tmp_path):
    u, y = write_record(tmp_path, "ced")
    write_record(tmp_path, "ced_high", estimation=300, test=100)
    training, tests = records.from_folder("ced", tmp_path)
    low, high = tests
    assert (len(training[0].y), len(training[1].y)) == (400, 300)
    assert (low.name, len(low.signals.y), low.window) == ("ced", 200, 10)
    assert (high.name, len(high.signals.y), high.window) == ("ced_high", 100, 10)
    np.testing.assert_allclose(training[0].u[:, 0], u[:400], rtol=1e-12)
    np.testing.assert_allclose(tests[0].signals.y, y[400:], rtol=1e-12)


def test_the_first_samples_do_not_count_nor_those_that_a_method_is_given():
    y = np.arange(100.0)
    predicted = y + np.where(np.arange(100) < 60, 100.0, 2.0)
    part = records.ScoredPart("tanks", measured.Signals(np.zeros((100, 1)), y), 60)
    outcome = measured.PackageRun("any", predicted, 5, 1, "", 0.0)
    assert records.scored(part, outcome) == (pytest.approx(2), pytest.approx(2 / y[60:].std()), 60)
    assert records.scored(part, outcome._replace(initial=70))[2] == 70
    assert records.scored(part, outcome._replace(predicted=np.full(100, np.inf)))[:2] == (np.inf, np.inf)
