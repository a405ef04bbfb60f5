"""Cases of one test in two tiers: those that cost seconds and resemble each other run with ``-m slow``."""

import pytest


def mostly_slow(cases, *by_default):
    """Return the cases as parameters of a test and mark as slow those that do not run by default."""
    assert {*by_default} <= {*cases}
    parameters = []
    for case in cases:
        is_fast = case in by_default
        parameters.append(case if is_fast else pytest.param(case, marks=pytest.mark.slow))
    return parameters
