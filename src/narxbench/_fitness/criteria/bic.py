"""BIC, the criterion of the paper: ln(L) for each term.

Source: G. Schwarz, Annals of Statistics 6, 1978, pages 461-464.
"""

from narxbench._fitness.criterion import Criterion

CRITERION = Criterion("bic", "BIC", "bic")
