"""Mistakes with measured data, and findings in words: `messages.txt` has the answers."""

import math
from functools import partial

import numpy as np
import pandas as pd
from tests.messages import calls
from tests.unit.identification.test_advice import OF_DATA, checks_of

from narxbench._identification.conclusion import noise_model_text
from narxbench._identification.data.checks import no_test_check
from narxbench._identification.data.reading import read_recording
from narxbench._identification.finding import Finding
from narxbench._identification.joint import joint_text
from narxbench._identification.search.configurations import configurations
from narxbench._identification.search.steps import CONCLUSION, interruption
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.validation.answers import to_predict_text
from narxbench._identification.validation.control import to_control_text
from narxbench._identification.validation.errors import errors_text
from narxbench._identification.validation.probabilities import TOO_FEW
from narxbench._identification.validation.reading import to_read_text
from narxbench._identification.validation.verdicts import competitors_text, residuals_text, steady_states_text
from narxbench._io.settings import validated
from narxbench._model.narx import Model
from narxbench._model.records import Record, Recording
from narxbench._report.findings import for_shell
from narxbench._report.predictions import predictions

N = 60
PLANNED = Model(("y(k-2)", "u(k-1)"), (0.5, 1.0), ("in",), "out")
U = np.sin(np.arange(2.0 * N)).reshape(N, 2)
Y = np.cos(np.arange(N) ** 1.5)
T = np.round(5 + 0.02 * np.arange(N), 2)
DAYS = [f"{1 + k % 12:02}/{1 + k // 12:02}/2024" for k in range(N)]
FRAME = pd.DataFrame({"time": T, "in": U[:, 0], "out": Y, "in2": U[:, 1]})


def variants(option, *values):
    return [{option: value} for value in values]


def with_output(*arguments):
    return [{"output": "out", **further} for further in arguments]


ARGUMENTS = [
    *({}, {"output": "ou"}, *with_output({"input": ["in", "out"]}, {"time": "in,in2"})),
    *variants("output", "out,in", 5, True, 1.5),
    *with_output({"roles": {"data": "tets"}}, {"roles": {"date": "test"}}, {"roles": {"data": "test"}}),
    *with_output(*variants("test", "120%", 0.01, "no.csv"), {"units": {"u": "V"}}, {"units": {"out": 1}}),
    *with_output({"read": ";"}, {"read": {"separator": ";"}}, {"read": {"decimal": 1}}, {"part": 2}),
    *with_output({"missing": "x"}, {"missing": [1, "y"]}, {"time_format": "x"}, {"sampling_time": math.nan}),
]
DATA = {
    "text": (FRAME.assign(out="1"), "out"),
    "complex numbers": (FRAME.assign(out=1j), "out"),
    "infinity": (FRAME.assign(out=np.where(Y[7] == Y, np.inf, Y)), "out"),
    "names that are numbers": (pd.DataFrame(U), 1),
    "two of one name": (FRAME.set_axis(["time", "u", "y", "u"], axis=1), "u"),
    "nine samples": (FRAME[:9], "out"),
    "no column": (pd.DataFrame(), "out"),
    "nothing": ([], "out"),
    "an array": (U, 1),
    "a number": (3, 1),
    "columns of other lengths": ({"u": Y, "y": Y[1:]}, "y"),
    "rows of other lengths": ({"u": Y, "y": [[1], [2, 3]]}, "y"),
    "other sampling times": ([FRAME, FRAME.assign(time=2 * T)], "out"),
    "one file twice": (["a.csv", "a.csv"], "y"),
    "a file without header": ("plain.csv", 9),
    "a code that nobody declared": (FRAME.assign(out=np.where(FRAME.index % 9 == 0, -200.0, Y)), "out"),
    "an order of dates that is not clear": (FRAME.assign(time=DAYS), "out"),
    "numbers that may be days of MATLAB": (FRAME.assign(time=739_000.0 + T), "out"),
    "numbers that are no seconds": (FRAME.assign(time=1e10 + T), "out"),
}
TIMES = {"that stands": np.where(T[20] == T, T[19], T), "that is uneven": np.arange(N) ** 2}
ARRAYS = [{"input": U}, {"output": Y, "input": U[1:]}, {"output": U}, {"output": Y, "input": [[[1]]]}]
SETTINGS = [
    *variants("y_lags", -1, "5-2", [], [1, 2.5], "1-99999999999999", [0, 1]),
    *({"u_lags": {"a": -1}}, {"decimation": 0}, {"degree": [0]}, {"delay": "x"}, {"horizon": 0}),
    *({"include": "y(k-1)"}, {"effort": float("nan")}, {"noise": "box-jenkin"}, {"seeds": 4}, {"degre": 2}),
    {"y_lags": "y", "degree": 0, "noise": "x", "effort": -1},
]
TRIED = [
    *(({"u_lags": {"pressur": 2}}, ("pressure", "T")), ({"u_lags": {"u": 2}}, ())),
    *(({"include": ["u2(k-1)"]}, ("u",)), ({"include": ["what"]}, ("u",))),
    *(({"exclude": [pattern], "y_lags": 1, "u_lags": 1}, ("u",)) for pattern in ("u(k-2)", "*")),
    ({"y_lags": 600, "u_lags": 1, "degree": 1, "include": ["u(k-9)"]}, ("u",)),
    ({"degree": 8, "y_lags": 20, "u_lags": 20}, ("u",)),
]
PLANS = {
    "too few outputs": (FRAME.assign(out=np.where(np.arange(N) < 1, Y, np.nan)), None),
    "an input with a gap": (FRAME.assign(**{"in": np.where(np.arange(N) == 30, np.nan, Y)}), [1.0, 2.0]),
    "no output": (FRAME[["in"]], None),
    "from 3.2,x": (FRAME, "3.2,x"),
}

ROW = {"role": "test", "kind": "free_run", "steps": None, "rrse": 0.4}
PREDICTED = {**ROW, "decimation": 3, "diverged": [], "decimated": 0.4, "fit_percent": 60.0}
PREDICTED |= {"small": False, "rests": False, "relative": 0.4, "avoidable": 0.09, "other_unit": ""}
PREDICTED |= {"horizon": None, "exact": False, "holds": True, "seasons": [], "gap": None}
AHEAD = {"kind": "k_step", "steps": 5}
AT_HORIZON = {"steps": 7, "horizon": 20}
RESIDUALS = {"tests": 2, "failed": [], "largest": 0.04, "limit": 0.1, "outside": 3, "coefficients": 61}
GAP = {"test": 0.4, "seen": 0.1, "test_rmse": 0.27, "seen_rmse": 0.16, "role": "selection", "unit": "K"}
EARLIER = {"name": "phi_xixi", "title": "residuals and earlier residuals", "worst": 0.5, "lag": 1}
BEFORE = {"name": "phi_uxi", "title": "residuals and u", "worst": -0.2, "lag": -3}
AFTER = {**BEFORE, "lag": 3}
RESTS = {"cases": 41, "at_rest": 40, "beyond": 0, "several": 2, "settling_steps": 12.5, "points": None}
RESTS |= {"bounded": True, "rests": 0, "without": 0, "largest": None}
HEAVY = "Box-Jenkins (AR 1, Student-t with 3 degrees of freedom)"
APART = [{"output": name, "kind": "sparse", "terms": 2, "others": []} for name in ("a", "b")]
FIRST_ALONE = [APART[0], {"output": "b", "kind": "linear OE", "terms": 5, "others": ["a"]}]
TOGETHER = {"compared": 40, "unbounded": 0, "bounded": True, "driven": True, "coupled": True, "structures": FIRST_ALONE}
PREDICTS = {
    **{**ROW, "rrse": 0.2, "rmse": 0.25, "max_error": 1.5, "noise": False, "diverged": [], "because": []},
    **{"ranges": {"in": [0.0, 5.0], "out": [-1.0, 2.0]}, "units": {"out": "V"}, "output": "out"},
    **{"rests": False, "other_unit": "", "unavoidable": False, "avoidable": 0.09, "horizon": None, "attempts": None},
}
READS = {
    **{"missing": "", "samples": 180, "probability": 0.3, "likely": 1, "outside": {"u(k-1)": 0.61}},
    **{"probabilities": {"y(k-1)": 1.0, "u(k-2)": 0.25}, "groups": [], "doubts": [], "likelier_noise": None},
    **{"alike": [["u(k-2)", "u(k-1)", 0.99]], "superfluous": [], "noise": False, "weak": ["u(k-2)"]},
    **{"near_pairs": {"number": 0, "worst": None}, "left_out": 0},
}
GROUPS = [{"terms": ["u(k-1)", "u(k-2)", "u(k-3)"], "probabilities": [0.33, 0.32, 0.24]}]
DOUBTS = ["uncertain_structure", "coloured_innovations", "likelier_noise"]
CONTROLS = {
    **{"inputs": {"in": {"at": 2.5, "gain": -10.9, "turns": False, "delay": 8}}, "units": {"out": "V"}},
    **{"output": "out", "predicts": "fine", "y": 12.0, "eigenvalue": 0.8, "settling_steps": 18.2, "decimation": 8},
    **{"period": 1e-5, "rests": 3, "cases": 41, "at_rest": 41, "several": 0, "dynamics": None, "doubts": []},
}
WIDE = {"value": -10.9, "low": -13.7, "high": -6.8}
INTERVALS = {"lacking": [], "unexplained": [], "models": 4, "confidence": 0.95, "stable": 1.0}
INTERVALS |= {"gains": {"in": WIDE}, "delays": {"in": [8, 16]}}
INTERVALS |= {"settling": {"value": 145.6, "low": 100.0, "high": None}, "pole": {"value": 0.8, "low": 0.7, "high": 1.1}}


def doubt(name, value, limit, signal="", status="look"):
    return {"name": name, "signal": signal, "status": status, "value": value, "limit": limit}


CONTROL_DOUBTS = [doubt("gain", 2.01, 1.5, "in"), doubt("record", 1000.0, 1165.0), doubt("settling", None, 2.0)]
CONTROL_DOUBTS.append(doubt("stability", 0.93, 0.975))
UNEXPLAINED = {"dynamics": {**INTERVALS, "lacking": ["u(k-1)^3"], "unexplained": ["residuals and in"]}}
UNEXPLAINED["doubts"] = [doubt("candidates", None, None)]
SIGN = [doubt("sign", None, 1.5, "in", "bad"), doubt("settling", 2.5, 2.0)]
NOWHERE = {"y": None, "rests": 0, "predicts": "bad", "at_rest": 11, "several": 1}
NOWHERE["inputs"] = {"in": {"at": 2.5, "gain": None, "turns": True, "delay": None}}
UNSEEN = {"error": 0.1, "seen": False}
UNBIASED = {"rising": UNSEEN, "falling": UNSEEN, "drift": UNSEEN, "role": "test", "unit": "V", "rms": 0.3}
UNBIASED["deviation"] = 1.0
SEEN_THERE = {"error": -0.2, "seen": True}
BIASED = {**UNBIASED, "rising": SEEN_THERE, "drift": {**SEEN_THERE, "error": 0.2}}
COMPETED = {
    **{"selected": "sparse", "limit": 1.05, "competitors": 12, "kind": "free_run"},
    "rows": [
        {"name": "sparse", "terms": 7, "rrse": 0.224},
        {"name": "last value", "terms": 1, "rrse": 0.01},
        {"name": "linear OE", "terms": 25, "rrse": 0.2},
    ],
    "sparse": "y(k) = 0.5 y(k-1) + u(k-1)^2",
}


def residual(status="look", *failed, kind="linear", free_run=None):
    values = {"linear": {**RESIDUALS, "status": "fine"}, "nonlinear": {**RESIDUALS, "status": "fine"}}
    return {**values, kind: {**RESIDUALS, "status": status, "failed": list(failed)}, "free_run": free_run}


def competing(linear=0.4, last=0.4, *, rrse=0.1, season=None, **values):
    arx = {**ROW, "rrse": rrse, "baseline": linear, "status": {None: "bad"}.get(rrse, "fine")}
    repeated = {**ROW, "kind": "one_step", "steps": 1, "rrse": rrse, "baseline": last, "season": season}
    repeated["status"] = "look"
    return {"linear_arx": arx, "last_value": repeated, **COMPETED, **values}


ATTEMPTS = {"error": 0.198, "rows": [{"settings": ["degree"], "value": 2, "rrse": 0.227}], "better": None}
BETTER = {"settings": ["y_lags", "u_lags"], "value": "auto", "rrse": 0.12}
VAIN = {"settings": ["decimation"], "value": 4, "rrse": None}
# By name: values that examples have in common, and for each example its status and its further values.
EXAMPLES = [
    ("to_predict", PREDICTS, ("fine", {}), ("look", {"role": "selection", "because": ["drift", "test-range"]})),
    ("to_predict", PREDICTS, ("bad", {"kind": "k_step", "steps": 5, "noise": True})),
    ("to_predict", {**PREDICTS, "others": "simulated"}, ("bad", {"diverged": ["b.csv"], "rmse": None})),
    ("to_predict", {**PREDICTS, "others": "measured"}, ("look", {"rests": True}), ("look", {"other_unit": "out"})),
    ("to_predict", PREDICTS, ("look", {"unavoidable": True, "attempts": ATTEMPTS})),
    ("to_predict", PREDICTS, ("look", {"attempts": {**ATTEMPTS, "rows": [BETTER, VAIN], "better": BETTER}})),
    ("to_read", READS, ("look", {}), ("bad", {"likely": 0, "noise": True}), ("look", {"missing": TOO_FEW})),
    ("to_read", READS, ("look", {"near_pairs": {"number": 2, "worst": ["a", "b", 1.0]}, "groups": GROUPS})),
    ("to_read", READS, ("look", {"doubts": DOUBTS, "likelier_noise": "noe", "superfluous": ["y(k-3)"]})),
    ("to_read", READS, ("fine", {"probability": 0.9, "probabilities": {"y(k-1)": 1.0}, "outside": {}, "weak": []})),
    ("to_control", CONTROLS, ("fine", {}), ("bad", NOWHERE)),
    ("to_control", CONTROLS, ("look", {"dynamics": INTERVALS}), ("look", {"doubts": CONTROL_DOUBTS})),
    ("to_control", CONTROLS, ("look", {"dynamics": {**INTERVALS, "lacking": ["u(k-1)^3"]}}), ("bad", {"doubts": SIGN})),
    ("to_control", CONTROLS, ("look", {"dynamics": {**INTERVALS, "lacking": None}}), ("look", UNEXPLAINED)),
    ("errors", PREDICTED, ("look", {}), ("look", {"role": "selection", "rrse": None, "holds": False})),
    ("errors", PREDICTED, ("look", {**AHEAD, "seasons": [12, 24]}), ("look", {**AHEAD, **AT_HORIZON, "rests": True})),
    ("errors", PREDICTED, ("bad", {"gap": {**GAP, "status": "bad"}}), ("bad", {"diverged": ["a.csv", "b.csv"]})),
    ("errors", PREDICTED, ("fine", {"exact": True})),
    ("competitors", {}, ("fine", competing()), ("look", competing(0.1, None)), ("bad", competing(rrse=None))),
    ("competitors", {}, ("look", competing(season=24)), ("look", competing(selected="linear OE"))),
    ("residuals", {}, ("bad", residual("bad", EARLIER, BEFORE)), ("look", residual("look", AFTER))),
    ("residuals", {}, ("look", residual(free_run=BIASED)), ("fine", residual(free_run=UNBIASED))),
    ("steady_states", RESTS, ("look", {"beyond": 1}), ("fine", {"at_rest": 41, "several": 0, "settling_steps": None})),
    ("steady_states", RESTS, ("look", {"rests": 4, "without": 1, "largest": 0.2}), ("look", {"bounded": False})),
    ("noise_model", {"tied": 7}, ("fine", {"chosen": "box-jenkins", "description": HEAVY})),
    ("joint", TOGETHER, ("look", {"coupled": False, "structures": APART}), ("fine", {"unbounded": 2, "driven": False})),
    ("joint", TOGETHER, ("bad", {"bounded": False, "unbounded": 3})),
]
TEXTS = (to_read_text, to_control_text, errors_text, competitors_text, residuals_text, steady_states_text)
TEXTS = {function.__name__.removesuffix("_text"): function for function in (*TEXTS, noise_model_text, joint_text)}


def findings():
    """Return findings of checks of data, and those of models as their checks make them of these values."""
    made = [*no_test_check([]), interruption("brief searches"), interruption(CONCLUSION)]
    for advice in OF_DATA:
        made += checks_of(advice)
    for name, common_values, *examples in EXAMPLES:
        for status, changes in examples:
            values = {**common_values, **changes}
            text = to_predict_text(values, status) if name == "to_predict" else TEXTS[name](values)
            made.append(Finding(name, status, values, *((text,) if isinstance(text, str) else text)))
    return made


def tried(values, inputs):
    record = Record("r", np.zeros((400, len(inputs))), np.zeros(400))
    settings = validated(IdentificationSettings, values, "test")
    return configurations(Recording((record,), inputs, "y"), settings, (1,), [1] * len(inputs))


def words(finding):
    lines = [finding.title, finding.text, finding.advice]
    return "\n".join([*lines, *{for_shell(finding.advice)} - {*lines}]).rstrip()


def test_messages(review):
    frame = pd.DataFrame({"time": np.arange(N) / 10, "u": U[:, 0], "y": Y})
    frame.to_csv("a.csv", index=False)
    frame.to_csv("plain.csv", index=False, header=False)
    mistakes = calls("reading", lambda arguments: read_recording(FRAME, **arguments), ARGUMENTS)
    mistakes |= calls("data:", lambda name: read_recording(DATA[name][0], output=DATA[name][1]), DATA)
    timed = partial(read_recording, time="time", output="out")
    mistakes |= calls("a time", lambda name: timed(FRAME.assign(time=TIMES[name])), TIMES)
    mistakes |= calls("arrays", lambda number: read_recording(**ARRAYS[number]), range(len(ARRAYS)))
    planned = partial(predictions, PLANNED)
    mistakes |= calls("a planned run:", lambda name: planned(PLANS[name][0], y_initial=PLANS[name][1]), PLANS)
    mistakes |= calls("settings", lambda values: validated(IdentificationSettings, values, "identify"), SETTINGS)
    mistakes |= calls("tried", lambda arguments: tried(*arguments), TRIED)
    for number, finding in enumerate(findings()):
        mistakes[f"finding {number}: {finding.name}, {finding.status}"] = partial(words, finding)
    review(mistakes)
