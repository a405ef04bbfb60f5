"""Studies: which conditions there are, their runs, and what is kept of them.

Here live the settings of a study, the interpretations of what the paper leaves open, the conditions (problem x method x
criterion), the run files and the summary of a condition. May import ``algorithms`` and what is below.
Begin with :mod:`narxbench.experiment.study`.
"""
