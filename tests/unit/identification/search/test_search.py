"""The search: its plan, its judgement of structures, and all that its result does not depend on."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.tiers import mostly_slow
from tests.unit.identification.search.test_configurations import settings_of

import narxbench
from narxbench import load_system
from narxbench._identification.identify import identify_recording
from narxbench._identification.search import plan as planning
from narxbench._identification.search import steps
from narxbench._identification.search.candidate import Candidate, best_of
from narxbench._identification.search.choice import _check_finite
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.plan import make_room, plan_search
from narxbench._identification.search.proposals import brief_search, descent, in_units_of_the_user, variants
from narxbench._identification.search.scores import CLEARLY_BETTER, least_squares_errors, scored
from narxbench._io.errors import NarxbenchError
from narxbench._model.records import Record, Recording
from narxbench._numerics.random_streams import generator

SMALL = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2}
QUICK = {**SMALL, "effort": 0.3}
TERMS = ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2")


def recording_of(samples=400, roles=(None,)):
    u, y = load_system("S1").simulate(samples * len(roles), snr_db=30)
    records = []
    for number, role in enumerate(roles):
        part = slice(number * samples, (number + 1) * samples)
        records.append(Record(str(number), u[part, None], y[part], role))
    return Recording(tuple(records), ("u",), "y")


def plain(identification):
    """Return an identification as plain data, without the digest of the data."""
    reported = identification.to_dict()
    reported.pop("data_digest")
    tried = identification.tried.to_dict("list")
    return reported, *map(repr, (tried, identification.structures, identification.weights))


class TestSameResult:
    recording = recording_of(300, (None, "test"))
    settings = settings_of(**QUICK)

    @pytest.fixture(scope="class")
    @classmethod
    def identification(cls):
        return identify_recording(cls.recording, cls.settings)

    @pytest.mark.parametrize("threads", mostly_slow([1, 4], 4))
    def test_twice_and_with_other_threads(self, identification, threads, monkeypatch):
        monkeypatch.setattr(steps, "THREADS", threads)
        assert plain(identify_recording(self.recording, self.settings)) == plain(identification)

    @pytest.mark.parametrize("change", mostly_slow(["other", "none", "far away", "renamed"], "other", "renamed"))
    def test_with_other_test_records_and_other_names(self, identification, change):
        estimation, test = self.recording.records
        rng = generator(purpose="other test")
        records = {
            "other": (estimation, replace(test, u=rng.standard_normal((60, 1)), y=100.0 * rng.standard_normal(60))),
            "none": (estimation,),
            "far away": (estimation, test, replace(test, u=1e3 + test.u, y=1e3 + test.y)),
            "renamed": (replace(estimation, name="x"), replace(test, name="z")),
        }
        again = identify_recording(replace(self.recording, records=records[change]), self.settings)
        for name in ("terms", "coefficients", "covariance"):
            assert getattr(again.model, name) == getattr(identification.model, name)
        assert repr(again.tried.to_dict()) == repr(identification.tried.to_dict())
        assert again.structures == identification.structures and again.weights == identification.weights
        for role in ("estimation", "selection"):
            assert again.to_dict()["metrics"][role] == identification.to_dict()["metrics"][role]

    @pytest.mark.parametrize("change", ["records", "inputs", "time"])
    def test_in_any_order_and_with_times_or_without(self, change):
        """Nothing is drawn, so that nothing hangs on the digest of the data."""
        u, y = load_system("S1").simulate(600, snr_db=30)
        data = {"u": u, "v": np.roll(u, 40), "y": y}
        records = [{name: signal[part] for name, signal in data.items()} for part in (slice(300), slice(300, 600))]
        names = ["u", "v"]
        if change == "time":
            other = [{"t": 0.5 * np.arange(300), **record} for record in records]
        else:
            other = records[::-1] if change == "records" else records
        terms = []
        for files, inputs in ((records, names), (other, names[::-1] if change == "inputs" else names)):
            found = narxbench.identify(files, "y", input=inputs, **QUICK)
            named = " ".join(found.model.terms)
            for place, name in enumerate(inputs, 1):
                named = named.replace(f"u{place}", name)
            terms.append(set(named.split()))
        assert terms[0] == terms[1]


@pytest.mark.parametrize(("most_searched", "n_kept"), [(100, 0), (1000, 1)])
def test_the_data_of_long_records_make_room(most_searched, n_kept, monkeypatch):
    monkeypatch.setattr(planning, "MOST_STEPS", most_searched)
    plan = plan_search(recording_of(600), settings_of(**QUICK))
    brief_search(plan, plan.configurations[0])
    make_room(plan)
    assert plan.problem.cache_info().currsize == n_kept


def expected_fitness(relative, independent):
    """Return the extended BIC of 4 of 15 terms: ln of the number of structures with 4 of these comes on top."""
    return independent * math.log(relative) + math.log(independent) * 4 + math.log(math.comb(15, 4))


def by_terms(structures):
    return {tuple(structure.terms): structure for structure in structures}


class TestJudgement:
    """J on parts that the weights do not know."""

    recording = recording_of(300)
    configuration = Configuration(1, 2, (1, 2), ((1, 2),))
    plan = plan_search(recording, settings_of(**QUICK))

    def judged(self, *structures, density=1, **settings):
        plan = plan_search(self.recording, settings_of(**{**QUICK, **settings}))
        proposals = []
        for number, terms in enumerate(structures):
            proposals.append(Candidate(plan.configurations[0], terms, f"run {number}"))
        return scored(plan, proposals, density)

    @pytest.mark.parametrize("density", [1, 5])
    def test_fitness_and_rrse(self, density):
        (structure,) = self.judged(TERMS, density=density)
        errors = least_squares_errors(self.plan.problem(self.configuration), [TERMS])
        relative = errors.sse.sum() / errors.energy.sum()
        assert structure.rrse == pytest.approx(math.sqrt(relative), rel=1e-12)
        assert structure.fitness == pytest.approx(expected_fitness(relative, 300 / density), rel=1e-9)
        assert (structure.divergent, structure.singular, structure.found_by) == (0.0, False, "run 0")

    def test_fitness_of_records_that_select(self):
        """J counts the samples that its error is taken over, those of the selection."""
        plan = plan_search(recording_of(300, ("estimation", None, "selection", "test")), settings_of(**QUICK))
        (structure,) = scored(plan, [Candidate(plan.configurations[0], TERMS, "x")], 1)
        errors = least_squares_errors(plan.problem(plan.configurations[0]), [TERMS])
        assert errors.steps.sum() == 300 - 2
        assert structure.rrse**2 == pytest.approx(errors.sse.sum() / errors.energy.sum())
        assert structure.fitness == pytest.approx(expected_fitness(structure.rrse**2, 300), rel=1e-9)

    def test_each_structure_once_the_best_first(self):
        structures = self.judged(("1", "y(k-1)"), TERMS, TERMS[:2], TERMS, ())
        assert len(structures) == 3
        assert (structures[0].terms, structures[0].found_by) == (TERMS, "run 1")
        fitness = [structure.fitness for structure in structures]
        assert fitness == sorted(fitness)

    def test_centred_signals_must_be_clearly_better(self):
        centred = replace(self.configuration, centred=True)
        structure = brief_search(self.plan, centred)
        independent, size = 300 / self.plan.sampling.advised, len(structure.terms)
        price = math.log(independent) * size + math.log(math.comb(15, size))
        assert structure.configuration == centred
        assert structure.fitness == pytest.approx(independent * math.log(structure.rrse**2) + price + CLEARLY_BETTER)

    def test_a_brief_search_hangs_on_no_effort(self):
        small_effort = plan_search(self.recording, settings_of(**{**QUICK, "effort": 0.01}))
        for configuration in self.plan.configurations:
            assert brief_search(self.plan, configuration) == brief_search(small_effort, configuration)

    def test_where_all_structures_diverge_those_of_inputs_are_tried(self):
        rng = generator(purpose="explosion")
        u = rng.standard_normal((80, 1))
        y = np.where(np.arange(80) % 20 < 17, 0.1, 1e3) * (1 + rng.random(80))
        recording = Recording((Record("r", u, y),), ("u",), "y")
        plan = plan_search(recording, settings_of(**{**QUICK, "degree": 3, "y_lags": 1, "u_lags": 1}))
        best = brief_search(plan, plan.configurations[0])
        assert best.fitness is not None and math.isfinite(best.rrse)

    def test_what_diverges_on_one_part_has_no_score(self):
        rng = generator(purpose="squares")
        records = []
        for start in 1.5 + np.arange(20) / 50:
            records.append(Record("r", rng.standard_normal((4, 1)), start ** (2.0 ** np.arange(4))))
        u, y = rng.standard_normal((30, 1)), np.full(30, 2.0) + 0.1 * rng.standard_normal(30)
        records.append(Record("grows", u, y, "selection"))
        for number in range(3):
            decay = 0.5 ** np.arange(9.0)
            records.append(Record(str(number), rng.standard_normal((9, 1)), decay, "selection"))
        plan = plan_search(Recording(tuple(records), ("u",), "y"), settings_of(**{**QUICK, "y_lags": 1, "u_lags": 1}))
        (structure,) = scored(plan, [Candidate(plan.configurations[0], ("y(k-1)^2",), "x")], 1)
        assert (structure.divergent, structure.singular) == (0.25, False)
        assert structure.fitness is None and structure.rrse is None

    def test_a_descent_never_ends_worse(self):
        for start in (("1",), ("1", "y(k-2)", "u(k-2)"), TERMS[:2], TERMS):
            (begin,) = self.judged(start)
            end = descent(self.plan, begin, 1)
            assert end.fitness <= begin.fitness
            (again,) = self.judged(end.terms)
            assert again.fitness == end.fitness
        assert set(TERMS) <= set(descent(self.plan, self.judged(("1",))[0], 1).terms)


def test_nothing_finite_is_a_mistake():
    configuration = Configuration(1, 1, (1,), ((1,),))
    diverging = Candidate(configuration, ("1",), "x", divergent=0.5)
    for structures in ([], [diverging]):
        with pytest.raises(NarxbenchError):
            _check_finite(structures)
    _check_finite([replace(diverging, fitness=2.0, divergent=0.0), diverging])


@pytest.mark.slow
def test_more_candidates_than_samples():
    rng = generator(purpose="more terms than samples")
    u, y = rng.standard_normal(200), np.zeros(200)
    for k in range(2, 200):
        y[k] = 0.5 * y[k - 1] + 0.8 * u[k - 1] + 0.1 * u[k - 2] ** 2 + 0.01 * rng.standard_normal()
    recording = Recording((Record("r", u[:, None], y),), ("u",), "y")
    identification = identify_recording(recording, settings_of(**{**QUICK, "degree": 3, "y_lags": 6, "u_lags": 6}))
    assert {"y(k-1)", "u(k-1)"} <= set(identification.model.terms) and identification.tried["rrse"][0] < 0.03
    for coefficient in identification.model.coefficients:
        assert math.isfinite(coefficient)


class TestVariants:
    """Other first lags, and centred signals."""

    recording = recording_of(300)

    def plan(self, monkeypatch, **settings):
        """Return a plan whose check of the dead time is wrong."""
        monkeypatch.setattr(planning, "_delays", lambda *_: [5])
        return plan_search(self.recording, settings_of(**{"decimation": 1, "degree": 2, "y_lags": 2, **settings}))

    def test_an_estimated_dead_time_is_no_limit_of_the_lags(self, monkeypatch):
        plan = self.plan(monkeypatch)
        configuration = plan.configurations[0]
        assert configuration.u_lags[0][0] > 1
        brief, known = brief_search(plan, configuration), {configuration}
        candidates = variants(plan, brief, known)
        assert {candidate.configuration.u_lags[0][0] for candidate in candidates} >= {1}
        best = best_of([brief, *candidates]).configuration
        assert best.u_lags[0][0] == 1 and not best.centred
        assert any(candidate.configuration.centred for candidate in candidates)
        assert variants(plan, brief, known) == []

    @pytest.mark.parametrize("settings", [{"delay": 3}, {"u_lags": [3, 4]}])
    def test_lags_that_are_given_stay(self, monkeypatch, settings):
        plan = self.plan(monkeypatch, **settings)
        configuration = plan.configurations[0]
        for variant in variants(plan, brief_search(plan, configuration), {configuration}):
            assert variant.configuration.u_lags == configuration.u_lags

    def test_linear_terms_of_centred_signals_are_also_given_in_units_of_the_user(self, monkeypatch):
        plan = self.plan(monkeypatch, u_lags=2)
        plain = plan.configurations[0]
        centred = replace(plain, centred=True)
        proposals = [Candidate(centred, ("y(k-1)", "u(k-1)"), "x"), Candidate(centred, ("u(k-1)^2",), "x")]
        (proposal,) = in_units_of_the_user(plan, scored(plan, proposals, 1))
        assert proposal == Candidate(plain, ("1", "y(k-1)", "u(k-1)"), "x")


class TestEffort:
    """It decides how much is tried, and nothing else."""

    recording = recording_of(400)

    def test_configurations(self):
        few, many = (
            plan_search(self.recording, settings_of(effort=0.3)),
            plan_search(self.recording, settings_of(effort=30.0)),
        )
        assert few.configurations == many.configurations[: len(few.configurations)]
        assert 0 < len(few.configurations) < len(many.configurations)
        assert len(few.configurations) + few.left_out == len(many.configurations) + many.left_out
        assert len(plan_search(self.recording, settings_of(effort=1e-9)).configurations) == 1

    def test_searches_under_noise_models(self):
        long = plan_search(recording_of(20_000), settings_of(**{**QUICK, "effort": 1.0}))
        thorough = plan_search(recording_of(20_000), settings_of(**{**QUICK, "effort": 200.0}))
        short = plan_search(self.recording, settings_of(**{**QUICK, "effort": 1.0}))
        configurations = 12 * long.configurations
        assert long.effort.n_likely(configurations) < thorough.effort.n_likely(configurations)
        assert short.effort.n_likely(configurations) == 12
        assert 1 <= long.effort.n_weighed(48) < 48 == short.effort.n_weighed(48) <= thorough.effort.n_weighed(48)
