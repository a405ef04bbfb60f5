"""From data to a model: read, check, search, choose, and judge how far to trust what was found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Literal

from threadpoolctl import threadpool_limits

from narxbench._fitness.problem import check_compiler
from narxbench._identification.conclusion import concluded
from narxbench._identification.data.reading import read_recording
from narxbench._identification.data.stand_ins import cut_at_gaps, filled_by, has_gaps
from narxbench._identification.finding import Finding
from narxbench._identification.result import Identification
from narxbench._identification.search.attempts import attempts
from narxbench._identification.search.choice import choose
from narxbench._identification.search.scan import Scan
from narxbench._identification.search.steps import (
    ATTEMPTS,
    BRIEF,
    CHOICE,
    COMPETITION,
    CONCLUSION,
    RESAMPLES,
    THOROUGH,
    SearchProgress,
    Steps,
)
from narxbench._identification.search.structures import Choice, ConfigurationSearch
from narxbench._identification.settings import IdentificationSettings, settings_from_python
from narxbench._io.errors import FieldError, is_whole_number, show
from narxbench._model.narx import DivergedError
from narxbench._model.records import Recording, Role

# Share of the effort that a first model is searched with, whose predictions bridge gaps of the output.
BRIDGING = 0.25


def identify(
    data: Any = None,
    output: Any = None,
    *,
    # Written by narxbench._identification.signatures: parameters of reading but the output
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
    skip_rows: int | None = None,
    encoding: str | None = None,
    part: str | None = None,
    time_format: str | None = None,
    bridge: int | None = None,
    # End
    # Written by narxbench._identification.signatures: parameters of settings
    decimation: int | str | Sequence[int] = "auto",
    degree: int | str | Sequence[int] = "auto",
    y_lags: int | str | Sequence[int] = "auto",
    u_lags: int | str | Sequence[int] | Mapping[str, int | str | Sequence[int]] = "auto",
    delay: int | Literal["auto"] = "auto",
    y_degree: int | None = None,
    u_degree: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    centre: bool | Literal["auto"] = False,
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
    noise: Literal["auto", "narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"] = "auto",
    sparse_within: float = 1.05,
    # End
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
    header, separator, decimal, skip_rows, encoding, part
        The form of files: :func:`narxbench._identification.data.reading.read_recording`.
    input, time, time_format, test, test_input, test_output, roles, sampling_time, units, bridge
        What the data are: :func:`narxbench._identification.data.reading.read_recording`. Of arrays, ``test`` is a share
        such as ``"20%"``, or a pair (X, y).
    repeat : int, default 1
        How many times to identify, each time with the next ``seed``: the model is that of the first, and a note has the
        spread of the others' errors.
    decimation : int | str | Sequence[int], default "auto"
        Samples of the data in one step of the model. All numbers of a list are tried. Allowed: auto, a positive whole
        number, or a list of them.
    degree : int | str | Sequence[int], default "auto"
        Largest degree of a candidate term. All numbers of a list are tried. Allowed: auto, a whole number from 1 to 12,
        or a list of them.
    y_lags : int | str | Sequence[int], default "auto"
        Lags of the output, in steps of the model. Allowed: auto, a number n for the lags 1 to n, or a list such as
        1-4,8: up to 1000 lags, none over 9999.
    u_lags : int | str | Sequence[int] | Mapping[str, int | str | Sequence[int]], default "auto"
        Lags of the inputs, in steps of the model. Allowed: auto, a number n for the lags 1 to n, or a list such as
        1-4,8: up to 1000 lags, none over 9999 (0 is the current input), or such a list for each input by its name.
    delay : int | Literal["auto"], default "auto"
        Smallest lag of the inputs where their lags are scanned, in samples of the data; 0 admits the current input.
        Allowed: auto, or a whole number from 0.
    y_degree : int | None, default None
        Largest degree of the outputs in a term. Allowed: at least 0 and at most 12.
    u_degree : int | None, default None
        Largest degree of the inputs in a term. Allowed: at least 0 and at most 12.
    include : Sequence[str], default ()
        Further candidate terms, such as ``u(k)^2`` or ``y(k-1)*u(k-9)``.
    exclude : Sequence[str], default ()
        Candidate terms to leave out, or patterns of them, such as ``*u(k-1)*``.
    centre : bool | Literal["auto"], default False
        Whether the terms are those of centred and scaled signals. Auto: where that is clearly better. Allowed: auto,
        true or false.
    method : str, default "multistart"
        Search algorithm: the name of one of narxbench, or of a plug-in.
    method_settings : Mapping[str, Any] | None, default None
        Settings of the search algorithm.
    error : Literal["auto", "free_run", "one_step"], default "auto"
        Error that the fitness has: of the free run, or one step ahead. Auto: of the free run where there is an input.
    criterion : str, default "bic"
        Criterion of the fitness, such as ``bic``, ``aic-2`` or ``aicc``.
    seed : int, default 1
        Number that all random draws begin with: another one gives another search. Allowed: at least 0 and at most
        2147483647.
    seeds : int, default 4
        Searches of each configuration, each with its own random draws. Allowed: at least 1 and at most 1000.
    blocks : int, default 8
        Parts of the data that take turns in selection, where no record has this role. Allowed: at least 2 and at most
        100.
    selection : Literal["mean", "worst"], default "mean"
        Which of the errors over the parts of the selection counts: their mean, or the worst one.
    divergent : float, default 0.0
        Share of the selection parts on which a model may diverge. Allowed: at least 0 and below 1.
    effort : float, default 20.0
        Seconds that the searches are planned for. They decide how much is tried, by a fixed rule, not by a clock.
        Allowed: above 0 and at most 1000000.
    resamples : int, default 0
        Resampled data sets that are searched, to see how sure each term is without supposing anything of the noise.
        Allowed: at least 0 and at most 10000.
    threshold : float, default 0.5
        Share of the resampled data sets from which on a term belongs to the structure by threshold. Allowed: above 0
        and at most 1.
    confidence : float, default 0.95
        Coverage of the intervals. Allowed: above 0 and at most 0.999999999.
    noise : Literal["auto", "narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"], default "auto"
        Noise model: whether the noise enters the equation or the output, and which filter it passes. Auto: the one with
        the best free run over data that the weights do not know; where several are as good, the most likely one.
    sparse_within : float, default 1.05
        Times the selection error of the best simple model (full linear ones, the unpruned polynomial, the last value)
        up to which a sparse model is preferred. Allowed: at least 1 and at most 1000000.

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
    >>> identification = narxbench.identify(u, y, test="20%", degree=2, y_lags=2, u_lags=2, resamples=0)
    >>> identification.model.terms
    ('y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2')
    """
    if input is None and not (output is None or isinstance(output, str | int)):
        # Where the output is an array, the first argument is the input.
        data, input = None, data
    settings = settings_from_python(
        {
            # Written by narxbench._identification.signatures: items of settings
            "decimation": decimation,
            "degree": degree,
            "y_lags": y_lags,
            "u_lags": u_lags,
            "delay": delay,
            "y_degree": y_degree,
            "u_degree": u_degree,
            "include": include,
            "exclude": exclude,
            "centre": centre,
            "method": method,
            "method_settings": method_settings,
            "error": error,
            "criterion": criterion,
            "seed": seed,
            "seeds": seeds,
            "blocks": blocks,
            "selection": selection,
            "divergent": divergent,
            "effort": effort,
            "resamples": resamples,
            "threshold": threshold,
            "confidence": confidence,
            "noise": noise,
            "sparse_within": sparse_within,
            # End
        }
    )
    recording = read_recording(
        data,
        # Written by narxbench._identification.signatures: arguments of reading
        input=input,
        output=output,
        time=time,
        test=test,
        test_input=test_input,
        test_output=test_output,
        roles=roles,
        sampling_time=sampling_time,
        units=units,
        header=header,
        separator=separator,
        decimal=decimal,
        skip_rows=skip_rows,
        encoding=encoding,
        part=part,
        time_format=time_format,
        bridge=bridge,
        # End
    )
    return identify_repeatedly(recording, settings, repeat)


def identify_repeatedly(
    recording: Recording,
    settings: IdentificationSettings,
    times: int,
    check_cost: Callable[[Scan], None] | None = None,
    report_progress: Callable[[SearchProgress], None] | None = None,
) -> Identification:
    """Identify a model as :func:`identify_recording` does, and again with other random draws, to see what they decide.

    The model is the first one; a note compares the others with it.
    """
    if not is_whole_number(times, 1, 1000):
        raise FieldError("repeat", f"found {show(times)}; allowed: a whole number from 1 to 1000")
    first = identify_recording(recording, settings, check_cost, report_progress)
    identifications = [first]
    for seed in range(settings.seed + 1, settings.seed + times):
        if _was_interrupted(identifications[-1]):
            break
        # Resamples show how sure the terms of the first model are; here only models are compared.
        next_settings = settings.model_copy(update={"seed": seed, "resamples": 0})
        identifications.append(identify_recording(recording, next_settings, report_progress=report_progress))
    if len(identifications) == 1:
        return first
    return replace(first, notes=[_spread(identifications), *first.notes])


def _was_interrupted(identification: Identification) -> bool:
    return any(note.name == "interrupted" for note in identification.notes)


def _spread(identifications: Sequence[Identification]) -> Finding:
    """Return the errors of models that come from other random draws, and how many have the terms of the first."""
    predictions = [_prediction_values(identification) for identification in identifications]
    errors = [values["rrse"] for values in predictions if values["rrse"] is not None]
    models = [identification.model for identification in identifications]
    structures = [(model.terms, model.decimation) for model in models]
    values = {
        "times": len(identifications),
        "role": predictions[0]["role"],
        "kind": predictions[0]["kind"],
        "steps": predictions[0]["steps"],
        "least": min(errors, default=None),
        "most": max(errors, default=None),
        "without": len(identifications) - len(errors),
        "alike": structures.count(structures[0]),
    }
    return Finding("repeats", "look", values)


def _prediction_values(identification: Identification) -> Mapping[str, Any]:
    """Return the values of the finding on how well the model predicts."""
    return next(finding.values for finding in identification.summary if finding.name == "prediction")


def identify_recording(
    recording: Recording,
    settings: IdentificationSettings,
    check_cost: Callable[[Scan], None] | None = None,
    report_progress: Callable[[SearchProgress], None] | None = None,
) -> Identification:
    """Identify a model from a recording; all steps run in this process.

    Where outputs are missing in gaps, a model is identified from the stretches between them first, with a part of the
    effort. What it predicts in the gaps stands in for the missing outputs.

    ``check_cost`` is called before the first search, and raises NarxbenchError if all that is planned is too much;
    ``report_progress`` is called whenever a job is done. Ctrl-C leaves out what is not done, and the best model so far
    is kept, for which nobody waits long: of long records it is estimated on the stretches that were searched. Before
    there is any, and a second time, KeyboardInterrupt is raised.
    """
    if not has_gaps(recording):
        return _identify_whole(recording, settings, check_cost, report_progress)
    check_compiler()
    cut = cut_at_gaps(recording)
    if check_cost is not None:
        check_cost(Scan(recording, settings))
    brief_settings = settings.model_copy(update={"resamples": 0, "seeds": 1, "effort": BRIDGING * settings.effort})
    bridging = _identify_whole(cut, brief_settings)
    if _was_interrupted(bridging):
        stopped = "The search was stopped before gaps of the output were bridged: the data were cut there."
        return replace(bridging, recording=_with_note(cut, stopped))
    try:
        recording = filled_by(bridging.model, recording)
    except DivergedError:
        recording = _with_note(cut, "The model diverges where outputs are missing: the data were cut there.")
    return _identify_whole(recording, settings, report_progress=report_progress)


def _with_note(recording: Recording, note: str) -> Recording:
    return replace(recording, notes=(*recording.notes, note))


def _identify_whole(
    recording: Recording,
    settings: IdentificationSettings,
    check_cost: Callable[[Scan], None] | None = None,
    report_progress: Callable[[SearchProgress], None] | None = None,
) -> Identification:
    """Identify a model from a recording in which nothing is missing, or something stands in for it."""
    check_compiler()
    # Threads of a BLAS would wait for those of the search, and sum in an order that depends on their number.
    with threadpool_limits(1, "blas"):
        scan = Scan(recording, settings)
        steps = Steps(report_progress, RESAMPLES if settings.resamples else COMPETITION)
        if check_cost is not None:
            check_cost(scan)
        choice = _search(scan, steps)
        best = scan.named[choice.leaving.configuration]
        numbers = range(1, scan.n_resamples(best) + 1)
        resamples = steps.run(RESAMPLES, scan.resampled, [(best, number) for number in numbers])
        if steps.interrupted:
            # Those that were left out say nothing.
            scan.settings = settings.model_copy(update={"resamples": len(resamples)})
        identification = steps.keep(CONCLUSION, partial(_concluded, scan, choice, resamples, steps))
        if not steps.interrupted:
            try:
                identification = _with_attempts(identification, recording, settings, choice.leaving.rrse)
            except KeyboardInterrupt:
                steps.interrupted = ATTEMPTS
    if not steps.interrupted:
        return identification
    interruption = Finding("interrupted", "look", {"step": steps.interrupted})
    return replace(identification, notes=[interruption, *identification.notes])


def _concluded(scan: Scan, choice: Choice, resamples: Sequence[ConfigurationSearch], steps: Steps) -> Identification:
    """Return the conclusion; after an interruption one that does not take long."""
    if steps.interrupted:
        scan.hurry()
    return concluded(scan, choice, resamples, is_hurried=bool(steps.interrupted))


def _search(scan: Scan, steps: Steps) -> Choice:
    """Return the choice of a structure after all searches; KeyboardInterrupt where there is none yet."""
    brief_searches = steps.run(BRIEF, scan.brief, [(configuration,) for configuration in scan.configurations])
    if not brief_searches:
        raise KeyboardInterrupt
    ranked = scan.ranked(brief_searches)
    jobs = [(configuration, *job) for configuration, job in product(ranked, scan.jobs())]
    thorough_searches = steps.run(THOROUGH, scan.thorough, jobs)
    return steps.keep(CHOICE, lambda: choose(scan, brief_searches, ranked, thorough_searches, steps))


def _with_attempts(
    identification: Identification, recording: Recording, settings: IdentificationSettings, error: float | None
) -> Identification:
    """Return an identification with what other settings gain, where one should not predict with the model as it is."""
    findings = {finding.name: finding for finding in identification.summary}
    to_predict = findings["to_predict"]
    # Where the error is small already, the verdict has other reasons, which no setting takes away.
    is_settled = to_predict.status == "fine" or findings["prediction"].values["small"]
    if is_settled or to_predict.values["noise"] or error is None:
        return identification
    finding = attempts(recording, settings, identification.tried, error, _selection_error)
    if finding is None:
        return identification
    return replace(identification, notes=[*identification.notes, finding])


def _selection_error(recording: Recording, settings: IdentificationSettings) -> float | None:
    """Return the selection error of the model that settings lead to."""
    steps = Steps()
    choice = _search(Scan(recording, settings), steps)
    if steps.interrupted:
        raise KeyboardInterrupt
    return choice.leaving.rrse
