"""The conditions of a study: problem x method x criterion, each with one run for every seed.

A problem is a data set with candidate terms, a method an algorithm with settings. The study of the paper has every
combination of its settings; a study of interpretations has one interpretation after the other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from narxbench.experiment.condition import ConditionKey
from narxbench.experiment.interpretations import (
    DesignChoices,
    Fitness,
    OpenData,
    Search,
    data_text,
    differs_in,
    interpretation_settings,
    interpretation_text,
    parse_interpretation,
)
from narxbench.experiment.study_settings import Data, Scenario, Study
from narxbench.model.dataset import snr_label
from narxbench.model.excitation import Excitation
from narxbench.model.system import System


@dataclass(frozen=True)
class Problem:
    """A data set with candidate terms; ``name`` is its path below the study's problems."""

    name: str
    system: System
    snr_db: float
    data_seed: int
    data: Data
    fitness: Fitness
    scenario: str = ""

    @property
    def realisations(self) -> bool:
        """Whether each run sees input and noise of its own."""
        return self.data.realisation == "per_run"

    @property
    def _orders(self) -> dict[str, int]:
        return {"n_u": self.system.n_u, "n_y": self.system.n_y, "degree": self.system.degree}

    @property
    def axes(self) -> dict[str, str]:
        """The axes of the random streams of its searches beside algorithm, criterion and seed."""
        axes = {"system": self.system.name, "snr_db": snr_label(self.snr_db)}
        if self.scenario:
            axes |= {"scenario": self.scenario, "data_seed": str(self.data_seed)}
        return axes

    @cached_property
    def simulation(self) -> dict[str, Any]:
        """What defines the data set, as the parameters of :func:`narxbench.experiment.data_sets.simulated_csv`."""
        return {
            "system": self.system.definition(),
            "snr_db": self.snr_db,
            "seed": self.data_seed,
            "data": self.data.model_dump(mode="json", include={"excitation", "noise", "samples", "washout"}),
        }

    @cached_property
    def structure(self) -> dict[str, Any]:
        """What makes a structure problem of the data set, beside the criterion."""
        return {
            **self._orders,
            "n_validation": self.data.validation_samples,
            **self.fitness.model_dump(),
        }


@dataclass(frozen=True)
class Condition:
    """One problem, method and criterion; ``name`` is its path below the study's runs and conditions."""

    name: str
    problem: Problem
    interpretation: str
    method: str
    algorithm: str
    settings: Mapping[str, Any]
    criterion: str
    evaluations: int

    @property
    def key(self) -> ConditionKey:
        """What tells it from the others."""
        return ConditionKey(
            system=self.problem.system.name,
            snr_db=self.problem.snr_db,
            data_seed=self.problem.data_seed,
            interpretation=self.interpretation,
            method=self.method,
            criterion=self.criterion,
            scenario=self.problem.scenario,
        )

    @property
    def axes(self) -> dict[str, str]:
        """The axes of its random streams beside algorithm, criterion and seed."""
        return self.problem.axes


def conditions(study: Study, choices: DesignChoices, systems: Mapping[str, System]) -> list[Condition]:
    """Return all conditions of a study in the order of its settings.

    Parameters
    ----------
    study : Study
        The settings.
    choices : DesignChoices
        What the interpretations are.
    systems : mapping
        The described systems by name.
    """
    listed = {"paper": _crossed, "interpretations": _varied, "methods": _compared}[study.page]
    return list(listed(study, choices, systems))


def _crossed(study: Study, _: DesignChoices, systems: Mapping[str, System]) -> Iterator[Condition]:
    (seed,) = study.data.seeds
    for system in study.systems:
        data = _with_excitation(study.data, systems[system].excitation)
        for snr_db in study.snr_db:
            place = f"{system}/{snr_label(snr_db)}dB"
            yield from _by_all_methods(study, Problem(place, systems[system], snr_db, seed, data, study.fitness))


def _compared(study: Study, _: DesignChoices, systems: Mapping[str, System]) -> Iterator[Condition]:
    assert study.scenarios is not None
    for name, scenario in study.scenarios.items():
        for system in scenario.systems or study.systems:
            for problem in _problems(study, name, scenario, systems[system]):
                yield from _by_all_methods(study, problem)


def _by_all_methods(study: Study, problem: Problem) -> Iterator[Condition]:
    """Yield the conditions of all methods of a study on one problem."""
    for name, method in study.methods.items():
        settings = method.settings.model_dump(mode="json")
        for criterion in method.criteria:
            yield Condition(
                name=f"{problem.name}/{name}/{criterion}",
                problem=problem,
                interpretation=study.interpretation,
                method=name,
                algorithm=method.algorithm,
                settings=settings,
                criterion=criterion,
                evaluations=study.evaluations,
            )


def _problems(study: Study, name: str, scenario: Scenario, system: System) -> Iterator[Problem]:
    """Yield the problems of one system in a scenario: its data sets with their candidate terms."""
    given = scenario.model_dump(include={"samples", "validation_samples", "noise"}, exclude_none=True)
    data = study.data.model_copy(update=given)
    data = _with_excitation(data, scenario.excitation or system.excitation)
    orders = scenario.model_dump(include={"n_u", "n_y", "degree"}, exclude_none=True)
    known = system.with_candidates(**orders) if orders else system
    for snr_db in scenario.snr_db or study.snr_db:
        for seed in scenario.seeds or study.data.seeds:
            place = f"{name}/{system.name}/{snr_label(snr_db)}dB/data-{seed}"
            yield Problem(place, known, snr_db, seed, data, study.fitness, name)


def _with_excitation(data: Data, excitation: Excitation | None) -> Data:
    """Return data whose input is that of a system or scenario, where it has one of its own."""
    return data if excitation is None else data.model_copy(update={"excitation": excitation})


def _varied(study: Study, choices: DesignChoices, systems: Mapping[str, System]) -> Iterator[Condition]:
    for method, text, seed, criterion in planned_variations(study, choices):
        chosen = parse_interpretation(choices, text)
        parts = interpretation_settings(choices, chosen)
        data = study.data.model_copy(update=dict(OpenData.model_validate(parts["data"])))
        fitness = Fitness.model_validate(parts["fitness"])
        # The budget of the study, unless the interpretation departs from the baseline's.
        search = Search.model_validate(parts["search"])
        evaluations = search.evaluations if differs_in(choices, chosen, "search") else study.evaluations
        algorithm = study.methods[method].algorithm
        settings = {**study.methods[method].settings.model_dump(mode="json"), **parts.get(algorithm, {})}
        for system in study.systems:
            for snr_db in study.snr_db:
                place = f"data-{seed}/{system}/{snr_label(snr_db)}dB"
                problem = Problem(f"{data_text(choices, chosen)}/{place}", systems[system], snr_db, seed, data, fitness)
                yield Condition(
                    name=f"{text}/{place}/{method}/{criterion}",
                    problem=problem,
                    interpretation=text,
                    method=method,
                    algorithm=algorithm,
                    settings=settings,
                    criterion=criterion,
                    evaluations=evaluations,
                )


class Variation(NamedTuple):
    """One method and criterion under the choices that can matter to it, on one data realisation."""

    method: str
    interpretation: str
    data_seed: int
    criterion: str


def single_changes(choices: DesignChoices) -> Iterator[dict[str, str]]:
    """Yield every interpretation that differs from the baseline in one option that alone can change something."""
    for name, choice in choices.design_choices.items():
        for option in choice.options:
            if option != choice.baseline and not choice.needs:
                yield {name: option}


def planned_variations(study: Study, choices: DesignChoices) -> list[Variation]:
    """Return what a study of interpretations runs on each system and SNR, each once, in the order of its settings."""
    plan = study.variations
    assert plan is not None
    named = choices.named

    def text(method: str, chosen: Mapping[str, str]) -> str:
        return interpretation_text(choices, chosen, study.methods[method].algorithm)

    screened = [{}, *single_changes(choices), *plan.combinations, *named.values()]
    found = [
        Variation(method, text(method, chosen), seed, plan.criterion)
        for method in (*plan.methods, *plan.references)
        # What the references find is needed where the others are looked at closely.
        for chosen in ([{}, *named.values()] if method in plan.references else screened)
        for seed in study.data.seeds
    ]
    # The paper's tables have further criteria for the first method only.
    found += [
        Variation(method, text(method, named[name]), seed, criterion)
        for method in (plan.methods[0], *plan.references)
        for name in plan.finalists.interpretations
        for seed in study.data.seeds
        for criterion in plan.finalists.criteria
    ]
    return list(dict.fromkeys(found))
