"""The choice of one structure among those that the searches propose."""

from collections.abc import Mapping, Sequence

from narxbench._algorithms.registry import algorithm
from narxbench._identification.search.competitors import (
    competing_names,
    competing_structures,
    leaving_structure,
    sparse_leaves_within,
    with_errors_ahead,
)
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.scan import FORWARD, NOTHING, POLISHED, STANDS_IN, Scan, in_order
from narxbench._identification.search.steps import DESCENTS, NOISE, WEIGHTS, Steps, threads_of_short_calls
from narxbench._identification.search.steps import FORWARD as FORWARD_STEP
from narxbench._identification.search.structures import (
    Choice,
    ConfigurationSearch,
    Failures,
    LikelyProposal,
    Proposal,
    Structure,
)
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NoiseName

# Configurations in which structures are also searched by likelihood, which takes no draws: more than are searched
# thoroughly, for a brief look at them may be wrong.
LIKELY = 12
# Structures of the lowest J whose weights are also estimated under the other noise models, and which are looked at in
# turn for one whose free run holds over whole records.
REWEIGHED, LOOKED_AT = 6, 20
# Times the selection error of the best structure up to which one that stays within bounds is taken instead.
BOUNDED_WITHIN = 1.5


def choose(
    scan: Scan,
    briefs: Sequence[ConfigurationSearch],
    ranked: Sequence[Configuration],
    searches: Sequence[ConfigurationSearch],
    steps: Steps,
) -> Choice:
    """Choose a structure among all that searches propose, and let simple models compete with it.

    Parameters
    ----------
    scan : Scan
        What is tried on the data.
    briefs : sequence of ConfigurationSearch
        The brief searches.
    ranked : sequence of Configuration
        The configurations that were searched thoroughly, the best first.
    searches : sequence of ConfigurationSearch
        The thorough searches.
    steps : Steps
        Runs the jobs of the choice, and knows of interruptions.

    Raises
    ------
    NarxbenchError
        Where every structure diverges or is singular.
    """
    names = [configuration.name for configuration in ranked]
    # So many samples count as one: the phases of the best configuration see the same disturbances.
    density = max(scan.sampling.advised, ranked[0].decimation)
    proposals, only_briefly = list[Proposal](), list[Structure]()
    for structure in scan.briefly(briefs):
        if structure.configuration in names:
            proposals.append(structure.proposal)
        elif structure.terms:
            only_briefly.append(structure)
    proposals += _search_proposals(searches, scan.settings.method)
    forward = _forward_regressions(scan, names[:1], steps)
    proposals += [Proposal(name, FORWARD, terms, drawn=False) for name, terms in forward.items()]
    likely = _likely_proposals(scan, briefs, steps)
    likely_proposals = [proposal for proposal, _ in likely]
    compared = scan.compared([*proposals, *likely_proposals], density)
    proposals += _descents(scan, compared, names, density, steps)
    compared = scan.compared([*proposals, *likely_proposals], density)
    finalists = _under_noise(scan, compared, likely, density, steps)
    _check_finite(finalists)
    n_tied = 1
    if not steps.interrupted:
        finalists, n_tied = scan.likeliest_first(finalists, density)
    place = _first_that_holds(scan, finalists)
    n_passed_over = place or 0
    finalists, passed_over = finalists[n_passed_over:], finalists[:n_passed_over]
    finalists, n_unbounded = _bounded_first(scan, finalists)
    sparse = finalists[0]
    competitors = competing_structures(scan, sparse, density, steps)
    sparse, competitors = with_errors_ahead(scan, sparse, competitors, scan.settings.sparse_within)
    leaving = leaving_structure(scan, sparse, competitors, scan.settings.sparse_within)
    return Choice(
        finalists=[sparse, *finalists[1:]],
        briefly=[scan.with_fitness(structure, density) for structure in only_briefly],
        runs=_terms_by_seed(searches, leaving.configuration),
        forward=_forward_structure(scan, leaving.configuration, forward, density),
        notes=failures([*briefs, *searches]),
        density=density,
        passed_over=passed_over,
        holds=place is not None,
        bounded=leaving.kind == "last value" or not scan.leaves_all_bounds(leaving),
        unbounded=n_unbounded,
        tied=n_tied,
        competitors=competitors,
        winner=None if leaving is sparse else leaving,
        sparse_within=None if leaving is sparse else sparse_leaves_within(scan, sparse, competitors, leaving),
    )


def _search_proposals(searches: Sequence[ConfigurationSearch], method: str) -> list[Proposal]:
    """Return the structures of the thorough searches."""
    drawn = not algorithm(method).about.deterministic
    proposals = []
    for search in searches:
        without = f" without part {search.part}" if search.part else ""
        title = f"{method}, seed {search.seed}{without}"
        proposals.append(Proposal(search.configuration, title, search.structure.terms, drawn))
    return proposals


def _forward_regressions(scan: Scan, names: Sequence[str], steps: Steps) -> dict[str, list[str]]:
    """Return the structure of a forward regression in some configurations, by name; none where that is the method."""
    if scan.settings.method == FORWARD:
        return {}
    structures = steps.run(FORWARD_STEP, scan.forward, [(scan.named[name],) for name in names])
    return dict(zip(names, structures, strict=False))


def _likely_proposals(scan: Scan, briefs: Sequence[ConfigurationSearch], steps: Steps) -> list[LikelyProposal]:
    """Return the structures of searches by likelihood."""
    configurations = scan.ordered(briefs)
    jobs = [(configuration,) for configuration in configurations[: scan.n_likely(configurations, LIKELY)]]
    likely = []
    for proposals in steps.run(NOISE, scan.by_prediction_errors, jobs):
        likely += proposals
    return likely


def _descents(
    scan: Scan, structures: Sequence[Structure], names: Sequence[str], density: int, steps: Steps
) -> list[Proposal]:
    """Return the structures where descents from the best ones of each configuration end."""
    jobs = [(start, density) for start in _descent_starts(structures, names)]
    ends = steps.run(DESCENTS, scan.polished, jobs, threads_of_short_calls(scan.n_samples))
    return [structure.proposal for structure in ends]


def _descent_starts(structures: Sequence[Structure], names: Sequence[str]) -> list[Structure]:
    """Return the best structures of each configuration, and the best others that take no draws."""
    starts = []
    for name in names:
        of_configuration = [structure for structure in structures if structure.configuration == name]
        without_draws = [structure for structure in of_configuration[POLISHED:] if not structure.drawn]
        starts += of_configuration[:POLISHED]
        starts += without_draws[:POLISHED]
    return starts


def _first_that_holds(scan: Scan, structures: Sequence[Structure]) -> int | None:
    """Return the place of the first structure whose free run holds over whole records; None where none does."""
    for place, structure in enumerate(structures[:LOOKED_AT]):
        if structure.fitness is not None and scan.holds(structure):
            return place
    return None


def _bounded_first(scan: Scan, structures: Sequence[Structure]) -> tuple[list[Structure], int]:
    """Return structures less the first ones that leave all bounds where inputs are held, and how many these are.

    None is left out where no structure that stays within bounds, and holds over whole records, has nearly as small an
    error: then the process may well leave them.
    """
    allowed = BOUNDED_WITHIN * (structures[0].rrse or 0.0)
    for place, structure in enumerate(structures[:LOOKED_AT]):
        if structure.fitness is None or (structure.rrse or 0.0) > allowed:
            continue
        if not scan.leaves_all_bounds(structure) and (place == 0 or scan.holds(structure)):
            return list(structures[place:]), place
    return list(structures), 0


def _terms_by_seed(searches: Sequence[ConfigurationSearch], configuration: str) -> list[list[str]]:
    """Return the structures of the searches of a configuration on all data."""
    structures = []
    for search in searches:
        if (search.configuration, search.part) == (configuration, 0):
            structures.append(search.structure.terms)
    return structures


def _forward_structure(
    scan: Scan, configuration: str, forward: Mapping[str, list[str]], density: int
) -> Structure | None:
    """Return the scored structure of a forward regression in a configuration; None where that is the method."""
    if configuration in forward:
        terms = forward[configuration]
    elif scan.settings.method != FORWARD:
        terms = scan.forward(scan.named[configuration])
    else:
        terms = []
    scored = scan.compared([Proposal(configuration, FORWARD, terms, drawn=False)], density)
    return scored[0] if scored else None


def _under_noise(
    scan: Scan, structures: Sequence[Structure], likely: Sequence[LikelyProposal], density: int, steps: Steps
) -> list[Structure]:
    """Return structures together with the best and the likely ones under noise models, the best first.

    The best are weighed under all noise models, the likely ones under those like the one that they were fitted under.
    """
    allowed = scan.settings.noise_models
    jobs = _weight_jobs(structures, likely, allowed)
    n_weighed = scan.n_weighed(2 * REWEIGHED * len(competing_names(allowed)))
    # The best come first, then the likely ones of the best configurations.
    first_jobs = list(jobs.items())[:n_weighed]
    weighed = steps.run(WEIGHTS, scan.under, [(structure, key[-1], density) for key, structure in first_jobs])
    # White noise in the equation is scored already.
    scored = [*structures, *weighed] if "narx" in allowed else weighed
    by_noise: dict[tuple[str, tuple[str, ...], str], Structure] = {}
    for structure in scored:
        by_noise.setdefault((structure.configuration, tuple(structure.terms), repr(structure.noise)), structure)
    return in_order(by_noise.values())


def _weight_jobs(
    structures: Sequence[Structure], likely: Sequence[LikelyProposal], allowed: Sequence[NoiseName]
) -> dict[tuple[str, tuple[str, ...], tuple[NoiseName, ...]], Structure]:
    """Return the structures to weigh, by configuration, terms, and the noise models that compete for them."""
    groups = competing_names(allowed)
    jobs: dict[tuple[str, tuple[str, ...], tuple[NoiseName, ...]], Structure] = {}
    by_terms = {(structure.configuration, tuple(structure.terms)): structure for structure in structures}
    for structure in structures[:REWEIGHED]:
        for group in groups:
            jobs[structure.configuration, tuple(structure.terms), group] = structure
    for proposal, noise_name in likely:
        key = proposal.configuration, tuple(proposal.terms)
        group = next(group for group in groups if noise_name in group)
        if key in by_terms:
            jobs.setdefault((*key, group), by_terms[key])
    return jobs


def failures(searches: Sequence[ConfigurationSearch]) -> list[Failures]:
    """Return how many of some searches ended without a structure of finite J, by what stands in its place."""
    notes = [search.structure.note for search in searches]
    kinds = []
    for note in (STANDS_IN, NOTHING):
        if note in notes:
            kinds.append(Failures(note=note, count=notes.count(note), searches=len(notes)))
    return kinds


def _check_finite(structures: Sequence[Structure]) -> None:
    if not structures or structures[0].fitness is None:
        n_diverging = sum(structure.divergent > 0 for structure in structures)
        n_singular = sum(structure.singular for structure in structures)
        raise NarxbenchError(
            f"search: found no model whose free run stays finite on all parts of the selection: of {len(structures)} "
            f"structures {n_diverging} diverge and {n_singular} are singular; allowed: other lags, degree or "
            "decimation, or a divergent share over 0"
        )
