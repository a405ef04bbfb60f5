"""Cases of one test in two tiers: those that cost seconds and resemble each other run with ``-m slow``."""

import pytest


def mostly_slow(cases, *by_default):
    """Return the parameters of a test, of which all but those named are slow."""
    assert {*by_default} <= {*cases}
    return [case if case in by_default else pytest.param(case, marks=pytest.mark.slow) for case in cases]
