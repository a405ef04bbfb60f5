"""narxbench: structure selection of polynomial NARX models, and a reproduction of a paper on it."""

from narxbench.errors import NarxbenchError
from narxbench.fitness import Evaluation, StructureProblem
from narxbench.search import SearchResult, search
from narxbench.systems import System, load_system
from narxbench.terms import candidate_terms, model_size

__version__ = "0.1.0"
__all__ = [
    "Evaluation",
    "NarxbenchError",
    "SearchResult",
    "StructureProblem",
    "System",
    "candidate_terms",
    "load_system",
    "model_size",
    "search",
]
