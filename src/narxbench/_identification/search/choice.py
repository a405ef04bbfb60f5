"""The choice of one structure among those that the searches propose."""

from collections.abc import Sequence
from dataclasses import replace

from narxbench._identification.search.competitors import (
    competing_names,
    competing_structures,
    leaving_structure,
    with_errors_ahead,
)
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.scan import FORWARD, POLISHED, Scan, in_order
from narxbench._identification.search.steps import DESCENTS, NOISE, WEIGHTS, Steps, threads_of_short_calls
from narxbench._identification.search.steps import FORWARD as FORWARD_STEP
from narxbench._identification.search.structures import Choice, LikelyProposal, Proposal, Structure
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NoiseName

CONSTANT = "1"
# Configurations in which structures are also searched by likelihood: more than are searched thoroughly, for a brief
# search of them may be wrong.
LIKELY = 12
# Structures of the lowest J whose weights are also estimated under the other noise models, and which are looked at in
# turn for one whose free run holds over whole records.
REWEIGHED, LOOKED_AT = 6, 20
# Times the selection error of the best structure up to which one that stays within bounds is taken instead.
BOUNDED_WITHIN = 1.5


def choose(scan: Scan, briefs: Sequence[Structure], ranked: Sequence[Configuration], steps: Steps) -> Choice:
    """Propose structures, choose one, and let simple models compete with it.

    Parameters
    ----------
    scan : Scan
        What is tried on the data.
    briefs : sequence of Structure
        The best structure of each brief search.
    ranked : sequence of Configuration
        The configurations that are searched thoroughly, the best first.
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
    for structure in briefs:
        if structure.configuration in names:
            proposals.append(structure.proposal)
        else:
            only_briefly.append(structure)
    proposals += steps.run(FORWARD_STEP, scan.forward, [(configuration,) for configuration in ranked])
    likely = _likely_proposals(scan, briefs, steps)
    likely_proposals = [proposal for proposal, _ in likely]
    compared = scan.compared([*proposals, *likely_proposals], density)
    proposals += _in_units_of_the_user(scan, compared)
    proposals += _descents(scan, compared, names, density, steps)
    compared = scan.compared([*proposals, *likely_proposals], density)
    finalists = _under_noise(scan, compared, likely, density, steps)
    _check_finite(finalists)
    n_tied = 1
    if not steps.interrupted:
        finalists, n_tied = scan.likeliest_first(finalists, density)
    place = _first_that_holds(scan, finalists)
    finalists = _bounded_first(scan, finalists[place or 0 :])
    sparse = finalists[0]
    competitors = competing_structures(scan, sparse, density, steps)
    sparse, competitors = with_errors_ahead(scan, sparse, competitors)
    leaving = leaving_structure(scan, sparse, competitors)
    return Choice(
        finalists=[sparse, *finalists[1:]],
        briefly=[scan.with_fitness(structure, density) for structure in only_briefly],
        forward=_forward_structure(scan, leaving.configuration, proposals, density),
        density=density,
        holds=place is not None,
        bounded=leaving.kind == "last value" or not scan.leaves_all_bounds(leaving),
        tied=n_tied,
        competitors=competitors,
        winner=None if leaving is sparse else leaving,
    )


def _likely_proposals(scan: Scan, briefs: Sequence[Structure], steps: Steps) -> list[LikelyProposal]:
    """Return the structures of searches by likelihood."""
    configurations = scan.ordered(briefs)
    jobs = [(configuration,) for configuration in configurations[: scan.n_likely(configurations, LIKELY)]]
    likely = []
    for proposals in steps.run(NOISE, scan.by_prediction_errors, jobs):
        likely += proposals
    return likely


def _in_units_of_the_user(scan: Scan, structures: Sequence[Structure]) -> list[Proposal]:
    """Return linear structures of centred signals as those of the signals as they are, which a constant makes exact."""
    proposals = []
    for structure in structures:
        configuration = scan.named[structure.configuration]
        plain = replace(configuration, centred=False).name
        if (
            not configuration.centred
            or plain not in scan.named
            or any("*" in term or "^" in term for term in structure.terms)
        ):
            continue
        terms = [CONSTANT, *(term for term in structure.terms if term != CONSTANT)]
        if set(terms) <= set(scan.trial(scan.named[plain]).terms):
            proposals.append(Proposal(plain, structure.found_by, terms))
    return proposals


def _descents(
    scan: Scan, structures: Sequence[Structure], names: Sequence[str], density: int, steps: Steps
) -> list[Proposal]:
    """Return the structures where descents from the best ones of each configuration end."""
    jobs = [(start, density) for start in _descent_starts(structures, names)]
    ends = steps.run(DESCENTS, scan.polished, jobs, threads_of_short_calls(scan.n_samples))
    return [structure.proposal for structure in ends]


def _descent_starts(structures: Sequence[Structure], names: Sequence[str]) -> list[Structure]:
    """Return the best structures of each configuration."""
    starts = []
    for name in names:
        of_configuration = [structure for structure in structures if structure.configuration == name]
        starts += of_configuration[:POLISHED]
    return starts


def _first_that_holds(scan: Scan, structures: Sequence[Structure]) -> int | None:
    """Return the place of the first structure whose free run holds over whole records; None where none does."""
    for place, structure in enumerate(structures[:LOOKED_AT]):
        if structure.fitness is not None and scan.holds(structure):
            return place
    return None


def _bounded_first(scan: Scan, structures: Sequence[Structure]) -> list[Structure]:
    """Return structures less the first ones that leave all bounds where inputs are held.

    None is left out where no structure that stays within bounds, and holds over whole records, has nearly as small an
    error: then the process may well leave them.
    """
    allowed = BOUNDED_WITHIN * (structures[0].rrse or 0.0)
    for place, structure in enumerate(structures[:LOOKED_AT]):
        if structure.fitness is None or (structure.rrse or 0.0) > allowed:
            continue
        if not scan.leaves_all_bounds(structure) and (place == 0 or scan.holds(structure)):
            return list(structures[place:])
    return list(structures)


def _forward_structure(scan: Scan, configuration: str, proposals: Sequence[Proposal], density: int) -> Structure | None:
    """Return the scored structure of an iterative forward regression in a configuration; None where it found none."""
    known = [proposal for proposal in proposals if proposal[:2] == (configuration, FORWARD)]
    scored = scan.compared(known or [scan.forward(scan.named[configuration])], density)
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


def _check_finite(structures: Sequence[Structure]) -> None:
    if not structures or structures[0].fitness is None:
        n_diverging = sum(structure.divergent > 0 for structure in structures)
        n_singular = sum(structure.singular for structure in structures)
        raise NarxbenchError(
            f"search: found no model whose free run stays finite on all parts of the selection: of {len(structures)} "
            f"structures {n_diverging} diverge and {n_singular} are singular; allowed: other lags, degree or "
            "decimation"
        )
