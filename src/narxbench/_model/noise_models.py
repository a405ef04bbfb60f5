"""Noise models: where the noise enters a model, which filter it passes, and how it is distributed.

The noise w(k) is white noise e(k), the innovations, behind a filter,

    D(q) w(k) = C(q) e(k),    D(q) = (1 + d_1 q^-1 + ...) (1 - q^-1)^i,    C(q) = 1 + c_1 q^-1 + ...,

with i = 1 for noise that drifts and 0 otherwise. It enters the equation, y(k) = f(y, u) + w(k), or the measured output,
x(k) = f(x, u), y(k) = x(k) + w(k). A family is a combination of place and filter, under its name in the field. A
noise model of the family says which coefficients are free.

To add a family, make it here and name it in :data:`NOISE_MODELS` and :data:`NoiseName`.

Source: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, section 4.2; S. A. Billings, Nonlinear
System Identification, 2013, chapter 3.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, cast, get_args

from narxbench._io.errors import NarxbenchError, did_you_mean, show

Place = Literal["equation", "output"]
NoiseName = Literal["narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"]
Lags = tuple[int, ...]


@dataclass(frozen=True)
class Distribution:
    """The distribution of the innovations: Student-t, or Gaussian if the degrees of freedom are infinite."""

    degrees_of_freedom: float = math.inf

    @property
    def is_gaussian(self) -> bool:
        """Whether the innovations are Gaussian."""
        return self.degrees_of_freedom == math.inf

    @property
    def n_parameters(self) -> int:
        """The number of parameters besides the scale."""
        return int(not self.is_gaussian)

    @property
    def title(self) -> str:
        """The name of the distribution for readers."""
        if self.is_gaussian:
            return "Gaussian"
        return f"Student-t with {self.degrees_of_freedom:g} degrees of freedom"

    def log_likelihood(self, innovations: Sequence[float], scale: float) -> float:
        """Return the logarithm of the likelihood of innovations, computed in plain Python.

        Parameters
        ----------
        innovations : sequence of float
            The innovations, in any unit.
        scale : float
            The standard deviation of a Gaussian, or the scale parameter of Student-t, in the same unit.
        """
        squares = [(e / scale) ** 2 for e in innovations]
        if self.is_gaussian:
            return math.fsum(-0.5 * (s + math.log(2 * math.pi)) - math.log(scale) for s in squares)
        nu = self.degrees_of_freedom
        constant = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - 0.5 * math.log(nu * math.pi) - math.log(scale)
        return math.fsum(constant - 0.5 * (nu + 1) * math.log1p(s / nu) for s in squares)


GAUSSIAN = Distribution()
# The degrees of freedom that are tried: with 2 or fewer there is no variance, with more the tails are hardly heavy.
STUDENT_T = tuple(Distribution(nu) for nu in (2.0, 3.0, 4.0, 6.0, 10.0))


@dataclass(frozen=True)
class NoiseFamily:
    """Noise models of one name, which differ in their orders. Calling the family makes one of them.

    Attributes
    ----------
    name : str
        The name in settings and files.
    title : str
        The name for readers.
    place : {"equation", "output"}
        Where the noise enters.
    words : str
        A phrase that describes the noise.
    filters : callable
        Yields the lags of the autoregression and of the moving average that a search may choose between, up to a
        largest order.
    """

    name: str
    title: str
    place: Place
    words: str
    filters: Callable[[int], Iterable[tuple[Lags, Lags]]]

    def __call__(
        self, ar_lags: Lags = (), ma_lags: Lags = (), is_integrated: bool = False, distribution: Distribution = GAUSSIAN
    ) -> "NoiseModel":
        """Return the noise model of this family with some free coefficients."""
        return NoiseModel(self, ar_lags, ma_lags, is_integrated, distribution)


@dataclass(frozen=True)
class NoiseModel:
    """A noise model without the values of its coefficients.

    Attributes
    ----------
    family : NoiseFamily
        Where the noise enters, and which filters it may have.
    ar_lags, ma_lags : tuple of int
        Lags of the free coefficients d_i and c_i, ascending. All other coefficients are zero.
    is_integrated : bool
        Whether the filter integrates: the noise drifts without bounds. Such noise hides a constant.
    distribution : Distribution
        The distribution of the innovations.
    """

    family: NoiseFamily
    ar_lags: Lags = ()
    ma_lags: Lags = ()
    is_integrated: bool = False
    distribution: Distribution = GAUSSIAN

    @property
    def name(self) -> NoiseName:
        """The name of its family in settings and files."""
        return cast(NoiseName, self.family.name)

    @property
    def title(self) -> str:
        """The name of its family for readers."""
        return self.family.title

    @property
    def place(self) -> Place:
        """Where the noise enters."""
        return self.family.place

    @property
    def is_white(self) -> bool:
        """Whether the noise is white where it enters."""
        return not self.ar_lags and not self.ma_lags and not self.is_integrated

    @property
    def n_parameters(self) -> int:
        """The number of free coefficients. An integration and a shape of the distribution count as one each."""
        return len(self.ar_lags) + len(self.ma_lags) + int(self.is_integrated) + self.distribution.n_parameters

    @property
    def description(self) -> str:
        """The noise model with its orders, for readers: ``Box-Jenkins (AR 1, MA 1)``."""
        details = []
        if self.ar_lags:
            details.append(f"AR {self.ar_lags[-1]}")
        if self.ma_lags:
            details.append(f"MA {self.ma_lags[-1]}")
        if self.is_integrated:
            details.append("drift")
        if not self.distribution.is_gaussian:
            details.append(self.distribution.title)
        if not details:
            return self.title
        return f"{self.title} ({', '.join(details)})"

    def innovations(
        self,
        errors: Sequence[float],
        autoregression: Sequence[float] = (),
        moving_average: Sequence[float] = (),
    ) -> list[float]:
        """Return the innovations behind the noise of consecutive samples, computed in plain Python.

        Parameters
        ----------
        errors : sequence of float
            The noise w(k). Before the first sample it is zero or, if the noise is integrated, equal to the first.
        autoregression, moving_average : sequence of float
            d_1, d_2, ... and c_1, c_2, ..., including the zeros between free coefficients.
        """
        if self.is_integrated:
            errors = [0.0] + [current - previous for previous, current in pairwise(errors)]
        innovations: list[float] = []
        for k, error in enumerate(errors):
            value = error
            for lag, weight in enumerate(autoregression[:k], 1):
                value += weight * errors[k - lag]
            for lag, weight in enumerate(moving_average[:k], 1):
                value -= weight * innovations[k - lag]
            innovations.append(value)
        return innovations


def _orders(largest_order: int) -> Iterator[Lags]:
    for order in range(1, largest_order + 1):
        yield tuple(range(1, order + 1))


# The largest order of an autoregression and a moving average together. One of them alone may have a larger order.
MIXED_ORDER = 2


def _no_filters(largest_order: int) -> Iterator[tuple[Lags, Lags]]:
    yield (), ()


def _moving_averages(largest_order: int) -> Iterator[tuple[Lags, Lags]]:
    for lags in _orders(largest_order):
        yield (), lags


def _autoregressions(largest_order: int) -> Iterator[tuple[Lags, Lags]]:
    for lags in _orders(largest_order):
        yield lags, ()


def _mixed_filters(largest_order: int) -> Iterator[tuple[Lags, Lags]]:
    largest = min(MIXED_ORDER, largest_order)
    for ar_lags in _orders(largest):
        for ma_lags in _orders(largest):
            yield ar_lags, ma_lags


def _all_filters(largest_order: int) -> Iterator[tuple[Lags, Lags]]:
    for lags in _orders(largest_order):
        yield lags, ()
        yield (), lags
    yield from _mixed_filters(largest_order)


# y(k) = f(y, u) + w(k) with w(k) = e(k), C(q) e(k), 1 / D(q) e(k) and C(q) / D(q) e(k).
Narx = NoiseFamily("narx", "NARX", "equation", "white noise in the equation", _no_filters)
Narmax = NoiseFamily("narmax", "NARMAX", "equation", "a moving average in the equation", _moving_averages)
Ararx = NoiseFamily("ararx", "ARARX", "equation", "autoregressive noise in the equation", _autoregressions)
Ararmax = NoiseFamily(
    "ararmax",
    "ARARMAX",
    "equation",
    "noise of an autoregression and a moving average in the equation",
    _mixed_filters,
)
# x(k) = f(x, u) and y(k) = x(k) + w(k) with w(k) = e(k) and C(q) / D(q) e(k).
Noe = NoiseFamily("noe", "NOE", "output", "white noise on the output", _no_filters)
BoxJenkins = NoiseFamily("box-jenkins", "Box-Jenkins", "output", "coloured noise on the output", _all_filters)

NOISE_MODELS = {family.name: family for family in (Narx, Narmax, Ararx, Ararmax, Noe, BoxJenkins)}
NOISE_NAMES: tuple[NoiseName, ...] = get_args(NoiseName)


def noise_family(name: object) -> NoiseFamily:
    """Return the family of a name.

    Raises
    ------
    NarxbenchError
        If the name is unknown.

    Examples
    --------
    >>> noise_family("ararx").title
    'ARARX'
    """
    if isinstance(name, str) and name in NOISE_MODELS:
        return NOISE_MODELS[name]
    names = list(NOISE_MODELS)
    raise NarxbenchError(f"noise model: found {show(name)}; allowed: {', '.join(names)}{did_you_mean(name, names)}")


def noise_model_of(
    name: object,
    autoregression: Sequence[float] = (),
    moving_average: Sequence[float] = (),
    *,
    is_integrated: object = False,
    degrees_of_freedom: float | None = None,
) -> NoiseModel:
    """Return the noise model to which some coefficients belong. Those that are not zero are free.

    Parameters
    ----------
    name : object
        The name of the noise model.
    autoregression, moving_average : sequence of float
        d_1, d_2, ... and c_1, c_2, ..., finite numbers, including the zeros between free coefficients.
    is_integrated : object
        Whether the noise drifts.
    degrees_of_freedom : float, optional
        The degrees of freedom of Student-t, a finite number. None: the innovations are Gaussian.

    Raises
    ------
    NarxbenchError
        If the name is unknown, the noise model does not have such coefficients, the zeros of a filter are not inside
        the unit circle, or another value is not allowed.

    Examples
    --------
    >>> noise_model_of("box-jenkins", [0.0, 0.5], degrees_of_freedom=3).description
    'Box-Jenkins (AR 2, Student-t with 3 degrees of freedom)'
    """
    family = noise_family(name)
    ar_lags, ma_lags = _free_lags(autoregression), _free_lags(moving_average)
    _check_filter(family, "autoregression", autoregression, _has_autoregression)
    _check_filter(family, "moving_average", moving_average, _has_moving_average)
    if not isinstance(is_integrated, bool):
        raise NarxbenchError(f"is_integrated: found {show(is_integrated)}; allowed: true or false")
    if degrees_of_freedom is None:
        return family(ar_lags, ma_lags, is_integrated)
    if degrees_of_freedom <= 0:
        allowed = "a number above 0, or None for Gaussian noise"
        raise NarxbenchError(f"degrees_of_freedom: found {show(degrees_of_freedom)}; allowed: {allowed}")
    return family(ar_lags, ma_lags, is_integrated, Distribution(degrees_of_freedom))


def _free_lags(coefficients: Sequence[float]) -> Lags:
    return tuple(lag for lag, coefficient in enumerate(coefficients, 1) if coefficient)


def _has_autoregression(family: NoiseFamily) -> bool:
    return any(ar_lags for ar_lags, _ in family.filters(1))


def _has_moving_average(family: NoiseFamily) -> bool:
    return any(ma_lags for _, ma_lags in family.filters(1))


def _check_filter(
    family: NoiseFamily, name: str, coefficients: Sequence[float], has_filter: Callable[[NoiseFamily], bool]
) -> None:
    """Raise NarxbenchError if a family does not have such coefficients, or if the filter is not stable."""
    if len(coefficients) and not has_filter(family):
        names = ", ".join(member.name for member in NOISE_MODELS.values() if has_filter(member))
        allowed = f"none for {family.name}, any for {names}"
        raise NarxbenchError(f"{name}: found {show(coefficients)}; allowed: {allowed}")
    if not is_stable(coefficients):
        letter = "d" if name == "autoregression" else "c"
        allowed = f"{letter}_1, {letter}_2, ... with the zeros of 1 + {letter}_1 q^-1 + ... inside the unit circle"
        raise NarxbenchError(f"{name}: found {show(coefficients)}, which is not stable; allowed: {allowed}")


def is_stable(coefficients: Sequence[float]) -> bool:
    """Return whether the zeros of 1 + c_1 q^-1 + c_2 q^-2 + ... are inside the unit circle.

    Examples
    --------
    >>> is_stable([-1.5, 0.6]), is_stable([-1.0])
    (True, False)
    """
    remaining = list(coefficients)
    while remaining:
        # The step-down recursion: each order gives a reflection coefficient and a polynomial of one order less.
        reflection = remaining.pop()
        if not abs(reflection) < 1.0:
            return False
        mirrored = remaining[::-1]
        rest = 1.0 - reflection * reflection
        remaining = [(a - reflection * b) / rest for a, b in zip(remaining, mirrored, strict=True)]
    return True
