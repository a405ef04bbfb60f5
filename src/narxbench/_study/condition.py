"""The names of problems and conditions, which run files, score files and frames share."""

from narxbench._io.settings import Line, Settings

MOST = 10**18 - 1  # the largest whole number: tables hold 18 digits


class ProblemKey(Settings):
    """The values that distinguish a problem, under a criterion, from the others of its study."""

    scenario: Line
    """Scenario of a comparison of methods: how the problem departs from the others of its study."""
    system: Line
    """Name of the system."""
    snr_db: float
    """Signal-to-noise ratio in dB."""
    data_seed: int
    """Seed of input and noise."""
    criterion: Line
    """Criterion of the fitness."""
    interpretation: Line
    """Interpretation of what the paper leaves open: a name, or the text of its differences from the baseline."""


class ConditionKey(ProblemKey):
    """The values that distinguish a condition from the others of its study: its problem and its method."""

    scenario: Line = ""
    method: Line
    """Name of the method."""
