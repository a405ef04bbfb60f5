"""Frames of made-up comparisons of methods, and what is shown with them."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from tests.unit.studies.methods import scores
from tests.unit.studies.methods.scores import methods_study, write_scores

from narxbench._studies.methods.page import leaderboard_page
from narxbench._studies.methods.ranking import rank_study
from narxbench._studies.methods.views import Comparison

MANY_METHODS = (*scores.METHODS, *(f"method-{n}" for n in range(1, 10)))
# Shapes of studies: as the factory has it, of as many methods as the study of the repository, as large as that study,
# and as small as it can be.
SHAPES: dict[str, dict[str, Any]] = {
    "usual": {},
    "many methods": {"scenarios": ("base",), "methods": MANY_METHODS},
    "large": {
        "systems": (*(f"S{n}" for n in range(1, 18)), "OUT"),
        "scenarios": tuple(f"scenario-{n}" for n in range(1, 9)),
        "methods": MANY_METHODS,
        "data_seeds": 3,
        "seeds": 5,
    },
    "small": {"systems": ("S1",), "scenarios": ("base",), "methods": ("ga", "frols"), "data_seeds": 1, "seeds": 1},
}


SITUATIONS = {"fast": {"description": "sampled fast", "systems": ["S1", "S3"]}}


@cache
def shape(name: str) -> dict[str, pd.DataFrame]:
    """Return the frames of a study of one of the `SHAPES`."""
    return frames_of(methods_study(**SHAPES[name]))


def frames_of(problems: Sequence[scores.Score], unsteady: Sequence[str] = ()) -> dict[str, pd.DataFrame]:
    """Return the frames of these problems; ``unsteady`` methods are not ranked."""
    with TemporaryDirectory() as folder:
        files = write_scores(Path(folder), list(problems))
        situations = {name: situation["systems"] for name, situation in SITUATIONS.items()}
        return rank_study(files, confidence=0.95, situations=situations, unsteady=unsteady)


def methods_of(frames: dict[str, pd.DataFrame]) -> list[str]:
    """Return the methods of frames, references among them."""
    return list(dict.fromkeys(frames["ranking"]["method"]))


def cost(methods: Iterable[str], **seconds: float) -> pd.DataFrame:
    """Return the CPU time of these methods: a second each at 66 candidate terms unless it is given."""
    frame = pd.DataFrame(product(methods, (66, 286)), columns=["method", "n_terms"])
    frame["seconds"] = frame["method"].map(seconds).fillna(1.0) * frame["n_terms"] / 66
    frame["evaluations"] = np.where(frame["method"] == "frols", 1, 6000)
    return frame.assign(machine="Processor, 2.4 GHz")


def settings(frames: dict[str, pd.DataFrame], **changes: Any) -> dict[str, Any]:
    """Return what the page uses of the settings of a study."""
    scenarios = {
        name: {"description": f"what {name} is", "snr_db": None} for name in frames["scores"]["scenario"].unique()
    }
    statistics = {"confidence": 0.95}
    defaults = {"study": "methods", "statistics": statistics, "scenarios": scenarios, "situations": SITUATIONS}
    return defaults | {"tuned": ["ga"]} | changes


def comparison(frames: dict[str, pd.DataFrame], times: pd.DataFrame | None = None, **changes: Any) -> Comparison:
    """Return what is shown of these frames."""
    times = cost(methods_of(frames)) if times is None else times
    return Comparison(frames, settings(frames), times, **changes)


def render(compared: Comparison, **changes: Any) -> str:
    """Return the page of a comparison; ``changes`` take the place of what is made up with it."""
    defaults = {
        "left_out": {"nowhere": "needs a package that is not installed"},
        "folder": "methods/",
    }
    return leaderboard_page(compared, **defaults | changes)
