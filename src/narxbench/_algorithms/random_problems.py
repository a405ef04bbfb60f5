"""Random legal problems, of degenerate data, any criterion and many sizes, and what every run on them must hold.

A run ends within its budget. Its result has a finite J and finite weights, or no terms and an infinite J. Its details
have neither NaN nor infinity, and no warning of NumPy is shown.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.contract import Floats
from narxbench._algorithms.search import Runner, SearchResult
from narxbench._fitness.problem import ErrorKind, Estimation, RequiredTerms, StructureProblem
from narxbench._io.errors import NarxbenchError, error_line
from narxbench._io.files import canonical_json
from narxbench._model.terms import model_size
from narxbench._numerics.random_streams import generator

CRITERIA = ("bic", "aic-1e-300", "aic-2", "aic-4.5", "aicc", "hq", "ebic-0.5", "ebic-1", "ebicl-1.25")
# More candidates make a run slow without making it different.
MOST_TERMS = 150
Draw = Callable[[np.random.Generator, int], Floats]


def _noise(rng: np.random.Generator, samples: int) -> Floats:
    return rng.uniform(-1.0, 1.0, samples)


def _steps(rng: np.random.Generator, samples: int) -> Floats:
    values = rng.normal(size=samples // 7 + 1)
    return np.repeat(values, 7)[:samples]


def _impulse(rng: np.random.Generator, samples: int) -> Floats:
    signal = np.zeros(samples)
    signal[rng.integers(samples)] = rng.normal()
    return signal


def _outlier(rng: np.random.Generator, samples: int) -> Floats:
    signal = rng.normal(size=samples)
    signal[rng.integers(samples)] = 1e300
    return signal


def _random_walk(rng: np.random.Generator, samples: int) -> Floats:
    walk: Floats = np.cumsum(rng.normal(size=samples))
    return walk


def _times(factor: float, offset: float = 0.0) -> Draw:
    return lambda rng, samples: factor * rng.uniform(-1.0, 1.0, samples) + offset


SIGNALS: dict[str, Draw] = {
    "noise": _noise,
    "zero": lambda _, samples: np.zeros(samples),
    "constant": lambda _, samples: np.full(samples, 0.7),
    "two values": lambda rng, samples: rng.choice([-1.0, 1.0], samples),
    "alternating": lambda _, samples: np.resize([0.3, -0.8], samples),
    "sine": lambda _, samples: np.sin(0.3 * np.arange(samples)),
    "ramp": lambda _, samples: np.arange(float(samples)),
    "steps": _steps,
    "impulse": _impulse,
    "outlier": _outlier,
    "random walk": _random_walk,
    "growing": lambda _, samples: 1.5 ** np.minimum(np.arange(float(samples)), 1500.0),
    "far from zero": _times(1e-3, 1e6),
    "very far from zero": _times(1.0, 1e300),
    "tiny": _times(1e-200),
    "smallest": _times(1e-320),
    "large": _times(1e30),
    "huge": _times(1e200),
    "largest": _times(1e308),
}


class RandomProblem(NamedTuple):
    """A problem and a run in plain data, by which it can be kept.

    ``u`` and ``y`` name signals. An output may also be a ``"copy"`` of the input, or its ``"response"``.
    """

    number: int
    u: str
    y: str
    samples: int
    n_validation: int
    n_u: int
    n_y: int
    degree: int
    criterion: str
    estimation: str
    error: str
    required_terms: str
    rescaled: bool
    evaluations: int


def drawn(number: int) -> RandomProblem:
    """Return the case of a number."""
    rng = generator(purpose="random problems", number=number)
    n_u, n_y, degree = (int(rng.integers(low, 5)) for low in (0, 0, 1))
    while n_u + n_y == 0 or model_size(n_u=n_u, n_y=n_y, degree=degree) > MOST_TERMS:
        n_u, n_y, degree = (int(rng.integers(low, 5)) for low in (0, 0, 1))
    n_validation = int(rng.choice([1, 2, 3, 10, 60]))
    n_estimation = int(rng.choice([1, 2, 5, 30, 200]))
    return RandomProblem(
        number=number,
        u=str(rng.choice([*SIGNALS])),
        y=str(rng.choice([*SIGNALS, "copy", "response", "response"])),
        samples=max(n_u, n_y) + n_estimation + n_validation,
        n_validation=n_validation,
        n_u=n_u,
        n_y=n_y,
        degree=degree,
        criterion=str(rng.choice(CRITERIA)),
        estimation=str(rng.choice(get_args(Estimation))),
        error=str(rng.choice(get_args(ErrorKind))),
        required_terms=str(rng.choice([*["nothing"] * 6, *get_args(RequiredTerms)])),
        rescaled=bool(rng.integers(2)),
        evaluations=int(rng.choice([1, 7, 50, 300])),
    )


def signals(case: RandomProblem) -> tuple[Floats, Floats]:
    """Return input and output of a case."""
    rng = generator(purpose="signals of random problems", number=case.number)
    u = SIGNALS[case.u](rng, case.samples)
    if case.y == "copy":
        return u, u.copy()
    if case.y == "response":
        return u, _response(u, rng)
    return u, SIGNALS[case.y](rng, case.samples)


def _response(u: Floats, rng: np.random.Generator) -> Floats:
    """Return the noisy output of a stable linear system, which is finite for inputs of any size."""
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = 0.5 * y[k - 1] + 0.4 * u[k - 1]
    return y * (1.0 + 1e-3 * rng.uniform(-1.0, 0.0, len(u)))


def problem_of(case: RandomProblem) -> StructureProblem:
    """Return the problem of a case, or raise NarxbenchError where the values of its choices exclude each other."""
    u, y = signals(case)
    choices = case._asdict()
    for name in ("number", "u", "y", "samples", "evaluations"):
        del choices[name]
    return StructureProblem(u, y, **choices)


def violation(runner: Runner, case: RandomProblem, time_limit: float | None = None) -> str:
    """Return in words which promise a run on a case breaks, or an empty text.

    An algorithm may refuse data by a ValueError.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            problem = problem_of(case)
        except NarxbenchError:
            return ""
        except Exception as error:
            return f"the problem: {error_line(error)}"
        try:
            result = runner.run(problem, seed=1, evaluations=case.evaluations, time_limit=time_limit).result
        except NarxbenchError as error:
            return "" if getattr(error, "refused", False) else str(error)
        except Exception as error:
            return error_line(error)
        return _wrong(result, problem)


def _wrong(result: SearchResult, problem: StructureProblem) -> str:
    """Return what is wrong with a result in words."""
    try:
        canonical_json({"details": result.details, "settings": result.settings})
    except ValueError:
        return "NaN or infinity in its details"
    if not math.isfinite(result.fitness):
        values: tuple[Any, ...] = result.terms, result.fitness, result.sse, result.coefficients
        return "" if values == ([], math.inf, math.inf, []) else f"no finite J, but {values}"
    weights: NDArray[np.float64] = np.array([result.sse, *result.coefficients])
    if not np.isfinite(weights).all() or len(result.coefficients) != len(result.terms):
        return f"J is finite, but e and weights are {weights.tolist()}"
    again = problem.evaluate(result.terms)
    if (again.fitness, again.sse) != (result.fitness, result.sse):
        return f"J is {result.fitness!r}, and {again.fitness!r} when it is computed again"
    return "" if str(result) else "it has no text"
