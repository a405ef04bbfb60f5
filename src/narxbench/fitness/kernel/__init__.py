"""The compiled kernel: many candidate structures side by side in vector lanes. Private to the fitness.

Here live what structures share (:mod:`~narxbench.fitness.kernel.problem_data`), their least squares
(:mod:`~narxbench.fitness.kernel.least_squares`, :mod:`~narxbench.fitness.kernel.large`), their simulation
(:mod:`~narxbench.fitness.kernel.free_run`) and vectors of doubles as a compiled type
(:mod:`~narxbench.fitness.kernel.simd`). May import ``model``, ``numerics`` and ``io``.
Begin with :func:`narxbench.fitness.kernel.evaluation.evaluate_structures`.
"""
