"""An identification that needs more memory than the machine has is refused before it begins."""

import numpy as np
import pytest

from narxbench._identification.data.reading import read_recording
from narxbench._identification.estimate import memory_uses
from narxbench._identification.search.plan import plan_search
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._io.resources import refuse

MANY_LAGS = {"degree": 2, "y_lags": 10, "u_lags": 83, "decimation": 1}


def test_more_than_the_machine_has(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("narxbench._io.resources.memory_of_machine", lambda: 0.7e9)
    recording = read_recording(input=rng.standard_normal(1000), output=rng.standard_normal(1000))
    refuse(memory_uses(plan_search(recording, IdentificationSettings())))  # an ordinary one fits
    uses = memory_uses(plan_search(recording, IdentificationSettings(**MANY_LAGS)))
    with pytest.raises(NarxbenchError) as error:
        refuse(uses)
    message = str(error.value)
    assert message.startswith("degree with the lags: candidate terms: found 4") and message.endswith(
        " GB of memory; allowed: up to 0.7 GB on this machine"
    )
