"""Criteria: what a term costs in J = L ln(e) + penalty * cardinality (paper, equations 10 and 11).

BIC takes ln(L) for each term, AIC a constant rho.
"""

import re

from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.settings import show
from narxbench.numerics.logarithm import natural_log


def parse_criterion(text: str) -> float | None:
    """Read the name of a criterion.

    Parameters
    ----------
    text : str
        ``"bic"`` or ``"aic-<rho>"`` with a positive decimal number rho.

    Returns
    -------
    float or None
        The penalty rho per term; None for ``"bic"``, whose penalty ln(L) depends on the data.

    Raises
    ------
    NarxbenchError
        If there is no such criterion.

    Examples
    --------
    >>> parse_criterion("aic-6.5")
    6.5
    >>> parse_criterion("bic") is None
    True
    """
    if text == "bic":
        return None
    matched = re.fullmatch(r"aic-((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", str(text), re.ASCII)
    penalty = float(matched[1]) if matched else 0.0
    if not 0.0 < penalty < float("inf"):
        raise NarxbenchError(
            f"criterion: found {show(text, kind=False)}; "
            "allowed: 'bic', or 'aic-' and a positive number, e.g. 'aic-2' or 'aic-6.5'"
            f"{did_you_mean(text, ('bic', 'aic-2', 'aic-8', 'aic-64', 'aic-256'))}"
        )
    return penalty


def canonical_criterion(text: str) -> str:
    """Return the one name of a criterion, whatever way its penalty is written.

    Raises
    ------
    NarxbenchError
        If there is no such criterion.

    Examples
    --------
    >>> [canonical_criterion(text) for text in ("bic", "aic-2.0", "aic-02", "aic-.5", "aic-1e3")]
    ['bic', 'aic-2', 'aic-2', 'aic-0.5', 'aic-1000']
    """
    rho = parse_criterion(text)
    # The shortest decimal number that reads back as the same double.
    return "bic" if rho is None else f"aic-{repr(rho).removesuffix('.0')}"


def penalty_per_term(criterion: str, n_validation: float) -> float:
    """Return what each term adds to J under a criterion, with L = ``n_validation`` samples.

    Examples
    --------
    >>> round(penalty_per_term("bic", 600), 3)
    6.397
    """
    rho = parse_criterion(criterion)
    return float(natural_log(float(n_validation))) if rho is None else rho
