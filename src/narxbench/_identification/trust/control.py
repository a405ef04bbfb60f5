"""Whether the intervals of gain, settling time and stability are narrow enough to control with a model."""

from typing import NamedTuple

from narxbench._identification.finding import Status
from narxbench._identification.trust.dynamics import Dynamics, Range
from narxbench._numerics.rounding import significant

# The largest gain may be so many times the smallest: controllers are designed for a gain margin of about 2 (6 dB), and
# half of that, in dB, is left for all else.
GAIN_FINE = 1.5
# The longest settling time may be so many times the shortest.
SETTLING_FINE = 2.0
# Settling times up to so many samples are short, whatever their ratio.
SHORT = 10
# Share of the equally good models that must be stable.
STABLE_FINE = 0.975


class Doubt(NamedTuple):
    """A reason to doubt that one may control with a model.

    Attributes
    ----------
    name : str
        ``sign`` or ``gain`` of an input, ``stability``, ``settling``, ``record``: it settles after its end, or
        ``candidates``: the residuals show that the true system is not among them, so that intervals may not hold.
    signal : str
        The input, or "".
    status : Status
        How serious it is.
    value : float, optional
        The factor from the smaller to the larger end of an interval, the share that is stable, or the samples of the
        record; None where an interval has no such factor, and for candidates.
    limit : float, optional
        What it should be at most, the share at least; None for candidates.
    """

    name: str
    signal: str
    status: Status
    value: float | None
    limit: float | None


def control_doubts(dynamics: Dynamics | None, settling_samples: float | None, longest_record: int) -> list[Doubt]:
    """Return what is too uncertain for control.

    Parameters
    ----------
    dynamics : Dynamics, optional
        Gain, settling time and stability with their intervals, where they are known.
    settling_samples : float, optional
        The settling time of the model, in samples of the data; None where it does not rest.
    longest_record : int
        The samples of the longest record: what takes longer was never seen to end.
    """
    doubts = []
    if settling_samples is not None and settling_samples > longest_record:
        doubts.append(Doubt("record", "", "look", float(longest_record), settling_samples))
    if dynamics is None:
        return doubts
    if dynamics.unexplained:
        doubts.append(Doubt("candidates", "", "look", None, None))
    for name, answer in dynamics.inputs.items():
        if answer.is_used and answer.gain is not None:
            doubts += _gain_doubts(name, answer.gain)
    if dynamics.stable < STABLE_FINE:
        doubts.append(Doubt("stability", "", "look", dynamics.stable, STABLE_FINE))
    settling = dynamics.settling
    if settling is not None:
        factor, is_short = _factor(settling), settling.high is not None and settling.high <= SHORT
        if not is_short and (factor is None or factor > SETTLING_FINE):
            doubts.append(Doubt("settling", "", "look", factor, SETTLING_FINE))
    return doubts


def _gain_doubts(name: str, gain: Range) -> list[Doubt]:
    """Return whether the gain of an input, or even its sign, is too uncertain."""
    factor = _factor(gain)
    if factor is None:
        return [Doubt("sign", name, "bad", None, GAIN_FINE)]
    return [Doubt("gain", name, "look", factor, GAIN_FINE)] if factor > GAIN_FINE else []


def _factor(interval: Range) -> float | None:
    """Return how many times the larger end of an interval is the smaller one; None where it holds 0 or has no end."""
    if interval.low is None or interval.high is None or interval.low * interval.high <= 0.0:
        return None
    low, high = sorted((abs(interval.low), abs(interval.high)))
    return significant(high / low)
