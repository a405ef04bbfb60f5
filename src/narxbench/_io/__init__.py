"""Files and settings: reading from and writing to disk, and the errors of mistakes in them.

Here live atomic writing, JSON, CSV (:mod:`~narxbench._io.csv`), YAML (:mod:`~narxbench._io.yaml`), strict settings with
their messages (:mod:`~narxbench._io.settings`) and the one error of a user's mistake (:mod:`~narxbench._io.errors`).
It imports no other package of the project.
Begin with :mod:`narxbench._io.errors`, then :mod:`narxbench._io.settings`.
"""
