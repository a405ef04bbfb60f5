"""The choice of one structure from all that the searches found."""

from collections.abc import Sequence

from narxbench.algorithms.registry import algorithm
from narxbench.identification.search.configurations import Configuration
from narxbench.identification.search.scan import FORWARD, NOTHING, POLISHED, STANDS_IN, Scan, in_order
from narxbench.identification.search.steps import DESCENTS, NOISE, WEIGHTS, Steps
from narxbench.identification.search.steps import FORWARD as FORWARD_STEP
from narxbench.identification.search.structures import Choice, Failures, Run, Search, Structure
from narxbench.io.errors import NarxbenchError
from narxbench.model.noise_models import NoiseName

# Configurations in which structures are also found by likelihood, which takes no draws: more than are searched
# thoroughly, for a brief look at them may be wrong.
LIKELY = 12
# Noise models that the likelihood chooses one of for each structure; between these groups free runs choose.
TOGETHER: tuple[tuple[NoiseName, ...], ...] = (("narx", "narmax", "ararx", "ararmax"), ("noe",), ("box-jenkins",))
# Structures of the lowest J whose weights are also estimated under the other noise models, and which are looked at in
# turn for one whose free run holds over whole records.
REWEIGHED, LOOKED_AT = 6, 20


def choose(
    scan: Scan,
    briefs: Sequence[Search],
    ranked: Sequence[Configuration],
    searches: Sequence[Search],
    steps: Steps | None = None,
) -> Choice:
    """Choose a structure from all that were found; NarxbenchError where every one diverges or is singular."""
    method, names = scan.settings.method, [configuration.name for configuration in ranked]
    briefly = scan.briefly(briefs)
    runs = [structure.run for structure in briefly if structure.configuration in names]
    drawn = not algorithm(method).about.deterministic
    for each in searches:
        without = f" without part {each.part}" if each.part else ""
        terms = each.found.terms if each.found else []
        runs.append(Run(each.configuration, f"{method}, seed {each.seed}{without}", terms, drawn))
    steps = steps or Steps()
    first = [] if method == FORWARD else names[:1]
    found = steps.run(FORWARD_STEP, scan.forward, [(scan.named[name],) for name in first])
    forward = dict(zip(first[: len(found)], found, strict=True))
    runs += [Run(name, FORWARD, terms, drawn=False) for name, terms in forward.items()]
    # So many samples count as one: the phases of the best configuration see the same disturbances.
    density = max(scan.sampling.advised, ranked[0].decimation)
    by_likelihood = steps.run(NOISE, scan.by_prediction_errors, [(each,) for each in scan.ordered(briefs)[:LIKELY]])
    likely = [found for each in by_likelihood for found in each]
    compared, starts = scan.compared([*runs, *likely], density), list[Structure]()
    for name in names:
        # Of each configuration the best, and the best that were found without draws.
        own = [structure for structure in compared if structure.configuration == name]
        starts += own[:POLISHED]
        starts += [structure for structure in own[POLISHED:] if not structure.drawn][:POLISHED]
    polished = steps.run(DESCENTS, scan.polished, [(start, density) for start in starts])
    runs += [structure.run for structure in polished]
    everything = _under_noise(scan, scan.compared([*runs, *likely], density), likely, density, steps)
    _check_finite(everything)
    place = next((i for i, s in enumerate(everything[:LOOKED_AT]) if s.fitness is not None and scan.holds(s)), None)
    passed_over, everything = everything[: place or 0], everything[place or 0 :]
    here = everything[0].configuration
    if here not in forward and method != FORWARD:
        forward[here] = scan.forward(scan.named[here])
    compared = scan.compared([Run(here, FORWARD, forward.get(here, []), drawn=False)], density)
    return Choice(
        finalists=everything,
        briefly=[scan.with_fitness(s, density) for s in briefly if s.configuration not in names and s.terms],
        runs=[each.found.terms for each in searches if each.found and (each.configuration, each.part) == (here, 0)],
        forward=compared[0] if compared else None,
        notes=failures([*briefs, *searches]),
        density=density,
        passed_over=passed_over,
        holds=place is not None,
    )


def _under_noise(
    scan: Scan, structures: Sequence[Structure], likely: Sequence[Run], density: int, steps: Steps
) -> list[Structure]:
    """Return structures together with the best and the likely ones under each noise model, the best first."""
    allowed = scan.settings.noise_models
    likely_structures = {(run.configuration, tuple(run.terms)) for run in likely}
    promising = [
        structure
        for place, structure in enumerate(structures)
        if place < REWEIGHED or (structure.configuration, tuple(structure.terms)) in likely_structures
    ]
    groups = [[name for name in group if name in allowed] for group in TOGETHER]
    jobs = [(structure, group, density) for structure in promising for group in groups if group]
    by_noise = dict[tuple[str, tuple[str, ...], str], Structure]()
    # White noise in the equation is scored already.
    for structure in [*(structures if "narx" in allowed else ()), *steps.run(WEIGHTS, scan.under, jobs)]:
        by_noise.setdefault((structure.configuration, tuple(structure.terms), repr(structure.noise)), structure)
    return in_order(by_noise.values())


def failures(searches: Sequence[Search]) -> list[Failures]:
    """Return how many of some searches found no structure with a finite J, by what came in its place."""
    notes = [each.found.note for each in searches if each.found]
    counts = {note: notes.count(note) for note in (STANDS_IN, NOTHING)}
    return [Failures(note=note, count=count, searches=len(notes)) for note, count in counts.items() if count]


def _check_finite(structures: Sequence[Structure]) -> None:
    if not structures or structures[0].fitness is None:
        diverging = sum(s.divergent > 0 for s in structures)
        raise NarxbenchError(
            f"search: found no model whose free run stays finite on all parts of the selection: of {len(structures)} "
            f"structures {diverging} diverge and {sum(s.singular for s in structures)} are singular; allowed: other "
            "lags, degree or decimation, or a divergent share over 0"
        )
