"""Arithmetic that gives the same bytes on every machine: compilation, logarithm, random streams.

Here live the decorator of compiled functions, the cache of their machine code and calls by address between
them, the natural logarithm, the generators derived from named axes, and their draws in compiled code. May import
``io``.
Begin with :mod:`narxbench.numerics.random_streams`.
"""
