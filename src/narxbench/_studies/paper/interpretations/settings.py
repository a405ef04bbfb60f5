"""The settings of the study of what the paper leaves open: one interpretation after the other."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from narxbench._io.settings import Mistake, Settings, unknown
from narxbench._model.excitation import excitation_of
from narxbench._model.system import System
from narxbench._study.design_choices import (
    BASELINE,
    DesignChoices,
    Fitness,
    Label,
    OpenData,
    SearchBudget,
    interpretation_settings,
    interpretation_text,
    parse_interpretation,
    parts_text,
    unknown_options,
)
from narxbench._study.settings import (
    Absent,
    Condition,
    Input,
    Name,
    Part,
    Problem,
    Seeds,
    Study,
    distinct,
    problem_name,
)

# The criterion under which every interpretation is run.
SCREENED = "bic"


class Finalists(Settings):
    """Interpretations that are run under all criteria of the first method, so that the closest is chosen by them."""

    interpretations: Annotated[list[Label], AfterValidator(distinct)]
    """Names of interpretations that are run under them on all data seeds."""
    combinations: list[dict[str, str]]
    """Combinations of options that are run under them on the data seeds of the screening."""


class Variations(Settings):
    """Which interpretations a study runs: every option of every design choice alone, and combinations of them."""

    seeds: Seeds
    """Data seeds of the screening, by which the closest interpretation is chosen: every option and combination is run
    on them. Named interpretations are run on all data seeds."""
    methods: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    """Methods whose design choices are varied, by name. The other ones are run on the same data for comparison."""
    combinations: list[dict[str, str]]
    """Combinations of options, each a mapping of design choices to options."""
    finalists: Finalists
    """Interpretations that are run under all criteria."""


class InterpretationsStudy(Study):
    """A study of interpretations: every option alone, and some combinations, with each method that it can matter to."""

    kind: Literal["interpretations"]
    """What the interpretations do to the paper's results."""
    variations: Variations
    """Which interpretations are run."""
    scenarios: Absent = None

    def _conditions_of_part(
        self, choices: DesignChoices, part: Part, systems: Mapping[str, System]
    ) -> Iterator[Condition]:
        """Yield the conditions of one part, variation by variation."""
        for name, text, seed, criterion in self._planned(choices, part.seeds):
            yield from self._conditions_of(choices, part, systems, name, text, seed, criterion)

    def _conditions_of(
        self,
        choices: DesignChoices,
        part: Part,
        systems: Mapping[str, System],
        method_name: str,
        text: str,
        seed: int,
        criterion: str,
    ) -> Iterator[Condition]:
        """Yield the conditions of a method under an interpretation on a data seed: all systems and SNRs."""
        method, chosen = self.methods[method_name], parse_interpretation(choices, text)
        settings = interpretation_settings(choices, chosen)
        data = self.data.model_copy(update=dict(OpenData.model_validate(settings["data"])))
        fitness = Fitness.model_validate(settings["fitness"])
        # The budget of the study, unless the interpretation departs from the baseline's.
        evaluations = self.evaluations
        if parts_text(choices, chosen, ["search"]) != BASELINE:
            evaluations = SearchBudget.model_validate(settings["search"]).evaluations
        method_settings = {**method.settings.model_dump(mode="json"), **settings.get(method.algorithm, {})}
        for system, snr_db in product(part.systems, part.snr_db):
            place = problem_name(text, seed, system, snr_db)
            yield Condition(
                name=f"{place}/{method_name}/{criterion}",
                problem=Problem(place, systems[system], snr_db, seed, data, fitness),
                interpretation=text,
                method=method_name,
                algorithm=method.algorithm,
                settings=method_settings,
                criterion=criterion,
                evaluations=evaluations,
            )

    def _planned(self, choices: DesignChoices, seeds: Sequence[int]) -> list[tuple[str, str, int, str]]:
        """Return method, interpretation, data seed and criterion of all runs, each once, in the settings' order."""
        plan = self.variations
        references = [name for name in self.methods if name not in plan.methods]
        # The paper's tables have further criteria for the first method only.
        first = plan.methods[:1]
        further = [criterion for criterion in self.methods[first[0]].criteria if criterion != SCREENED]
        with_name = [{}, *choices.named.values()]
        finalists = [choices.named[name] for name in plan.finalists.interpretations]
        screened = [*single_changes(choices), *plan.combinations, *plan.finalists.combinations]
        screening_seeds = [seed for seed in seeds if seed in plan.seeds]
        runs = [
            *product(plan.methods, with_name, seeds, [SCREENED]),
            *product(plan.methods, screened, screening_seeds, [SCREENED]),
            # Results of the references are needed where the others are examined closely, above all as described.
            *product(references, [{}], seeds, [SCREENED]),
            *product(references, finalists, screening_seeds, [SCREENED]),
            *product(first, finalists, seeds, further),
            *product(first, plan.finalists.combinations, screening_seeds, further),
        ]
        planned: dict[tuple[str, str, int, str], None] = {}  # each once, in this order
        for method, chosen, seed, criterion in runs:
            text = interpretation_text(choices, chosen, self.methods[method].algorithm)
            planned[method, text, seed, criterion] = None
        return list(planned)

    def unknown_names(self, choices: DesignChoices) -> Iterator[Mistake]:
        """Yield a mistake for each seed, method, design choice, option and interpretation that does not exist."""
        plan = self.variations
        allowed = f"those of data.seeds: {', '.join(map(str, self.data.seeds))}"
        unknown_seeds = [seed for seed in plan.seeds if seed not in self.data.seeds]
        if unknown_seeds:
            yield Mistake(("variations", "seeds"), f"found {unknown_seeds[0]}; allowed: {allowed}")
        for index, name in enumerate(plan.methods):
            if name not in self.methods:
                yield unknown(("variations", "methods", index), name, self.methods, "a method of the study:")
        places = ((("combinations",), plan.combinations), (("finalists", "combinations"), plan.finalists.combinations))
        for path, combinations in places:
            for index, chosen in enumerate(combinations):
                for option_path, text in unknown_options(choices.design_choices, chosen):
                    yield Mistake(("variations", *path, index, *option_path), text)
        for index, name in enumerate(plan.finalists.interpretations):
            if name not in choices.named:
                place = ("variations", "finalists", "interpretations", index)
                yield unknown(place, name, choices.named, "a named interpretation:")

    def inputs(self, choices: DesignChoices, systems: Mapping[str, System]) -> Iterator[Input]:
        """Yield every input that the study and its options need."""
        yield from super().inputs(choices, systems)
        for name, choice in choices.design_choices.items():
            if (choice.part, choice.setting) == ("data", "excitation"):
                size = self.data.washout + self.data.samples
                for option in choice.options.values():
                    yield ("data", "excitation", "file"), f"{name}: ", excitation_of(option.value), size


def single_changes(choices: DesignChoices) -> Iterator[dict[str, str]]:
    """Yield every interpretation that differs from the baseline in one option that alone can change something."""
    for name, choice in choices.design_choices.items():
        for option in choice.options:
            if option != choice.baseline and not choice.needs:
                yield {name: option}
