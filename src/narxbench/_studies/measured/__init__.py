"""Studies of measured data: their settings, and the jobs of an identification.

Their page is the report of a model: :mod:`narxbench._report.model_page`.
"""
