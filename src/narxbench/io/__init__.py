"""Files and settings: what is read from and written to disk, and how mistakes in it are reported.

Here live atomic writing, JSON, CSV (:mod:`~narxbench.io.csv`), YAML (:mod:`~narxbench.io.yaml`), strict settings with
their messages (:mod:`~narxbench.io.settings`) and the one error of a user's mistake (:mod:`~narxbench.io.errors`).
The lowest floor: imports nothing of the project.
Begin with :mod:`narxbench.io.errors`, then :mod:`narxbench.io.settings`.
"""
