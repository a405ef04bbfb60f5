"""The algorithms that there are: one module each, in this folder or in a package of its own.

What an algorithm is, :mod:`narxbench.algorithms.contract` says. A module in this folder is found by being there. One
of another package is found by an entry point of the group ``narxbench.algorithms``, whose name is the algorithm's and
whose value is the module.
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

import narxbench.algorithms
from narxbench.algorithms.contract import About, OwnCriterion, ProblemView
from narxbench.algorithms.isolation.host import describe
from narxbench.io.errors import NarxbenchError, did_you_mean, error_line
from narxbench.io.files import canonical_json
from narxbench.io.settings import Mistake, Settings, SettingsError, validated

GROUP = "narxbench.algorithms"
# What the algorithms share: no algorithms themselves.
_SHARED = (
    *("certainty", "common_factor", "conformance", "contract", "doubts", "forward_regression", "likelihood_search"),
    *("objective", "population", "registry", "search", "significance", "sysidentpy_fit", "training"),
)


class Cost(NamedTuple):
    """What a run costs, roughly: within a factor of three, as ``benchmarks/estimate.py`` measures."""

    evaluation: float
    """CPU seconds of an evaluation of J, few of 66 candidate terms chosen, with 600 samples to validate."""
    wide: bool = False
    """Whether structures have about half of the candidate terms: least squares cost the cube of their number."""
    most: float = math.inf
    """Evaluations after which a run ends by itself."""
    start: float = 0.0
    """CPU seconds before the first evaluation with 66 candidate terms; they grow with the square of their number."""
    copies: int = 0
    """Copies that it makes of the columns of all candidate terms."""


# What is reviewed with this package, and what it costs. The pipeline itself imports it, and it runs in its process if
# it needs no other package. Whatever else lies in the folder or is installed is neither imported nor run there.
REVIEWED = {
    "annealing": Cost(1e-5),
    "aols": Cost(4e-6, most=1, start=0.02),
    "binary_pso": Cost(4e-6, wide=True),
    "fastcan": Cost(4e-6, most=1, start=0.6, copies=4),
    "frols": Cost(4e-6, most=50),
    "ga": Cost(4e-6, wide=True),
    "iterative_ofr": Cost(6e-5, most=1000, copies=3),
    "lasso": Cost(4e-6, most=200, start=0.2, copies=4),
    "metamss": Cost(4e-6, wide=True),
    "multistart": Cost(8e-6),
    "osf": Cost(4e-6, most=1, start=0.05),
    "pem": Cost(4e-6, most=5, start=0.1, copies=1),
    "pymoo_ga": Cost(8e-5, wide=True, copies=1),
    "ramss": Cost(4e-6, most=1, start=0.3),
    "random_search": Cost(4e-6, wide=True),
    "semp": Cost(4e-6, most=1, start=0.1),
    "stability_selection": Cost(4e-6, most=1, start=0.2, copies=1),
    "stepwise": Cost(4e-6),
    "stlsq": Cost(4e-6, most=1, start=0.05),
    "sysidentpy_aols": Cost(4e-6, most=1, start=2.0, copies=4),
    "sysidentpy_frols": Cost(4e-6, most=1, start=0.3, copies=4),
    "sysidentpy_metamss": Cost(4e-6, most=1, start=6.0, copies=2),
    "upso2d": Cost(4e-6, wide=True),
}
_UNKNOWN = REVIEWED["pymoo_ga"]


class AlgorithmUnavailableError(NarxbenchError):
    """An algorithm that there is, and that cannot be used here."""


class _OtherSettings(Settings):
    """Settings that were checked where the algorithm may be imported."""

    model_config = pydantic.ConfigDict(extra="allow")


@dataclass(frozen=True)
class Algorithm:
    """An algorithm by name; what it declares is looked up when it is asked for.

    ``distribution`` is the installed one that its module comes from, empty for this package's own. What looks into an
    algorithm raises :class:`AlgorithmUnavailableError` if it cannot be imported.
    """

    name: str
    module: str
    distribution: str = ""

    @property
    def reviewed(self) -> bool:
        """Whether it is one of this package that may be imported here."""
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

    def _described(self, given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            plain = canonical_json(given)
        except (TypeError, ValueError) as error:
            raise NarxbenchError(f"settings of {self.name!r}: found another value than plain data ({error})") from None
        described = _described(self.module, plain, tuple(sys.path))
        if "failed" in described:
            raise AlgorithmUnavailableError(f"algorithm {self.name!r}: cannot be imported: {described['failed']}")
        return described

    @property
    def _model(self) -> type[Settings]:
        model: type[Settings] = self.imported.Settings
        return model

    @cached_property
    def about(self) -> About:
        """What it declares."""
        if self.reviewed:
            about: About = self.imported.ABOUT
            return about
        declared = self._described({})["about"]
        return About(**{**declared, "requires": tuple(declared["requires"])})

    @property
    def document(self) -> str:
        """What its module says of itself."""
        return (self.imported.__doc__ or "").strip() if self.reviewed else str(self._described({})["document"])

    @cached_property
    def files(self) -> list[Path]:
        """The files of its code: its module, or the whole package that it comes in."""
        names = [self.imported.__file__] if self.reviewed else self._described({})["files"]
        return [Path(str(name)) for name in names]

    @property
    def cost(self) -> Cost:
        """What a run costs; one that is not reviewed counts as a population that a process of its own looks after."""
        return REVIEWED[self.name] if self.reviewed else _UNKNOWN

    @cached_property
    def in_process(self) -> bool:
        """Whether it runs in the process that evaluates."""
        return self.reviewed and not self.about.requires

    def own_criterion(self, problem: ProblemView, settings: Mapping[str, Any]) -> OwnCriterion | None:
        """Return the criterion by which it chooses on a problem; None where it does not tell, or does not run here."""
        made = getattr(self.imported, "criterion", None) if self.in_process else None
        found: OwnCriterion | None = made(problem, self.settings(settings)) if made else None
        return found

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what it comes from and needs, by distribution; AlgorithmUnavailableError if one is missing."""
        found = {}
        for name in filter(None, (self.distribution, *self.about.requires)):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                raise AlgorithmUnavailableError(
                    f"algorithm {self.name!r}: needs {name}, which is not installed; python3 -m pip install {name}"
                ) from None
        return found

    def settings(self, given: Mapping[str, Any], source: str = "") -> Settings:
        """Return all settings of the algorithm; SettingsError has a line for each mistake in the given ones."""
        if self.reviewed:
            return validated(self._model, given, source)
        described = self._described(given)
        if "problems" in described:
            raise SettingsError([Mistake(tuple(path), text) for path, text in described["problems"]], source)
        return _OtherSettings(**described["settings"])

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its settings."""
        if self.reviewed:
            return self._model.model_json_schema()
        return dict(self._described({})["schema"])


@cache
def _described(module: str, given: str, _: tuple[str, ...]) -> dict[str, Any]:
    return describe(module, json.loads(given))


def packaged_names() -> list[str]:
    """Return the names of the algorithms in this package, sorted."""
    modules = pkgutil.iter_modules(narxbench.algorithms.__path__)
    return sorted(module.name for module in modules if module.name not in _SHARED and not module.ispkg)


def algorithm_names() -> list[str]:
    """Return the names of all algorithms, those of other packages included, sorted."""
    return sorted(_algorithms(tuple(sys.path)))


@cache
def _algorithms(_: tuple[str, ...]) -> dict[str, Algorithm]:
    found = {name: Algorithm(name, f"{narxbench.algorithms.__name__}.{name}") for name in packaged_names()}
    for point in metadata.entry_points(group=GROUP):
        origin = "" if point.dist is None else point.dist.name
        # Of two of the same name that of this package stays: no installation may change what its results mean.
        found.setdefault(point.name, Algorithm(point.name, point.module, origin))
    return found


def algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name; NarxbenchError if there is none."""
    found = _algorithms(tuple(sys.path))
    if name not in found:
        raise NarxbenchError(
            f"algorithm: found {name!r}; allowed: {', '.join(map(repr, sorted(found)))}{did_you_mean(name, found)}"
        )
    return found[name]
