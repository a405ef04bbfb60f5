"""Simple models that the sparse one competes with, and the choice of the one that leaves.

All are judged by the selection error: the relative error over the parts of the data that the weights do not know, of
free runs or, where a search minimises that, one step ahead. A series is judged farther ahead, so those that are about
as good one step ahead are also compared there. Test records are not looked at.

- Full linear models (ARX, ARMAX, OE, Box-Jenkins): all terms up to degree 1 of a configuration. Those of all lags that
  are tried compete by least squares, and the best of these under the other noise models too.
- The unpruned polynomial: all candidates of the sparse model's configuration, by ridge regression.
- The last value, y(k) = y(k-1), and of an output with seasons the value a season before.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from operator import attrgetter

from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.scan import Scan
from narxbench._identification.search.steps import COMPETITION, Steps
from narxbench._identification.search.structures import EXACT, Proposal, Structure
from narxbench._identification.search.ties import EQUAL
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NOISE_MODELS, NOISE_NAMES, NoiseName
from narxbench._model.terms import parse_term

# Noise models that the likelihood chooses one of for each structure: all in the equation, and each on the output by
# itself. Between these groups free runs choose.
IN_EQUATION = tuple(name for name in NOISE_NAMES if NOISE_MODELS[name].place == "equation")
ON_OUTPUT = tuple(name for name in NOISE_NAMES if NOISE_MODELS[name].place == "output")
TOGETHER: tuple[tuple[NoiseName, ...], ...] = (IN_EQUATION, *((name,) for name in ON_OUTPUT))
# Full linear structures of the lowest selection error that are also weighed under the other noise models.
REWEIGHED_LINEAR = 3
# Ridges that are tried, as shares of the columns' sums of squares.
SHRINKAGES = (1e-8, 1e-6, 1e-4, 1e-2)
# Times the selection error of the best competitor up to which a sparse structure is preferred; such structures tie.
SPARSE_WITHIN = 1.0 + EQUAL
LAST_VALUE_TERM = "y(k-1)"


def leaving_structure(scan: Scan, sparse: Structure, competitors: Sequence[Structure]) -> Structure:
    """Return the structure that leaves: the sparse one, or the competitor of lowest selection error.

    A sparse model leaves while its selection error is at most ``SPARSE_WITHIN`` times that of the best competitor whose
    free run over whole records holds, and which stays within bounds where inputs are held. The sparse model of a series
    must also be within that factor of the best as far ahead as it is judged.
    """
    for competitor in sorted(competitors, key=attrgetter("error")):
        if sparse.error <= SPARSE_WITHIN * competitor.error:
            return _leaving_ahead(scan, sparse, competitors)
        if competitor.kind == "last value":
            return competitor
        if scan.holds(competitor) and not scan.leaves_all_bounds(competitor):
            return competitor
    return sparse


def with_errors_ahead(
    scan: Scan, sparse: Structure, competitors: Sequence[Structure]
) -> tuple[Structure, list[Structure]]:
    """Return a sparse structure and its competitors; those of a series with their errors as far ahead as it is judged.

    Competitors have one if they are about as good by the selection error, which is that of one step ahead.
    """
    if scan.recording.inputs:
        return sparse, [*competitors]
    # All have the decimation of the sparse one.
    steps, limit = scan.steps_judged(sparse.configuration), SPARSE_WITHIN * sparse.error
    known = []
    for competitor in competitors:
        is_as_good = competitor.error <= limit
        known.append(scan.with_error_ahead(competitor, steps) if is_as_good else competitor)
    return scan.with_error_ahead(sparse, steps), known


def _leaving_ahead(scan: Scan, sparse: Structure, competitors: Sequence[Structure]) -> Structure:
    """Return a sparse structure or, if that is clearly better as far ahead as a series is judged, a competitor."""
    best, lowest = sparse, _error_ahead(sparse) / SPARSE_WITHIN
    for competitor in competitors:
        error = _error_ahead(competitor)
        if error < lowest and not scan.leaves_all_bounds(competitor):
            best, lowest = competitor, error
    return best


def _error_ahead(structure: Structure) -> float:
    return math.inf if structure.ahead is None else max(structure.ahead, EXACT)


def competing_structures(scan: Scan, sparse: Structure, density: int, steps: Steps) -> list[Structure]:
    """Return the competitors of a sparse structure that stay finite on all parts, those of lowest error first.

    There are none where the search was interrupted.
    """
    if steps.interrupted:
        return []
    allowed = scan.settings.noise_models
    plain = _linear_structures(scan, scan.named[sparse.configuration].decimation, density)
    jobs: list[Callable[[], Structure]] = []
    for structure, families in product(plain[:REWEIGHED_LINEAR], competing_names(allowed)):
        if families != ("narx",):
            jobs.append(partial(_linear_under, scan, structure, families, density))
    if "narx" in allowed:
        jobs += [partial(scan.unpruned, sparse.configuration, shrinkage) for shrinkage in SHRINKAGES]
    competitors = steps.run(COMPETITION, _called, [(job,) for job in jobs]) + _last_values(scan, sparse)
    if "narx" in allowed:
        competitors += plain
    finite = [structure for structure in competitors if structure.rrse is not None]
    return sorted(finite, key=attrgetter("error"))


def _called(job: Callable[[], Structure]) -> Structure:
    return job()


def best_by_description(structures: Sequence[Structure]) -> Mapping[str, Structure]:
    """Return the best structure of each kind and noise model by its name for readers, in the order of the errors."""
    best: dict[str, Structure] = {}
    for structure in sorted(structures, key=attrgetter("error")):
        key = structure.kind + structure.noise.name
        if _is_seasonal(structure):
            key = description(structure)
        best.setdefault(key, structure)
    return {description(structure): structure for structure in best.values()}


def description(structure: Structure) -> str:
    """Return the name of a structure for readers, such as ``linear OE``."""
    if structure.kind == "linear":
        # A linear NARMAX model is an ARMAX model, a linear NOE model an OE model.
        return f"linear {structure.noise_model.description.removeprefix('N')}"
    if structure.kind == "unpruned":
        return "unpruned polynomial"
    if _is_seasonal(structure):
        ((_, lag),) = parse_term(structure.terms[0], 0)
        return f"seasonal naive, {lag} steps"
    return structure.kind


def _is_seasonal(structure: Structure) -> bool:
    """Return whether a structure repeats what was a season before."""
    return structure.kind == "last value" and structure.terms != [LAST_VALUE_TERM]


def competing_names(allowed: Sequence[NoiseName]) -> list[tuple[NoiseName, ...]]:
    """Return the allowed noise models in groups, of each of which the likelihood chooses one."""
    groups = []
    for names in TOGETHER:
        group = tuple(name for name in names if name in allowed)
        if group:
            groups.append(group)
    return groups


def _linear_structures(scan: Scan, decimation: int, density: int) -> list[Structure]:
    """Return full linear structures at a decimation by least squares, those of lowest error first."""
    proposals = []
    for configuration in scan.linear:
        if configuration.decimation == decimation:
            terms = _linear_terms(scan, configuration)
            proposals.append(Proposal(configuration.name, "full linear model", terms))
    structures = [_as_linear(structure) for structure in scan.compared(proposals, density)]
    finite = [structure for structure in structures if structure.rrse is not None]
    return sorted(finite, key=attrgetter("error"))


def _linear_under(scan: Scan, structure: Structure, families: Sequence[NoiseName], density: int) -> Structure:
    """Return a full linear structure under the noise model of some families that its noise calls for."""
    return _as_linear(scan.under(structure, families, density))


def _as_linear(structure: Structure) -> Structure:
    return structure.model_copy(update={"kind": "linear"})


def _linear_terms(scan: Scan, configuration: Configuration) -> list[str]:
    """Return the candidates up to degree 1 of a configuration; none where the settings leave none."""
    try:
        trial = scan.trial(configuration)
    except NarxbenchError:
        return []
    return [term for term, monomial in zip(trial.terms, trial.monomials, strict=True) if len(monomial) <= 1]


def _last_values(scan: Scan, sparse: Structure) -> list[Structure]:
    """Return the last value and those a season before as structures, as far as their terms are candidates.

    Those a season before are of the first configuration at this decimation that has them.
    """
    structures = []
    if LAST_VALUE_TERM in scan.trial(scan.named[sparse.configuration]).terms:
        structures.append(scan.last_value(sparse.configuration, LAST_VALUE_TERM))
    decimation = scan.named[sparse.configuration].decimation
    for season in scan.seasons:
        steps, rest = divmod(season, decimation)
        for configuration in scan.linear:
            is_alike = configuration.decimation == decimation and rest == 0
            if is_alike and steps in configuration.y_lags and f"y(k-{steps})" in scan.trial(configuration).terms:
                structures.append(scan.last_value(configuration.name, f"y(k-{steps})"))
                break
    return structures
