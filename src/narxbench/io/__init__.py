"""A former path of :mod:`narxbench.contract`, which algorithms of other packages may still import."""
