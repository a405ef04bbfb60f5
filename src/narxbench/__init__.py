"""narxbench: structure selection of polynomial NARX models.

The public interface consists of the names in ``__all__``, of ``write_report``, ``write_look``, ``write_comparison`` and
``plot``, which
need the extra ``report``, of ``NarxRegressor``, which needs the extra ``sklearn``, and of the module
:mod:`narxbench.contract`, for algorithms of your own. Everything below a name with an underscore may change.

The packages, from the bottom up: ``_io`` (files, settings), ``_numerics`` (compilation, random streams), ``_model``
(terms, systems, data sets), ``_fitness`` (criteria, the compiled kernel), ``_algorithms``, ``_identification`` (from
measured data to a model), ``_report`` (tables, figures, pages), ``_study`` and ``_studies`` (settings, runs and pages
of the studies), ``_pipeline`` (code of the Snakemake rules).

Examples
--------
>>> import narxbench
>>> narxbench.model_size(n_y=5, n_u=5, degree=2)
66
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from narxbench import plot as plot
    from narxbench._algorithms.registry import AlgorithmUnavailableError
    from narxbench._algorithms.search import AlgorithmFailedError, SearchResult, search
    from narxbench._fitness.problem import Evaluation, StructureProblem
    from narxbench._identification.data.look import DataLook, look
    from narxbench._identification.entry import identify
    from narxbench._identification.estimator import NarxRegressor as NarxRegressor
    from narxbench._identification.joint import JointIdentification
    from narxbench._identification.result import Identification
    from narxbench._identification.validation.refit import refit
    from narxbench._io.errors import FileError, NarxbenchError
    from narxbench._io.extras import MissingExtraError
    from narxbench._io.settings import SettingsError
    from narxbench._io.version import __version__ as __version__
    from narxbench._model.dataset import read_signals, write_signals
    from narxbench._model.joint import JointModel
    from narxbench._model.loading import load_model
    from narxbench._model.narx import DivergedError, Model
    from narxbench._model.system import System, load_system
    from narxbench._model.terms import candidate_terms, model_size
    from narxbench._report.comparison import compare
    from narxbench._report.comparison_page import write_comparison as write_comparison
    from narxbench._report.look_page import write_look as write_look
    from narxbench._report.reports import write_report as write_report

__all__ = [
    "AlgorithmFailedError",
    "AlgorithmUnavailableError",
    "DataLook",
    "DivergedError",
    "Evaluation",
    "FileError",
    "Identification",
    "JointIdentification",
    "JointModel",
    "MissingExtraError",
    "Model",
    "NarxbenchError",
    "SearchResult",
    "SettingsError",
    "StructureProblem",
    "System",
    "candidate_terms",
    "compare",
    "identify",
    "load_model",
    "load_system",
    "look",
    "model_size",
    "read_signals",
    "refit",
    "search",
    "write_signals",
]

# A name is imported when it is first used. So `import narxbench` takes milliseconds, and a step of the pipeline depends
# only on the modules that it imports itself. The package lazy_loader serves the same purpose, but without scikit-learn
# it raises ModuleNotFoundError for `hasattr(narxbench, "NarxRegressor")`, where a module must raise an AttributeError,
# and for `from narxbench import *`. It also knows no extras, and would add two packages to every installation.
_HOMES = {
    "AlgorithmFailedError": "narxbench._algorithms.search",
    "AlgorithmUnavailableError": "narxbench._algorithms.registry",
    "DataLook": "narxbench._identification.data.look",
    "DivergedError": "narxbench._model.narx",
    "Evaluation": "narxbench._fitness.problem",
    "FileError": "narxbench._io.errors",
    "Identification": "narxbench._identification.result",
    "JointIdentification": "narxbench._identification.joint",
    "JointModel": "narxbench._model.joint",
    "MissingExtraError": "narxbench._io.extras",
    "Model": "narxbench._model.narx",
    "NarxRegressor": "narxbench._identification.estimator",
    "NarxbenchError": "narxbench._io.errors",
    "SearchResult": "narxbench._algorithms.search",
    "SettingsError": "narxbench._io.settings",
    "StructureProblem": "narxbench._fitness.problem",
    "System": "narxbench._model.system",
    "candidate_terms": "narxbench._model.terms",
    "compare": "narxbench._report.comparison",
    "identify": "narxbench._identification.entry",
    "load_model": "narxbench._model.loading",
    "load_system": "narxbench._model.system",
    "look": "narxbench._identification.data.look",
    "model_size": "narxbench._model.terms",
    "read_signals": "narxbench._model.dataset",
    "refit": "narxbench._identification.validation.refit",
    "search": "narxbench._algorithms.search",
    "write_comparison": "narxbench._report.comparison_page",
    "write_look": "narxbench._report.look_page",
    "write_report": "narxbench._report.reports",
    "write_signals": "narxbench._model.dataset",
    "__version__": "narxbench._io.version",
}
# The public names that need an extra. They are not in __all__, so that `from narxbench import *` needs none.
_EXTRAS = {
    "NarxRegressor": "sklearn",
    "plot": "report",
    "write_comparison": "report",
    "write_look": "report",
    "write_report": "report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in _EXTRAS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _EXTRAS:
        # The import is not a statement, so that the steps of the pipeline do not depend on that module.
        import_module("narxbench._io.extras").require(_EXTRAS[name], f"narxbench.{name}")
    if name == "plot":
        return import_module("narxbench.plot")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, *_EXTRAS, "__version__"]
