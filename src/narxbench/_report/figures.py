"""The style that all figures share, which are drawn with matplotlib's object interface.

The bytes of a figure depend only on its content.
"""

import io
import math
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

WIDTH = 7.16  # inches: both columns of a page of the class IEEEtran
NARROW = 5.5  # inches: what a phone can show without scrolling
# Okabe and Ito's palette, which readers with any form of colour blindness can distinguish.
METHOD_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DARK = "#333333"

_STYLE: Any = {
    # This font comes with matplotlib, has the signs that users name systems with, and is one of the fonts of the pages.
    "font.family": ["DejaVu Sans"],
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 9),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    # The bytes of a compressed stream depend on which zlib is installed.
    "pdf.compression": 0,
    "svg.fonttype": "path",
    "text.parse_math": False,
}
_NOT_OF_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
# A date would make every build differ.
_NO_DATE: Any = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}


# The settings of matplotlib belong to a whole process: of several threads, one draws at a time.
_LOCK = threading.RLock()


@contextmanager
def drawing(name: str) -> Iterator[None]:
    """Draw a figure in this context, with matplotlib's defaults and the style above.

    The user's matplotlibrc does not change it. The ids in the SVG depend on the name.
    """
    with _LOCK, matplotlib.style.context(["default", _STYLE | {"svg.hashsalt": f"narxbench {name}"}]):
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure of a size in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def panels(figure: Figure, count: int, across: int) -> list[Axes]:
    """Return axes of a figure, side by side in rows, of which the last one may have empty places."""
    axes: list[Axes] = figure.subplots(math.ceil(count / across), across, squeeze=False).ravel().tolist()
    for axis in axes[count:]:
        axis.set_axis_off()
    return axes[:count]


def saved(figure: Figure, formats: Sequence[str] = ("pdf", "svg"), *, whole: bool = True) -> dict[str, bytes]:
    """Return the bytes of a figure in each format. Call it within the context `drawing` of the figure.

    A ``whole`` figure grows to hold parts that extend beyond it, such as a long label. Otherwise it keeps its size.
    """
    area: Any = None
    if whole:
        figure.draw_without_rendering()
        area = Bbox.union([figure.bbox_inches, figure.get_tightbbox()])
    files = {}
    for name in formats:
        stream = io.BytesIO()
        figure.savefig(stream, format=name, metadata=_NO_DATE[name], bbox_inches=area)
        files[name] = stream.getvalue()
        if name == "svg":
            # Comments of an SVG have names, but XML allows none of these characters, not even escaped.
            files[name] = _NOT_OF_XML.sub(b"", files[name])
    return files
