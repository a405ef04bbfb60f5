"""The command interrupted at many moments, by hand: ``pytest -m soak -s tests/slow/test_soak.py``."""

import os
import random
import shutil
import time

import pytest
from tests.slow.test_kills import SIGNALS, interrupt

pytestmark = pytest.mark.soak


def test_interrupted_at_any_moment(finished, tmp_path):
    """NARXBENCH_SOAK moments (52) over a whole run, the signals in turn; another NARXBENCH_SEED (1) draws others."""
    count, draw = int(os.environ.get("NARXBENCH_SOAK", "52")), random.Random(os.environ.get("NARXBENCH_SEED", "1"))
    begun = time.monotonic()
    finished.copied(tmp_path / "whole", made=False).snakemake()
    whole = time.monotonic() - begun
    for index in range(count):
        number, seconds, root = SIGNALS[index % len(SIGNALS)], draw.uniform(0.0, whole), tmp_path / f"{index}"
        end = time.monotonic() + seconds
        code = interrupt(finished, root, number, lambda _, end=end: time.monotonic() > end)
        print(f"{index + 1:3} {number.name:7} at {seconds:5.2f} s: exit {code}", flush=True)
        shutil.rmtree(root)
