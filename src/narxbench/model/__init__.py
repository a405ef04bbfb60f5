"""Polynomial NARX models and data: candidate terms, systems, excitation, data sets.

Here live the names and the one order of terms, equations as text, simulation with noise, and recorded signals.
May import ``numerics`` and ``io``.
Begin with :mod:`narxbench.model.terms`, then :mod:`narxbench.model.system`.
"""
