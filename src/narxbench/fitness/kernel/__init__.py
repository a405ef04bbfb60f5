"""The compiled kernel: many candidate structures side by side in vector lanes. Private to the fitness.

May import ``model``, ``numerics`` and ``io``.
Begin with :func:`narxbench.fitness.kernel.evaluation.evaluate_structures`.
"""
