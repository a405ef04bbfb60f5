"""What people read: tables, figures, documents and pages.

Here live formats and names for readers, the tables of the paper, its figures, the page, and the templates of each
output format. May import ``analysis`` and what is below; computes no result.
Begin with :mod:`narxbench.report.formats`, then :mod:`narxbench.report.tables`.
"""
