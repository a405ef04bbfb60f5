"""Plants: polynomial systems of one or several inputs, simulated with any disturbance.

They are the shipped polynomial systems and, in ``benchmarks/systems``, systems from the literature that are not
shipped. Noise terms of a shipped system are left out: the situation says what noise there is.
"""

from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

import narxbench
from benchmarks.common import ROOT
from narxbench._io.settings import validated
from narxbench._io.yaml import read_mapping
from narxbench._model.excitation import Excitation, UniformInput, excitation_of
from narxbench._model.system import SystemFile
from narxbench._model.terms import OUTPUT, Monomial, Token, monomials_of, product_of, term_name, tokenize

Floats = NDArray[np.float64]

LITERATURE_FOLDER = ROOT / "benchmarks" / "systems"
TUNED, HELD_OUT, LITERATURE = "tuned on", "held out", "literature"
GROUPS = (TUNED, HELD_OUT, LITERATURE)
# Without metamss-s5: without its noise terms it is metamss-s4.
SHIPPED = {
    TUNED: (
        *("S1", "S2", "S3", "S4", "billings-ex36", "billings-ex37", "duffing", "heater", "mao1997", "metamss-s1"),
        *("metamss-s4", "mixed", "piroddi2003", "vanderpol", "volterra"),
    ),
    HELD_OUT: (
        *("dead-time", "deepsi-bilinear", "deepsi-nde", "ding2005", "diniz-volterra", "fastcan", "narma2", "narma5"),
        *("narmax-ma", "ribeiro2017-ex1", "sysidentpy-nfir", "sysidentpy-siso", "yukawa2012"),
    ),
}
# A run ends where the output exceeds this magnitude.
LARGEST = 1e9


class PlantFile(SystemFile):
    """The keys of a file of ``benchmarks/systems``: those of a system, whose equation may have u1, u2 and u(k)."""

    n_inputs: int = Field(default=1, ge=1)


@dataclass(frozen=True)
class Plant:
    """A polynomial system: its true terms, and the lags and degree of the candidates."""

    name: str
    group: str
    monomials: tuple[Monomial, ...]
    weights: tuple[float, ...]
    n_inputs: int
    n_y: int
    n_u: int
    degree: int
    excitation: Excitation

    @property
    def terms(self) -> list[str]:
        """The names of the true terms."""
        return [term_name(monomial, self.n_inputs) for monomial in self.monomials]

    def largest_lag(self, *, of_output: bool) -> int:
        """Return the largest lag of the output, or of the inputs, in the true terms."""
        largest = 0
        for signal, lag in chain(*self.monomials):
            if (signal == OUTPUT) == of_output:
                largest = max(largest, lag)
        return largest

    def candidates(self, n_y: int, n_u: int, degree: int) -> list[Monomial]:
        """Return all candidate terms of these orders; inputs that act at once count where a true term has one."""
        first = 1
        for signal, lag in chain(*self.monomials):
            if signal != OUTPUT and lag == 0:
                first = 0
        input_lags = product(range(1, self.n_inputs + 1), range(first, n_u + 1))
        return monomials_of([*product([OUTPUT], range(1, n_y + 1)), *input_lags], degree)

    def respond(self, inputs: Floats, disturbance: Floats | None = None) -> Floats:
        """Return the output from rest, shape (samples,); NaN from where it diverges."""
        return respond(self.monomials, self.weights, inputs, np.zeros(0), disturbance)


def respond(
    monomials: tuple[Monomial, ...] | list[Monomial],
    weights: Any,
    inputs: Floats,
    start: Floats,
    disturbance: Floats | None = None,
) -> Floats:
    """Return the free run of a polynomial model that begins with some outputs; NaN from where it diverges.

    Parameters
    ----------
    monomials : sequence of Monomial
        The terms.
    weights : sequence of float
        Their weights.
    inputs : array, shape (samples, inputs)
        The inputs.
    start : array
        The first outputs.
    disturbance : array, shape (samples,), optional
        What is added inside the equation.
    """
    sizes = np.array(list(map(len, monomials)), np.int64)
    factors = np.zeros((len(monomials), sizes.max(initial=1), 2), np.int64)
    for row, monomial in zip(factors, monomials, strict=True):
        row[: len(monomial)] = np.array(monomial, np.int64).reshape(-1, 2)
    if disturbance is None:
        disturbance = np.zeros(len(inputs))
    output = np.zeros(len(inputs))
    output[: len(start)] = start
    _simulate(factors, sizes, np.array(weights, float), np.ascontiguousarray(inputs), disturbance, output, len(start))
    return output


@njit(cache=True)
def _simulate(
    factors: Any, sizes: Any, weights: Any, inputs: Any, disturbance: Any, output: Any, first: int
) -> None:  # pragma: no cover
    for k in range(first, len(output)):
        value = disturbance[k]
        for term in range(len(sizes)):
            product = weights[term]
            for f in range(sizes[term]):
                signal, lag = factors[term, f]
                if lag > k:
                    product = 0.0
                elif signal == 0:
                    product *= output[k - lag]
                else:
                    product *= inputs[k - lag, signal - 1]
            value += product
        if not abs(value) < LARGEST:
            output[k:] = np.nan
            return
        output[k] = value


def parse_polynomial(equation: str, n_inputs: int) -> list[tuple[Monomial, float]]:
    """Return the (monomial, weight) pairs of an equation of several inputs, which may act at once."""
    tokens = tokenize(equation.partition("=")[2].strip(), "equation", n_inputs, current=True)
    summands: list[tuple[float, list[Token]]] = [(1.0, [])]
    for token in tokens:
        if token.kind == "sign":
            summands.append((1.0 if token.text == "+" else -1.0, []))
        else:
            summands[-1][1].append(token)
    pairs = []
    for sign, summand in summands:
        if summand:
            has_number, weight = summand[0].kind == "number", sign
            if has_number:
                weight *= float(summand[0].text)
            pairs.append((product_of(summand[has_number:], "equation", equation, after_number=has_number), weight))
    return pairs


@cache
def shipped_plant(name: str, group: str) -> Plant:
    """Return a shipped system as a plant."""
    system = narxbench.load_system(name)
    return Plant(
        name=name,
        group=group,
        monomials=tuple(system.monomials),
        weights=tuple(system.coefficients),
        n_inputs=1,
        n_y=system.n_y,
        n_u=system.n_u,
        degree=system.degree,
        excitation=system.excitation or UniformInput(),
    )


@cache
def literature_plant(path: Path) -> Plant:
    """Return a system of ``benchmarks/systems`` as a plant."""
    file = validated(PlantFile, read_mapping(path), str(path))
    monomials, weights = zip(*parse_polynomial(file.equation, file.n_inputs), strict=True)
    return Plant(
        name=path.stem,
        group=LITERATURE,
        monomials=monomials,
        weights=weights,
        n_inputs=file.n_inputs,
        n_y=file.n_y,
        n_u=file.n_u,
        degree=file.degree,
        excitation=UniformInput() if file.excitation is None else excitation_of(file.excitation),
    )


@cache
def plants() -> dict[str, Plant]:
    """Return all plants by their names, group by group."""
    all_plants = []
    for group, names in SHIPPED.items():
        for name in names:
            all_plants.append(shipped_plant(name, group))
    all_plants += map(literature_plant, sorted(LITERATURE_FOLDER.glob("*.yaml")))
    return {plant.name: plant for plant in all_plants}
