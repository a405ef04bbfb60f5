"""The function :func:`narxbench.identify`: from data as they come to a model."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_overloads, overload

from narxbench._identification.data.reading import Reading, read_recording
from narxbench._identification.identify import identify_recording
from narxbench._identification.joint import JointIdentification, identify_jointly, read_jointly
from narxbench._identification.options import describe, refuse_unknown
from narxbench._identification.result import Identification
from narxbench._identification.settings import IdentificationSettings, settings_from_python
from narxbench._io.errors import FieldError, show
from narxbench._model.records import Role


@overload
def identify(
    data: Any, output: Sequence[str | int], *, joint: Literal[True], **options: Any
) -> JointIdentification: ...
@overload
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
    missing: float | str | Sequence[float] | None = None,
    bridge: int | None = None,
    part: str | None = None,
    time_format: str | None = None,
    read: Mapping[str, Any] | None = None,
    decimation: int | str | Sequence[int] = "auto",
    degree: int | str | Sequence[int] = "auto",
    y_lags: int | str | Sequence[int] = "auto",
    u_lags: int | str | Sequence[int] | Mapping[str, int | str | Sequence[int]] = "auto",
    delay: int | Literal["auto"] = "auto",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    horizon: int | Literal["auto"] = "auto",
    effort: float = 20.0,
    noise: Literal["auto", "narx", "narmax", "ararx", "ararmax", "noe", "box-jenkins"] = "auto",
    joint: Literal[False] = False,
) -> Identification: ...
def identify(  # noqa: D417
    data: Any = None, output: Any = None, *, joint: bool = False, **options: Any
) -> Identification | JointIdentification:
    """Identify a polynomial NARX model from measured data.

    ``identify("data.csv", input="u", output="y")`` reads columns; ``identify(X, y)`` takes arrays, frames or series.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is a separate experiment with the columns ``input`` and ``output``. If ``output`` is an array, the inputs:
        an array, frame or series of shape (samples,) or (samples, inputs), or None.
    {reading}
    joint : bool, default False
        Whether to identify models of several outputs that run together, judged by their joint free run:
        :class:`narxbench.JointIdentification`.
    {settings}

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
    refuse_unknown(options, [*Reading.__annotations__, *IdentificationSettings.model_fields])
    reading: Any = {"output": output}
    values: dict[str, Any] = {}
    for name, value in options.items():
        (reading if name in Reading.__annotations__ else values)[name] = value
    settings = settings_from_python(values)
    if joint:
        return identify_jointly(read_jointly(data, reading), settings)
    if isinstance(output, list | tuple) and len(output) > 1 and isinstance(output[0], str):
        allowed = "one column, or several with joint=True; to have a model of each by itself, identify each"
        raise FieldError("output", f"found {show(output, kind=False)}; allowed: {allowed}")
    if reading.get("input") is None and not (output is None or isinstance(output, str | int)):
        # Where the output is an array, the first argument is the input.
        data, reading["input"] = None, data
    return identify_recording(read_recording(data, **reading), settings)


# The options are listed once, in the second overload, which type checkers and editors read.
_listed = inspect.signature(get_overloads(identify)[1])
_any_joint = _listed.parameters["joint"].replace(annotation=bool)
identify.__signature__ = _listed.replace(  # type: ignore[attr-defined]
    parameters=[*list(_listed.parameters.values())[:-1], _any_joint],
    return_annotation=Identification | JointIdentification,
)
describe(identify)
