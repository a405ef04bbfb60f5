"""Mistakes in terms, equations, systems, data sets and models; `messages.txt` has the answers."""

import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from tests.messages import calls
from tests.unit.model.models import ARX, NAR, TWO
from tests.unit.model.test_export import JOINT, LOWER, UPPER

from narxbench import JointModel, Model, System, candidate_terms, load_model, load_system, look, read_signals, search

NO_TERMS = ["y(k-" + "9" * 100_000 + ")", "y(k-0)", "y(k-1)^7*u(k-1)^7", "x(k-1)", "y(k-１)", "y(k-1)*", "", ["y(k-1)"]]
NONE_OF_THESE_INPUTS = [("u1(k-1)", "u"), ("u(k-1)", "uv"), ("u3(k-1)", "uv")]
NO_ORDERS = [(-1, 1, 1), (0, 0, 1), (1, 1, 0), (1.5, 1, 1), (9999, 9999, 3), (True, 1, 1)]
NO_EXPRESSIONS = [
    *("y(k-1)/2", "1/y(k-10000)", "sin(z(k-1))", "sin(y(k-1)", "1/u(k-1)^13", "1e400/y(k-1)", "9" * 400 + "/y(k-1)"),
    "u(k-1)/2 + 0.125*y(k-1) + 0.25*y(k-2) - 0.5*u(k-2) + 0.75*u(k-3)",
    *("*y(k-1)/2", "e(k)", "1/" * 900 + "1", "1/y(k-1)" + "+ 1" * 1000, "y(k-1) + exp(e(k-1))"),
]
NO_EQUATIONS = [
    *("", "y(k) =", "y(k) = + - 1", "y(k) = " + "-" * 100_000, "y(k) = 1 1", "y(k) = 0.5*", "y(k) = y(k-1)*0.5"),
    *("y(k) = 1e400*y(k-1)", "y(k) = 0*y(k-1)", "y(k) = ½", "y(k) = y(k-1) + y(t-1)", "y(k) = y(k-1)* *u(k-1)"),
    *("y(k) = y(k-3)", "y(k) = u(k)", "z(k) = u(k-1)"),
]
ORDERS = b"degree: 1\nn_u: 1\nn_y: 1\n"
NO_SYSTEMS = [
    *(b"[", ORDERS + b"degree: 2", ORDERS + b"equation: y(k) = z(k-1)", b"degree: 0\nn_u: 1\nequation: 1"),
    *(ORDERS + b"equation: y(k) = 1\nexcitation: " + excitation for excitation in (b"{kind: gaussian, sd: 0}", b"3")),
]
NO_EXCITATIONS = [
    *(7, {}, {"kind": None}, {"kind": "sinus"}, {"kind": "gaussian", "sd": "1"}, {"kind": "recorded"}),
    *({"kind": "autoregressive", "pole": 1.0}, {"kind": "uniform", "low": math.nan}, {"kind": "uniform", "low": 2.0}),
    *({"kind": "held", "hold": True, "source": {"kind": "held"}}, {"kind": "binary", "source": {"sd": 1.0}}),
]
NO_NAMES = ["../S1", "S1\x00", "", "S" * 300]
NO_SIMULATION = [{"samples": 0}, {"seed": True}, {"noise": "inputs"}, {"realisation": -1}]
NO_SIGNALS = [
    *(b"", b"U,y\n1,2\n", b"u,u,y\n1,2,3\n", b"u,y\n", b"u,y\n1,2\n3\n"),
    *(f"u,y\n1,2\n3,{text}\n".encode() for text in ("x", "", "nan", "1e999", "1_0", "１")),
]
NO_DATA = [
    (ARX, {"u": [1.0, math.nan], "y_initial": [0.0]}),
    (ARX, {"u": [1.0, 1.0], "y_initial": [math.inf]}),
    (ARX, {"u": [[1.0], [1.0, 2.0]], "y_initial": [1.0]}),
    (TWO, {"u": [0.0] * 3, "y_initial": [1.0]}),
    (TWO, {"u": np.zeros((99, 2)), "y_initial": [1.0] * 23}),
    (ARX, {"u": [1.0], "y_initial": [1.0] * 2}),
    (ARX, {"u": [1.0] * 2, "y_initial": [1.0], "steps": 1}),
]
NO_OPTIONS = [
    *((ARX, {"steps": 0}), (ARX, {"samples": 2}), (ARX, {"initial": "estimated"}), (ARX, {"initial": "estimate"})),
    *((ARX, {"initial": "estimate", "steps": 1}), (ARX, {"u": None}), (NAR, {"u": None}), (NAR, {"samples": 1})),
    (NAR, {"u": None, "samples": -1}),
]
NO_DATA += [(model, {"u": [1.0], "y_initial": [1.0]} | options) for model, options in NO_OPTIONS]
NO_MODELS = [
    *({"terms": ()}, {"terms": ("y(k-1)", "y(t-1)")}, {"terms": "y(k-1)"}, {"inputs": None}, {"output": 3}),
    *({"units": {"y": 3}}, {"units": "V"}, {"coefficients": (1.0,)}, {"coefficients": ("1", "2")}),
    *({"coefficients": (1.0, math.nan)}, {"coefficients": ((1.0, 2.0), (1.0,))}, {"decimation": 2.0}),
    *({"sampling_time": 0}, {"offsets": (1.0,)}, {"scales": (1.0, 0.0)}, {"covariance": ((1.0, 0.0), (0.0, -1.0))}),
    *({"noise_model": "narmx"}, {"noise_model": "noe", "moving_average": (0.5,)}, {"autoregression": (0.5,)}),
    *({"noise_model": "ararx", "autoregression": (-1.0,)}, {"noise_model": "narmax", "moving_average": (0.5, 1.5)}),
    *({"is_integrated": 1}, {"degrees_of_freedom": 0}, {"about": {"model": {1}}}, {"output": "\ud800"}),
]
NO_MODEL_FILES = [
    *({"format": "other"}, {"version": 2}, {"colour": "red"}, {"decimation": "2"}, {"coefficients": [1, "2"]}),
    *({"covariance": [[1.0]]}, {"noise_model": "narmx"}, {"about": ...}),
]
NO_CONTENT = [b"", b"[]", b"NaN", b"[" * 10**6, b'{"format": "narxbench-model"}']
NO_IDENTIFICATIONS = [b'{"format": "narxbench-identification", "version": 2}', b"{", b"[]"]
SIGNED = {"u": [(-1) ** k * k for k in range(30)], "y": [k % 7 for k in range(30)]}
NO_FUNCTIONS = ["u,abz(u)", "u,sqrt(u)", "u,1/u", "abs(abs(u))"]
SERIES = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0])
NO_FORECASTS = [
    (ARX, {"u": [1.0, 1.0], "y": [np.nan, 1.0], "steps": 1}),
    (ARX, {"u": [1.0, 1.0], "y": [1.0], "steps": 1}),
    (ARX, {"u": [1.0, 1.0], "y": [1.0, 1.0], "steps": 2}),
    (NAR, {"u": None, "y": [1.0]}),
    (NAR, {"u": None, "y": [1.0], "steps": -1}),
    (ARX, {"u": SERIES, "y": SERIES, "u_future": pd.Series(np.ones(3), range(6, 9))}),
    (ARX, {"u": SERIES, "y": SERIES.set_axis(range(1, 6)), "u_future": [1.0]}),
    (NAR, {"u": None, "y": SERIES.set_axis([0.0, 1.0, 2.0, 4.0, 5.0]), "steps": 1}),
    (NAR, {"u": None, "y": SERIES.set_axis(pd.Index(list("abcde"), dtype=object)), "steps": 1}),
]
NO_JOINT_MODELS = {
    "one": (UPPER,),
    "twice": (UPPER, UPPER),
    "loop": (Model(("u(k)",), (0.5,), ("b",), "a"), LOWER),
    "times": (UPPER, replace(LOWER, sampling_time=1.0)),
    "function": (UPPER, replace(LOWER, inputs=("a", "abs(a)"))),
}
NO_JOINT_FILES = [b"{}", b"x"]
NO_JOINT_FILES += [b'{"version": %d, "format": "narxbench-joint-model", "models": []}' % version for version in (1, 2)]
NO_JOINT_DATA = [(None, np.zeros((3, 2))), *((np.zeros(9), np.zeros(shape)) for shape in ((1, 2), 9, (10, 2)))]
NO_JOINT_FUTURE = [{"steps": 3}, {"u_future": [1.0], "steps": 3}, {"u_future": [1.0], "steps": -1}]
REST = Model(("y(k-1)", "u(k-1)"), (1.0, 1.0), ("u",), "y")
LOGISTIC = Model(("y(k-1)", "y(k-1)^3"), (1.5, -0.5), inputs=(), output="y")
NO_PROGRAM_NAMES = ["", "1st", "for", "end", "a-b", "a" * 41, None]
NOT_EXPORTED = [(ARX, "pyton"), (ARX, 3), (Model(("1",), (2.0,), (), "y"), "sysidentpy")]
NOT_EXPORTED += [(Model(("y(k-500)",), (0.5,), (), "y"), "sysidentpy")]
GROWING = Model(("y(k-1)",), (10.0,), (), "y")


def _short(value):
    text = repr(value)
    if len(text) <= 60:
        return text
    return f"{text:.60}… ({len(value)})"


_calls = partial(calls, describe=_short)


def _loaded(load, content):
    Path("it.yaml").write_bytes(content)
    return load("it.yaml")


def _changed_file(changes):
    content = ARX.to_dict() | changes
    kept = {key: value for key, value in content.items() if value is not ...}
    return _loaded(Model.load, json.dumps(kept).encode())


def _term(text, inputs="u"):
    return Model((text,), (1.0,), tuple(inputs), "y")


def _equation(text, **arguments):
    return System("X", text, n_u=2, n_y=2, degree=2, **arguments)


def test_messages(review, small_problem):
    coupled, alone = JOINT["coupled"], JOINT["no inputs"]
    mistakes = {
        **_calls("term", _term, NO_TERMS),
        **_calls("term of inputs", lambda case: _term(*case), NONE_OF_THESE_INPUTS),
        **_calls("orders", lambda case: candidate_terms(n_y=case[0], n_u=case[1], degree=case[2]), NO_ORDERS),
        **_calls("expression", lambda text: _equation(f"y(k) = {text}"), NO_EXPRESSIONS),
        **_calls("equation", _equation, NO_EQUATIONS),
        **_calls("system", partial(_loaded, lambda path: load_system(Path(path).stem, ".")), NO_SYSTEMS),
        **_calls("excitation", lambda values: _equation("y(k) = y(k-1)", excitation=values), NO_EXCITATIONS),
        **_calls("system named", lambda name: load_system(name, "."), NO_NAMES),
        **_calls("system named", load_system, ["S11"]),
        **_calls("simulation", lambda options: load_system("S1").simulate(**options), NO_SIMULATION),
        **_calls("signals", partial(_loaded, read_signals), NO_SIGNALS),
        **{f"prediction {i}": partial(model.predict, **data) for i, (model, data) in enumerate(NO_DATA)},
        "divergence of a free run": partial(GROWING.predict, None, [2.0] * 20, samples=20),
        "divergence some steps ahead": partial(GROWING.predict, None, [2.0] * 20, steps=8),
        "score": partial(ARX.score, [1.0, 2.0], [1.0, 2.0, 3.0]),
        **{f"forecast {i}": partial(model.forecast, **data) for i, (model, data) in enumerate(NO_FORECASTS)},
        **calls("functions", lambda columns: look(SIGNED, "y", input=columns), NO_FUNCTIONS),
        "no state of rest": partial(REST.linearised, 1.0),
        "no state near an output": partial(REST.linearised, 1.0, 2.0),
        "no number for each input": partial(REST.linearised, [1.0, np.nan]),
        "several states of rest": LOGISTIC.linearised,
        "no output": partial(LOGISTIC.linearised, y0=np.inf),
        "no steps": partial(REST.step_response, 0.0, 1.0, 0),
        **_calls("model", lambda changes: Model(**vars(ARX) | changes), NO_MODELS),
        "model to expand": Model(("y(k-1)^12",), (1.0,), (), "y", scales=(1e-60,)).expanded,
        **calls("model file", _changed_file, NO_MODEL_FILES),
        **_calls("model file", partial(_loaded, Model.load), NO_CONTENT),
        **_calls("any file", partial(_loaded, load_model), NO_IDENTIFICATIONS),
        **_calls("digits", ARX.equation, (0, True)),
        **_calls("program named", partial(ARX.export, "python"), NO_PROGRAM_NAMES),
        **{f"export of {model.terms} to {to!r}": partial(model.export, to) for model, to in NOT_EXPORTED},
        "settings of a search": partial(search, small_problem, seed=1, noise_models="narx", tails=3),
        **{f"joint model, {name}": partial(JointModel, models) for name, models in NO_JOINT_MODELS.items()},
        **_calls("joint file", partial(_loaded, JointModel.load), NO_JOINT_FILES),
        **{f"joint run {i}": partial(coupled.simulate, *data) for i, data in enumerate(NO_JOINT_DATA)},
        **calls(
            "joint forecast", lambda future: coupled.forecast(np.zeros(9), np.zeros((9, 2)), **future), NO_JOINT_FUTURE
        ),
        "joint forecast without steps": partial(alone.forecast, None, np.zeros((9, 2))),
        "joint program in C": partial(coupled.export, "C"),
    }
    review(mistakes)
