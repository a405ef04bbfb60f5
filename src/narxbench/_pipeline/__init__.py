"""Everything that the Snakemake rules use: file names, job parameters, digests of code, progress, manifest.

The top floor: may import everything. Begin with :mod:`narxbench._pipeline.plan`.
"""
