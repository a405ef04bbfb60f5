"""narxbench: structure selection of polynomial NARX models.

The public interface is what ``__all__`` lists, and with the extra ``report`` ``write_report``, ``write_comparison`` and
``plot``, with ``sklearn`` ``NarxRegressor``; everything else may change. The package is read from the bottom up, as
the data flow: ``io`` (files, settings), ``numerics`` (compilation, random streams), ``model`` (terms, systems, data
sets), ``fitness`` (criteria, the compiled kernel), ``algorithms``, ``experiment`` (studies, runs), ``analysis``
(metrics, tests, claims), ``identification`` (from measured data to a model), ``report`` (tables, figures, pages),
``pipeline`` (what the Snakemake rules use).

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
    from narxbench.algorithms.search import SearchResult, search
    from narxbench.fitness.problem import Evaluation, StructureProblem
    from narxbench.identification.estimator import NarxRegressor as NarxRegressor
    from narxbench.identification.identify import identify
    from narxbench.identification.outputs import identify_outputs
    from narxbench.identification.result import Identification
    from narxbench.identification.trust.refit import refit
    from narxbench.io.errors import NarxbenchError
    from narxbench.io.version import __version__ as __version__
    from narxbench.model.dataset import read_signals, write_signals
    from narxbench.model.narx import Model
    from narxbench.model.system import System, load_system
    from narxbench.model.terms import candidate_terms, model_size
    from narxbench.report.comparison import compare
    from narxbench.report.comparison_page import write_comparison as write_comparison
    from narxbench.report.findings import in_words
    from narxbench.report.model_page import write_report as write_report

__all__ = [
    "Evaluation",
    "Identification",
    "Model",
    "NarxbenchError",
    "SearchResult",
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

# Imported when first used: a step of the pipeline depends on the modules that it imports itself, and on no others.
_HOMES = {
    "Evaluation": "narxbench.fitness.problem",
    "Identification": "narxbench.identification.result",
    "Model": "narxbench.model.narx",
    "NarxRegressor": "narxbench.identification.estimator",
    "NarxbenchError": "narxbench.io.errors",
    "SearchResult": "narxbench.algorithms.search",
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
# The rest of the public interface: what a bare installation does not have all packages for.
_EXTRAS = {"NarxRegressor": "sklearn", "plot": "report", "write_comparison": "report", "write_report": "report"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name != "plot":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _EXTRAS:
        # By its name, so that no step of the pipeline counts as one that depends on it.
        import_module("narxbench.io.extras").require(_EXTRAS[name], f"narxbench.{name}")
    return import_module("narxbench.plot") if name == "plot" else getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, *_EXTRAS, "__version__"]
