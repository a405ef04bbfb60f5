"""Systems: a difference equation written as text, read as data (never evaluated), and simulated."""

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench.io.errors import NarxbenchError, did_you_mean, is_whole_number
from narxbench.io.files import CONFIG_FOLDER
from narxbench.io.settings import Settings, validated
from narxbench.io.yaml import read_mapping
from narxbench.model.dataset import Signals, snr_label
from narxbench.model.excitation import Excitation, UniformInput, excitation_of
from narxbench.model.expression import Expression, is_special, parse_expression
from narxbench.model.noise import NOISES, NoiseKind
from narxbench.model.terms import (
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
from narxbench.numerics.random_streams import generator, standard_normal

SYSTEMS_FOLDER = CONFIG_FOLDER / "systems"
DIVERGED = 1e12
# What a signal-to-noise ratio takes as the size of a signal.
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
        Decides the random streams of the system's data, together with their seed.
    equation : str
        A polynomial, as :func:`parse_equation` reads it: the system terms. It may have noise terms too: they are no
        system terms, and have lagged noise as a factor, as ``0.5*e(k-1)`` and ``0.1*u(k-1)*e(k-2)``. Or, instead of a
        polynomial, fractions, ``exp`` and ``sin``, as :func:`~narxbench.model.expression.parse_expression` reads them:
        the truth then lies outside the candidate terms.
    n_u, n_y, degree : int
        Largest lags of input and output, and degree of the candidate terms; system terms must lie within them.
    excitation : Excitation or mapping, optional
        The system's own input; None: whatever a study uses.
    description, reference : str
        For readers.

    Attributes
    ----------
    monomials, terms, coefficients : list
        The system terms, their names and their coefficients in the order of the equation; empty when the truth lies
        outside the candidate terms.
    inside : bool
        Whether the truth lies within the candidate terms.

    Raises
    ------
    NarxbenchError
        For an equation that cannot be read or has terms that are no candidates.

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
        self.excitation = None if excitation is None else excitation_of(excitation)
        right = _right_side(equation)
        found = parse_expression(right) if is_special(right) else Expression(right, None, [])
        self._function, self._noise = found.function, found.noise
        self.inside = found.polynomial is not None
        pairs = [] if found.polynomial is None else parse_equation(f"y(k) = {found.polynomial}")
        self.monomials: list[Monomial] = [m for m, _ in pairs]
        self.coefficients: list[float] = [c for _, c in pairs]
        self.terms: list[str] = [term_name(m) for m in self.monomials]
        candidates = candidate_monomials(n_y=n_y, n_u=n_u, degree=degree)
        index_of_terms(self.terms, {m: i for i, m in enumerate(candidates)})

    def __repr__(self) -> str:
        own = "" if self.excitation is None else f", excitation={self.excitation!r}"
        return f"System({self.name!r}, {self.equation!r}, n_u={self.n_u}, n_y={self.n_y}, degree={self.degree}{own})"

    def definition(self) -> dict[str, Any]:
        """Return the arguments that define the system, as plain data: ``System(**definition)`` builds it again."""
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

        Input and unit-variance noise depend on the system's name, ``seed`` and, unless it is None, ``realisation``
        alone, so all SNRs share them, unless ``own_noise``.

        Parameters
        ----------
        samples : int
            Samples to return.
        snr_db : float, optional
            Signal-to-noise ratio in dB: the variance of the white Gaussian noise is that of the signal divided by
            10^(SNR/10). None: no noise, nor noise terms.
        seed : int
            Seed of input and noise, from 0 on.
        excitation : Excitation, optional
            The input; default: that of the system, or else white, uniform on (-1, 1).
        noise : str
            How e(k) enters, a name of :data:`~narxbench.model.noise.NOISES`: added to the ``"output"`` (measurement
            noise) or inside the ``"equation"`` (process noise). A system that has noise terms has e(k) inside its
            equation always.
        washout : int
            Samples simulated before the first one returned, so that the start at rest is forgotten.
        realisation : int, optional
            Number of a run that has input and noise of its own, from 1 on, or 0 for data that no run sees.
        snr_of : str
            What the SNR takes as the size of the signal: the ``"variance"`` of the noise-free output after the washout,
            its ``"power"``, which is the mean of its squares, or ``"one"``.
        own_noise : bool
            Whether each SNR has noise of its own.

        Returns
        -------
        Signals
            ``(u, y)``, each of shape (samples,).

        Raises
        ------
        NarxbenchError
            For impossible arguments, and when the output exceeds 1e12 in magnitude.

        Examples
        --------
        >>> system = System("demo", "y(k) = 0.5*y(k-1) + u(k-1)", n_u=1, n_y=1, degree=1)
        >>> u, y = system.simulate(3)
        >>> y.tolist()
        [0.01751201913603212, 0.42333091690792546, 0.6680098880612833]
        >>> bool(y[2] == 0.5 * y[1] + u[1])
        True
        """
        numbered = {} if realisation is None else {"realisation": realisation}
        for label, value in {"samples": samples, "washout": washout, "seed": seed, **numbered}.items():
            least = 1 if label == "samples" else 0
            if not is_whole_number(value, least):
                raise NarxbenchError(f"simulate: {label}: found {value!r}; allowed: a whole number from {least} on")
        if noise not in NOISES:
            raise NarxbenchError(f"simulate: noise: found {noise!r}; allowed: {' or '.join(map(repr, NOISES))}")
        excitation = excitation or self.excitation or UniformInput()
        total = washout + samples
        axes: dict[str, Any] = {"system": self.name, "seed": seed, **numbered}
        u = excitation.samples(generator(purpose="input", **axes), total)
        y = clean = self._respond(u, np.zeros(total), excitation)
        if snr_db is not None:
            of_snr = {"snr_db": snr_label(snr_db)} if own_noise else {}
            unit = np.array(standard_normal(generator(purpose="noise", **axes, **of_snr), total))
            values = clean[washout:].tolist()
            # math.fsum is correctly rounded; NumPy's sums depend on the processor's vector width.
            mean = math.fsum(values) / samples if snr_of == "variance" else 0.0
            size = 1.0 if snr_of == "one" else math.fsum((v - mean) * (v - mean) for v in values) / samples
            sd = math.sqrt(size / float(Decimal(10) ** (Decimal(repr(float(snr_db))) / 10)))
            inside = self._noise or noise == "equation"
            y = self._respond(u, sd * unit, excitation) if inside else clean + sd * unit
        return Signals(u[washout:].copy(), y[washout:].copy())

    def _respond(self, u: NDArray[np.float64], e: NDArray[np.float64], excitation: Excitation) -> NDArray[np.float64]:
        # Plain floats in the order of the equation: slower than arrays, but the same bytes on every machine.
        inputs, disturbance = u.tolist(), e.tolist()
        y: list[float] = []
        others = [self._function, *self._noise] if self._function else self._noise
        for k in range(len(inputs)):
            value = disturbance[k]
            for monomial, coefficient in zip(self.monomials, self.coefficients, strict=True):
                product = coefficient
                for signal, lag in monomial:
                    product *= (y if signal == OUTPUT else inputs)[k - lag] if k >= lag else 0.0
                value += product
            for function in others:
                value += function((y, inputs, disturbance), k)
            if not abs(value) <= DIVERGED:
                raise NarxbenchError(
                    f"system {self.name}: its output diverges (|y| > {DIVERGED:g}) at sample {k + 1} with the input "
                    f"{excitation!r}; allowed: an input for which the system is stable, e.g. one of smaller amplitude"
                )
            y.append(value)
        return np.array(y)


def parse_equation(equation: str) -> list[tuple[Monomial, float]]:
    """Return the (monomial, coefficient) pairs of an equation in the order of the text, which is never evaluated.

    Each term may stand there once, and coefficients are finite and not 0; errors name the column.
    """
    right = _right_side(equation)
    tokens = tokenize(right, "equation")
    summands: list[tuple[float, list[Token]]] = [(1.0, [])]
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.kind != "sign":
            summands[-1][1].append(token)
        elif before and before.kind == "sign":
            raise NarxbenchError(f"equation: two signs in a row before column {token.column + 1} of {right[:60]!r}")
        else:
            summands.append((1.0 if token.text == "+" else -1.0, []))
    if not summands[-1][1]:
        raise NarxbenchError(f"equation: {equation[:60]!r} ends where a term is expected")
    pairs = []
    for sign, summand in summands:
        if summand:
            number = summand[0].kind == "number"
            coefficient = sign * float(summand[0].text) if number else sign
            if coefficient == 0.0 or not math.isfinite(coefficient):
                found = f"found the coefficient {summand[0].text[:40]}"
                raise NarxbenchError(f"equation: {found}; allowed: a finite number other than 0")
            pairs.append((product_of(summand[number:], "equation", right, after_number=number), coefficient))
    repeated, times = Counter(m for m, _ in pairs).most_common(1)[0]
    if times > 1:
        raise NarxbenchError(f"equation: the term {term_name(repeated)} appears twice; allowed: each term once")
    return pairs


def _right_side(equation: str) -> str:
    left, equals, right = equation.partition("=")
    if not equals or "".join(left.split()) not in ("y(k)", "y(t)"):
        raise NarxbenchError(f"equation: found {equation[:60]!r}; allowed: 'y(k) = ' and a sum of terms")
    # Messages count columns in what stands behind the equals sign.
    return right.strip()


def system_names(folder: str | Path | None = None) -> list[str]:
    """Return the names of the systems described in ``folder`` (default: the project's ``config/systems``).

    A name that no message could show, with control characters or bytes that are no text, is that of no system.
    """
    return sorted(path.stem for path in Path(folder or SYSTEMS_FOLDER).glob("*.yaml") if path.stem.isprintable())


def load_system(name: str, folder: str | Path | None = None) -> System:
    """Return the system described in ``folder/name.yaml`` (default folder: the project's ``config/systems``).

    Raises
    ------
    NarxbenchError
        For a name without a file, and for mistakes in the file.

    Examples
    --------
    >>> load_system("S1")
    System('S1', 'y(k) = 0.5*y(k-1) + 0.3*u(k-1) + 0.3*y(k-1)*u(k-1) + 0.5*u(k-1)^2', n_u=5, n_y=5, degree=2)
    """
    names = system_names(folder)
    if name not in names:
        raise NarxbenchError(
            f"system {name!r}: no {Path(folder or SYSTEMS_FOLDER)}/NAME.yaml of that name; "
            f"allowed: {', '.join(names) or 'none, the folder has no system files'}{did_you_mean(name, names)}"
        )
    path = Path(folder or SYSTEMS_FOLDER) / f"{name}.yaml"
    described = validated(SystemFile, read_mapping(path), str(path))
    try:
        return System(name, **dict(described))
    except NarxbenchError as error:
        raise NarxbenchError(f"{path}: {error}") from None
