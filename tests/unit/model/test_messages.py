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

from narxbench import JointModel, Model, System, candidate_terms, load_model, load_system, look, read_signals

NO_TERMS = [
    *("y(k-" + "9" * 100_000 + ")", "y(k-0)", "y(k-1)^7*u(k-1)^7", "y(k-1)" * 20_000, "y(k)", "y(k+1)", "x(k-1)"),
    *("y(k-１)", "y(k-1)²", "y(k-1)\x00", "y(k-1)*", "\ud800", "", "2", ["y(k-1)"]),
]
NONE_OF_THESE_INPUTS = [("u1(k-1)", "u"), ("u(k-1)", "uv"), ("u3(k-1)", "uv"), ("u01(k-1)", "uv"), ("u(k-1)", "")]
NO_ORDERS = [(-1, 1, 1), (0, 0, 1), (1, 1, 0), (1.5, 1, 1), (9999, 9999, 3), (True, 1, 1)]
NO_EXPRESSIONS = [
    *("y(k-1)/2", "exp(1)*y(k-1)", "1/y(k)", "1/y(k-10000)", "sin(z(k-1))", "sin(y(k-1)", "sin(y(k-1))(k-1)"),
    *("1/u(k-1)^13", "1/u(k-1)^0.5", "2^u(k-1)/y(k-1)", "1e400/y(k-1)", "9" * 400 + "/y(k-1)", "y(k-1)/", "e(k)"),
    "u(k-1)/2 + 0.125*y(k-1) + 0.25*y(k-2) - 0.5*u(k-2) + 0.75*u(k-3)",
    *("1/" * 900 + "1", "1/y(k-1)" + " " * 3000 + "+ 1" * 1000, "y(k-1) + exp(e(k-1))", "y(k-1) - u(k-1)*e(k-1)/2"),
]
NO_EQUATIONS = [
    *("", "y(k) =", "y(k) = + - 1", "y(k) = " + "-" * 100_000, "y(k) = 1 1", "y(k) = 0.5*", "y(k) = y(k-1)*0.5"),
    *("y(k) = 1e400*y(k-1)", "y(k) = " + "9" * 100_000, "y(k) = 0*y(k-1)", "y(k) = ½", "y(k) = y(k-1) + y(t-1)"),
    "y(k) = 0.5**y(k-1)",
]
OF_ONE_INPUT = ["y(k-3)", "u(k)", "u(k-0)", "u1(k-1)", "u(k)/2", "exp(u(k))"]
ORDERS = "n_u: 1\nn_y: 1\nequation: y(k) = "
NO_SYSTEMS = [
    *(f"degree: 0\n{ORDERS}y(k-1)", f"degree: 1\n{ORDERS}z(k-1)", f"degree: 1\n{ORDERS}sin(z(k-1))", "["),
    *(
        f"excitation: {excitation}\ndegree: 1\n{ORDERS}y(k-1)"
        for excitation in ("{kind: gaussian, sd: 0}", "{kind: gausian}", "3")
    ),
    f"degree: 1\ndegree: 2\n{ORDERS}y(k-1)",
]
NO_EXCITATIONS = [
    *(7, {}, {"kind": None}, {"kind": "sinus"}, {"kind": ["held"]}, {"kind": "gaussian", "sd": "1"}),
    *({"kind": "autoregressive", "pole": 1.0}, {"kind": "uniform", "low": math.nan}, {"kind": "uniform", "lo": 0}),
    *({"kind": "uniform", "low": 2.0}, {"kind": "recorded"}, {"kind": "recorded", "file": ""}, {"kind": "held", 1: 2}),
    *({"kind": "held", "hold": True, "source": {"kind": "held"}}, {"kind": "binary", "source": {"sd": 1.0}}),
]
NO_NAMES = ["../S1", "S1.yaml", "S1\x00", "", "..", "\ud800", "s1", "S" * 300]
NO_SIMULATION = [{"samples": 0}, {"washout": -1}, {"seed": True}, {"noise": "inputs"}, {"realisation": -1}]
NO_SIGNALS = [
    *(b"", b"U,y\n1,2\n", b"u,u,y\n1,2,3\n", b"u;y\n1;2\n", b"u,y\n", b"u,y\n1,2\n3\n", b"a," * 100_000 + b"b\n"),
    *(f"u,y\n1,2\n3,{text}\n".encode() for text in ("x", "", "nan", "inf", "1e999", "1_0", "1 0", "１", "−1", "2\x00")),
]
NO_DATA = [
    (ARX, {"u": [1.0, math.nan], "y_initial": [0.0]}),
    (ARX, {"u": [1.0, 1.0], "y_initial": [math.inf]}),
    (ARX, {"u": ["1"], "y_initial": [1.0]}),
    (ARX, {"u": [[1.0], [1.0, 2.0]], "y_initial": [1.0]}),
    (TWO, {"u": [0.0] * 3, "y_initial": [1.0]}),
    (ARX, {"u": [1.0], "y_initial": [[0.0, 0.0]]}),
    (ARX, {"u": [1.0, 2.0], "y_initial": []}),
    (TWO, {"u": np.zeros((99, 2)), "y_initial": [1.0] * 23}),
    (ARX, {"u": [1.0], "y_initial": [1.0] * 2}),
    (ARX, {"u": [1.0] * 2, "y_initial": [1.0], "steps": 1}),
    (ARX, {"u": [1.0], "y_initial": [1.0], "steps": 0}),
    (ARX, {"u": [1.0], "y_initial": [1.0], "samples": 2}),
    (ARX, {"u": None, "y_initial": [1.0]}),
    (NAR, {"u": None, "y_initial": [1.0]}),
    (NAR, {"u": None, "y_initial": [1.0], "samples": -1}),
    (NAR, {"u": [1.0], "y_initial": [1.0]}),
]
NO_MODELS = [
    *({"terms": ()}, {"terms": ("y(k-1)", "y(t-1)")}, {"terms": ("y(k-1)", "u2(k-1)")}, {"terms": "y(k-1)"}),
    *({"inputs": None}, {"output": 3}, {"units": {"y": 3}}, {"coefficients": (1.0,)}, {"coefficients": ("1", "2")}),
    *({"coefficients": (1.0, math.nan)}, {"coefficients": ((1.0, 2.0), (1.0,))}, {"decimation": 0}),
    *({"decimation": 2.0}, {"sampling_time": 0}, {"sampling_time": math.inf}, {"offsets": (1.0,)}),
    *({"scales": (1.0, 0.0)}, {"covariance": ((1.0, 0.0),)}, {"covariance": ((1.0, 0.0), (0.0, -1.0))}),
    *({"noise_model": "oe"}, {"noise_model": "noe", "moving_average": (0.5,)}, {"moving_average": None}),
    *({"noise_model": "narmx"}, {"noise_model": None}, {"autoregression": (0.5,)}, {"moving_average": (math.nan,)}),
    *({"noise_model": "ararx", "autoregression": (-1.0,)}, {"noise_model": "narmax", "moving_average": (0.5, 1.5)}),
    *({"noise_model": "ararx", "autoregression": "1"}, {"is_integrated": 1}, {"degrees_of_freedom": 0}),
    *({"degrees_of_freedom": math.inf}, {"degrees_of_freedom": "3"}),
    *({"about": {"figure": math.nan}}, {"about": {"model": {1}}}, {"output": "\ud800"}),
]
NO_MODEL_FILES = [
    *({"format": "other"}, {"version": 2}, {"version": True}, {"colour": "red"}, {"decimation": "2"}),
    *({"coefficients": [1, "2"]}, {"inputs": None}, {"terms": ["y(k-1)", "z"]}, {"coefficients": [1.0]}),
    *({"covariance": [[1.0]]}, {"noise_model": "narmx"}, {"autoregression": [0.5]}, {"is_integrated": 0}),
    *({"degrees_of_freedom": -1}, {"terms": ...}, {"offsets": ...}, {"about": ...}),
]
NO_CONTENT = [b"", b"[]", b"{", b"NaN", b"\xff", b"[" * 10**6, b'{"format": "narxbench-model"}']
NO_IDENTIFICATIONS = ["", ', "version": 2', ', "version": 1']
NO_FUNCTIONS = ["u,abz(u)", "u,sqrt(u)", "u,log(u)", "u,1/u", "abs(abs(u))"]
SERIES = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0])
NO_FORECASTS = [
    (ARX, {"u": [np.nan, 1.0], "y": [1.0, 1.0], "steps": 1}),
    (ARX, {"u": [1.0, 1.0], "y": [np.nan, 1.0], "steps": 1}),
    (ARX, {"u": [1.0, 1.0], "y": [1.0, np.inf], "steps": 1}),
    (ARX, {"u": [1.0, 1.0], "y": [1.0], "steps": 1}),
    (ARX, {"u": [1.0, 1.0], "y": [1.0, 1.0], "steps": 2}),
    (ARX, {"u": [], "y": [], "steps": 1}),
    (NAR, {"u": None, "y": [1.0]}),
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
NO_JOINT_FILES = [b"[]", b"{}", b'{"format": "narxbench-joint-model", "version": 2, "models": []}', b"x"]
NO_JOINT_FILES += [b'{"format": "narxbench-joint-model", "version": 1, "models": []}']
NO_JOINT_DATA = {
    "no inputs": (None, np.zeros((3, 2))),
    "one row": (np.zeros(9), np.zeros((1, 2))),
    "one column": (np.zeros(9), np.zeros(9)),
    "too long": (np.zeros(9), np.zeros((10, 2))),
}
REST = Model(("y(k-1)", "u(k-1)"), (1.0, 1.0), ("u",), "y")
LOGISTIC = Model(("y(k-1)", "y(k-1)^3"), (1.5, -0.5), inputs=(), output="y")
NO_PROGRAM_NAMES = ["", "1st", "for", "end", "y", "a-b", "ä", "a b", "a" * 41, None, "np"]
NOT_EXPORTED = [(ARX, "pyton"), (ARX, 3), (Model(("1",), (2.0,), (), "y"), "sysidentpy")]
NOT_EXPORTED += [(Model(("y(k-500)",), (0.5,), (), "y"), "sysidentpy")]
GROWING = Model(("y(k-1)",), (10.0,), (), "y")


def _short(value):
    text = repr(value)
    if len(text) <= 60:
        return text
    return f"{text:.60}… ({len(value)})"


_calls = partial(calls, describe=_short)


def _signals(content):
    Path("it").write_bytes(content)
    return read_signals("it")


def _model_of_file(content):
    return _loaded(Model.load, content)


def _loaded(load, content):
    Path("it").write_bytes(content)
    return load("it")


def _identification(rest):
    return _loaded(load_model, f'{{"format": "narxbench-identification"{rest}}}'.encode())


def _functions(columns):
    lines = [f"{(-1) ** k * k},{k % 7}" for k in range(30)]
    Path("it").write_text("\n".join(["u,y", *lines, ""]))
    return look("it", "y", input=columns)


def _system(content):
    Path("X.yaml").write_text(content, encoding="utf-8")
    return load_system("X", ".")


def _changed_file(changes):
    ARX.save("model.json")
    content = json.loads(Path("model.json").read_bytes()) | changes
    for key in changes:
        if changes[key] is ...:
            del content[key]
    return _model_of_file(json.dumps(content).encode())


def _model(changes):
    return Model(**vars(ARX) | changes)


def _term(text, inputs="u"):
    return Model((text,), (1.0,), tuple(inputs), "y")


def _equation(text, **arguments):
    return System("X", text, n_u=2, n_y=2, degree=2, **arguments)


def _mistakes_in_terms():
    return {
        **_calls("term", _term, NO_TERMS),
        **_calls("term of inputs", lambda case: _term(*case), NONE_OF_THESE_INPUTS),
        **_calls("orders", lambda case: candidate_terms(n_y=case[0], n_u=case[1], degree=case[2]), NO_ORDERS),
        **_calls("expression", lambda text: _equation(f"y(k) = {text}"), NO_EXPRESSIONS),
        **_calls("equation", _equation, NO_EQUATIONS),
    }


def _mistakes_in_systems():
    return {
        **calls("equation with", lambda text: _equation(f"y(k) = {text}"), OF_ONE_INPUT),
        **_calls("system", _system, NO_SYSTEMS),
        **_calls("excitation", lambda values: _equation("y(k) = y(k-1)", excitation=values), NO_EXCITATIONS),
        **_calls("system named", lambda name: load_system(name, "."), NO_NAMES),
        **_calls("system named", load_system, ["S11"]),
        **_calls("simulation", lambda options: load_system("S1").simulate(**options), NO_SIMULATION),
        **_calls("signals", _signals, NO_SIGNALS),
    }


def _mistakes_in_data_of_models():
    return {
        **{f"prediction {i}": partial(model.predict, **data) for i, (model, data) in enumerate(NO_DATA)},
        "divergence of a free run": partial(GROWING.predict, None, [2.0] * 20, samples=20),
        "divergence some steps ahead": partial(GROWING.predict, None, [2.0] * 20, steps=8),
        "score": partial(ARX.score, [1.0, 2.0], [1.0, 2.0, 3.0]),
        "score without the first output": partial(ARX.score, [1.0, 2.0], [np.nan, 2.0]),
        **{f"forecast {i}": partial(model.forecast, **data) for i, (model, data) in enumerate(NO_FORECASTS)},
        **calls("functions", _functions, NO_FUNCTIONS),
        "no state of rest": partial(REST.linearised, 1.0),
        "no number for each input": partial(REST.linearised, [1.0, np.nan]),
        "several states of rest": LOGISTIC.linearised,
        "no output": partial(LOGISTIC.linearised, y0=np.inf),
        "no steps": partial(REST.step_response, 0.0, 1.0, 0),
    }


def _mistakes_in_joint_models():
    coupled, alone = JOINT["coupled"], JOINT["no inputs"]
    return {
        **{f"joint model, {name}": partial(JointModel, models) for name, models in NO_JOINT_MODELS.items()},
        **_calls("joint file", partial(_loaded, JointModel.load), NO_JOINT_FILES),
        **{f"joint run, {name}": partial(coupled.simulate, *data) for name, data in NO_JOINT_DATA.items()},
        "joint forecast without inputs": partial(coupled.forecast, np.zeros(9), np.zeros((9, 2)), None, 3),
        "joint forecast of few inputs": partial(coupled.forecast, np.zeros(9), np.zeros((9, 2)), [1.0], 3),
        "joint forecast of no number": partial(coupled.forecast, np.zeros(9), np.zeros((9, 2)), [1.0], -1),
        "joint forecast without steps": partial(alone.forecast, None, np.zeros((9, 2))),
        **calls("joint program in", coupled.export, ("sysidentpy", "C")),
        "joint program named end": partial(coupled.export, "c", "end"),
    }


def _mistakes_in_models():
    return {
        **_calls("model", _model, NO_MODELS),
        "model to expand": Model(("y(k-1)^12",), (1.0,), (), "y", scales=(1e-60,)).expanded,
        **calls("model file", _changed_file, NO_MODEL_FILES),
        **_calls("model file", _model_of_file, NO_CONTENT),
        **_calls(
            "any file", partial(_loaded, load_model), [b"{", b"[]", b'{"format": "narxbench-model", "version": 1}']
        ),
        **calls("identification", _identification, NO_IDENTIFICATIONS),
        **_calls("digits", ARX.equation, (0, 18, 2.0, True)),
        **_calls("program named", partial(ARX.export, "python"), NO_PROGRAM_NAMES),
        **{f"export of {model.terms} to {to!r}": partial(model.export, to) for model, to in NOT_EXPORTED},
    }


def test_messages(review):
    mistakes = _mistakes_in_terms() | _mistakes_in_systems() | _mistakes_in_data_of_models() | _mistakes_in_models()
    review(mistakes | _mistakes_in_joint_models())
