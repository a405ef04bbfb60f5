"""Draw the first picture of the README: python docs/draw_fit.py.

It writes docs/images/fit.svg: the free run, on the test data, of the model that the README's first command identifies.
"""

from io import StringIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

import narxbench

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/fit.svg"
# The same bytes each time, and text that can be read and searched as text.
SETTINGS = {"svg.hashsalt": "narxbench", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}


def picture() -> str:
    """Return the picture as SVG."""
    data = ROOT / "data/buck"
    result = narxbench.identify(data / "buck_id.csv", input="input", output="y", test=data / "buck_valid.csv")
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(9, 3), layout="constrained")
        narxbench.plot.fit(result, ax=figure.subplots())
        stream = StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
