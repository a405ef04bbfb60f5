"""The conditions of all interpretations that lack none, and how near each interpretation is to the paper."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from narxbench.io.errors import NarxbenchError
from narxbench.io.settings import SettingsError
from narxbench.studies.paper.agreement import compare, nearness
from narxbench.studies.paper.claims import CRITERIA, GA, UPSO
from narxbench.studies.paper.published import Published
from narxbench.study.design_choices import (
    BASELINE,
    DesignChoices,
    contradictions,
    interpretation_text,
    interpretation_words,
    parse_interpretation,
    parts_text,
)

SCREENED = "bic"  # the criterion under which every interpretation is run
COMPARED = (UPSO, GA)  # the algorithms with published values
JOINT = "joint"
DATA_SET = ["data_seed", "system", "snr_db"]
BY_SEED = ["algorithm", "interpretation", "data_seed"]
_GROUP = ["algorithm", "interpretation", "criterion"]


class Pair(NamedTuple):
    """The interpretations of 2D-UPSO and of GA, in the order of `COMPARED`; they share data and fitness."""

    upso2d: str
    ga: str


@dataclass(frozen=True, eq=False)
class InterpretationStudy:
    """The conditions of all interpretations, of an algorithm under a criterion each, that lack none.

    ``conditions`` is the conditions frame with two columns more: ``shared``, the part of an interpretation that all
    algorithms share, and ``problem``, that on data and fitness alone. The baseline comes first, then single options,
    then combinations; seeds and systems ascend, SNRs descend. ``options`` are all but those of the baseline. On the
    data seeds ``screening`` every interpretation was run: by these they are chosen, and on the other ``seeds`` judged.
    ``incomplete`` has algorithm and text of what was left out.
    """

    conditions: pd.DataFrame
    options: pd.DataFrame
    seeds: list[int]
    screening: list[int]
    incomplete: list[tuple[str, str]]
    choices: DesignChoices
    published: Published

    def of(self, algorithm: str, criterion: str = SCREENED) -> pd.DataFrame:
        """Return the conditions of an algorithm under a criterion."""
        known = self.conditions
        return known[(known["algorithm"] == algorithm) & (known["criterion"] == criterion)]

    def texts(self, algorithm: str, criterion: str = SCREENED) -> list[str]:
        """Return the interpretations of an algorithm under a criterion in their order."""
        return list(dict.fromkeys(self.of(algorithm, criterion)["interpretation"]))

    def chosen(self, *texts: str) -> dict[str, str]:
        """Return the differences from the baseline that texts name together."""
        return {name: option for text in texts for name, option in parse_interpretation(self.choices, text).items()}

    def joined(self, *texts: str) -> str:
        """Return the interpretations of several algorithms, which agree in what they share, as one."""
        return interpretation_text(self.choices, self.chosen(*texts))

    def words(self, text: str) -> str:
        """Return an interpretation as a sentence has it, after "with"; "" for the baseline."""
        return interpretation_words(self.choices, self.chosen(text))

    def contradictions(self, text: str) -> str:
        """Return the explicit statements that an interpretation contradicts."""
        return "; ".join(contradictions(self.choices, self.chosen(text)))

    def pairs(self) -> Iterator[Pair]:
        """Yield each interpretation of 2D-UPSO with each of GA on the same data."""
        own, other = (self.of(name)[["interpretation", "shared"]].drop_duplicates() for name in COMPARED)
        joined = own.merge(other, on="shared", suffixes=("_upso2d", "_ga"))
        return map(Pair, joined["interpretation_upso2d"], joined["interpretation_ga"])

    def pair(self, text: str) -> Pair:
        """Return the interpretations of both algorithms that a joined one consists of."""
        return Pair(*(interpretation_text(self.choices, self.chosen(text), name) for name in COMPARED))

    def shared(self, text: str) -> str:
        """Return the part of an interpretation that every algorithm shares."""
        return interpretation_text(self.choices, self.chosen(text), "")

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The published values, each once, with those of all interpretations under the criterion of the screening."""
        return compare(pd.concat([self.of(name) for name in COMPARED]), self.published.once)

    def nearness(self, algorithm: str) -> pd.DataFrame:
        """Return `agreement.nearness` of each interpretation of an algorithm on each data seed."""
        return nearness(self.compared[self.compared["algorithm"] == algorithm], BY_SEED)

    def joint_nearness(self) -> pd.DataFrame:
        """Return the nearness of 2D-UPSO and GA, if there is one, together: each with each on the same data."""
        if self.of(GA).empty:
            return self.nearness(UPSO).assign(algorithm=JOINT)
        pairs = pd.DataFrame(self.pairs(), columns=list(COMPARED))
        pairs["joint"] = [self.joined(*pair) for pair in pairs.itertuples(index=False, name=None)]
        rows = self.compared[[*BY_SEED, "metric", "difference", "p_value", "deviance"]]
        both = pairs.melt("joint", var_name="algorithm", value_name="interpretation").merge(rows)
        return nearness(both.assign(algorithm=JOINT, interpretation=both["joint"]), BY_SEED)


def make_study(conditions: pd.DataFrame, choices: DesignChoices, published: Published) -> InterpretationStudy:
    """Check conditions against the design choices and the published values, and put them in order.

    An interpretation must be written in its one way, and the baseline lack neither conditions nor published values.
    """
    rows = [
        (f"{name}={option}", name, option, choice.part, choice.options[option].contradicts)
        for name, choice in choices.design_choices.items()
        for option in list(choice.options)[1:]
    ]
    options = pd.DataFrame(rows, columns=["interpretation", "design_choice", "option", "part", "contradicts"])
    place_of = {text: place for place, text in enumerate(options["interpretation"])}
    shared, problem, ranks = {}, {}, {}
    for algorithm, text in conditions[["algorithm", "interpretation"]].drop_duplicates().itertuples(index=False):
        try:
            chosen = parse_interpretation(choices, text)
        except SettingsError as error:
            raise NarxbenchError(f"conditions.csv: {algorithm}: {str(error).splitlines()[0]}") from None
        if (allowed := interpretation_text(choices, chosen, algorithm)) != text:
            raise NarxbenchError(f"conditions.csv: {algorithm}: found interpretation {text!r}; allowed: {allowed!r}")
        shared[text] = interpretation_text(choices, chosen, "")
        problem[text] = parts_text(choices, chosen, ("data", "fitness"))
        ranks[text] = len(chosen), [place_of[f"{name}={option}"] for name, option in chosen.items()]
    named = {
        (algorithm, interpretation_text(choices, chosen, algorithm))
        for algorithm in COMPARED
        for chosen in ({}, *choices.named.values())
    }
    places = set(published.values[["system", "snr_db"]].itertuples(index=False, name=None))
    # All interpretations of a kind are run on the same data seeds: the baseline, and those with a name of compared
    # algorithms, on more than the others.
    groups = dict(iter(conditions.groupby(_GROUP, sort=False)))
    kinds = {name: (name[1] == BASELINE or name[:2] in named, name[0] in COMPARED, name[2]) for name in groups}
    of_kind: dict[Any, set[int]] = defaultdict(set)
    for name, own in groups.items():
        of_kind[kinds[name]] |= set(own["data_seed"])
    missing = {
        name: {(seed, *place) for seed in of_kind[kinds[name]] for place in places}
        - set(own[DATA_SET].itertuples(index=False, name=None))
        for name, own in groups.items()
    }
    screened = [seeds for (_, compared, criterion), seeds in of_kind.items() if compared and criterion == SCREENED]
    seeds, screening = sorted(conditions["data_seed"].unique()), sorted(set.intersection(*screened)) if screened else []
    needed = {(seed, *place) for seed in seeds for place in places}
    for algorithm in (UPSO, *({GA} & set(conditions["algorithm"]))):
        own = groups.get((algorithm, BASELINE, SCREENED), conditions[:0])
        if lacking := needed - set(own[DATA_SET].itertuples(index=False, name=None)):
            seed, system, snr_db = min(lacking, key=lambda place: (place[0], place[1], -place[2]))
            found = f"none of {algorithm} under {BASELINE} for data seed {seed}, {system}, {snr_db:g} dB"
            allowed = f"every system and SNR of the paper under {SCREENED} on every data seed"
            raise NarxbenchError(f"conditions.csv: found {found}; allowed: {allowed}")
        if not ((published.values["algorithm"] == algorithm) & (published.values["criterion"] == SCREENED)).any():
            found = f"none of {algorithm} under {SCREENED}"
            raise NarxbenchError(f"published_tables.csv: found {found}; allowed: those of every compared algorithm")
    order = {text: place for place, text in enumerate(sorted(ranks, key=ranks.__getitem__))}
    texts = conditions["interpretation"]
    known = conditions.assign(shared=texts.map(shared), problem=texts.map(problem), order=texts.map(order))
    known["criterion_order"] = known["criterion"].map({name: place for place, name in enumerate(CRITERIA)})
    by = ["order", "criterion_order", *DATA_SET]
    known = known[[not missing[name] for name in known[_GROUP].itertuples(index=False, name=None)]]
    known = known.sort_values(by, ascending=[name != "snr_db" for name in by], ignore_index=True).drop(columns=by[:2])
    lacking_any = sorted((name for name in missing if missing[name]), key=lambda name: order[name[1]])
    incomplete = [(name, text) for name, text, of in lacking_any if name in COMPARED and of == SCREENED]
    return InterpretationStudy(known, options, seeds, screening, incomplete, choices, published)
