"""What a scan tries: decimations, degrees and lags, and the candidate terms of each."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from itertools import product
from math import comb
from typing import Any

from narxbench.identification.data.arrangement import Arrangement
from narxbench.identification.settings import IdentificationSettings
from narxbench.io.errors import FieldError, NarxbenchError, did_you_mean
from narxbench.model.records import Recording
from narxbench.model.terms import INPUT, MAX_TERMS, OUTPUT, Monomial, monomials_of, parse_term, term_name

# Numbers of lags and degrees that are scanned, and the largest set of candidates among them.
STRIDES = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
LAGS, DEGREES, LARGEST = (2, 3, 4, 5, 6, 8, 12, 16), (1, 2, 3), 400
# Share of the samples that only give lags, at most, where lags are scanned.
LOST = 0.1


@dataclass(frozen=True)
class Configuration:
    """One choice of what the candidate terms are made of."""

    decimation: int  # samples of the data in one step; lags count steps
    degree: int
    y_lags: tuple[int, ...]
    u_lags: tuple[tuple[int, ...], ...]  # of each input
    centred: bool = False  # the terms are those of centred and scaled signals

    @property
    def name(self) -> str:
        """A name that says all of it, for files: ``q8-d3-y1to4-u1to4``."""
        lags = "-".join(["y" + _short(self.y_lags), *("u" + _short(lags) for lags in self.u_lags)])
        return f"q{self.decimation}-d{self.degree}-{lags}{'-centred' if self.centred else ''}"

    @property
    def max_lag(self) -> int:
        """The largest lag of any signal, in steps."""
        return max((0, *self.y_lags, *(lag for lags in self.u_lags for lag in lags)))

    @property
    def size(self) -> int:
        """How many candidate terms there are before any is included, left out or dropped."""
        return comb(len(self.y_lags) + sum(map(len, self.u_lags)) + self.degree, self.degree)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "y_lags": list(self.y_lags), "u_lags": [list(lags) for lags in self.u_lags]}


def _short(lags: Sequence[int]) -> str:
    if len(lags) > 1 and list(lags) == list(range(lags[0], lags[-1] + 1)):
        return f"{lags[0]}to{lags[-1]}"
    return ".".join(map(str, lags)) or "none"


def candidates(configuration: Configuration, settings: IdentificationSettings) -> list[Monomial]:
    """Return the candidate terms of a configuration in canonical order; NarxbenchError if none is left."""
    n_inputs = len(configuration.u_lags)
    kept = _all_candidates(configuration, settings)
    if settings.y_degree is not None:
        kept = [m for m in kept if sum(signal == OUTPUT for signal, _ in m) <= settings.y_degree]
    if settings.u_degree is not None:
        kept = [m for m in kept if sum(signal != OUTPUT for signal, _ in m) <= settings.u_degree]
    kept = [m for m in kept if not any(fnmatchcase(term_name(m, n_inputs), p) for p in settings.exclude)]
    if not kept:
        raise NarxbenchError("candidate terms: none is left by exclude, y_degree and u_degree; allowed: at least one")
    return kept


def _all_candidates(configuration: Configuration, settings: IdentificationSettings) -> list[Monomial]:
    factors = [(OUTPUT, lag) for lag in configuration.y_lags]
    factors += [(INPUT + i, lag) for i, lags in enumerate(configuration.u_lags) for lag in lags]
    found = monomials_of(factors, configuration.degree)
    further = _included(settings, len(configuration.u_lags)) - set(found)
    return sorted([*found, *further], key=lambda m: (len(m), m))


def _included(settings: IdentificationSettings, n_inputs: int) -> set[Monomial]:
    try:
        return {parse_term(name, n_inputs, current=True) for name in settings.include}
    except NarxbenchError as error:
        raise FieldError("include", str(error)) from None


def configurations(
    recording: Recording, settings: IdentificationSettings, decimations: Sequence[int], delays: Sequence[int]
) -> list[Configuration]:
    """Return what a scan may try, in canonical order.

    ``decimations`` deserve a comparison, where none is given; ``delays`` are the samples before each input acts, as far
    as the data show. NarxbenchError: nothing can be tried, there are too many terms, or a pattern of ``exclude``
    matches none.
    """
    for name in settings.u_lags if isinstance(settings.u_lags, dict) else ():
        if name not in recording.inputs:
            allowed = (", ".join(recording.inputs) or "none, for there is no input") + did_you_mean(
                name, recording.inputs
            )
            raise FieldError("u_lags", f"found the input {name!r}; allowed: {allowed}")
    n_inputs = len(recording.inputs)
    included = max((lag for monomial in _included(settings, n_inputs) for _, lag in monomial), default=0)
    strides = list(decimations) if settings.decimation == "auto" else sorted(set(settings.decimation))
    degrees = list(DEGREES) if settings.degree == "auto" else sorted(set(settings.degree))
    scans_lags = settings.y_lags == "auto" or (bool(recording.inputs) and settings.u_lags == "auto")
    centred = [False, True] if settings.centre == "auto" else [settings.centre]
    known, samples = recording.known, sum(map(len, recording.known))
    found: dict[Configuration, None] = {}
    for stride, degree, count in product(strides, degrees, LAGS if scans_lags else (0,)):
        y_lags = tuple(range(1, count + 1)) if settings.y_lags == "auto" else tuple(sorted(set(settings.y_lags)))
        u_lags = tuple(_lags_of(recording, settings, i, count, stride, delays) for i in range(n_inputs))
        given = settings.degree != "auto" and not scans_lags
        tried = Configuration(stride, degree, y_lags, u_lags)
        # Blocks that take turns shall be longer than the lags; the fewest lags are tried with whatever there is.
        enough = samples >= 4 * settings.blocks * tried.max_lag or count <= LAGS[0]
        # Records that are no longer than the lags say nothing.
        usable = [record for record in known if len(record) > stride * tried.max_lag]
        roles = {record.role for record in usable}
        enough &= sum(map(len, usable)) / stride >= 4 * tried.max_lag and roles != {"selection"}
        # What only gives lags is not scored: with many the hard beginning of a record would count for some only.
        enough &= given or count <= LAGS[0] or stride * tried.max_lag * len(usable) <= LOST * samples
        enough &= ("selection" in roles) == any(record.role == "selection" for record in known)
        if included > tried.max_lag:
            enough = enough and Arrangement(known, stride, included, settings.blocks).enough
        if (given or tried.size <= LARGEST) and enough:
            # In a linear model it is all the same.
            both = centred if degree > 1 else centred[:1]
            found |= {replace(tried, centred=centre): None for centre in both}
    if not found:
        given_too = f"; include has {included}" if included else ""
        raise NarxbenchError(
            f"decimation, degree and lags: found none that {samples} samples are enough for; allowed: fewer lags "
            f"(give y_lags and u_lags{given_too}), a smaller decimation, or longer records"
        )
    largest = max(found, key=lambda configuration: configuration.size)
    if largest.size > MAX_TERMS:
        terms = f"{largest.size} candidate terms of degree {largest.degree} with these lags"
        raise FieldError("degree", f"found {terms}; allowed: at most {MAX_TERMS}")
    if settings.exclude:
        names = {term_name(m, n_inputs): None for c in found for m in _all_candidates(c, settings)}
        for pattern in settings.exclude:
            if not any(fnmatchcase(name, pattern) for name in names):
                others = f"others{did_you_mean(pattern, names)}"
                raise FieldError("exclude", f"found {pattern!r}, which no candidate term matches; allowed: {others}")
        for configuration in found:
            candidates(configuration, settings)
    return list(found)


def _lags_of(
    recording: Recording, settings: IdentificationSettings, i: int, count: int, stride: int, delays: Sequence[int]
) -> tuple[int, ...]:
    given = settings.u_lags
    own = given.get(recording.inputs[i]) if isinstance(given, dict) else given if given != "auto" else None
    if own is not None:
        return tuple(sorted(set(own)))
    if settings.delay == "auto":
        # The first lag that is seen is an upper bound where the input seldom changes; 0 is seen where there is one.
        steps = delays[i] // stride
        first = steps - 1 if steps >= 3 else min(1, delays[i])
    else:
        first = -(-settings.delay // stride)
    # Where only the inputs' lags are scanned, or only the output's, the others have a number of their own.
    return tuple(range(first, first + (count or LAGS[1])))


def strides(advised: int, first_minimum: int | None, samples: int) -> list[int]:
    """Return decimations that deserve a comparison: those of a coarse scale, the advised one, and some around it.

    A stride over a fifth of ``first_minimum`` (Billings and Aguirre) leaves too few steps until the correlation dips.
    """
    longest = max(advised, (first_minimum or 1) // 5)
    wanted = {*STRIDES, advised, (advised + 1) // 2, (3 * advised + 1) // 4}
    return sorted(q for q in wanted if 1 <= q <= longest and (q == 1 or samples // q >= 60))
