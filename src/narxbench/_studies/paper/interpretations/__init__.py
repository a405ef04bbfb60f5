"""The study of what the paper leaves open: one interpretation after the other.

Begin with :mod:`narxbench._studies.paper.interpretations.settings`, then ``nearness``, ``findings`` and ``document``.
"""
