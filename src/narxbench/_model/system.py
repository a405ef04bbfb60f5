"""Systems: difference equations that are written as text, read as data (never evaluated) and simulated."""

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._io.errors import FileError, NarxbenchError, did_you_mean, is_whole_number, listed
from narxbench._io.files import CONFIG_FOLDER
from narxbench._io.settings import Settings, validated
from narxbench._io.yaml import read_mapping
from narxbench._model.dataset import DIVERGED, Signals, snr_label
from narxbench._model.excitation import Excitation, UniformInput, excitation_of
from narxbench._model.expression import Function, is_special, parse_expression
from narxbench._model.noise import NOISES, CleanExperiment, Controller, NoiseKind
from narxbench._model.terms import (
    MAX_DEGREE,
    MAX_LAG,
    OUTPUT,
    Monomial,
    Token,
    candidate_monomials,
    index_of_terms,
    product_of,
    term_name,
    tokenize,
)
from narxbench._numerics.random_streams import generator, standard_normal

SYSTEMS_FOLDER = CONFIG_FOLDER / "systems"
# The size of a signal in a signal-to-noise ratio.
SignalSize = Literal["variance", "power", "one"]


class SystemFile(Settings):
    """The keys of a system file ``config/systems/NAME.yaml``."""

    description: str = ""
    reference: str = ""
    n_u: int = Field(ge=0, le=MAX_LAG)
    n_y: int = Field(ge=0, le=MAX_LAG)
    degree: int = Field(ge=1, le=MAX_DEGREE)
    equation: str = Field(min_length=1)
    excitation: dict[str, Any] | None = None


class System:
    """A system to identify: its equation, and the lags and degree of the candidate terms.

    Parameters
    ----------
    name : str
        The name; together with a seed it determines the random streams of the system's data.
    equation : str
        A polynomial, whose terms are the system terms. It may also have noise terms, which have lagged noise as a
        factor, such as ``0.5*e(k-1)`` and ``0.1*u(k-1)*e(k-2)``, and are not system terms. Instead of a polynomial it
        may have fractions, ``exp`` and ``sin``, as :func:`~narxbench._model.expression.parse_expression` reads them:
        then the truth is outside the candidate terms.
    n_u, n_y, degree : int
        Largest lags of input and output, and degree of the candidate terms. System terms must not exceed them.
    excitation : Excitation or mapping, optional
        The input that belongs to the system. None: the input of the study.
    description, reference : str
        For readers.

    Attributes
    ----------
    monomials, terms, coefficients : list
        The system terms, their names and their coefficients in the order of the equation. Empty if the truth is
        outside the candidate terms.
    inside : bool
        Whether the truth is within the candidate terms.

    Raises
    ------
    NarxbenchError
        If the equation cannot be read or has terms that are not candidates.

    Examples
    --------
    >>> system = System("demo", "y(k) = 0.5*y(k-1) + u(k-1)", n_u=1, n_y=1, degree=1)
    >>> system.terms, system.coefficients
    (['y(k-1)', 'u(k-1)'], [0.5, 1.0])
    >>> System("demo", "y(k) = y(k-1)/(1 + y(k-1)^2) + u(k-1)^3", n_u=1, n_y=1, degree=3).inside
    False
    """

    def __init__(
        self,
        name: str,
        equation: str,
        *,
        n_u: int,
        n_y: int,
        degree: int,
        excitation: Excitation | Mapping[str, Any] | None = None,
        description: str = "",
        reference: str = "",
    ) -> None:
        self.name, self.equation, self.description, self.reference = name, equation, description, reference
        self.n_u, self.n_y, self.degree = n_u, n_y, degree
        self.excitation: Excitation | None = None
        if excitation is not None:
            self.excitation = excitation_of(excitation)
        right = _right_side(equation)
        polynomial: str | None = right
        self._function: Function | None = None
        self._noise_terms: list[Function] = []
        if is_special(right):
            polynomial, self._function, self._noise_terms = parse_expression(right)
        self.inside = polynomial is not None
        weighted_terms: list[tuple[Monomial, float]] = []
        if polynomial is not None:
            weighted_terms = _weighted_terms(polynomial)
        self.monomials: list[Monomial] = [monomial for monomial, _ in weighted_terms]
        self.coefficients: list[float] = [coefficient for _, coefficient in weighted_terms]
        self.terms: list[str] = [term_name(monomial) for monomial in self.monomials]
        candidates = candidate_monomials(n_y=n_y, n_u=n_u, degree=degree)
        index_of_terms(self.terms, {monomial: i for i, monomial in enumerate(candidates)})

    def __repr__(self) -> str:
        arguments = f"{self.name!r}, {self.equation!r}, n_u={self.n_u}, n_y={self.n_y}, degree={self.degree}"
        if self.excitation is not None:
            arguments += f", excitation={self.excitation!r}"
        return f"System({arguments})"

    def definition(self) -> dict[str, Any]:
        """Return the arguments that define the system as plain data: ``System(**definition)`` builds it again."""
        definition = {key: getattr(self, key) for key in ("name", "equation", "n_u", "n_y", "degree")}
        if self.excitation is not None:
            definition["excitation"] = self.excitation.model_dump(mode="json")
        return definition

    def with_candidates(self, **orders: int) -> "System":
        """Return the same system, with the same data, among candidate terms of other orders."""
        return System(**{**self.definition(), **orders}, description=self.description, reference=self.reference)

    def simulate(
        self,
        samples: int = 2000,
        *,
        snr_db: float | None = None,
        seed: int = 1,
        excitation: Excitation | None = None,
        noise: NoiseKind = "output",
        washout: int = 100,
        realisation: int | None = None,
        snr_of: SignalSize = "variance",
        own_noise: bool = False,
    ) -> Signals:
        """Simulate the system from rest.

        Input and unit-variance noise depend only on the system's name, ``seed`` and, unless it is None,
        ``realisation``. So all SNRs share them, except with ``own_noise``.

        Parameters
        ----------
        samples : int
            The number of samples to return.
        snr_db : float, optional
            Signal-to-noise ratio in dB: the variance of the white Gaussian noise is the variance of the signal
            divided by 10^(SNR/10). None: no noise and no noise terms.
        seed : int
            Seed of input and noise, from 0 on.
        excitation : Excitation, optional
            The input. Default: the input of the system, or else white, uniform on (-1, 1).
        noise : str
            How e(k) enters, a name of :data:`~narxbench._model.noise.NOISES`: ``"output"`` adds it to the output
            (measurement noise), ``"equation"`` puts it inside the equation (process noise). Other kinds filter it,
            change its distribution, or disturb more than the output. In a system with noise terms e(k) is always inside
            the equation.
        washout : int
            Samples simulated before the first one returned, so that the start at rest is forgotten.
        realisation : int, optional
            The number of a run with its own input and noise, from 1 on, or 0 for data that no run uses.
        snr_of : str
            The size of the signal in the SNR: the ``"variance"`` of the noise-free output after the washout, its
            ``"power"``, which is the mean of its squares, or ``"one"``.
        own_noise : bool
            Whether each SNR has different noise.

        Returns
        -------
        Signals
            ``(u, y)``, each of shape (samples,).

        Raises
        ------
        NarxbenchError
            If an argument is impossible, or the output exceeds 1e12 in magnitude.

        Examples
        --------
        >>> system = System("demo", "y(k) = 0.5*y(k-1) + u(k-1)", n_u=1, n_y=1, degree=1)
        >>> u, y = system.simulate(3)
        >>> y.tolist()
        [0.01751201913603212, 0.42333091690792546, 0.6680098880612833]
        >>> bool(y[2] == 0.5 * y[1] + u[1])
        True
        """
        counts = {"samples": samples, "washout": washout, "seed": seed}
        axes: dict[str, Any] = {"system": self.name, "seed": seed}
        if realisation is not None:
            counts["realisation"] = axes["realisation"] = realisation
        for label, value in counts.items():
            least = int(label == "samples")
            if not is_whole_number(value, least):
                raise NarxbenchError(f"simulate: {label}: found {value!r}; allowed: a whole number from {least} on")
        if noise not in NOISES:
            raise NarxbenchError(f"simulate: noise: found {noise!r}; allowed: {' or '.join(map(repr, NOISES))}")
        excitation = excitation or self.excitation or UniformInput()
        total = washout + samples
        u = excitation.samples(generator(purpose="input", **axes), total)

        def respond(disturbance: NDArray[np.float64], controller: Controller | None = None) -> Signals:
            return self._respond(u, disturbance, excitation, controller)

        clean = respond(np.zeros(total))
        if snr_db is None:
            return Signals(clean.u[washout:].copy(), clean.y[washout:].copy())
        if own_noise:
            axes["snr_db"] = snr_label(snr_db)
        unit_noise = np.array(standard_normal(generator(purpose="noise", **axes), total))
        size = _signal_size(clean.y[washout:].tolist(), snr_of)
        ratio = float(Decimal(10) ** (Decimal(repr(float(snr_db))) / 10))
        noise_sd, noise_share = math.sqrt(size / ratio), math.sqrt(1.0 / ratio)
        if self._noise_terms:
            noise = "equation"
        draws = generator(purpose="further noise", noise=noise, **axes)
        measured = NOISES[noise](CleanExperiment(clean, noise_sd * unit_noise, noise_share, respond, draws))
        return Signals(measured.u[washout:].copy(), measured.y[washout:].copy())

    def oversampled(self, rate: int) -> "System":
        """Return the system at a multiple of its sampling rate: y(k) = y(k-1) + (f - y(k-1)) / rate.

        It has the same name, input and orders of the candidate terms, and is meant for an input that is held for
        ``rate`` samples. A system with noise terms or a truth outside the candidates raises NarxbenchError.
        """
        if self._noise_terms or not self.inside:
            raise NarxbenchError(f"oversampled: found {self.name}; allowed: a polynomial without noise terms")
        previous: Monomial = ((OUTPUT, 1),)
        weights = {previous: 0.0}
        for monomial, coefficient in zip(self.monomials, self.coefficients, strict=True):
            weights[monomial] = coefficient / rate
        weights[previous] += 1.0 - 1.0 / rate
        summands = []
        for monomial, weight in weights.items():
            sign = "-" if weight < 0.0 else "+"
            number = repr(abs(weight))
            summands.append(f"{sign} {number}*{term_name(monomial)}" if monomial else f"{sign} {number}")
        definition = {**self.definition(), "equation": "y(k) = " + " ".join(summands)}
        return System(**definition, description=self.description, reference=self.reference)

    def _respond(
        self,
        u: NDArray[np.float64],
        e: NDArray[np.float64],
        excitation: Excitation,
        controller: Controller | None = None,
    ) -> Signals:
        """Return input and output of the system at rest, for an input and a noise inside the equation.

        A controller adds to the input after each sample of the output.
        """
        # Plain floats in the order of the equation: slower than arrays, but the same bytes on every machine.
        y: list[float] = []
        signals = y, u.tolist(), e.tolist()
        functions = list(self._noise_terms)
        if self._function:
            functions.insert(0, self._function)
        for k, disturbance in enumerate(signals[2]):
            value = disturbance
            for monomial, coefficient in zip(self.monomials, self.coefficients, strict=True):
                product = coefficient
                for signal, lag in monomial:
                    product *= signals[signal][k - lag] if k >= lag else 0.0
                value += product
            for function in functions:
                value += function(signals, k)
            if not abs(value) <= DIVERGED:
                raise NarxbenchError(
                    f"system {self.name}: its output diverges (|y| > {DIVERGED:g}) at sample {k + 1} with the input "
                    f"{excitation!r}; allowed: an input for which the system is stable, e.g. one of smaller amplitude"
                )
            y.append(value)
            if controller is not None:
                signals[1][k] += controller(k, value)
        return Signals(np.array(signals[1]), np.array(y))


def _signal_size(values: list[float], kind: SignalSize) -> float:
    """Return the size of a signal for the signal-to-noise ratio."""
    if kind == "one":
        return 1.0
    # math.fsum is correctly rounded, whereas NumPy's sums depend on the processor's vector width.
    mean = 0.0
    if kind == "variance":
        mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) * (value - mean) for value in values) / len(values)


def _weighted_terms(right: str) -> list[tuple[Monomial, float]]:
    """Return the (monomial, coefficient) pairs of a polynomial in the order of the text, which is never evaluated.

    Each term must occur only once, and coefficients must be finite and not 0. Errors name the column.
    """
    summands = _summands(tokenize(right, "equation"), right)
    if not summands[-1][1]:
        raise NarxbenchError(f"equation: {f'y(k) = {right}'[:60]!r} ends where a term is expected")
    weighted_terms = [_weighted_term(sign, tokens, right) for sign, tokens in summands if tokens]
    monomial, times = Counter(monomial for monomial, _ in weighted_terms).most_common(1)[0]
    if times > 1:
        raise NarxbenchError(f"equation: the term {term_name(monomial)} appears twice; allowed: each term once")
    return weighted_terms


def _summands(tokens: list[Token], right: str) -> list[tuple[float, list[Token]]]:
    """Return the sign and the tokens of each summand. An equation that begins with a sign has an empty one first."""
    summands: list[tuple[float, list[Token]]] = [(1.0, [])]
    is_after_sign = False
    for token in tokens:
        if token.kind != "sign":
            summands[-1][1].append(token)
        elif is_after_sign:
            raise NarxbenchError(f"equation: two signs in a row before column {token.column + 1} of {right[:60]!r}")
        else:
            sign = 1.0 if token.text == "+" else -1.0
            summands.append((sign, []))
        is_after_sign = token.kind == "sign"
    return summands


def _weighted_term(sign: float, tokens: list[Token], right: str) -> tuple[Monomial, float]:
    """Return the monomial and the coefficient of a summand."""
    has_number = tokens[0].kind == "number"
    coefficient = sign
    if has_number:
        number, *tokens = tokens
        coefficient = sign * float(number.text)
        if coefficient == 0.0 or not math.isfinite(coefficient):
            finding = f"found the coefficient {number.text[:40]}"
            raise NarxbenchError(f"equation: {finding}; allowed: a finite number other than 0")
    return product_of(tokens, "equation", right, after_number=has_number), coefficient


def _right_side(equation: str) -> str:
    """Return the right-hand side of an equation of y(k), whose columns are counted in messages."""
    left, equals, right = equation.partition("=")
    if not equals or "".join(left.split()) not in ("y(k)", "y(t)"):
        raise NarxbenchError(f"equation: found {equation[:60]!r}; allowed: 'y(k) = ' and a sum of terms")
    return right.strip()


def system_names(folder: str | Path | None = None) -> list[str]:
    """Return the names of the systems described in ``folder`` (default: the project's ``config/systems``).

    Files whose name is not printable text, which no message could show, are left out.
    """
    return sorted(path.stem for path in Path(folder or SYSTEMS_FOLDER).glob("*.yaml") if path.stem.isprintable())


def load_system(name: str, folder: str | Path | None = None) -> System:
    """Return the system described in ``folder/name.yaml`` (default folder: the project's ``config/systems``).

    Raises
    ------
    NarxbenchError
        If no file has that name, or if the file has a mistake.

    Examples
    --------
    >>> load_system("S1")
    System('S1', 'y(k) = 0.5*y(k-1) + 0.3*u(k-1) + 0.3*y(k-1)*u(k-1) + 0.5*u(k-1)^2', n_u=5, n_y=5, degree=2)
    """
    names = system_names(folder)
    if name not in names:
        raise NarxbenchError(
            f"system {name!r}: no {Path(folder or SYSTEMS_FOLDER)}/NAME.yaml of that name; "
            f"allowed: {listed(names) or 'none, the folder has no system files'}{did_you_mean(name, names)}"
        )
    path = Path(folder or SYSTEMS_FOLDER) / f"{name}.yaml"
    system_file = validated(SystemFile, read_mapping(path), str(path))
    try:
        return System(name, **dict(system_file))
    except NarxbenchError as error:
        raise FileError(f"{path}: {error}") from None
