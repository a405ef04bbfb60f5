"""From data to a model: read, check, search, choose, and judge how far to trust what was found."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from narxbench.identification.conclusion import concluded
from narxbench.identification.data.reading import read_recording
from narxbench.identification.finding import Finding
from narxbench.identification.result import Identification
from narxbench.identification.search.choice import choose
from narxbench.identification.search.scan import Scan
from narxbench.identification.search.steps import Progress, Steps
from narxbench.identification.settings import IdentificationSettings
from narxbench.io.settings import validated
from narxbench.model.records import Recording

_COLUMNS = ("input", "output", "time", "test_input", "test_output")
_READING = (*_COLUMNS, "test", "roles", "sampling_time", "units", "header", "separator", "decimal")


def identify(data: Any = None, **arguments: Any) -> Identification:
    """Identify a polynomial NARX model from measured data.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is an experiment of its own; None: ``input`` and ``output`` are arrays.
    **arguments
        What :func:`narxbench.identification.data.reading.read_recording` takes (``input``, ``output``, ``time``,
        ``test``, ``test_input``, ``test_output``, ``roles``, ``sampling_time``, ``units``, ``header``, ``separator``,
        ``decimal``), and all settings of
        :class:`narxbench.identification.settings.IdentificationSettings` (``decimation``, ``degree``, ``y_lags``,
        ``u_lags``, …). None of these must be given but ``output``.

    Returns
    -------
    Identification
        The model and all that shows how far to trust it.

    Raises
    ------
    NarxbenchError
        One line that names what was found and what is allowed: for data, a setting, or where no model can be found.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
    >>> found = narxbench.identify(input=u, output=y, test="20%", degree=2, y_lags=2, u_lags=2, resamples=0)
    >>> found.model.terms
    ('y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2')
    """
    reading = {name: arguments.pop(name) for name in _READING if name in arguments}
    given = {name: _plain(value) for name, value in arguments.items()}
    settings = validated(IdentificationSettings, given, "identify")
    return identified(read_recording(data, **reading), settings)


def identified(
    recording: Recording,
    settings: IdentificationSettings,
    affordable: Callable[[Scan], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Identification:
    """Identify a model from a recording; all steps in this process.

    ``affordable`` is called before the first search, and raises NarxbenchError if all that is planned is too much;
    ``progress`` whenever a job is done. Ctrl-C leaves out what has not begun, and the best so far is kept; before
    anything is found, and a second time, it is raised.
    """
    # Threads of a BLAS would wait for those of the search, and sum in an order that depends on their number.
    with threadpool_limits(1, "blas"):
        scan, steps = Scan(recording, settings), Steps(progress)
        if affordable is not None:
            affordable(scan)
        briefs = steps.run("brief searches", scan.brief, [(each,) for each in scan.configurations])
        if not briefs:
            raise KeyboardInterrupt
        ranked = scan.ranked(briefs)
        jobs = [(configuration, part, seed) for configuration in ranked for part, seed in scan.jobs()]
        choice = choose(scan, briefs, ranked, steps.run("thorough searches", scan.thorough, jobs), steps)
        best = scan.named[choice.best.configuration]
        numbers = range(1, scan.n_resamples(best) + 1)
        resamples = steps.run("searches of resampled data", scan.resampled, [(best, number) for number in numbers])
        found = concluded(scan, choice, resamples)
    if not steps.interrupted:
        return found
    return replace(found, notes=[Finding("interrupted", "look", {"step": steps.interrupted}), *found.notes])


def _plain(value: Any) -> Any:
    """Return numbers of NumPy, arrays of them, ranges and tuples as Python's own."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple, range)) else value
