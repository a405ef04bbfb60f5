"""What the Snakemake rules use: file names, job parameters, digests of code, progress, manifest.

Here live the plan of a study as files, the import closure by which a step is run again when its code changes, the way
scripts are called, and the comparison with reference results. The top floor: may import everything.
Begin with :mod:`narxbench.pipeline.plan`.
"""
