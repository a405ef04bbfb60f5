"""The natural logarithm, computed here: the last bit of the C library's result depends on the processor."""

import math

from narxbench._numerics.compilation import compiled

# ln(2) in two parts, of fdlibm: the product of the upper one with an exponent is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_HALF_SQRT2 = math.sqrt(0.5)


@compiled
def natural_log(x: float) -> float:
    """Return ln(x) for finite x > 0, with an error below one unit in the last place.

    The method is that of fdlibm's ``e_log.c``: x = 2^e (1 + f) with sqrt(1/2) < 1 + f < sqrt(2), and ln(1 + f) from a
    polynomial in s = f / (2 + f). IEEE 754 rounds every operation correctly. For x <= 0 the result has no meaning.
    """
    mantissa, exponent = math.frexp(x)
    if mantissa < _HALF_SQRT2:
        mantissa *= 2.0
        exponent -= 1
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half_square = 0.5 * f * f
    return exponent * _LN2_HIGH - ((half_square - (s * (half_square + (even + odd)) + exponent * _LN2_LOW)) - f)
