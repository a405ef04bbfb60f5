"""Fitness of a candidate structure: least-squares weights, free-run error, criterion.

Here live the structure problem (:mod:`~narxbench.fitness.problem`), BIC and AIC (:mod:`~narxbench.fitness.criteria`)
and the compiled kernel (:mod:`~narxbench.fitness.kernel`), which nothing but this package and the objective calls.
May import ``model``, ``numerics`` and ``io``.
Begin with :mod:`narxbench.fitness.problem`.
"""
