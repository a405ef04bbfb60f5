"""Several outputs: a model of each."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from narxbench.identification.data.columns import columns_listed
from narxbench.identification.identify import identify
from narxbench.identification.result import Identification
from narxbench.io.errors import FieldError, show


def identify_outputs(
    data: Any, output: Sequence[str | int], *, other_outputs: bool = False, **arguments: Any
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
    **arguments
        As for :func:`narxbench.identify`; ``input`` is a column, or a list of them, and ``test_output`` is not there.

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
    >>> lags = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "resamples": 0, "effort": 1}
    >>> found = identify_outputs(data, ["y", "delayed"], input="u", **lags)
    >>> found["delayed"].model.terms
    ('u(k-2)',)
    """
    each = readings({"output": output, **arguments}, other_outputs)
    return {name: identify(data, **reading) for name, reading in each.items()}


# The signature that notebooks and the documentation show is that of identify but for some.
_OWN, _OF_ONE = (inspect.signature(function).parameters for function in (identify_outputs, identify))
identify_outputs.__signature__ = inspect.signature(identify_outputs).replace(  # type: ignore[attr-defined]
    parameters=[
        *(each for each in _OWN.values() if each.kind != each.VAR_KEYWORD),
        *(each for name, each in _OF_ONE.items() if name not in {*_OWN, "test_input", "test_output"}),
    ]
)


def readings(arguments: Mapping[str, Any], other_outputs: bool) -> dict[str, dict[str, Any]]:
    """Return the arguments of each identification, by the output; errors are those of :func:`identify_outputs`."""
    outputs = list(arguments["output"])
    if len(outputs) < 2 or len({*map(str, outputs)}) < len(outputs):
        raise FieldError("output", f"found {show(outputs, kind=False)}; allowed: two or more columns, each once")
    if any(arguments.get(name) is not None for name in ("test_output", "test_input")):
        raise FieldError("output", f"found {len(outputs)} with columns of the test; allowed: test files, or a share")
    found, inputs = {}, columns_listed(arguments.get("input"))
    for output in outputs:
        others = [other for other in outputs if other != output] if other_outputs else []
        found[str(output)] = {**arguments, "output": output, "input": [*inputs, *others] or None}
    return found
