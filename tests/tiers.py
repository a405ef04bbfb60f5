"""Cases of one test in two tiers: those that cost seconds and resemble each other run with ``-m slow``."""

import pytest


def mostly_slow(cases, *by_default):
    """Return the cases as parameters of a test and mark as slow those that do not run by default.

    A case that is a tuple has a value for each of several arguments.
    """
    assert {*by_default} <= {*cases}
    parameters = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        marks = () if case in by_default else pytest.mark.slow
        parameters.append(pytest.param(*values, marks=marks))
    return parameters
