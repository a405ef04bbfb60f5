"""The registry of algorithms: one module each, in this folder or in another package.

:mod:`narxbench._algorithms.contract` says what an algorithm is. A module in this folder is an algorithm without being
listed anywhere. A module of another package is listed by an entry point of the group ``narxbench.algorithms``, whose
name is that of the algorithm and whose value is the module.
"""

import json
import math
import pkgutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pydantic

import narxbench._algorithms
from narxbench._algorithms.contract import About
from narxbench._algorithms.isolation.host import describe
from narxbench._io.errors import NarxbenchError, did_you_mean, error_line
from narxbench._io.files import canonical_json
from narxbench._io.settings import Mistake, Settings, SettingsError, validated

GROUP = "narxbench.algorithms"
# Modules in this folder that are not algorithms.
_SHARED = (
    *("certainty", "common_factor", "conformance", "contract", "doubts", "forward_regression"),
    *("likelihood_search", "limits", "objective", "orthogonal_search", "population", "random_problems", "registry"),
    *("search", "significance", "sysidentpy_fit", "term_changes", "training"),
)


class Cost(NamedTuple):
    """The approximate cost of a run, within a factor of three. ``benchmarks/estimate.py`` measures it."""

    evaluation: float
    """CPU seconds of an evaluation of J, for a small structure out of 66 candidate terms and 600 validation samples."""
    wide: bool = False
    """Whether structures have about half of the candidate terms; least squares cost the cube of the number of terms."""
    most: float = math.inf
    """The number of evaluations after which a run ends by itself."""
    start: float = 0.0
    """CPU seconds before the first evaluation with 66 candidate terms; they grow with the square of their number."""
    copies: int = 0
    """The number of copies that it makes of the columns of all candidate terms."""


# The algorithms that are reviewed with this package, and their costs. The process of the pipeline imports these and, if
# they need no other package, runs them. It neither imports nor runs other modules in the folder or other packages.
REVIEWED = {
    "adaptive_lasso": Cost(4e-6, most=200, start=0.2, copies=4),
    "aols": Cost(4e-6, most=1, start=0.02),
    "fastcan": Cost(4e-6, most=1, start=0.6, copies=4),
    "frols": Cost(4e-6, most=50),
    "ga": Cost(4e-6, wide=True),
    "iterative_ofr": Cost(6e-5, most=1000, copies=3),
    "metamss": Cost(4e-6, wide=True),
    "multistart": Cost(8e-6),
    "multistart_likelihood": Cost(4e-6, most=5, start=0.4, copies=1),
    "osf": Cost(4e-6, most=1, start=0.05),
    "pem": Cost(4e-6, most=5, start=0.1, copies=1),
    "random_search": Cost(4e-6, wide=True),
    "stepwise": Cost(4e-6),
    "stlsq": Cost(4e-6, most=1, start=0.05),
    "sysidentpy_aols": Cost(4e-6, most=1, start=2.0, copies=4),
    "sysidentpy_frols": Cost(4e-6, most=1, start=0.3, copies=4),
    "upso2d": Cost(4e-6, wide=True),
}
# An unreviewed search is taken for a population in a separate process, which sends each structure.
_UNKNOWN = Cost(8e-5, wide=True, copies=1)


class AlgorithmUnavailableError(NarxbenchError):
    """An algorithm that exists but cannot be used here, because it or a package that it needs is not installed.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    >>> problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=1, n_validation=100)
    >>> try:
    ...     result = narxbench.search(problem, algorithm="adaptive_lasso", seed=1)
    ... except narxbench.AlgorithmUnavailableError:
    ...     result = narxbench.search(problem, algorithm="stepwise", seed=1, evaluations=100)
    >>> "u(k-1)" in result.terms
    True
    """


class _OtherSettings(Settings):
    """Settings that were checked in the process that may import the algorithm."""

    model_config = pydantic.ConfigDict(extra="allow")


@dataclass(frozen=True)
class Algorithm:
    """An algorithm by name, whose declaration is read when it is needed.

    ``distribution`` is the installed distribution of its module, empty for algorithms of this package. Properties that
    need the module raise :class:`AlgorithmUnavailableError` if it cannot be imported.
    """

    name: str
    module: str
    distribution: str = ""

    @property
    def reviewed(self) -> bool:
        """Whether it is a reviewed algorithm of this package, which may be imported here."""
        return not self.distribution and self.name in REVIEWED

    @cached_property
    def imported(self) -> ModuleType:
        """The module of a reviewed algorithm."""
        try:
            return import_module(self.module)
        except Exception as error:
            raise AlgorithmUnavailableError(
                f"algorithm {self.name!r}: cannot be imported: {error_line(error)}"
            ) from None

    def _description(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the description of an algorithm with some settings by a process that may import it."""
        try:
            settings = canonical_json(values)
        except (TypeError, ValueError) as error:
            raise NarxbenchError(f"settings of {self.name!r}: found another value than plain data ({error})") from None
        description = _description(self.module, settings, tuple(sys.path))
        if "failed" in description:
            raise AlgorithmUnavailableError(f"algorithm {self.name!r}: cannot be imported: {description['failed']}")
        return description

    @property
    def _model(self) -> type[Settings]:
        model: type[Settings] = self.imported.Settings
        return model

    @cached_property
    def about(self) -> About:
        """The declaration of the algorithm."""
        if self.reviewed:
            about: About = self.imported.ABOUT
            return about
        declaration = self._description({})["about"]
        return About(**{**declaration, "requires": tuple(declaration["requires"])})

    @property
    def document(self) -> str:
        """The docstring of the module."""
        if self.reviewed:
            return (self.imported.__doc__ or "").strip()
        return str(self._description({})["document"])

    @cached_property
    def files(self) -> list[Path]:
        """The files of its code: its module, or the whole package that contains the module."""
        if self.reviewed:
            return [Path(str(self.imported.__file__))]
        return [Path(str(name)) for name in self._description({})["files"]]

    @property
    def cost(self) -> Cost:
        """The cost of a run, for an algorithm that is not reviewed as of a population in a separate process."""
        return REVIEWED[self.name] if self.reviewed else _UNKNOWN

    @cached_property
    def in_process(self) -> bool:
        """Whether it runs in the process that evaluates."""
        return self.reviewed and not self.about.requires

    @property
    def versions(self) -> dict[str, str]:
        """Versions of its distribution and the required ones, or raise AlgorithmUnavailableError if one is missing."""
        versions = {}
        for name in filter(None, (self.distribution, *self.about.requires)):
            try:
                versions[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                raise AlgorithmUnavailableError(
                    f"algorithm {self.name!r}: needs {name}, which is not installed; python3 -m pip install {name}"
                ) from None
        return versions

    def settings(self, values: Mapping[str, Any], source: str = "") -> Settings:
        """Return all settings of the algorithm with some values. A SettingsError has a line for each mistake."""
        if self.reviewed:
            return validated(self._model, values, source)
        description = self._description(values)
        if "problems" in description:
            raise SettingsError([Mistake(tuple(path), text) for path, text in description["problems"]], source)
        return _OtherSettings(**description["settings"])

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its settings."""
        if self.reviewed:
            return self._model.model_json_schema()
        return dict(self._description({})["schema"])


@cache
def _description(module: str, settings: str, search_path: tuple[str, ...]) -> dict[str, Any]:
    """Return the description by another process, made anew when the search path of modules changes."""
    return describe(module, json.loads(settings))


def packaged_names() -> list[str]:
    """Return the names of the algorithms in this package, sorted."""
    modules = pkgutil.iter_modules(narxbench._algorithms.__path__)
    return sorted(module.name for module in modules if module.name not in _SHARED and not module.ispkg)


def algorithm_names() -> list[str]:
    """Return the names of all algorithms, those of other packages included, sorted."""
    return sorted(_algorithms(tuple(sys.path)))


@cache
def _algorithms(search_path: tuple[str, ...]) -> dict[str, Algorithm]:
    """Return all algorithms by name, looked up anew when the search path of modules changes."""
    algorithms = {name: Algorithm(name, f"{narxbench._algorithms.__name__}.{name}") for name in packaged_names()}
    for entry_point in metadata.entry_points(group=GROUP):
        distribution = ""
        if entry_point.dist is not None:
            distribution = entry_point.dist.name
        # If two have the same name, the one of this package counts: no installation may change the meaning of results.
        algorithms.setdefault(entry_point.name, Algorithm(entry_point.name, entry_point.module, distribution))
    return algorithms


def algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name, or raise NarxbenchError if there is none."""
    algorithms = _algorithms(tuple(sys.path))
    if name not in algorithms:
        allowed = ", ".join(map(repr, sorted(algorithms)))
        raise NarxbenchError(f"algorithm: found {name!r}; allowed: {allowed}{did_you_mean(name, algorithms)}")
    return algorithms[name]
