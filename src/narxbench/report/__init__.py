"""What people read: the pages of a model and of a comparison, and what pages of studies share with them.

Here live formats and names for readers, tables, figures, markup and templates. May import ``identification`` and what
is below; computes no result and knows no study. Begin with :mod:`narxbench.report.formats`, then ``model_page``.
"""
