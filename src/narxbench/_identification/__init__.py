"""From measured data to a model that one can trust: checks, search, weights, and how sure each term is.

Everything here starts from a :class:`narxbench._model.records.Recording`. The study of the paper does not use it.
"""
