"""Studies of measured data: their settings, and the jobs of an identification.

The page is that of a model: :mod:`narxbench.report.model_page`.
"""
