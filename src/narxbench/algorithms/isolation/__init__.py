"""Algorithms in processes of their own: what is not part of this package, and what needs other packages.

The objective stays in the calling process, so that an algorithm can neither pass it by nor change what others see.
Begin with :mod:`narxbench.algorithms.isolation.host`.
"""
