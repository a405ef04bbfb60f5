"""What a single structure costs: the free run of the chosen model against an average of the good ones."""

import math
from collections.abc import Sequence

import numpy as np

from narxbench.identification.finding import Finding
from narxbench.identification.search.scan import CLEARLY_BETTER, Scan
from narxbench.identification.search.structures import Structure
from narxbench.identification.trust.fit import Fit
from narxbench.io.errors import NarxbenchError
from narxbench.model.narx import DivergedError, Model
from narxbench.model.records import Record
from narxbench.numerics.rounding import significant

# Models of an average, at most: those of the lowest J.
MOST = 6


def average(scan: Scan, model: Model, finalists: Sequence[Structure], records: Sequence[Record]) -> list[Finding]:
    """Return the errors of the chosen model and of an average of models with nearly its J; none where it is alone.

    Each has the weight exp(-d / 2), where d is how much larger its J is (H. Akaike, Journal of Econometrics 16, 1981,
    pages 3-14; K. P. Burnham and D. R. Anderson, Model Selection and Multimodel Inference, 2002, chapter 2). It is a
    reference: nothing is chosen by it.

    Parameters
    ----------
    scan : Scan
        What the structures were found with.
    model : Model
        The chosen one, that of the first finalist.
    finalists : sequence of Structure
        The best first.
    records : sequence of Record
        The data of one role.
    """
    lowest = finalists[0].rank
    weighted = [(1.0, model)]
    for structure in finalists[1:MOST]:
        if structure.rank > lowest + CLEARLY_BETTER:
            break
        fit = Fit(
            scan.recording, scan.named[structure.configuration], structure.terms, scan.settings, structure.noise_model
        )
        try:
            weighted.append((math.exp((lowest - structure.rank) / 2), fit.unknowing()))
        except NarxbenchError:
            # On all data its weights diverge, though they did not without a part.
            continue
    first = max(each.initial_samples for _, each in weighted)
    measured = [record.y[first:] for record in records if len(record) > first]
    if len(weighted) == 1 or not measured:
        return []
    runs = []
    for weight, each in weighted:
        try:
            predicted = [each.predict(r.u, r.y, samples=len(r))[first:] for r in records if len(r) > first]
        except DivergedError:
            continue
        runs.append((weight, np.concatenate(predicted)))
    y = np.concatenate(measured)
    spread = math.fsum(((y - y.mean()) ** 2).tolist())
    if not runs or not spread:
        return []
    mean = sum(weight * run for weight, run in runs) / math.fsum(weight for weight, _ in runs)
    single, all_of_them = (
        significant(math.sqrt(math.fsum(((y - run) ** 2).tolist()) / spread)) for run in (runs[0][1], mean)
    )
    values = {"role": records[0].role, "models": len(runs), "single": single, "average": all_of_them}
    return [Finding("average", "fine", values)]
