"""The choice of one structure from all that the searches found."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

from narxbench.identification.search.configurations import Configuration
from narxbench.identification.search.scan import FORWARD, NOTHING, POLISHED, STANDS_IN, Scan
from narxbench.identification.search.structures import Choice, Failures, Search, Structure
from narxbench.io.errors import NarxbenchError

# Threads that search side by side. Their number changes no result.
THREADS = 4


def choose(scan: Scan, briefs: Sequence[Search], ranked: Sequence[Configuration], searches: Sequence[Search]) -> Choice:
    """Choose a structure from all that were found.

    Parameters
    ----------
    scan : Scan
        What is tried.
    briefs : sequence of Search
        The brief searches, in the order of the configurations.
    ranked : sequence of Configuration
        Those that were searched thoroughly.
    searches : sequence of Search
        The thorough searches.

    Raises
    ------
    NarxbenchError
        If every structure that was found diverges or is singular.
    """
    method, names = scan.settings.method, [configuration.name for configuration in ranked]
    briefly = scan.briefly(briefs)
    runs = [(s.configuration, s.found_by, s.terms) for s in briefly if s.configuration in names]
    for each in searches:
        without = f" without part {each.part}" if each.part else ""
        runs.append(
            (each.configuration, f"{method}, seed {each.seed}{without}", each.found.terms if each.found else [])
        )
    forward = {name: scan.forward(scan.named[name]) for name in names[:1] if method != FORWARD}
    runs += [(name, FORWARD, terms) for name, terms in forward.items()]
    density = scan.density(ranked)
    everything = scan.compared(runs, density)
    starts = [s for name in names for s in [s for s in everything if s.configuration == name][:POLISHED]]
    with ThreadPoolExecutor(THREADS) as threads:
        runs += [(s.configuration, s.found_by, s.terms) for s in threads.map(scan.polished, starts, repeat(density))]
    everything = scan.compared(runs, density)
    _check_finite(everything)
    here = everything[0].configuration
    if here not in forward and method != FORWARD:
        forward[here] = scan.forward(scan.named[here])
    compared = scan.compared([(here, FORWARD, forward.get(here, []))], density)
    return Choice(
        finalists=everything,
        briefly=[scan.with_fitness(s, density) for s in briefly if s.configuration not in names and s.terms],
        runs=[each.found.terms for each in searches if each.found and (each.configuration, each.part) == (here, 0)],
        forward=compared[0] if compared else None,
        notes=failures([*briefs, *searches]),
        density=density,
    )


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
