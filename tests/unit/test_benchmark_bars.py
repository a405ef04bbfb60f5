"""The comparison of benchmark figures with kept ones, on planted differences."""

import math
import sys

import pytest
from benchmarks import bars


def compared(old, new, most_times=math.inf):
    cases = [f"case {i}" for i in range(len(old))]
    figures = [dict(zip(cases, [{"rrse": value} for value in values], strict=True)) for values in (old, new)]
    (difference,) = bars.differences(*figures, most_times)
    return difference


def test_a_figure_is_worse_outside_the_interval_of_paired_differences():
    old = [0.1, 0.2, 0.4, 0.8]
    assert compared(old, [0.12, 0.24, 0.48, 0.96]).is_worse
    assert not compared(old, [0.08, 0.16, 0.32, 0.64]).is_worse
    scattered = compared(old, [0.2, 0.1, 0.8, 0.41])
    assert not scattered.is_worse and scattered.low < 0 < scattered.high
    assert scattered.mean == pytest.approx(math.log(2 * 0.5 * 2 * 0.41 / 0.8) / 4)


def test_one_case_may_not_exceed_its_limit():
    assert compared([0.1, 0.2, 0.3], [0.05, 0.1, 0.4], 1.15).is_worse
    assert not compared([0.1, 0.2, 0.3], [0.05, 0.1, 0.4]).is_worse
    assert not compared([0.1], [0.11]).is_worse and compared([0.1], [0.12]).is_worse


def test_a_run_resumes_compares_and_keeps(tmp_path, monkeypatch, capsys):
    measured = []

    def measure(case):
        measured.append(case)
        return {"error": {"a, 1": 2.0, "b": 3.0}[case]}

    monkeypatch.setattr(bars, "BARS", {"part": bars.Bar(lambda: ["a, 1", "b"], measure)})
    monkeypatch.setattr(bars, "KEPT", tmp_path)

    def end(*words):
        monkeypatch.setattr(sys, "argv", ["bars.py", "part", "--folder", str(tmp_path / "new"), *words])
        with pytest.raises(SystemExit) as ended:
            bars.main()
        return ended.value.code

    assert (end("--keep"), end()) == (0, 0)
    assert measured == ["a, 1", "b"] and "1.000 times" in capsys.readouterr().out
    (tmp_path / "part.csv").write_text('"a, 1",error,1\n"b",error,1.5\n')
    assert end() == bars.WORSE and "2.000 times" in capsys.readouterr().out
