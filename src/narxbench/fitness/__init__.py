"""Fitness of a candidate structure: least-squares weights, free-run error, criterion.

Contains the structure problem (:mod:`~narxbench.fitness.problem`), BIC, AIC and other criteria
(:mod:`~narxbench.fitness.criteria`), and the compiled kernel (:mod:`~narxbench.fitness.kernel`), which only this
package and the objective of the algorithms call. May import ``model``, ``numerics`` and ``io``.
Begin with :mod:`narxbench.fitness.problem`.
"""
