"""The one error that a user's mistake raises, and the wording that all such messages share."""

from collections.abc import Iterable
from difflib import get_close_matches


class NarxbenchError(ValueError):
    """A mistake in settings, data or arguments, told in one message that names place, finding and remedy."""


def did_you_mean(word: object, allowed: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest allowed word, or an empty string."""
    by_lower_case = {name.lower(): name for name in allowed}
    close = get_close_matches(str(word).lower(), by_lower_case, n=1, cutoff=0.6)
    return f" (did you mean {by_lower_case[close[0]]!r}?)" if close else ""
