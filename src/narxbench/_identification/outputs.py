"""Several outputs: a model of each."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from narxbench._identification.data.reading import Reading, read_recording, readings_with_others, several_outputs
from narxbench._identification.identify import identify_recording
from narxbench._identification.result import Identification
from narxbench._identification.settings import settings_from_python
from narxbench._model.records import Role


def identify_outputs(
    data: Any,
    output: Sequence[str | int],
    *,
    other_outputs: bool = False,
    # Written by narxbench._identification.signatures: parameters of reading but the output
    input: Any = None,
    time: Any = None,
    test: Any = None,
    test_input: Any = None,
    test_output: Any = None,
    roles: Mapping[str, Role] | None = None,
    sampling_time: float | None = None,
    units: Mapping[str, str] | None = None,
    missing: float | str | Sequence[float] | None = None,
    bridge: int | None = None,
    part: str | None = None,
    time_format: str | None = None,
    read: Mapping[str, Any] | None = None,
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
    horizon: int | Literal["auto"] = "auto",
    error: Literal["auto", "free_run", "one_step"] = "auto",
    blocks: int = 8,
    effort: float = 20.0,
    confidence: float = 0.95,
    noise: Literal["auto", "narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"] = "auto",
    # End
) -> dict[str, Identification]:
    """Identify a model of each of several outputs.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, or a list of these
        As for :func:`narxbench.identify`.
    output : sequence of column
        The outputs, by name or number.
    other_outputs : bool
        Whether the other outputs are inputs of each model. They are then measured signals to it, also in a free run:
        to predict all outputs from the inputs alone, leave them out.
    input : column, list of columns or None
        The inputs of each model.
    test_input, test_output : None
        Columns that the test alone has are for a single output, and are refused here.
    time, time_format, test, roles, sampling_time, units, missing, bridge, part, read
        As for :func:`narxbench.identify`.
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
    horizon : int | Literal["auto"], default "auto"
        Samples ahead that matter to you: the model and its competitors are judged there. Auto: in free run where there
        is an input, else a season or the correlation time ahead. Allowed: auto, or a whole number from 1.
    error : Literal["auto", "free_run", "one_step"], default "auto"
        Error that the fitness has: of the free run, or one step ahead. Auto: of the free run where there is an input.
    blocks : int, default 8
        Parts of the data that take turns in selection, where no record has this role. Allowed: at least 2 and at most
        100.
    effort : float, default 20.0
        Seconds that the searches are planned for. They decide how much is tried, by a fixed rule, not by a clock.
        Allowed: above 0 and at most 1000000.
    confidence : float, default 0.95
        Coverage of the intervals. Allowed: above 0 and at most 0.999999999.
    noise : Literal["auto", "narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"], default "auto"
        Noise model: whether the noise enters the equation or the output, and which filter it passes. Auto: the one with
        the best free run over data that the weights do not know; where several are as good, the most likely one.

    Returns
    -------
    dict of str to Identification
        By output.

    Raises
    ------
    NarxbenchError
        For fewer than two outputs or one twice, and as :func:`narxbench.identify`.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    >>> data = {"u": u, "y": y, "delayed": [0.0, 0.0, *u[:-2]]}
    >>> lags = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "effort": 1}
    >>> identifications = identify_outputs(data, ["y", "delayed"], input="u", **lags)
    >>> identifications["delayed"].model.terms
    ('u(k-2)',)
    """
    reading = Reading(
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
        missing=missing,
        bridge=bridge,
        part=part,
        time_format=time_format,
        read=read,
        # End
    )
    reading_by_output = readings(reading, other_outputs)
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
            "horizon": horizon,
            "error": error,
            "blocks": blocks,
            "effort": effort,
            "confidence": confidence,
            "noise": noise,
            # End
        }
    )
    recordings = {name: read_recording(data, **reading) for name, reading in reading_by_output.items()}
    return {name: identify_recording(recording, settings) for name, recording in recordings.items()}


def readings(reading: Reading, other_outputs: bool) -> dict[str, Reading]:
    """Return how to read the data of each output; errors are those of :func:`identify_outputs`."""
    if other_outputs:
        return readings_with_others(reading)
    return {str(output): {**reading, "output": output} for output in several_outputs(reading)}
