"""How often methods find the true terms, by the noise in the data: ``python -m benchmarks.recovery``."""

import os

# One thread, set before numpy is imported.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
