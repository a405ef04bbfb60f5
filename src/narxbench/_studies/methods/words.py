"""Values of the evidence as readers see them: no rounded value contradicts the verdict next to it."""

import math
from collections.abc import Sequence

from narxbench._report.formats import MISSING, fixed, significant, tenths
from narxbench._studies.methods.metrics import EXACT, Difference
from narxbench._studies.methods.sign_flips import least_p

# Digits after which a value that still looks like its limit is shown as it is.
_MOST_DIGITS = 6


def beside(value: float, limits: Sequence[float], digits: int) -> str:
    """Return a number with so many decimals, or more until it lies on the same side of all limits as the value."""
    for n_digits in range(digits, _MOST_DIGITS):
        shown = round(value, n_digits)
        if all((shown > limit, shown < limit) == (value > limit, value < limit) for limit in limits):
            return fixed(value, n_digits)
    return fixed(value, _MOST_DIGITS)


def p_text(p: float, alpha: float) -> str:
    """Return a p-value with three decimals, or more where they would hide on which side of alpha it lies."""
    return "< 0.001" if p < 0.001 else beside(p, [alpha], 3)


def p_phrase(p: float, alpha: float) -> str:
    """Return a p-value in a sentence."""
    text = p_text(p, alpha)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def least_p_text(n_systems: int) -> str:
    """Return the least p-value that is possible with so many systems, with all digits that count."""
    return f"{least_p(n_systems):.6f}".rstrip("0").rstrip(".")


def points(share: float) -> float:
    """Return a share in per cent as it is shown, to one decimal."""
    return round(100 * share, 1)


def difference_text(value: float, difference: Difference) -> str:
    """Return a difference, or a limit of it: percentage points of a share, a factor, or a number with its sign."""
    if math.isnan(value):
        return MISSING
    if difference.ratio:
        factor = math.exp(difference.negligible)
        text = significant(value)
        if 0.1 <= value < 10:
            text = beside(value, [1 / factor, 1, factor], 2)
        return f"×{text}"
    if difference.metric is EXACT:
        edge = 100 * difference.negligible
        text = beside(100 * value, [-edge, 0, edge], 1)
    else:
        text = beside(value, [-difference.negligible, 0, difference.negligible], 3)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def lead_text(value: float, of_best: float | None, of_rival: float | None, difference: Difference) -> str:
    """Return how far the best method leads; in exact recovery it is the difference of the shares as they are shown."""
    if difference.metric is EXACT and of_best is not None and of_rival is not None:
        shown = points(of_best) - points(of_rival)
        text = fixed(shown, 1)
        return f"+{text} points" if text.strip("0.−") and shown > 0 else f"{text} points"
    return difference_text(value, difference)


def share_text(value: float | None) -> str:
    """Return a share in per cent with one decimal."""
    return MISSING if value is None else tenths(value)
