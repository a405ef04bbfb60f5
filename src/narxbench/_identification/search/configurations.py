"""Configurations that a search tries: decimations, degrees and lags, and the candidate terms of each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain, product
from math import comb
from typing import Any

from narxbench._identification.data.arrangement import N_PARTS, Arrangement
from narxbench._identification.data.sampling import LEAST_SAMPLES
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import FieldError, NarxbenchError, did_you_mean
from narxbench._model.records import Recording
from narxbench._model.terms import INPUT, MAX_TERMS, OUTPUT, Monomial, max_lag_of, monomials_of, parse_term, term_name

# Decimations and numbers of lags that are scanned, each at most half as large again as the one before, or one more.
# Degrees up to the cubes in the systems of the paper, and the largest set of candidates unless the user gives degree
# and lags.
STRIDES = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
LAGS, DEGREES, LARGEST = (2, 3, 4, 5, 6, 8, 12, 16), (1, 2, 3), 400
# If the lags of either the inputs or the output are scanned, the other lags are these, from the first one on.
SOME_LAGS = range(1, LAGS[1] + 1)


@dataclass(frozen=True)
class Configuration:
    """One choice of what the candidate terms are made of."""

    decimation: int  # samples of the data in one step, which lags count
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
        return max((0, *self.y_lags, *chain.from_iterable(self.u_lags)))

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
    kept = []
    for monomial in _all_candidates(configuration, settings):
        is_excluded = any(fnmatchcase(term_name(monomial, n_inputs), pattern) for pattern in settings.exclude)
        if not is_excluded:
            kept.append(monomial)
    if not kept:
        raise NarxbenchError("candidate terms: none is left by exclude; allowed: at least one")
    return kept


def _all_candidates(configuration: Configuration, settings: IdentificationSettings) -> list[Monomial]:
    """Return the candidates before any is left out."""
    factors = [(OUTPUT, lag) for lag in configuration.y_lags]
    for signal, lags in enumerate(configuration.u_lags, INPUT):
        factors += [(signal, lag) for lag in lags]
    monomials = monomials_of(factors, configuration.degree)
    further = _included(settings, len(configuration.u_lags)) - set(monomials)
    return sorted([*monomials, *further], key=lambda monomial: (len(monomial), monomial))


def _included(settings: IdentificationSettings, n_inputs: int) -> set[Monomial]:
    try:
        return {parse_term(name, n_inputs, current=True) for name in settings.include}
    except NarxbenchError as error:
        raise FieldError("include", str(error)) from None


def configurations(
    recording: Recording,
    settings: IdentificationSettings,
    decimations: Sequence[int],
    delays: Sequence[int],
    most_degree: int | None = None,
    seasons: Sequence[int] = (),
) -> list[Configuration]:
    """Return the configurations that a search may try, in canonical order.

    Parameters
    ----------
    recording : Recording
        The data.
    settings : IdentificationSettings
        The settings, which fix or scan decimation, degree and lags.
    decimations : sequence of int
        Decimations that deserve a comparison where they are scanned.
    delays : sequence of int
        Samples before each input acts, as far as the data show.
    most_degree : int, optional
        The largest degree that is scanned, as the data show no more.
    seasons : sequence of int
        Samples after which the output repeats itself.

    Raises
    ------
    NarxbenchError
        If no configuration is possible, there are too many terms, or a pattern of ``exclude`` matches none.
    """
    _check_input_names(recording, settings)
    largest_included = max_lag_of(_included(settings, len(recording.inputs)))
    kept: dict[Configuration, None] = {}
    for tried, n_lags in _grid(recording, settings, decimations, delays, most_degree, seasons):
        if not _has_enough_samples(recording, settings, tried, n_lags):
            continue
        if largest_included > tried.max_lag:
            arrangement = Arrangement(recording.known, tried.decimation, largest_included, N_PARTS)
            if not arrangement.enough:
                continue
        kept[tried] = None
    if not kept:
        samples = sum(map(len, recording.known))
        lags_of_terms = f"; include has {largest_included}" if largest_included else ""
        raise NarxbenchError(
            f"decimation, degree and lags: found none that {samples} samples are enough for; allowed: fewer lags "
            f"(give y_lags and u_lags{lags_of_terms}), a smaller decimation, or longer records"
        )
    _check_size(kept)
    _check_patterns(kept, settings)
    return list(kept)


def _check_input_names(recording: Recording, settings: IdentificationSettings) -> None:
    if not isinstance(settings.u_lags, dict):
        return
    for name in settings.u_lags:
        if name not in recording.inputs:
            inputs = ", ".join(recording.inputs) or "none, for there is no input"
            hint = did_you_mean(name, recording.inputs)
            raise FieldError("u_lags", f"found the input {name!r}; allowed: {inputs}{hint}")


def _check_size(kept: Iterable[Configuration]) -> None:
    largest = max(kept, key=lambda configuration: configuration.size)
    if largest.size > MAX_TERMS:
        terms = f"{largest.size} candidate terms of degree {largest.degree} with these lags"
        raise FieldError("degree", f"found {terms}; allowed: at most {MAX_TERMS}")


def _check_patterns(kept: Iterable[Configuration], settings: IdentificationSettings) -> None:
    """Raise NarxbenchError if a pattern of ``exclude`` matches no candidate, or all of a configuration."""
    if not settings.exclude:
        return
    names: dict[str, None] = {}
    for configuration in kept:
        n_inputs = len(configuration.u_lags)
        names |= {term_name(monomial, n_inputs): None for monomial in _all_candidates(configuration, settings)}
    for pattern in settings.exclude:
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names)
            raise FieldError("exclude", f"found {pattern!r}, which no candidate term matches; allowed: others{hint}")
    for configuration in kept:
        candidates(configuration, settings)


def _scans_lags(recording: Recording, settings: IdentificationSettings) -> bool:
    return settings.y_lags == "auto" or (bool(recording.inputs) and settings.u_lags == "auto")


def _is_given(recording: Recording, settings: IdentificationSettings) -> bool:
    """Return whether the user gave degree and lags, so that no limit applies."""
    return settings.degree != "auto" and not _scans_lags(recording, settings)


def _grid(
    recording: Recording,
    settings: IdentificationSettings,
    decimations: Sequence[int],
    delays: Sequence[int],
    most_degree: int | None,
    seasons: Sequence[int],
) -> Iterator[tuple[Configuration, int]]:
    """Yield all combinations of decimation, degree and lags, each with the number of scanned lags, which may be 0.

    Large ones are left out, unless degree and lags are given.
    """
    strides = list(decimations) if settings.decimation == "auto" else sorted(set(settings.decimation))
    degrees = list(DEGREES[:most_degree]) if settings.degree == "auto" else sorted(set(settings.degree))
    numbers_of_lags = LAGS if _scans_lags(recording, settings) else (0,)
    for stride, degree, n_lags in product(strides, degrees, numbers_of_lags):
        y_lags = range(1, n_lags + 1) if settings.y_lags == "auto" else sorted(set(settings.y_lags))
        u_lags = []
        for name, delay in zip(recording.inputs, delays, strict=True):
            u_lags.append(_input_lags(settings, name, n_lags, stride, delay))
        configuration = Configuration(stride, degree, tuple(y_lags), tuple(u_lags))
        if configuration.size <= LARGEST or _is_given(recording, settings):
            yield configuration, n_lags
        seasonal = replace(configuration, y_lags=with_seasons(y_lags, seasons, stride))
        if settings.y_lags == "auto" and seasonal != configuration and seasonal.size <= LARGEST:
            yield seasonal, n_lags


def with_seasons(lags: Iterable[int], seasons: Iterable[int], stride: int) -> tuple[int, ...]:
    """Return lags of the output, and of its seasons and a step more. Seasons must be whole steps."""
    all_lags = set(lags)
    for season in seasons:
        if season % stride == 0:
            all_lags |= {season // stride, season // stride + 1}
    return tuple(sorted(all_lags))


def _has_enough_samples(
    recording: Recording, settings: IdentificationSettings, configuration: Configuration, n_lags: int
) -> bool:
    """Return whether the records are long enough for the lags of a configuration."""
    records, samples = recording.known, sum(map(len, recording.known))
    stride, max_lag = configuration.decimation, configuration.max_lag
    # The fewest lags are tried with whatever there is.
    has_few_lags = n_lags <= LAGS[0]
    # Blocks that take turns shall be longer than the lags.
    if not has_few_lags and samples < 4 * N_PARTS * max_lag:
        return False
    # Records as short as the lags cannot be used.
    usable = [record for record in records if len(record) > stride * max_lag]
    roles = {record.role for record in usable}
    if not sum(map(len, usable)) / stride >= 4 * max_lag or roles == {"selection"}:
        return False
    # Samples that only give lags are not scored, so the hard beginning of a record would count for some configurations
    # only. Such samples are no more than a part.
    is_free = has_few_lags or _is_given(recording, settings)
    if not is_free and stride * max_lag * len(usable) * N_PARTS > samples:
        return False
    return ("selection" in roles) == any(record.role == "selection" for record in records)


def _input_lags(settings: IdentificationSettings, name: str, n_lags: int, stride: int, delay: int) -> tuple[int, ...]:
    """Return the lags of an input: those that are given, or scanned ones from its delay in samples on."""
    lags = _given_lags(settings, name)
    if lags is not None:
        return tuple(sorted(set(lags)))
    if settings.delay == "auto":
        # The first lag that is seen is an upper bound if the input seldom changes. A lag of 0 is seen only if real.
        steps = delay // stride
        first = steps - 1 if steps >= 3 else min(1, delay)
    else:
        first = -(-settings.delay // stride)
    return tuple(range(first, first + (n_lags or len(SOME_LAGS))))


def _given_lags(settings: IdentificationSettings, name: str) -> list[int] | None:
    """Return the lags of an input that the settings fix; None where they are scanned."""
    lags = settings.u_lags.get(name) if isinstance(settings.u_lags, dict) else settings.u_lags
    return None if lags is None or lags == "auto" else lags


def inputs_with_open_lags(recording: Recording, settings: IdentificationSettings) -> list[int]:
    """Return the places of the inputs whose first lag is open."""
    if settings.delay != "auto":
        return []
    return [place for place, name in enumerate(recording.inputs) if _given_lags(settings, name) is None]


def with_first_lag(configuration: Configuration, place: int, first: int) -> Configuration:
    """Return a configuration with as many lags of an input, which begin at another one."""
    u_lags = list(configuration.u_lags)
    u_lags[place] = tuple(range(first, first + len(u_lags[place])))
    return replace(configuration, u_lags=tuple(u_lags))


def strides(advised: int, first_minimum: int | None, samples: int) -> list[int]:
    """Return decimations that deserve a comparison: a coarse scale, the advised one, and some around it.

    With a stride over a fifth of ``first_minimum`` (Billings and Aguirre) the correlation dips after too few steps.
    """
    longest = max(advised, (first_minimum or 1) // 5)
    deserving = []
    for stride in sorted({*STRIDES, advised, (advised + 1) // 2, (3 * advised + 1) // 4}):
        has_enough_steps = stride == 1 or samples // stride >= LEAST_SAMPLES
        if 1 <= stride <= longest and has_enough_steps:
            deserving.append(stride)
    return deserving
