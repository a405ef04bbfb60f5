"""The algorithms that there are: one module each, found by being in this folder.

An algorithm is a module with ``Settings`` (a :class:`narxbench.io.settings.Settings` model, every open choice a named
field) and ``run(objective, rng, settings)``, which spends the budget of an
:class:`~narxbench.algorithms.objective.Objective` and takes every random number from the generator ``rng``, in compiled
code through :func:`~narxbench.numerics.draws.draws_of`. A field
``count_initial_evaluations`` set to false gives the run one population (``swarm_size`` or ``population_size``) of
evaluations on top of its budget.
"""

import pkgutil
from importlib import import_module
from types import ModuleType

import narxbench.algorithms
from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.settings import Settings

# What the algorithms share: no algorithms themselves.
_SHARED = ("objective", "population", "registry", "search")


def algorithm_names() -> list[str]:
    """Return the names of all algorithms, sorted.

    Examples
    --------
    >>> algorithm_names()
    ['ga', 'stepwise', 'upso2d']
    """
    found = (module.name for module in pkgutil.iter_modules(narxbench.algorithms.__path__))
    return sorted(name for name in found if name not in _SHARED)


def algorithm_module(name: str) -> ModuleType:
    """Import the module of an algorithm.

    Raises
    ------
    NarxbenchError
        If there is no algorithm of this name.
    """
    names = algorithm_names()
    if name not in names:
        raise NarxbenchError(
            f"algorithm: found {name!r}; allowed: {', '.join(map(repr, names))}{did_you_mean(name, names)}"
        )
    return import_module(f"{narxbench.algorithms.__name__}.{name}")


def settings_model(algorithm: str) -> type[Settings]:
    """Return the settings model of an algorithm; an unknown name raises :class:`NarxbenchError`."""
    model: type[Settings] = algorithm_module(algorithm).Settings
    return model
