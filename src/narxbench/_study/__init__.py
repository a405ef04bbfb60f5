"""Everything that the studies share: settings, conditions, their runs, and the results that are kept of them.

Here are the settings of a study, the design choices that the paper leaves open, the conditions (problem x method x
criterion), the run files, the summary of a condition, the schemas of frames and the files of tables. May import
``report`` and the floors below. It knows no study. Begin with :mod:`narxbench._study.settings`.
"""
