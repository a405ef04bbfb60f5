"""The pages of a model and of a comparison of models, and the parts that pages of studies share with them.

The package has formats and names for readers, tables, figures, markup and templates. It may import ``identification``
and the packages below. It computes no results and does not know any study. Begin with
:mod:`narxbench._report.formats`, then ``model_page``.
"""
