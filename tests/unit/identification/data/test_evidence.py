"""The search knows what records can show: changes of the inputs, feedback, and another unit of a test."""

import numpy as np
import pytest
from tests.unit.identification.data.test_sampling import recording

from narxbench._identification.data import checks
from narxbench._identification.data.evidence import InputEvidence, count_changes, input_evidence, largest_degree_shown
from narxbench._identification.search.plan import plan_search
from narxbench._identification.settings import IdentificationSettings
from narxbench._model.records import Record, Recording
from narxbench._numerics.random_streams import generator

STEP = np.repeat([0.0, 1.0], 50)


def rng_of(purpose):
    return generator(purpose=purpose)


def first_order(u, noise=0.0):
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = 0.8 * y[k - 1] + 0.2 * u[k - 1]
    return y + noise * rng_of("output noise").standard_normal(len(u))


@pytest.mark.parametrize(
    ("pieces", "changes"),
    [
        ([STEP], 1),
        ([STEP + 0.01 * rng_of("flicker").standard_normal(100)], 1),
        # Equal steps in two records show no more than one of them; steps up and down do.
        ([STEP, STEP], 1),
        ([STEP, STEP[::-1]], 2),
        ([STEP, 2 * STEP], 2),
        ([np.repeat([0.0, 1.0, 0.5, 0.0], 30)], 3),
        # A ramp passes through all levels, and noise is not held.
        ([np.linspace(0, 1, 400)], 9),
        ([rng_of("white").standard_normal(3000)], None),
        ([np.repeat(rng_of("levels").standard_normal(60), 20)], None),
    ],
)
def test_different_changes_are_counted(pieces, changes):
    assert count_changes(pieces) == changes


def test_a_single_change_shows_no_nonlinear_behaviour():
    step, constant = InputEvidence(False, 1, 0.0), InputEvidence(True, 0, 0.0)
    assert largest_degree_shown([step]) == largest_degree_shown([constant, step]) == 1
    # Without any change the series shows itself; two inputs that step once each make two changes.
    for evidence in ([], [constant], [step, step], [step, InputEvidence(False, None, 0.0)]):
        assert largest_degree_shown(evidence) is None


@pytest.mark.parametrize(("degree", "searched"), [("auto", {1}), ([2], {2})])
def test_what_a_step_cannot_show_is_not_searched_unless_it_is_set(degree, searched):
    record = Record("a.csv", STEP[:, None], first_order(STEP, 0.01))
    plan = plan_search(Recording((record,), ("u",), "y"), IdentificationSettings(degree=degree, effort=1.0))
    assert {configuration.degree for configuration in plan.configurations} == searched
    finding = checks.evidence_check(plan.evidence, {})
    assert finding.status == "look" and "degree 1" in finding.text


def test_a_constant_input_is_named_and_another_one_is_enough():
    moving = rng_of("moving").standard_normal(300)
    u = np.column_stack([moving, np.full(300, 4.0)])
    data = recording((u, first_order(moving)))
    finding = checks.evidence_check(input_evidence(data), {})
    assert (finding.status, finding.values["constant"]) == ("look", ["b"])
    assert checks.excitation_check(data).status == "look"
    assert checks.excitation_check(recording((u[:, 1], first_order(moving)))).status == "bad"


def test_feedback_is_seen_and_open_loops_have_none():
    rng, count = rng_of("loop"), 1500
    reference, noise = np.repeat(rng.standard_normal(count // 10), 10), 0.1 * rng.standard_normal(count)
    u, y = np.zeros(count), np.zeros(count)
    for k in range(1, count):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + noise[k]
        u[k] = 0.5 * (reference[k] - y[k])
    closed = checks.evidence_check(input_evidence(recording((u, y))), {})
    assert closed.values["under_feedback"] == ["a"] and "closed loop" in closed.text
    # Where the input of a loop is a multiple of the error, its past adds nothing to that of the output until the
    # reference moves.
    assert closed.values["exchanged"] == []
    for signal in (reference, noise, np.sin(0.1 * np.arange(count)), np.cumsum(noise)):
        evidence = input_evidence(recording((signal, first_order(signal, 0.01))))
        assert checks.evidence_check(evidence, {}).values["under_feedback"] == []


def test_an_output_that_was_given_as_the_input_is_told():
    rng = rng_of("exchanged")
    for signal, noise in ((rng.standard_normal(1500), 0.01), (rng.standard_normal(4000), 0.1)):
        y = first_order(signal, noise)
        exchanged = checks.evidence_check(input_evidence(recording((y, signal))), {})
        assert exchanged.values["exchanged"] == ["a"] and "input and output may be exchanged" in exchanged.text
        assert checks.evidence_check(input_evidence(recording((signal, y))), {}).values["exchanged"] == []


def range_of(known, test):
    """Return the check of the test range of two pairs (u, y)."""
    u, y = known
    records = [Record("known.csv", np.reshape(u, (len(u), -1)), y)]
    records.append(Record("test.csv", np.reshape(test[0], (len(test[0]), -1)), test[1], "test"))
    names = tuple("abc"[: records[0].u.shape[1]])
    return checks.test_range_check(Recording(tuple(records), names, "out"))


class TestUnitsOfTheTest:
    u = rng_of("units").standard_normal(400)
    y = 20 + first_order(u)

    @pytest.mark.parametrize(
        ("scale", "shift", "units"),
        [
            *((1000.0, 0.0, "powers of ten"), (0.01, 0.0, "powers of ten"), (np.pi / 180, 0.0, "radians")),
            *((3.6, 0.0, "kilometres per hour"), (1.8, 32.0, "Fahrenheit"), (1.0, 273.15, "kelvin")),
        ],
    )
    def test_level_and_spread_show_another_unit(self, scale, shift, units):
        test = self.u[200:], scale * self.y[200:] + shift
        finding = range_of((self.u[:200], self.y[:200]), test)
        unit = finding.values["out"]["unit"]
        assert (unit["scale"], unit["shift"]) == pytest.approx((scale, shift)) and units in unit["units"]
        assert finding.values["a"]["unit"] is None and finding.status != "fine"
        assert "units of the others" in finding.advice

    @pytest.mark.parametrize(("scale", "shift"), [(0.1, 18.0), (10.0, -180.0), (1.0, 100.0), (1.0, -15.0)])
    def test_a_level_that_no_unit_explains_shows_none(self, scale, shift):
        finding = range_of((self.u[:200], self.y[:200]), (self.u[200:], scale * self.y[200:] + shift))
        assert finding.values["out"]["unit"] is None

    def test_larger_experiments_and_rests_are_no_units(self):
        for test in (
            (self.u[200:], self.y[200:]),
            (6 * self.u[200:], 20 + 6 * (self.y[200:] - 20)),
            (0 * STEP, 20 + 0 * STEP),
        ):
            values = range_of((self.u[:200], self.y[:200]), test).values
            assert values["out"]["unit"] is None and values["a"]["unit"] is None


def test_only_inputs_that_a_model_uses_must_stay_in_their_range():
    rng, clock = rng_of("clock"), np.arange(400.0)
    u = np.column_stack([rng.uniform(-1, 1, 400), clock])
    records = (
        Record("a.csv", u[:300], first_order(u[:300, 0])),
        Record("b.csv", u[300:], first_order(u[300:, 0]), "test"),
    )
    data = Recording(records, ("u", "clock"), "y")
    assert checks.test_range_check(data).status == "bad"
    finding = checks.test_range_check(data, {"clock": {"used": False}})
    assert finding.status == "fine" and "clock" not in finding.text
