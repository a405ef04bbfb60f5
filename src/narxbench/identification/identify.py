"""From data to a model: read, check, search, choose, and judge how far to trust what was found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from narxbench.identification.conclusion import concluded
from narxbench.identification.data.reading import Reading, read_recording
from narxbench.identification.finding import Finding
from narxbench.identification.result import Identification
from narxbench.identification.search.choice import choose
from narxbench.identification.search.scan import Scan
from narxbench.identification.search.steps import BRIEF, RESAMPLES, THOROUGH, WEIGHTS, Progress, Steps
from narxbench.identification.settings import IdentificationSettings, NoiseSetting
from narxbench.io.errors import FieldError, is_whole_number, show
from narxbench.io.settings import validated
from narxbench.model.records import Recording, Role

Numbers = Literal["auto"] | int | Sequence[int]
Lags = Numbers | str


def identify(
    data: Any = None,
    output: Any = None,
    *,
    input: Any = None,
    time: Any = None,
    test: Any = None,
    test_input: Any = None,
    test_output: Any = None,
    roles: Mapping[str, Role] | None = None,
    sampling_time: float | None = None,
    units: Mapping[str, str] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    decimation: Numbers = "auto",
    degree: Numbers = "auto",
    y_lags: Lags = "auto",
    u_lags: Lags | Mapping[str, Lags] = "auto",
    delay: Literal["auto"] | int = "auto",
    y_degree: int | None = None,
    u_degree: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    centre: Literal["auto"] | bool = False,
    method: str = "multistart",
    method_settings: Mapping[str, Any] | None = None,
    error: Literal["auto", "free_run", "one_step"] = "auto",
    criterion: str = "bic",
    seed: int = 1,
    seeds: int = 4,
    blocks: int = 8,
    selection: Literal["mean", "worst"] = "mean",
    divergent: float = 0.0,
    effort: float = 20.0,
    resamples: int = 0,
    threshold: float = 0.5,
    confidence: float = 0.95,
    noise: NoiseSetting = "auto",
    repeat: int = 1,
) -> Identification:
    """Identify a polynomial NARX model from measured data.

    ``identify("data.csv", input="u", output="y")`` reads columns; ``identify(X, y)`` takes arrays, frames or series.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is an experiment of its own, with ``input`` and ``output`` columns of it. Where ``output`` is an array, the
        inputs: an array, frame or series of shape (samples,) or (samples, inputs), or None.
    output : column or array, shape (samples,)
        The output: the name or number of a column, or the samples.
    input, time, test, test_input, test_output, roles, sampling_time, units, header, separator, decimal
        What the data are: :func:`narxbench.identification.data.reading.read_recording`. Of arrays, ``test`` is a share
        such as ``"20%"``, or a pair (X, y).
    decimation : "auto", int or sequence of int
        Samples of the data in one step of the model; several are tried.
    degree : "auto", int or sequence of int
        Largest degree of a candidate term.
    y_lags, u_lags : "auto", int, sequence of int or str
        Lags of the output and of the inputs, in steps: 3 stands for 1 to 3; also ``"1-4,8"``. ``u_lags`` also by input.
    delay : "auto" or int
        Smallest lag of the inputs where their lags are scanned, in samples of the data; 0 admits the current input.
    y_degree, u_degree : int, optional
        Largest degree of the outputs, and of the inputs, in a term.
    include, exclude : sequence of str
        Further candidate terms, and patterns of those that are left out, such as ``"*u(k-1)*"``.
    centre : "auto" or bool
        Whether the terms are those of centred and scaled signals.
    method : str
        Search algorithm, a module of ``narxbench.algorithms``.
    method_settings : mapping, optional
        Its settings.
    error : {"auto", "free_run", "one_step"}
        Error that the fitness has.
    criterion : str
        Criterion of the fitness, such as ``"bic"``, ``"aic-2"``.
    seed : int
        Where all random draws begin.
    seeds : int
        Searches of each configuration, each with its own random draws.
    blocks : int
        Parts of the data that take turns in selection, where no record has this role.
    selection : {"mean", "worst"}
        What counts of the errors over these parts.
    divergent : float
        Share of these parts on which a model may diverge.
    effort : float
        Seconds that the searches are planned for, by a fixed rule, not by a clock.
    resamples : int
        Resampled data sets that are searched, to see how sure each term is without supposing anything of the noise.
    threshold : float
        Share of these from which on a term belongs to the structure by threshold.
    confidence : float
        Coverage of the intervals.
    noise : {"auto", "narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"}
        Where the noise enters, and which filter it passes. Auto: what gives the best free run over data that the
        weights do not know; where several are as good, the most likely.
    repeat : int
        How many times to identify, each time with the next ``seed``: the model is that of the first, and a note has the
        spread of the others' errors.

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
    >>> found = narxbench.identify(u, y, test="20%", degree=2, y_lags=2, u_lags=2, resamples=0)
    >>> found.model.terms
    ('y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2')
    """
    # All arguments by their names: those of reading, and those that are settings.
    arguments = dict(locals())
    del arguments["repeat"]
    if input is None and not (output is None or isinstance(output, str | int)):
        arguments |= {"data": None, "input": data}
    reading = {name: arguments.pop(name) for name in ("data", *Reading.__annotations__)}
    arguments["method_settings"] = method_settings or {}
    settings = validated(IdentificationSettings, _plain(arguments), "identify")
    return repeated(read_recording(**reading), settings, repeat)


def repeated(
    recording: Recording,
    settings: IdentificationSettings,
    times: int,
    affordable: Callable[[Scan], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Identification:
    """Identify a model as :func:`identified` does, and again with other random draws, to see what they decide."""
    if not is_whole_number(times, 1, 1000):
        raise FieldError("repeat", f"found {show(times)}; allowed: a whole number from 1 to 1000")
    found = [identified(recording, settings, affordable, progress)]
    for seed in range(settings.seed + 1, settings.seed + times):
        if any(note.name == "interrupted" for note in found[-1].notes):
            break
        # Resamples tell how sure the terms of the first model are; here only models are compared.
        other = settings.model_copy(update={"seed": seed, "resamples": 0})
        found.append(identified(recording, other, progress=progress))
    return replace(found[0], notes=[_spread(found), *found[0].notes]) if len(found) > 1 else found[0]


def _spread(found: Sequence[Identification]) -> Finding:
    """Return the errors of models that were found with other random draws, and how many have the same terms."""
    own = [next(finding for finding in each.summary if finding.name == "prediction").values for each in found]
    errors = [values["rrse"] for values in own if values["rrse"] is not None]
    structures = [(each.model.terms, each.model.decimation) for each in found]
    values = {
        "times": len(found),
        **{name: own[0][name] for name in ("role", "kind", "steps")},
        "least": min(errors, default=None),
        "most": max(errors, default=None),
        "without": len(found) - len(errors),
        "alike": structures.count(structures[0]),
    }
    return Finding("repeats", "look", values)


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
        scan, steps = Scan(recording, settings), Steps(progress, RESAMPLES if settings.resamples else WEIGHTS)
        if affordable is not None:
            affordable(scan)
        briefs = steps.run(BRIEF, scan.brief, [(each,) for each in scan.configurations])
        if not briefs:
            raise KeyboardInterrupt
        ranked = scan.ranked(briefs)
        jobs = [(configuration, part, seed) for configuration in ranked for part, seed in scan.jobs()]
        choice = choose(scan, briefs, ranked, steps.run(THOROUGH, scan.thorough, jobs), steps)
        best = scan.named[choice.best.configuration]
        numbers = range(1, scan.n_resamples(best) + 1)
        resamples = steps.run(RESAMPLES, scan.resampled, [(best, number) for number in numbers])
        if steps.interrupted:
            # Those that were left out say nothing.
            scan.settings = settings.model_copy(update={"resamples": len(resamples)})
        found = concluded(scan, choice, resamples)
    notes = [Finding("interrupted", "look", {"step": steps.interrupted})] if steps.interrupted else []
    return replace(found, notes=[*notes, *found.notes])


def _plain(value: Any) -> Any:
    """Return numbers of NumPy, arrays of them, ranges and tuples as Python's own."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple, range)) else value
