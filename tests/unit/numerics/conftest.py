"""Settings of Numba for one test, as the user makes them: it reads the environment again when it compiles."""

import numba
import pytest


@pytest.fixture
def of_numba():
    """Return what sets ``NUMBA_*`` in the environment, or removes it (None)."""
    with pytest.MonkeyPatch.context() as patch:

        def change(**settings):
            for name, value in settings.items():
                patch.delenv(f"NUMBA_{name}", raising=False)
                if value is not None:
                    patch.setenv(f"NUMBA_{name}", str(value))
            numba.config.reload_config()

        yield change
    numba.config.reload_config()
