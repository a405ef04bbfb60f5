"""The conditions of all complete interpretations, and how near each interpretation is to the paper."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count, product

import pandas as pd

from narxbench._io.errors import NarxbenchError
from narxbench._io.settings import SettingsError
from narxbench._studies.paper.agreement import compare, nearness
from narxbench._studies.paper.claims import CRITERIA, GA, UPSO
from narxbench._studies.paper.interpretations.settings import SCREENED
from narxbench._studies.paper.published import Published
from narxbench._study.design_choices import (
    BASELINE,
    DesignChoices,
    contradictions,
    interpretation_text,
    interpretation_words,
    parse_interpretation,
)

COMPARED = (UPSO, GA)  # the algorithms with published values
JOINT = "joint"
FAR = 1.5  # a table remains unexplained beyond this multiple of the deviance between own data sets
DATA_SET = ["data_seed", "system", "snr_db"]
BY_SEED = ["algorithm", "interpretation", "data_seed"]
_GROUP = ["algorithm", "interpretation", "criterion"]
Group = tuple[str, str, str]
# The interpretations of 2D-UPSO and of GA, by algorithm. They share data and fitness.
Pair = dict[str, str]


@dataclass(frozen=True, eq=False)
class InterpretationStudy:
    """The conditions of the interpretations that lack no condition, each of an algorithm under a criterion.

    ``conditions`` is the conditions frame with the column ``shared``, the part of an interpretation that all algorithms
    share. The baseline comes first, then single options, then combinations. Seeds and systems ascend, SNRs descend.
    ``options`` are all options but the baseline's. Every interpretation was run on the data seeds ``screening``:
    interpretations are chosen by these, and judged on the other ``seeds``. ``incomplete`` has algorithm and text of the
    interpretations that were left out.
    """

    conditions: pd.DataFrame
    options: pd.DataFrame
    seeds: list[int]
    screening: list[int]
    incomplete: list[tuple[str, str]]
    choices: DesignChoices
    published: Published

    def conditions_of(self, algorithm: str, criterion: str = SCREENED) -> pd.DataFrame:
        """Return the conditions of an algorithm under a criterion."""
        conditions = self.conditions
        return conditions[(conditions["algorithm"] == algorithm) & (conditions["criterion"] == criterion)]

    def texts(self, algorithm: str, criterion: str = SCREENED) -> list[str]:
        """Return the interpretations of an algorithm under a criterion in their order."""
        return list(dict.fromkeys(self.conditions_of(algorithm, criterion)["interpretation"]))

    def chosen(self, *texts: str) -> dict[str, str]:
        """Return the differences from the baseline that texts name together."""
        chosen: dict[str, str] = {}
        for text in texts:
            chosen |= parse_interpretation(self.choices, text)
        return chosen

    def joined(self, *texts: str) -> str:
        """Return the interpretations of several algorithms, which agree in their shared part, as one."""
        return interpretation_text(self.choices, self.chosen(*texts))

    def words(self, text: str) -> str:
        """Return the words for an interpretation after "with" in a sentence, or "" for the baseline."""
        return interpretation_words(self.choices, self.chosen(text))

    def contradictions(self, text: str) -> str:
        """Return the explicit statements that an interpretation contradicts."""
        return "; ".join(contradictions(self.choices, self.chosen(text)))

    def pairs(self) -> Iterator[Pair]:
        """Yield each interpretation of 2D-UPSO with each of GA on the same data, or without GA, each of 2D-UPSO."""
        of_upso = self.conditions_of(UPSO)[["interpretation", "shared"]].drop_duplicates()
        of_ga = self.conditions_of(GA)[["interpretation", "shared"]].drop_duplicates()
        if of_ga.empty:
            return map(self.pair, of_upso["interpretation"])
        joined = of_upso.merge(of_ga, on="shared", suffixes=("_upso2d", "_ga"))
        texts = zip(joined["interpretation_upso2d"], joined["interpretation_ga"], strict=True)
        return ({UPSO: of_upso2d, GA: ga} for of_upso2d, ga in texts)

    def pair(self, text: str) -> Pair:
        """Return the interpretations of both algorithms that a joined one consists of."""
        chosen = self.chosen(text)
        return {algorithm: interpretation_text(self.choices, chosen, algorithm) for algorithm in COMPARED}

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The published values, each once, beside those of all interpretations under the criterion of the screening."""
        return compare(pd.concat(map(self.conditions_of, COMPARED)), self.published.once)

    def nearness(self, algorithm: str) -> pd.DataFrame:
        """Return `agreement.nearness` of each interpretation of an algorithm on each data seed."""
        return nearness(self.compared[self.compared["algorithm"] == algorithm], BY_SEED)


def make_study(conditions: pd.DataFrame, choices: DesignChoices, published: Published) -> InterpretationStudy:
    """Check conditions against the design choices and the published values, and put them in order.

    An interpretation must be written in its one way, and the baseline must lack neither conditions nor published
    values.
    """
    options = _options(choices)
    _check_texts(conditions, choices)
    groups = dict(iter(conditions.groupby(_GROUP, sort=False)))
    seeds_of = _seeds_by_kind(groups, choices)
    places = set(published.values[["system", "snr_db"]].itertuples(index=False, name=None))
    lacking = {}
    for name, rows in groups.items():
        needed = {(seed, *place) for seed, place in product(seeds_of[name], places)}
        lacking[name] = needed - _data_sets(rows)
    seeds = sorted(conditions["data_seed"].unique())
    _check_baseline(conditions, published, {(seed, *place) for seed, place in product(seeds, places)})
    order = _order(conditions["interpretation"].unique(), options, choices)
    kept = conditions[[not lacking[name] for name in conditions[_GROUP].itertuples(index=False, name=None)]]
    incomplete = []
    for name, text, criterion in sorted(filter(lacking.__getitem__, lacking), key=lambda name: order[name[1]]):
        if name in COMPARED and criterion == SCREENED:
            incomplete.append((name, text))
    return InterpretationStudy(
        conditions=_in_order(kept, order, choices),
        options=options,
        seeds=seeds,
        screening=_screening(seeds_of),
        incomplete=incomplete,
        choices=choices,
        published=published,
    )


def _options(choices: DesignChoices) -> pd.DataFrame:
    """Return all options but the baseline's, each with the text of the interpretation that it makes alone."""
    rows = []
    for name, choice in choices.design_choices.items():
        for option in list(choice.options)[1:]:
            rows.append((f"{name}={option}", name, option, choice.part, choice.options[option].contradicts))
    return pd.DataFrame(rows, columns=["interpretation", "design_choice", "option", "part", "contradicts"])


def _check_texts(conditions: pd.DataFrame, choices: DesignChoices) -> None:
    """Refuse an interpretation that does not exist, or is written in another way."""
    for algorithm, text in conditions[["algorithm", "interpretation"]].drop_duplicates().itertuples(index=False):
        try:
            chosen = parse_interpretation(choices, text)
        except SettingsError as error:
            raise NarxbenchError(f"conditions.csv: {algorithm}: {str(error).splitlines()[0]}") from None
        allowed = interpretation_text(choices, chosen, algorithm)
        if allowed != text:
            raise NarxbenchError(f"conditions.csv: {algorithm}: found interpretation {text!r}; allowed: {allowed!r}")


def _order(texts: Iterable[str], options: pd.DataFrame, choices: DesignChoices) -> dict[str, int]:
    """Return the place of each interpretation: by the number of its differences, then by the order of the options."""
    place_of = dict(zip(options["interpretation"], count(), strict=False))
    ranks = {}
    for text in texts:
        chosen = parse_interpretation(choices, text)
        places = [place_of[f"{name}={option}"] for name, option in chosen.items()]
        ranks[text] = len(chosen), places
    return dict(zip(sorted(ranks, key=ranks.__getitem__), count(), strict=False))


def _seeds_by_kind(groups: Mapping[Group, pd.DataFrame], choices: DesignChoices) -> dict[Group, set[int]]:
    """Return the data seeds on which each group must have been run: all data seeds of its kind.

    The baseline, and named interpretations of compared algorithms, are run on more data seeds than the others.
    """
    with_name = set()
    for algorithm, chosen in product(COMPARED, ({}, *choices.named.values())):
        with_name.add((algorithm, interpretation_text(choices, chosen, algorithm)))
    kinds: dict[Group, tuple[bool, bool, str]] = {}
    seeds_of_kind = defaultdict[tuple[bool, bool, str], set[int]](set)
    for name, rows in groups.items():
        algorithm, text, criterion = name
        kinds[name] = text == BASELINE or (algorithm, text) in with_name, algorithm in COMPARED, criterion
        seeds_of_kind[kinds[name]] |= set(rows["data_seed"])
    return {name: seeds_of_kind[kind] for name, kind in kinds.items()}


def _screening(seeds_of: Mapping[Group, set[int]]) -> list[int]:
    """Return the data seeds on which every interpretation of the compared algorithms was run in the screening."""
    screened = []
    for (algorithm, _, criterion), seeds in seeds_of.items():
        if algorithm in COMPARED and criterion == SCREENED:
            screened.append(seeds)
    return sorted(set.intersection(*screened)) if screened else []


def _check_baseline(conditions: pd.DataFrame, published: Published, data_sets: set[tuple[int, str, float]]) -> None:
    """Refuse a compared algorithm that lacks conditions under the baseline, or published values."""
    for algorithm in (UPSO, *({GA} & set(conditions["algorithm"]))):
        is_baseline = (conditions["algorithm"] == algorithm) & (conditions["interpretation"] == BASELINE)
        missing = data_sets - _data_sets(conditions[is_baseline & (conditions["criterion"] == SCREENED)])
        if missing:
            seed, system, snr_db = min(missing, key=lambda place: (place[0], place[1], -place[2]))
            problem = f"found none of {algorithm} under {BASELINE} for data seed {seed}, {system}, {snr_db:g} dB"
            allowed = f"every system and SNR of the paper under {SCREENED} on every data seed"
            raise NarxbenchError(f"conditions.csv: {problem}; allowed: {allowed}")
        values = published.values
        if not ((values["algorithm"] == algorithm) & (values["criterion"] == SCREENED)).any():
            problem = f"found none of {algorithm} under {SCREENED}"
            raise NarxbenchError(f"published_tables.csv: {problem}; allowed: those of every compared algorithm")


def _in_order(conditions: pd.DataFrame, order: Mapping[str, int], choices: DesignChoices) -> pd.DataFrame:
    """Return the conditions with the parts of their interpretations, in the order of an `InterpretationStudy`."""
    shared = {}
    for text in conditions["interpretation"].unique():
        shared[text] = interpretation_text(choices, parse_interpretation(choices, text), "")
    texts = conditions["interpretation"]
    ordered = conditions.assign(shared=texts.map(shared), order=texts.map(order))
    ordered["criterion_order"] = ordered["criterion"].map(dict(zip(CRITERIA, count(), strict=False)))
    by = ["order", "criterion_order", *DATA_SET]
    ordered = ordered.sort_values(by, ascending=[name != "snr_db" for name in by], ignore_index=True)
    return ordered.drop(columns=["order", "criterion_order"])


def _data_sets(conditions: pd.DataFrame) -> set[tuple[int, str, float]]:
    """Return the data sets of some conditions: data seed, system and SNR."""
    return set(conditions[DATA_SET].itertuples(index=False, name=None))
