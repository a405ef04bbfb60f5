"""The conditions of all interpretations: which are complete, which share data, and how far each is from the paper."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import pandas as pd

from narxbench.analysis.agreement import compare, distances
from narxbench.analysis.claims import GA, UPSO
from narxbench.analysis.published import METRICS, Published
from narxbench.experiment.interpretations import (
    BASELINE,
    DesignChoices,
    Interpretation,
    contradictions,
    interpretation_text,
    parse_interpretation,
)
from narxbench.io.errors import NarxbenchError

SCREENED = "bic"  # the criterion under which every interpretation is run
COMPARED = (UPSO, GA)  # the algorithms with published values
JOINT = "joint"
DATA_SET = ["data_seed", "system", "snr_db"]
BY_SEED = ["algorithm", "interpretation", "data_seed"]


class Pair(NamedTuple):
    """The interpretations of 2D-UPSO and of GA, in the order of `COMPARED`; they share data and fitness."""

    upso2d: str
    ga: str


@dataclass(frozen=True, eq=False)
class Multiverse:
    """The conditions of all interpretations.

    Systems and SNRs are those with published values; interpretations are compared under BIC unless said.

    Attributes
    ----------
    conditions : DataFrame
        The conditions frame, with a column ``shared``: the part of the interpretation that concerns data and fitness.
    choices : DesignChoices
        The design choices, and the named interpretations.
    published : Published
        The published values.
    default : mapping
        The interpretation of the main study.
    """

    conditions: pd.DataFrame
    choices: DesignChoices
    published: Published
    default: Interpretation

    @cached_property
    def seeds(self) -> list[int]:
        """The data seeds."""
        return sorted(self.conditions["data_seed"].unique())

    @cached_property
    def _places(self) -> set[tuple[int, str, float]]:
        places = self.published.values[["system", "snr_db"]].itertuples(index=False, name=None)
        return {(seed, *place) for place in set(places) for seed in self.seeds}

    @cached_property
    def _groups(self) -> dict[tuple[str, str, str], pd.DataFrame]:
        return dict(iter(self.conditions.groupby(["algorithm", "interpretation", "criterion"], sort=False)))

    def of(self, algorithm: str, interpretation: str, criterion: str = SCREENED) -> pd.DataFrame:
        """Return the conditions of one interpretation on all data seeds; none may be there."""
        return self._groups.get((algorithm, interpretation, criterion), self.conditions.iloc[:0])

    def missing(self, algorithm: str, interpretation: str, criterion: str = SCREENED) -> list[tuple[int, str, float]]:
        """Return the data seeds, systems and SNRs of the paper at which an interpretation has no condition."""
        found = self.of(algorithm, interpretation, criterion)[DATA_SET].itertuples(index=False, name=None)
        return sorted(self._places - set(found), key=lambda place: (place[0], place[1], -place[2]))

    def complete(self, algorithm: str, criterion: str = SCREENED) -> list[str]:
        """Return the interpretations that lack no condition: the baseline, single options, combinations."""
        found = [text for name, text, of in self._groups if (name, of) == (algorithm, criterion)]
        return sorted((text for text in found if not self.missing(algorithm, text, criterion)), key=self._rank)

    def incomplete(self) -> list[tuple[str, str]]:
        """Return algorithm and text of the interpretations that are left out, for they lack conditions."""
        named = dict.fromkeys((name, text) for name, text, _ in self._groups if name in COMPARED)
        return [name for name in named if self.missing(*name)]

    def chosen(self, *texts: str) -> dict[str, str]:
        """Return the differences from the baseline that texts name together."""
        return {name: option for text in texts for name, option in parse_interpretation(self.choices, text).items()}

    def joined(self, *texts: str) -> str:
        """Return the interpretations of several algorithms, which agree in data and fitness, as one."""
        return interpretation_text(self.choices, self.chosen(*texts))

    def contradictions(self, text: str) -> list[str]:
        """Return the explicit statements that an interpretation contradicts."""
        return contradictions(self.choices, self.chosen(text))

    def pairs(self, upso2d: Iterable[str], ga: Iterable[str]) -> Iterator[Pair]:
        """Yield each interpretation of 2D-UPSO with each of GA on the same data."""
        by_data: dict[str, list[str]] = {}
        for text in ga:
            by_data.setdefault(self.shared(text), []).append(text)
        return (Pair(own, other) for own in upso2d for other in by_data.get(self.shared(own), []))

    def shared(self, text: str) -> str:
        """Return the part of an interpretation that concerns data and fitness, which every algorithm shares."""
        return interpretation_text(self.choices, self.chosen(text), "")

    @cache
    def compared(self, algorithm: str, criterion: str = SCREENED) -> pd.DataFrame:
        """Return `agreement.compare` of the complete interpretations of an algorithm."""
        found = [self.of(algorithm, text, criterion) for text in self.complete(algorithm, criterion)]
        return compare(pd.concat(found or [self.conditions.iloc[:0]]), self.published)

    def distances(self, algorithm: str, criterion: str = SCREENED) -> pd.DataFrame:
        """Return the distance of each complete interpretation to the published values on each data seed.

        Returns
        -------
        DataFrame
            ``algorithm``, ``interpretation``, ``data_seed`` and the columns of `agreement.distances`; no rows where
            no value is published.
        """
        return distances(self.compared(algorithm, criterion), BY_SEED)

    def _rank(self, text: str) -> tuple[int, list[tuple[int, int]]]:
        known = self.choices.design_choices
        order = {name: (place, list(choice.options)) for place, (name, choice) in enumerate(known.items())}
        ranks = [(order[name][0], order[name][1].index(option)) for name, option in self.chosen(text).items()]
        return len(ranks), ranks


def joint_distances(multiverse: Multiverse, upso2d: pd.DataFrame, ga: pd.DataFrame) -> pd.DataFrame:
    """Return the distances of 2D-UPSO and GA together, each interpretation with each on the same data.

    The parts are means over the published conditions of both; values and clear differences add up. Without any GA an
    interpretation is that of 2D-UPSO.
    """
    if ga.empty:
        return upso2d.assign(algorithm=JOINT)
    each = [frame.assign(shared=frame["interpretation"].map(multiverse.shared)) for frame in (upso2d, ga)]
    both = each[0].merge(each[1], on=["shared", "data_seed"], suffixes=("_a", "_b"), sort=False)
    names = zip(both["interpretation_a"], both["interpretation_b"], strict=True)
    joint = pd.DataFrame({"algorithm": JOINT, "interpretation": [multiverse.joined(*name) for name in names]})
    joint["data_seed"] = both["data_seed"]
    for total in ("conditions", "values", "different"):
        joint[total] = both[f"{total}_a"] + both[f"{total}_b"]
    for part in METRICS:
        sums = (both[f"conditions{end}"] * both[f"{part}{end}"] for end in ("_a", "_b"))
        joint[part] = sum(sums) / joint["conditions"]
    return joint.assign(distance=joint[list(METRICS)].sum(axis=1) / len(METRICS))


def make_multiverse(
    conditions: pd.DataFrame, choices: DesignChoices, published: Published, default: Interpretation
) -> Multiverse:
    """Check conditions against the design choices and the published values.

    Raises
    ------
    NarxbenchError
        Where an interpretation is not written as it must be, or the baseline lacks conditions or published values.
    """
    shared = {}
    for algorithm, text in conditions[["algorithm", "interpretation"]].drop_duplicates().itertuples(index=False):
        own = parse_interpretation(choices, text)
        if (allowed := interpretation_text(choices, own, algorithm)) != text:
            raise NarxbenchError(f"conditions, {algorithm}: found interpretation {text!r}; allowed: {allowed!r}")
        shared[text] = interpretation_text(choices, own, "")
    known = conditions.assign(shared=conditions["interpretation"].map(shared))
    multiverse = Multiverse(known, choices, published, dict(default))
    for algorithm in (UPSO, *({GA} & set(conditions["algorithm"]))):
        if missing := multiverse.missing(algorithm, BASELINE):
            seed, system, snr_db = missing[0]
            found = f"none of {algorithm} under {BASELINE} for data seed {seed}, {system}, {snr_db:g} dB"
            allowed = f"every system and SNR of the paper under {SCREENED} on every data seed"
            raise NarxbenchError(f"conditions: found {found}; allowed: {allowed}")
        if multiverse.distances(algorithm).empty:
            allowed = "those of every compared algorithm"
            raise NarxbenchError(f"published values: found none of {algorithm} under {SCREENED}; allowed: {allowed}")
    return multiverse
