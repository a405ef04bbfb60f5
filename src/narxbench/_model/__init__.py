"""Polynomial NARX models and data. Begin with :mod:`narxbench._model.terms`, then :mod:`narxbench._model.system`.

May import ``numerics`` and ``io``.
"""
