"""Other settings that were tried for a model that is not fine, and the error with each of them.

Values that were scanned anyway are compared by their best structures. Each setting that the user fixed is freed in a
search, and an output with inputs is searched with the lags of its seasons. These searches share a part of the effort.
Errors come from the selection, so test records are not used.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from narxbench._identification.data.seasons import seasons_beside_inputs
from narxbench._identification.search.configurations import SOME_LAGS, with_seasons
from narxbench._identification.search.effort import SHARES
from narxbench._identification.settings import AUTO, Auto, IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._model.records import Recording

# A model is better than another if its error is less than this share of the other error (benchmarks/verdicts.md).
BETTER = 0.9
# Settings that are freed together, as one is of little use without the other.
_FREED: tuple[tuple[str, ...], ...] = (("y_lags", "u_lags"), ("degree",), ("decimation",))
# Settings that all get another value in a search, the value, and the value as users write it.
_Change = tuple[tuple[str, ...], Auto | list[int], str]


def attempts(
    recording: Recording,
    settings: IdentificationSettings,
    tried: pd.DataFrame,
    error: float,
    selection_error: Callable[[Recording, IdentificationSettings], float | None],
) -> dict[str, Any] | None:
    """Return which other settings were tried and their errors, or None if there are none.

    Parameters
    ----------
    recording, settings
        What the model comes from.
    tried : DataFrame
        The configurations that were compared.
    error : float
        The selection error of the model.
    selection_error : callable
        Searches with other settings, and returns the selection error of the selected model.
    """
    rows = [*scanned_values(tried, "degree"), *scanned_values(tried, "decimation")]
    changes = _changes(recording, settings)
    for names, value, written in changes:
        changed = {**dict.fromkeys(names, value), "effort": SHARES["attempts"] * settings.effort / len(changes)}
        try:
            rrse = selection_error(recording, settings.model_copy(update=changed))
        except NarxbenchError:
            rrse = None
        rows.append({"settings": list(names), "value": written, "rrse": rrse})
    if not rows:
        return None
    best = min(rows, key=_error)
    is_better = _error(best) < BETTER * error
    return {"error": error, "rows": rows, "better": best if is_better else None}


def _error(row: Mapping[str, Any]) -> float:
    return float("inf") if row["rrse"] is None else float(row["rrse"])


def scanned_values(tried: pd.DataFrame, setting: str) -> list[dict[str, Any]]:
    """Return the values of a setting that the chosen configuration does not have, with the best error of each."""
    best: dict[int, float | None] = {}
    chosen = None
    for row in tried.to_dict("records"):
        value, rrse = row[setting], row["rrse"]
        if row["chosen"]:
            chosen = value
        known = best.get(value)
        if rrse is not None and (known is None or rrse < known):
            best[value] = rrse
        else:
            best.setdefault(value, None)
    rows = []
    for value in sorted(best):
        if value != chosen:
            rows.append({"settings": [setting], "value": value, "rrse": best[value]})
    return rows


def _changes(recording: Recording, settings: IdentificationSettings) -> list[_Change]:
    """Return the changes that are tried in separate searches: fixed settings are freed, and seasons become lags."""
    changes: list[_Change] = [(names, AUTO, AUTO) for names in _fixed_settings(recording, settings)]
    if recording.inputs and settings.y_lags == AUTO:
        found = seasons_beside_inputs(recording)
        lags = with_seasons(SOME_LAGS, found, 1)
        if found:
            changes.append((("y_lags",), list(lags), ",".join(map(str, lags))))
    return changes


def _fixed_settings(recording: Recording, settings: IdentificationSettings) -> Sequence[tuple[str, ...]]:
    """Return the settings that the user fixed, in groups that are freed together."""
    groups = []
    for names in _FREED:
        fixed = tuple(name for name in names if getattr(settings, name) != AUTO)
        if fixed == ("u_lags",) and not recording.inputs:
            continue
        if fixed:
            groups.append(fixed)
    return groups
