"""narxbench: structure selection of polynomial NARX models.

The public interface consists of the names in ``__all__``, of ``write_report``, ``write_comparison`` and ``plot``, which
need the extra ``report``, and of ``NarxRegressor``, which needs the extra ``sklearn``. Everything else may change.

The packages, from the bottom up: ``io`` (files, settings), ``numerics`` (compilation, random streams), ``model``
(terms, systems, data sets), ``fitness`` (criteria, the compiled kernel), ``algorithms``, ``identification`` (from
measured data to a model), ``report`` (tables, figures, pages), ``study`` and ``studies`` (settings, runs and pages of
the studies), ``pipeline`` (code of the Snakemake rules).

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
    from narxbench.algorithms.registry import AlgorithmUnavailableError
    from narxbench.algorithms.search import AlgorithmFailedError, SearchResult, search
    from narxbench.fitness.problem import Evaluation, StructureProblem
    from narxbench.identification.estimator import NarxRegressor as NarxRegressor
    from narxbench.identification.identify import identify
    from narxbench.identification.outputs import identify_outputs
    from narxbench.identification.result import Identification
    from narxbench.identification.trust.refit import refit
    from narxbench.io.errors import FileError, NarxbenchError
    from narxbench.io.extras import MissingExtraError
    from narxbench.io.settings import SettingsError
    from narxbench.io.version import __version__ as __version__
    from narxbench.model.dataset import read_signals, write_signals
    from narxbench.model.narx import DivergedError, Model
    from narxbench.model.system import System, load_system
    from narxbench.model.terms import candidate_terms, model_size
    from narxbench.report.comparison import compare
    from narxbench.report.comparison_page import write_comparison as write_comparison
    from narxbench.report.findings import in_words
    from narxbench.report.model_page import write_report as write_report

__all__ = [
    "AlgorithmFailedError",
    "AlgorithmUnavailableError",
    "DivergedError",
    "Evaluation",
    "FileError",
    "Identification",
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
    "identify_outputs",
    "in_words",
    "load_system",
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
    "AlgorithmFailedError": "narxbench.algorithms.search",
    "AlgorithmUnavailableError": "narxbench.algorithms.registry",
    "DivergedError": "narxbench.model.narx",
    "Evaluation": "narxbench.fitness.problem",
    "FileError": "narxbench.io.errors",
    "Identification": "narxbench.identification.result",
    "MissingExtraError": "narxbench.io.extras",
    "Model": "narxbench.model.narx",
    "NarxRegressor": "narxbench.identification.estimator",
    "NarxbenchError": "narxbench.io.errors",
    "SearchResult": "narxbench.algorithms.search",
    "SettingsError": "narxbench.io.settings",
    "StructureProblem": "narxbench.fitness.problem",
    "System": "narxbench.model.system",
    "candidate_terms": "narxbench.model.terms",
    "compare": "narxbench.report.comparison",
    "identify": "narxbench.identification.identify",
    "identify_outputs": "narxbench.identification.outputs",
    "in_words": "narxbench.report.findings",
    "load_system": "narxbench.model.system",
    "model_size": "narxbench.model.terms",
    "read_signals": "narxbench.model.dataset",
    "refit": "narxbench.identification.trust.refit",
    "search": "narxbench.algorithms.search",
    "write_comparison": "narxbench.report.comparison_page",
    "write_report": "narxbench.report.model_page",
    "write_signals": "narxbench.model.dataset",
    "__version__": "narxbench.io.version",
}
# The public names that need an extra. They are not in __all__, so that `from narxbench import *` needs none.
_EXTRAS = {"NarxRegressor": "sklearn", "plot": "report", "write_comparison": "report", "write_report": "report"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in _EXTRAS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _EXTRAS:
        # The import is not a statement, so that the steps of the pipeline do not depend on that module.
        import_module("narxbench.io.extras").require(_EXTRAS[name], f"narxbench.{name}")
    if name == "plot":
        return import_module("narxbench.plot")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, *_EXTRAS, "__version__"]
