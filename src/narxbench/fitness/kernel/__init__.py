"""The compiled kernel: many candidate structures side by side in vector lanes. Private to the fitness.

Here live least squares and the free run (:mod:`~narxbench.fitness.kernel.evaluation`) and vectors of doubles as a
compiled type (:mod:`~narxbench.fitness.kernel.simd`). May import ``model``, ``numerics`` and ``io``.
Begin with :func:`narxbench.fitness.kernel.evaluation.evaluate_structures`.
"""
