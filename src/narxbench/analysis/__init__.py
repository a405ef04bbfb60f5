"""From summaries to findings: frames in, frames out; begin with :mod:`narxbench.analysis.frames`, then ``metrics``.

May import ``experiment`` and what is below; knows no format.
"""
