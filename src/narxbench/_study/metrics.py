"""The parts that the metrics of all studies share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from narxbench._report.formats import Form


@dataclass(frozen=True, kw_only=True)
class Metric:
    """The declaration of a metric: its column in frames, its heading in tables, and that of its group, if any."""

    name: str
    heading: str
    form: Form
    description: str
    group: str = ""


def mean(values: Sequence[float]) -> float:
    """Return the mean, correctly rounded."""
    return math.fsum(values) / len(values)
