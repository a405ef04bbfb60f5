"""What a condition is called: problem, method and criterion, as run files, summaries and frames have it."""

from narxbench.io.settings import Line, Settings


class ConditionKey(Settings):
    """What distinguishes a condition from the others of its study."""

    system: Line
    """Name of the system."""
    snr_db: float
    """Signal-to-noise ratio in dB."""
    data_seed: int
    """Seed of input and noise."""
    interpretation: Line
    """Interpretation of what the paper leaves open: a name, or the text of its differences from the baseline."""
    method: Line
    """Name of the method."""
    criterion: Line
    """Criterion of the fitness."""
    scenario: Line = ""
    """Scenario of a comparison of methods: how the problem departs from the others of its study."""
