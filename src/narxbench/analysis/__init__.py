"""From summaries to findings: frames in, frames out.

Here live nu, r and nu_max with intervals, performance, significance tests, agreement with the published tables, the
paper's claims and the comparison of interpretations. May import ``experiment`` and what is below; knows no format.
Begin with :mod:`narxbench.analysis.frames`, then :mod:`narxbench.analysis.metrics`.
"""
