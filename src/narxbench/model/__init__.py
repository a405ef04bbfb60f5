"""Polynomial NARX models and data; begin with :mod:`narxbench.model.terms`, then :mod:`narxbench.model.system`.

May import ``numerics`` and ``io``.
"""
