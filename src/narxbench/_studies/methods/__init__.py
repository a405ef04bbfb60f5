"""The comparison of methods: settings, scores of each problem, ranks, tables, figures and the page.

Begin with :mod:`narxbench._studies.methods.settings`, then ``scores``, ``metrics``, ``ranking``, ``views``, ``page``.
"""
