"""The compiled kernel: many candidate structures side by side in vector lanes. It is private to the fitness.

May import ``model``, ``numerics`` and ``io``.
Begin with :func:`narxbench._fitness.kernel.evaluation.evaluate_structures`.
"""
