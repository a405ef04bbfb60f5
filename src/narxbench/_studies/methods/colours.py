"""The colour of a method, the same in every figure of every study."""

from zlib import crc32

# Palettes of Okabe and Ito and of P. Tol, which readers with any form of colour blindness can distinguish, without
# yellow, which is too light for lines.
_PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#332288", "#117733", "#882255", "#AA4499", "#999933", "#6F4E37"),
)
# Methods that often stand in one figure have colours that differ most.
_FIXED = {
    "pem": "#0072B2",
    "multistart": "#D55E00",
    "multistart-ebic": "#E69F00",
    "annealing": "#009E73",
    "upso2d": "#CC79A7",
    "upso2d-bounded": "#882255",
    "ga": "#332288",
    "ga-tournament": "#AA4499",
    "stepwise": "#56B4E9",
    "pymoo-ga": "#999933",
    "binary-pso": "#117733",
    "random-search": "#6F4E37",
}


def colour_of(method: str) -> str:
    """Return the colour of a method; it follows from its name alone."""
    return _FIXED.get(method, _PALETTE[crc32(method.encode()) % len(_PALETTE)])
