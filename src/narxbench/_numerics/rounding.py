"""Rounding of numbers before they are stored."""

# Digits behind the point of results of linear algebra. Further ones depend on the processor.
DIGITS = 6


def significant(value: float, digits: int = 12) -> float:
    """Return a number rounded to significant digits: stored values must not depend on the C library's last bit."""
    return float(f"{value:.{digits}g}")
