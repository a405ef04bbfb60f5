"""Fitness of a candidate structure: least-squares weights, free-run error, criterion.

Contains the structure problem (:mod:`~narxbench._fitness.problem`), BIC, AIC and other criteria
(:mod:`~narxbench._fitness.criteria`), and the compiled kernel (:mod:`~narxbench._fitness.kernel`), which only this
package and the objective of the algorithms call. May import ``model``, ``numerics`` and ``io``.
Begin with :mod:`narxbench._fitness.problem`.
"""
