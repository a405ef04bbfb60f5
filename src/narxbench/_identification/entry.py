"""The function :func:`narxbench.identify`: from data as they come to a model."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from narxbench._identification.data.reading import Reading, read_recording
from narxbench._identification.identify import identify_recording
from narxbench._identification.joint import JointIdentification, identify_jointly, read_jointly
from narxbench._identification.result import Identification
from narxbench._identification.settings import settings_from_python
from narxbench._io.errors import FieldError, show
from narxbench._model.records import Role


@overload
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
    joint: Literal[False] = False,
) -> Identification: ...


@overload
def identify(
    data: Any,
    output: Sequence[str | int],
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
    joint: Literal[True],
) -> JointIdentification: ...


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
    joint: bool = False,
) -> Identification | JointIdentification:
    """Identify a polynomial NARX model from measured data.

    ``identify("data.csv", input="u", output="y")`` reads columns; ``identify(X, y)`` takes arrays, frames or series.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is an experiment of its own, with ``input`` and ``output`` columns of it. Where ``output`` is an array, the
        inputs: an array, frame or series of shape (samples,) or (samples, inputs), or None.
    output : column or array, shape (samples,), or with ``joint`` a sequence of columns
        The output: the name or number of a column, or the samples.
    part, read, time_format
        How files are read: :func:`narxbench._identification.data.reading.read_recording`.
    input, time, test, test_input, test_output, roles, sampling_time, units, missing, bridge
        What the data are: :func:`narxbench._identification.data.reading.read_recording`. Of arrays, ``test`` is a share
        such as ``"20%"``, or a pair (X, y).
    joint : bool, default False
        Whether to identify models of several outputs that run together, judged by their joint free run:
        :class:`narxbench.JointIdentification`.
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
    Identification, or JointIdentification
        The model and all that shows how far to trust it.

    Raises
    ------
    NarxbenchError
        One line that names what was found and what is allowed: for data, a setting, or where no model can be found.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
    >>> identification = narxbench.identify(u, y, test="20%", degree=2, y_lags=2, u_lags=2)
    >>> identification.model.terms
    ('y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2')
    """
    if not joint and isinstance(output, list | tuple) and len(output) > 1 and isinstance(output[0], str):
        allowed = "one column, or several with joint=True or identify_outputs"
        raise FieldError("output", f"found {show(output, kind=False)}; allowed: {allowed}")
    if not joint and input is None and not (output is None or isinstance(output, str | int)):
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
            "horizon": horizon,
            "error": error,
            "blocks": blocks,
            "effort": effort,
            "confidence": confidence,
            "noise": noise,
            # End
        }
    )
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
    if joint:
        return identify_jointly(read_jointly(data, reading), settings)
    return identify_recording(read_recording(data, **reading), settings)
