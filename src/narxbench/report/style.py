"""The looks that all figures share; their bytes depend on nothing but what is drawn."""

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

WIDTH = 7.16  # inches: both columns of a page
# Okabe and Ito's palette, which readers with any form of colour blindness can tell apart.
METHOD_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":")
SYSTEM_TERM, SPURIOUS_TERM = "#0072B2", "#D55E00"

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    # The bytes of a compressed stream depend on which zlib is installed.
    "pdf.compression": 0,
    "svg.fonttype": "path",
    "text.parse_math": False,
}
# A date would make every build differ.
_NO_DATE: Any = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}


def drawing(name: str) -> AbstractContextManager[None]:
    """Return the context in which the named figure is drawn: matplotlib's defaults and the style above.

    The user's own matplotlibrc plays no part. The name makes the ids of the SVG.
    """
    return matplotlib.style.context(["default", _STYLE | {"svg.hashsalt": f"narxbench {name}"}])


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure; its size is in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def saved(figure: Figure, formats: Sequence[str] = ("pdf", "svg")) -> dict[str, bytes]:
    """Return the bytes of a figure in each format; to be called within its context `drawing`."""
    files = {}
    for name in formats:
        stream = io.BytesIO()
        figure.savefig(stream, format=name, metadata=_NO_DATE[name])
        files[name] = stream.getvalue()
    return files
