"""A small comparison of methods and result files for it, for tests of contributions."""

import json
import shutil
from pathlib import Path
from typing import Any

from narxbench.io.files import canonical_json

ROOT = Path(__file__).parents[3]
STUDY = """
study: methods
page: methods
interpretation: as-described
systems: [S1, S3]
snr_db: [40]
figures: {snr_db: 40}
seeds: 2
evaluations: 300
data: {seeds: 1}
methods:
  upso2d: null
  ga: {criteria: [bic]}
  stepwise: {algorithm: stepwise, criteria: [bic]}
scenarios:
  base: {description: as it is}
  short: {description: few samples, samples: 300, validation_samples: 90, systems: [S1]}
"""
PROBLEMS = ["base/S1/40dB/data-1/bic", "base/S3/40dB/data-1/bic", "short/S1/40dB/data-1/bic"]
ABOUT = {
    "format": 1,
    "method": "mine",
    "title": "A method",
    "reference": "A. Author, A paper, A journal 2020",
    "authors": "A. Author, B. Author",
    "version": "1.0",
    "deterministic": False,
    "settings": {"population": 30, "kind": {"name": "ring", "radii": [1, 2]}},
}

Content = dict[str, Any]


def small_project(folder: Path, study: str = STUDY) -> Path:
    """Write the settings of a comparison of methods, and return their project's top folder."""
    (folder / "config").mkdir(parents=True)
    shutil.copy(ROOT / "config" / "paper.yaml", folder / "config")
    (folder / "config" / "methods.yaml").write_text(study, encoding="utf-8")
    return folder


def result(exported: Path, problem: str = PROBLEMS[0], seed: int = 1, **changes: Any) -> Content:
    """Return a result on an exported problem: its linear terms, found at once."""
    about = json.loads((exported / f"{problem}.json").read_text())
    found = {"problem": problem, "data_sha256": about["data_sha256"], "seed": seed}
    return {**found, "terms": about["example"]["terms"], "evaluations": 200, **changes}


def write(path: Path, results: list[Content], **changes: Any) -> Path:
    """Write a result file and return its path."""
    path.write_text(canonical_json({**ABOUT, "results": results, **changes}), encoding="utf-8")
    return path
