"""Algorithms of other packages, honest and dishonest ones, found by their entry points as installed ones are."""

from pathlib import Path

FOLDER = Path(__file__).parent
SOURCE = '''\
"""What it is."""

from narxbench._algorithms.contract import About, Found
from narxbench._io.settings import Settings as Strict

ABOUT = About(reference='None')


class Settings(Strict):
    """None."""


def run(problem, objective, rng, settings):
    while objective.remaining:
        objective.evaluate(rng.integers(0, 2, (1, objective.n_terms)))
    return Found(objective.best_position)
'''


def install(monkeypatch, site):
    """Let the algorithms of ``honest`` and of `cheats.py` be found, as if they were installed in ``site``."""
    from tests.unit.algorithms.plugins.cheats import CHEATS

    sources = {name: cheat.module for name, cheat in CHEATS.items()}
    install_text(monkeypatch, site, {"honest_annealing": "honest.honest_annealing"}, "honest")
    install_text(monkeypatch, site, {name: name for name in CHEATS}, "dishonest", **sources)
    monkeypatch.syspath_prepend(FOLDER)


def install_text(monkeypatch, site, points, distribution, **sources):
    """Write the files of a distribution: its entry points, and modules by name."""
    about = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {module}\n" for name, module in points.items())
    (about / "entry_points.txt").write_text(f"[narxbench.algorithms]\n{lines}")
    for name, source in sources.items():
        (site / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(site)
