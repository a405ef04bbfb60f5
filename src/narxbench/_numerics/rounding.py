"""Rounding of numbers before they are stored."""


def significant(value: float, digits: int = 12) -> float:
    """Return a number rounded to significant digits: stored values must not depend on the C library's last bit."""
    return float(f"{value:.{digits}g}")
