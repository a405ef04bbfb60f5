"""Files and settings: reading from and writing to disk, and the errors of mistakes in them.

Here live atomic writing, JSON, CSV (:mod:`~narxbench.io.csv`), YAML (:mod:`~narxbench.io.yaml`), strict settings with
their messages (:mod:`~narxbench.io.settings`) and the one error of a user's mistake (:mod:`~narxbench.io.errors`).
This is the lowest floor: it imports nothing of the project.
Begin with :mod:`narxbench.io.errors`, then :mod:`narxbench.io.settings`.
"""
