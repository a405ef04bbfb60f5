"""How many samples of fresh records the prediction bands hold: ``python -m benchmarks.bands [--quick]``.

Writes ``benchmarks/bands.md``. Each system gives many data sets, each with a test record of its own. Next to the bands
in use stand rejected ones, by the plain quantile of the same errors.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# First: it sets one thread before numpy is imported.
from benchmarks import measured  # isort: skip
import numpy as np

import narxbench
from benchmarks.common import ROOT, number, table, write_page
from benchmarks.measured import Case, Signals
from narxbench._identification.validation.bands import BAND, Unseen
from narxbench._identification.validation.error_table import FREE_RUN, ONE_STEP

RESULT = ROOT / "benchmarks" / "bands.md"
SAMPLES, TESTED, SNR_DB = 800, 600, 30
# The rule was chosen on data sets of smaller seeds.
FIRST_SEED = 101
SETS = {"full": 16, "quick": 2}
SHIPPED = ("S1", "S3")
KINDS = {FREE_RUN: "free run", ONE_STEP: "one step ahead"}


class Held(NamedTuple):
    """The share of a test record in a band, the half width by the RMSE there, and the share in the plain quantile."""

    share: float
    width: float
    plain: float


def data_sets(sets: int) -> Iterable[tuple[str, list[Case]]]:
    """Yield the systems with their data sets, which are others than those that packages are compared on."""
    for make in measured.SIMULATED:
        cases = [make(SAMPLES, TESTED, number) for number in range(1, sets + 1)]
        yield cases[0].name, cases
    for name in SHIPPED:
        yield name, [_shipped(name, seed) for seed in range(FIRST_SEED, FIRST_SEED + sets)]


def _shipped(name: str, seed: int) -> Case:
    u, y = narxbench.load_system(name).simulate(SAMPLES + TESTED, snr_db=SNR_DB, seed=seed)
    whole = Signals(u[:, None], y)
    return Case(name, "", [whole.part(0, SAMPLES)], whole.part(SAMPLES, None))


def plain(unseen: Unseen) -> float:
    """Return the half width by the quantile of all errors."""
    return float(np.quantile(np.concatenate(unseen), BAND, method="higher"))


def held(case: Case) -> dict[str, Held | None]:
    """Return for each kind of prediction the shares in the bands of an identification; None where it has no band."""
    identification, _ = measured.with_narxbench(case, **measured.SMALL)
    first, test = identification.model.initial_samples, case.test
    results: dict[str, Held | None] = {}
    for kind in KINDS:
        steps = None if kind == FREE_RUN else 1
        try:
            bands = identification.bands(test.u, test.y, BAND, steps=steps)
        except narxbench.NarxbenchError:
            results[kind] = None
            continue
        lower, upper = (limit[first:] for limit in bands)
        y, predicted = test.y[first:], (lower + upper) / 2
        errors = np.abs(y - predicted)
        is_inside = (lower <= y) & (y <= upper)
        width = float(upper[0] - lower[0]) / 2 / math.sqrt(float(np.mean(errors**2)))
        plain_share = float(np.mean(errors <= plain(identification.unseen[kind])))
        results[kind] = Held(float(np.mean(is_inside)), width, plain_share)
    return results


def rows_of(name: str, results: Sequence[dict[str, Held | None]]) -> list[list[str]]:
    """Return the rows of a system: shares over all data sets, their range, and the median width."""
    rows = []
    for kind, words in KINDS.items():
        bands = [result[kind] for result in results if result[kind] is not None]
        if not bands:
            rows.append([name, words, "", "", "", "", f"{len(results)}"])
            continue
        shares, widths, plain_shares = zip(*bands, strict=True)
        rows.append(
            [
                name,
                words,
                f"{np.mean(sorted(shares)):.3f}",
                f"{min(shares):.2f} to {max(shares):.2f}",
                number(float(np.median(widths)), 3),
                f"{np.mean(plain_shares):.3f}",
                f"{len(results) - len(bands)}",
            ]
        )
    return rows


def report(sets: int) -> str:
    """Measure on all data sets, and return the page."""
    rows = []
    for name, cases in data_sets(sets):
        rows += rows_of(name, list(map(held, cases)))
        print(*rows[-2], *rows[-1][1:], sep="  ", flush=True)
    header = [
        "system",
        "prediction",
        "held",
        "of one record",
        "half width by RMSE",
        "held by plain quantile",
        "not counted",
    ]
    return TEXT.format(table=table(header, rows), sets=sets, samples=SAMPLES, tested=TESTED, band=f"{100 * BAND:.0f} %")


TEXT = """# What the prediction bands hold

`python -m benchmarks.bands` makes this file. Of each system, {sets} data sets of {samples} samples were identified
(effort 1), and the {band} band of the model was laid about its predictions of a fresh record of {tested} samples.
*Held* is the share of the measured samples within the band, on average over data sets, and *of one record* its range.
The systems are the same as in [measured.md](measured.md), with other draws, and two that are shipped. The rule was
chosen on other draws. *Not counted* are data sets without a band, or whose test run diverges.

{table}
Normal errors of one variance need a half width of 1.64 RMSE. The *plain quantile* takes errors as independent. The
band raises it until parts are held as often by the quantile of the other parts.

In *oscillator* and *oversampled* the data are slow, so a record has few independent errors, and one record may be held
nearly or hardly at all. A band does not know of a change of the process.
"""


def main() -> None:
    """Measure, and write the file."""
    write_page(__doc__, RESULT, report, SETS)


if __name__ == "__main__":
    main()
