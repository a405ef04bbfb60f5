"""Arithmetic that gives the same bytes on every machine: compilation, logarithm, random streams.

Contains the decorator of compiled functions, the cache of their machine code, calls by address between them, the
natural logarithm, random generators that are derived from named axes, and their draws in compiled code. May import
``io``.
Begin with :mod:`narxbench._numerics.random_streams`.
"""
