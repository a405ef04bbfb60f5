"""Draw what prefers the true structure of a data set: python docs/draw_noise_models.py.

It writes docs/images/noise_models.svg. The data set is the example of docs/noise_models.md; a test checks that the kept
picture is current.
"""

from pathlib import Path

import numpy as np

import narxbench
from narxbench.algorithms.pem import Settings, criterion_of, penalties_of
from narxbench.fitness.prediction_error import NOISE_MODELS, PredictionErrors

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/noise_models.svg"
ROW, TOP, LEFT, RIGHT, WIDTH = 44, 62, 250, 90, 760
STYLE = """
text { font-family: sans-serif; font-size: 15px; fill: #222 }
.head { font-size: 13px; fill: #555 }
.name { text-anchor: end }
.for { fill: #2a6f97 }
.against { fill: #c0392b }
.zero { stroke: #222 }
"""


def advantages() -> dict[str, float]:
    """Return how far the true structure is below that of the lowest J, by J and under each noise model."""
    system = narxbench.load_system("duffing")
    u, y = system.simulate(2000, snr_db=40, seed=101)
    problem = narxbench.StructureProblem(u, y, n_u=3, n_y=3, degree=3)
    lowest = narxbench.search(problem, algorithm="multistart", seed=1)
    found = {"J (free run, BIC)": lowest.fitness - problem.evaluate(system.terms).fitness}
    errors = PredictionErrors(problem)
    penalties = penalties_of(errors, Settings().gamma)
    for noise_model in NOISE_MODELS:
        true, other = (
            criterion_of(errors, errors.fit(noise_model, np.flatnonzero(np.isin(problem.terms, terms))), penalties)
            for terms in (system.terms, lowest.terms)
        )
        found[f"extended BIC as {noise_model.upper()}"] = other - true
    return found


def picture() -> str:
    """Return the picture as SVG: a bar for each measure, to the right where it prefers the true structure."""
    values = advantages()
    low, high = min(0.0, *values.values()), max(0.0, *values.values())
    scale = (WIDTH - LEFT - RIGHT) / (high - low)
    zero, height = LEFT - low * scale, TOP + ROW * len(values) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'role="img">',
        "<title>What prefers the true structure of one data set</title>",
        f"<desc>{'; '.join(f'{name}: {value:+.0f}' for name, value in values.items())}</desc>",
        f"<style>{STYLE}</style>",
        '<text class="head" x="8" y="20">How far the true structure is below the one of lowest J (duffing, 40 dB, '
        "noise on the output).</text>",
        '<text class="head" x="8" y="38">To the right: the true one is preferred.</text>',
    ]
    for row, (name, value) in enumerate(values.items()):
        y, length = TOP + ROW * row, abs(value) * scale
        side = "for" if value > 0 else "against"
        parts.append(f'<text class="name" x="{LEFT - 14}" y="{y + 21}">{name}</text>')
        x = zero if value > 0 else zero - length
        parts.append(f'<rect class="{side}" x="{x:.1f}" y="{y + 4}" width="{length:.1f}" height="26"/>')
        parts.append(f'<text x="{max(zero, x + length) + 8:.1f}" y="{y + 22}">{value:+.0f}</text>')
    parts.append(f'<line class="zero" x1="{zero:.1f}" y1="{TOP}" x2="{zero:.1f}" y2="{height - 8}"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
