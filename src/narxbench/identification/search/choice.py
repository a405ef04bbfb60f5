"""The choice of one structure from all that the searches found."""

from collections.abc import Sequence

from narxbench.algorithms.registry import algorithm
from narxbench.identification.search.configurations import Configuration
from narxbench.identification.search.scan import FORWARD, NOTHING, POLISHED, STANDS_IN, Scan, in_order
from narxbench.identification.search.steps import DESCENTS, NOISE, WEIGHTS, Steps
from narxbench.identification.search.steps import FORWARD as FORWARD_STEP
from narxbench.identification.search.structures import Choice, Failures, LikelyRun, Run, Search, Structure
from narxbench.io.errors import NarxbenchError
from narxbench.model.noise_models import NOISE_MODELS, NOISE_NAMES, NoiseName

# Configurations in which structures are also found by likelihood, which takes no draws: more than are searched
# thoroughly, for a brief look at them may be wrong.
LIKELY = 12
# Noise models that the likelihood chooses one of for each structure: all in the equation, and each on the output by
# itself. Between these groups free runs choose.
TOGETHER: tuple[tuple[NoiseName, ...], ...] = (
    tuple(name for name in NOISE_NAMES if NOISE_MODELS[name].place == "equation"),
    *((name,) for name in NOISE_NAMES if NOISE_MODELS[name].place == "output"),
)
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
    likely = [run for configuration_runs in by_likelihood for run in configuration_runs]
    likely_runs = [run.run for run in likely]
    compared, starts = scan.compared([*runs, *likely_runs], density), list[Structure]()
    for name in names:
        # Of each configuration the best, and the best that were found without draws.
        own = [structure for structure in compared if structure.configuration == name]
        starts += own[:POLISHED]
        starts += [structure for structure in own[POLISHED:] if not structure.drawn][:POLISHED]
    polished = steps.run(DESCENTS, scan.polished, [(start, density) for start in starts])
    runs += [structure.run for structure in polished]
    everything = _under_noise(scan, scan.compared([*runs, *likely_runs], density), likely, density, steps)
    _check_finite(everything)
    everything, n_tied = scan.likeliest_first(everything, density)
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
        tied=n_tied,
    )


def _under_noise(
    scan: Scan, structures: Sequence[Structure], likely: Sequence[LikelyRun], density: int, steps: Steps
) -> list[Structure]:
    """Return structures together with the best and the likely ones under noise models, the best first.

    The best are weighed under all noise models, the likely ones under those like the one that they were found under.
    """
    allowed = scan.settings.noise_models
    groups = [tuple(name for name in group if name in allowed) for group in TOGETHER]
    jobs: dict[tuple[str, tuple[str, ...], tuple[NoiseName, ...]], Structure] = {}
    by_terms = {(structure.configuration, tuple(structure.terms)): structure for structure in structures}
    for structure in structures[:REWEIGHED]:
        for group in filter(None, groups):
            jobs[structure.configuration, tuple(structure.terms), group] = structure
    for run in likely:
        key = run.run.configuration, tuple(run.run.terms)
        group = next(group for group in groups if run.noise_name in group)
        if key in by_terms:
            jobs.setdefault((*key, group), by_terms[key])
    weighed = steps.run(WEIGHTS, scan.under, [(structure, key[-1], density) for key, structure in jobs.items()])
    by_noise: dict[tuple[str, tuple[str, ...], str], Structure] = {}
    # White noise in the equation is scored already.
    for structure in [*(structures if "narx" in allowed else ()), *weighed]:
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
