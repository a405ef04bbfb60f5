"""The paper's study: settings, frames, findings, tables, figures and pages, and the study of its interpretations.

Begin with :mod:`narxbench._studies.paper.settings`, then ``frames``, ``analysis``, ``tables`` and ``page``.
"""
