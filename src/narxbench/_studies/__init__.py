"""The studies: one folder each, from its settings to its pages.

Here are the paper's study, the study of its interpretations, and the comparison of methods.
None knows another one. May import ``study`` and the floors below. Begin with the ``settings`` of one of them.
"""
