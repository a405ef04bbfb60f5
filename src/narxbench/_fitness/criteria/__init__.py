"""The criteria: each module of this folder is one, and is found by being there.

The name of the module is the first word of the criterion's name, and ``CRITERION`` is the criterion, of which a number
may still be open. A module is imported when its criterion is asked for, so that a run depends only on the
code of its criterion.
"""

import math
import pkgutil
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module

from narxbench._fitness.criterion import Criterion
from narxbench._io.errors import NarxbenchError, did_you_mean
from narxbench._io.settings import show

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


@cache
def criterion_words() -> tuple[str, ...]:
    """Return the first words of the names of all criteria, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


@cache
def criterion_of(word: str) -> Criterion:
    """Return the criterion whose name begins with a word, which is one of :func:`criterion_words`."""
    criterion: Criterion = import_module(f"{__name__}.{word}").CRITERION
    return criterion


def _all_criteria() -> list[Criterion]:
    return [criterion_of(word) for word in criterion_words()]


def criterion_forms() -> str:
    """Return the forms of the names of all criteria, as settings describe them."""
    return ", ".join(criterion.form for criterion in _all_criteria())


def parse_criterion(text: str) -> Criterion:
    """Return a criterion by its name, which has one of the :func:`criterion_forms`.

    Examples
    --------
    >>> parse_criterion("aic-4.0").title
    'AIC (ϱ = 4)'
    """
    word, dash, digits = str(text).partition("-")
    if word not in criterion_words():
        raise _unknown_criterion(text, _all_criteria())
    criterion = criterion_of(word)
    if criterion.form == text:
        return criterion
    takes_number = criterion.form != word
    if takes_number and dash and re.fullmatch(_NUMBER, digits, re.ASCII):
        number = float(digits)
        if 0.0 < number <= criterion.most and number < math.inf:
            return criterion.with_number(number)
    raise _unknown_criterion(text, [criterion])


def _unknown_criterion(text: object, similar: Sequence[Criterion]) -> NarxbenchError:
    """Return the error for an unknown name, which proposes the example of a similar criterion."""
    allowed = ", ".join(criterion.allowed_names for criterion in _all_criteria())
    proposal = did_you_mean(text, [criterion.example for criterion in similar])
    return NarxbenchError(f"criterion: found {show(text, kind=False)}; allowed: {allowed}{proposal}")


def canonical_criterion(text: str) -> str:
    """Return the canonical name of a criterion, with the errors of :func:`parse_criterion`.

    Examples
    --------
    >>> canonical_criterion("aic-4.0")
    'aic-4'
    """
    return parse_criterion(text).name
