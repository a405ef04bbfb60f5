"""Errors on parts that the weights do not know, against NumPy's least squares and plain free runs."""

import math

import numpy as np
import pytest
from tests.unit.identification.search.test_configurations import settings_of

from narxbench._identification.data.scaling import scaling
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.trial import MOST_ROWS, MOST_STEPS, Trial
from narxbench._io.errors import NarxbenchError
from narxbench._model.records import Record, Recording
from narxbench._model.terms import parse_term
from narxbench._numerics.random_streams import generator

LINEAR = Configuration(1, 1, (1,), ((1,),))


def recording_of(lengths=(150,), roles=None, n_inputs=1, levels=False, decimation=1, shift=0.0):
    """Return records of a nonlinear process with lags of ``decimation`` samples."""
    records = []
    for i, (n, role) in enumerate(zip(lengths, roles or [None] * len(lengths), strict=True)):
        rng = generator(purpose="trial", record=i)
        u = rng.standard_normal((n, n_inputs))
        if levels:
            u = np.where(u < 0.0, 0.0, 5.0)
        y = 0.1 * rng.standard_normal(n)
        for k in range(decimation, n):
            past, before = u[k - decimation], y[k - decimation]
            driven = (0.4 * past + 0.1 * past**2 - 0.1 * past * before) / np.arange(1, n_inputs + 1)
            y[k] = 0.5 * before + 0.05 * rng.standard_normal() + driven.sum()
        records.append(Record(str(i), u + shift, y + shift, role))
    return Recording(tuple(records), tuple(f"in {j}" for j in range(n_inputs)), "y")


def plain_errors(recording, configuration, terms, blocks, lag):
    """Return SSE, steps and energy of each part: weights without the part, free runs phase by phase, in loops."""
    q = configuration.decimation
    known = [record for record in recording.records if record.role != "test"]
    u, y = [record.u for record in known], [record.y for record in known]
    if configuration.centred:
        together = np.concatenate(y), np.concatenate(u)
        y = [(part - together[0].mean()) / together[0].std() for part in y]
        u = [(part - together[1].mean(axis=0)) / together[1].std(axis=0) for part in u]
    monomials = [parse_term(term, len(recording.inputs), current=True) for term in terms]

    def product(m, outputs, i, k):
        return math.prod(outputs[k - j * q] if signal == 0 else u[i][k - j * q, signal - 1] for signal, j in m)

    rows_of = [[(i, k) for k in range(lag * q, len(record))] for i, record in enumerate(known)]
    selects = [i for i, record in enumerate(known) if record.role == "selection"]
    estimating = [at for i, own in enumerate(rows_of) if i not in selects for at in own]
    if selects:
        n_parts, part_of = len(selects), {at: part for part, i in enumerate(selects) for at in rows_of[i]}
    else:
        shared = [i for i, record in enumerate(known) if record.role is None] or range(len(known))
        scored = [at for i in shared for at in rows_of[i]]
        n_parts, part_of = blocks, {at: place * blocks // len(scored) for place, at in enumerate(scored)}
    sse, steps, singular = [], [], False
    for part in range(n_parts):
        rows = [at for at in estimating if part_of.get(at) != part]
        columns = np.array([[product(m, y[i], i, k) for m in monomials] for i, k in rows])
        weights, _, rank, _ = np.linalg.lstsq(columns, np.array([y[i][k] for i, k in rows]), rcond=None)
        singular |= bool(rank < len(terms))
        members, total = [at for at, number in part_of.items() if number == part], 0.0
        for i in sorted({i for i, _ in members}):
            mine = {k for j, k in members if j == i}
            simulated = {}
            for k in range(len(known[i])):
                if k in mine:
                    outputs = {k - j * q: simulated.get(k - j * q, y[i][k - j * q]) for j in range(1, lag + 1)}
                    simulated[k] = sum(w * product(m, outputs, i, k) for w, m in zip(weights, monomials, strict=True))
                    if not abs(simulated[k]) <= 1e6 * max(np.abs(part).max() for part in y):
                        total = math.inf
                        break
                    total += (y[i][k] - simulated[k]) ** 2
        sse.append(total)
        steps.append(len(members))
    mean = np.mean([y[i][k] for i, k in part_of])
    energy = [sum((y[i][k] - mean) ** 2 for (i, k), p in part_of.items() if p == part) for part in range(n_parts)]
    return sse, steps, energy, singular


CASES = {
    "centred": ({"shift": 3.0}, Configuration(1, 2, (1, 2), ((1,),), True), 4),
    "decimation": ({"lengths": (200,), "decimation": 3}, Configuration(3, 2, (1,), ((0, 1),)), 3),
    "records": ({"lengths": (90, 60, 70)}, Configuration(2, 2, (1,), ((1, 2),)), 3),
    "selection": (
        {"lengths": (90, 60, 70, 50), "roles": (None, "selection", "test", "selection"), "decimation": 2},
        *(Configuration(2, 2, (1, 2), ((1, 2),)), 4),
    ),
    "two inputs": ({"n_inputs": 2}, Configuration(1, 2, (1,), ((1,), (0, 1))), 4),
    "no input": ({"n_inputs": 0}, Configuration(1, 2, (1, 3), ()), 4),
}


@pytest.mark.parametrize("name", CASES)
def test_errors_of_parts(name):
    options, configuration, blocks = CASES[name]
    recording = recording_of(**options)
    trial = Trial(recording, configuration, settings_of(blocks=blocks, error="free_run"), 1)
    rng = generator(purpose="structures", case=name)
    structures = [trial.terms[:1], trial.terms[:3], trial.terms]
    structures += [sorted(rng.choice(trial.terms, 3, replace=False), key=trial.terms.index) for _ in range(4)]
    found = trial.part_errors(structures)
    lag = trial.arrangement.max_lag
    for i, terms in enumerate(structures):
        sse, steps, energy, singular = plain_errors(recording, configuration, terms, blocks, lag)
        assert not singular and not found.singular[i]
        np.testing.assert_allclose(found.sse[i], sse, rtol=1e-6)
        assert found.steps.tolist() == steps
        np.testing.assert_allclose(found.energy, energy, rtol=1e-9)
    # None of them looks at its neighbours, and the order of terms is all the same.
    alone = trial.part_errors([structures[3][::-1]])
    assert alone.sse[0].tobytes() == found.sse[3].tobytes()


def test_the_error_one_step_ahead():
    recording, terms = recording_of(), ["1", "y(k-1)", "u(k-1)"]
    found = Trial(recording, LINEAR, settings_of(blocks=3, error="one_step"), 1).part_errors([terms])
    (record,) = recording.records
    columns, part = np.column_stack([np.ones(149), record.y[:-1], record.u[:-1, 0]]), np.arange(149) * 3 // 149
    for number in range(3):
        weights = np.linalg.lstsq(columns[part != number], record.y[1:][part != number], rcond=None)[0]
        errors = record.y[1:][part == number] - columns[part == number] @ weights
        assert found.sse[0, number] == pytest.approx(np.sum(errors**2), rel=1e-8)
    # By default a series without an input is judged by it.
    series = recording_of(n_inputs=0), Configuration(1, 1, (1,), ())
    assert Trial(*series, settings_of(), 1).error == "one_step"
    assert Trial(*series, settings_of(error="free_run"), 1).error == "free_run"
    assert Trial(recording, LINEAR, settings_of(), 1).error == "free_run"


def test_what_is_searched():
    """J of the whole problem: weights of all rows, free runs over all parts."""
    trial = Trial(recording_of((90, 60)), Configuration(2, 2, (1,), ((1, 2),)), settings_of(blocks=3), 1)
    problem, arrangement = trial.whole(), trial.arrangement
    rows, terms = problem.estimation_rows, ["y(k-1)", "u(k-1)", "u(k-1)^2"]
    assert len(rows) == 90 + 60 - 2 * 2 * 2 and sum(map(len, problem.segments)) == len(rows)
    for part in (None, 0, 1, 2):
        problem = trial.whole() if part is None else trial.without(part)
        own = problem.estimation_rows
        assert sorted(own) == sorted(rows[arrangement.part[rows] != part])
        columns = arrangement.columns(trial.monomials, own)
        np.testing.assert_allclose(problem.data.gram[:-1, :-1], columns.T @ columns, rtol=1e-9, atol=1e-9)
        weights = np.linalg.lstsq(columns[:, [trial.terms.index(t) for t in terms]], arrangement.y[own], rcond=None)[0]
        np.testing.assert_allclose(problem.evaluate(terms).coefficients, weights, rtol=1e-8)
        if part is not None:
            assert problem.evaluate(terms).sse == pytest.approx(trial.part_errors([terms]).sse[0, part], rel=1e-12)


def test_resampled_rows_and_parts():
    trial = Trial(recording_of((120,)), LINEAR, settings_of(blocks=4), 1)
    rows = np.sort(generator(purpose="draw").choice(trial.arrangement.rows(), 119))
    problem = trial.resampled(rows, [2, 0, 2, 3])
    assert sum(map(len, problem.segments)) == sum(int(np.sum(trial.arrangement.part == p)) for p in (2, 0, 2, 3))
    columns = trial.arrangement.columns(trial.monomials, rows)
    weights = np.linalg.lstsq(columns, trial.arrangement.y[rows], rcond=None)[0]
    np.testing.assert_allclose(problem.evaluate(trial.terms).coefficients, weights, rtol=1e-8)


def test_no_structure_of_what_collinear_candidates_leave_is_singular():
    trial = Trial(recording_of((300,), levels=True), Configuration(1, 3, (1,), ((1, 2),)), settings_of(blocks=4), 1)
    assert {"u(k-1)^2", "u(k-1)^3", "u(k-2)^2", "y(k-1)*u(k-1)^2", "u(k-1)^2*u(k-2)"} <= set(trial.dropped)
    assert not set(trial.terms) & set(trial.dropped)
    rng = generator(purpose="subsets")
    drawn = [rng.random(len(trial.terms)) < p for p in np.linspace(0.2, 1.0, 20)]
    structures = [[t for t, chosen in zip(trial.terms, each, strict=True) if chosen] for each in drawn if each.any()]
    assert not trial.part_errors(structures).singular.any()


def test_a_structure_that_is_singular_without_a_part_is_reported():
    """An input that moves in one part only."""
    (record,) = recording_of((200,)).records
    u = np.where((np.arange(200) >= 60) & (np.arange(200) < 90), record.u[:, 0], 0.0)
    recording = Recording((Record("r", u[:, None], record.y),), ("u",), "y")
    found = Trial(recording, LINEAR, settings_of(blocks=2), 1).part_errors([["y(k-1)", "u(k-1)"], ["y(k-1)"]])
    assert found.singular.tolist() == [True, False] and np.isinf(found.sse[0]).any()


def test_a_constant_signal_has_no_scale_of_its_own():
    flat = Recording((Record("r", np.full((30, 1), 4.0), np.arange(30.0)),), ("u",), "y")
    offsets, scales = scaling(flat, True)
    assert (offsets[1], scales[1]) == (4.0, 1.0)


def test_long_records_are_simulated_in_pieces():
    rng, n = generator(purpose="long"), 4 * MOST_STEPS
    u = rng.standard_normal((n, 1))
    recording = Recording((Record("r", u, 0.5 * np.roll(u[:, 0], 1) + 0.01 * rng.standard_normal(n)),), ("u",), "y")
    trial = Trial(recording, Configuration(4, 1, (1, 2), ((1, 2),)), settings_of(blocks=4), 4)
    assert len(trial.arrangement.rows()) <= MOST_ROWS and trial.arrangement.n_phases < 4
    steps = [sum(map(len, problem.segments)) for problem in (trial.whole(), trial.without(1))]
    assert 0.8 * MOST_STEPS < steps[0] <= MOST_STEPS and 0 < steps[1] <= MOST_STEPS
    segments = trial.whole().segments
    # They lie all over the record, in pieces that are long, and have their lags.
    starts = [trial.arrangement.time[s.start] for s in segments]
    assert min(starts) < 0.1 * n and max(starts) > 0.85 * n
    assert all(trial.arrangement.has_lags[s].all() for s in segments)
    assert all(set(np.diff(trial.arrangement.time[s])) <= {4} for s in segments)


@pytest.mark.parametrize(
    ("lengths", "roles"),
    [((8, 9), None), ((200, 8), ("estimation", "selection")), ((8, 200), ("estimation", "selection"))],
)
def test_records_that_are_too_short(lengths, roles):
    with pytest.raises(NarxbenchError):
        Trial(recording_of(lengths, roles), Configuration(2, 1, (1, 5), ((1,),)), settings_of(), 1)
