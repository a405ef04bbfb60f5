"""Search algorithms, one file each: a module in this folder is an algorithm without being listed anywhere.

Contains 2D-UPSO, GA, stepwise search and many others, the objective that counts and records their evaluations, and the
function that makes one run. May import ``fitness``, ``model``, ``numerics`` and ``io``.
Begin with :mod:`narxbench._algorithms.contract`, which says what an algorithm is, then
:mod:`narxbench._algorithms.stepwise`, which is short.
"""
