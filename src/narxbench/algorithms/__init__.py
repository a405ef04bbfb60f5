"""Search algorithms: one file each, found by being in this folder.

Here live 2D-UPSO, GA and stepwise search, the objective that counts and records their evaluations, and the function
that makes one run. May import ``fitness``, ``model``, ``numerics`` and ``io``.
Begin with :mod:`narxbench.algorithms.registry`, which says what an algorithm is, then
:mod:`narxbench.algorithms.stepwise`, the shortest.
"""
