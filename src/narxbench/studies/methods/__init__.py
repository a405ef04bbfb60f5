"""The comparison of methods: settings, scores of each problem, ranks, tables, figures and the page.

Begin with :mod:`narxbench.studies.methods.settings`, then ``scores``, ``metrics``, ``ranking``, ``views`` and ``page``.
"""
