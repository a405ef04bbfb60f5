"""The effects of the interpretations of the paper on its results, computed from the frame of conditions.

In frames, a quantity ``q`` of several data seeds has its median in ``q`` and its range from ``q_low`` to ``q_high``.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, product, starmap
from statistics import median
from typing import Any

import pandas as pd
from scipy import stats

from narxbench._numerics.rounding import significant
from narxbench._studies.paper.agreement import (
    BIASES,
    compare,
    different,
    nearness,
    own_deviances,
    rank_test,
    system_ranks,
)
from narxbench._studies.paper.causes import SAME_J
from narxbench._studies.paper.claims import (
    GA,
    UPSO,
    VERDICTS,
    Claim,
    ConditionsView,
    Row,
    Verdict,
    both_criteria,
    claim_rows,
    published_view,
)
from narxbench._studies.paper.frames import SCHEMAS, UNDECIDED, framed
from narxbench._studies.paper.identities import telling_identities
from narxbench._studies.paper.interpretations.choice import (
    finalists,
    identity_checks,
    kept_identities,
    texts_under_all_criteria,
)
from narxbench._studies.paper.interpretations.nearness import (
    BY_SEED,
    COMPARED,
    DATA_SET,
    JOINT,
    SCREENED,
    InterpretationStudy,
    Pair,
)
from narxbench._studies.paper.published import VALUE
from narxbench._study.design_choices import BASELINE, SHARED_PARTS, interpretation_settings, interpretation_text

CONFIDENCE = 0.95
INPUT = "input"  # the design choice of the input signal
# A search that the paper does not have, on the same data.
REFERENCE = "stepwise"
# A GA that is stronger than the one as described; it is shown however near it comes.
STRONG_GA = "selection=tournament+crossover=uniform+elitism=on"
STRONG_GA_NAME = "tournament, uniform crossover, elitism"
RANDOM_TIES = "ties=random"
AS_DESCRIBED, WITH_RESET, CLOSEST = "as described", "with reset", "closest"

# The searches whose exact structures are counted on data as described: label, algorithm, interpretation.
_SEARCHES = (
    ("stepwise (add/drop/swap)", REFERENCE, BASELINE),
    (f"GA ({STRONG_GA_NAME})", GA, STRONG_GA),
    ("2D-UPSO, as described", UPSO, BASELINE),
    ("GA, as described", GA, BASELINE),
)
# The findings that pages of other studies read too, each a frame with a schema.
FRAMES = ("nearness", "by_system", "by_table", "claim_overview", "role_verdicts", "found", "effects_overview")
_JUDGED = ["verdict", "holds", "undecided", "fails", "judged", "held", "places", "missed"]
_NEARNESS = ["deviance", *BIASES, "different"]
TABLE = ["algorithm", "criterion", "system"]  # the columns that identify a published table
ALL = "all"  # criteria under which a role was run


def over_seeds(frame: pd.DataFrame, by: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return median and range of columns in groups; all three are missing where any value of a group is."""
    grouped = frame.groupby(list(by), sort=False)[list(names)]
    middle, low, high = grouped.median(skipna=False), grouped.min(skipna=False), grouped.max(skipna=False)
    columns: dict[str, pd.Series] = {}
    for name in names:
        columns |= {name: middle[name], f"{name}_low": low[name], f"{name}_high": high[name]}
    return pd.DataFrame(columns).reset_index()


def change(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return median, range and an interval of the mean of the column ``change`` in groups; ``clear`` ones exclude 0.

    The screening has too few data seeds to tell how much a change varies. The change is compared with the ``spread`` of
    the measure, its standard deviation over the ``sets`` of all data seeds of the interpretation from which the changes
    depart. The interval is that of the mean difference of two independent sets of data seeds with this spread
    (Student's t): pairs vary less, so that it is too wide rather than too narrow. The intervals of all changes that are
    judged ``together`` have the coverage jointly (Bonferroni). The interval is missing where there is one data set.
    """
    grouped = differences.groupby(list(by), sort=False)
    changes = grouped["change"].agg(["median", "min", "max", "mean", "count"])
    constant = grouped[["spread", "sets", "together"]].first()
    quantile = stats.t.ppf(1 - (1 - CONFIDENCE) / 2 / constant["together"], constant["sets"] - 1)
    reach = quantile * constant["spread"] * (2 / changes["count"]) ** 0.5
    changes = changes.assign(interval_low=changes["mean"] - reach, interval_high=changes["mean"] + reach)
    changes["clear"] = (changes["interval_low"] > 0) | (changes["interval_high"] < 0)
    return changes.drop(columns=["mean", "count"]).rename(columns={"min": "low", "max": "high"}).reset_index()


def distances(values: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how far values stay from the published ones in groups, such as tables (`TABLE`) or systems.

    The deviances are medians over the data ``seeds``, ``different`` values are so on every data set.
    """
    rows = []
    values = values.assign(different=different(values, ["data_seed"]))
    for names, group in values.groupby(list(by), sort=False):
        deviances = group.groupby("data_seed")["deviance"].sum()
        between = median(own_deviances(group).values() or [math.nan])
        always = group.groupby(VALUE)["different"].all()
        limits = deviances.median(), deviances.min(), deviances.max()
        rows.append((*names, len(deviances), len(always), *limits, between, always.sum()))
    columns = ["seeds", "values", "deviance", "deviance_low", "deviance_high", "own_deviance", "different"]
    return pd.DataFrame(rows, columns=[*by, *columns])


def _spans(values: pd.DataFrame) -> dict[str, list[int]]:
    """Return the data seeds of a role's values: those of the screening's criterion, and of all criteria."""
    n_criteria = values.groupby("data_seed")["criterion"].nunique()
    spans = {SCREENED: sorted(values["data_seed"].unique())}
    if values["criterion"].nunique() > 1:
        spans[ALL] = sorted(n_criteria.index[n_criteria == n_criteria.max()])
    return spans


def _majority(verdicts: Sequence[Verdict]) -> tuple[Any, ...]:
    """Return the values of `_JUDGED` for the verdicts on a claim on several data seeds."""
    held = places = 0
    words: list[str] = []
    times_missed = Counter[str]()
    for verdict in verdicts:
        words.append(verdict.word)
        times_missed.update(verdict.missed)
        held += verdict.held
        places += verdict.places
    word = max(words, key=words.count, default=VERDICTS[None])
    if words and 2 * words.count(word) <= len(words):
        word = UNDECIDED
    missed = sorted(system for system, times in times_missed.items() if 2 * times > len(verdicts))
    counts = [words.count(verdict) for verdict in (VERDICTS[True], UNDECIDED, VERDICTS[False])]
    return word, *counts, len(verdicts), held, places, ", ".join(missed)


def _verdict_under(claim: Claim, pair: Pair, verdict_of: Mapping[tuple[str, ...], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the values of `_JUDGED` for a claim under a pair of interpretations, as far as it speaks of them."""
    texts = (text if name in claim.algorithms else "" for name, text in pair._asdict().items())
    return verdict_of.get((claim.id, *texts), (VERDICTS[None], 0, 0, 0, 0, 0, 0, ""))


def _spread(judged: int, holds: int) -> str:
    """Return under which of the interpretations that can judge it a claim holds: all, some or none."""
    if not judged:
        return "unjudged"
    if holds == judged:
        return "all"
    if holds:
        return "some"
    return "none"


class Findings:
    """All findings of a study on claims and on the published values, each computed when it is first used."""

    def __init__(self, study: InterpretationStudy, claims: Sequence[Claim]) -> None:
        self.study, self._claims = study, claims

    @cached_property
    def deviances(self) -> pd.DataFrame:
        """The nearness of each interpretation on each data seed, of an algorithm or of both together, under BIC."""
        parts = [*map(self.study.nearness, COMPARED), self.study.joint_nearness()]
        return pd.concat(parts, ignore_index=True)

    @cached_property
    def rankings(self) -> dict[str, pd.DataFrame]:
        """The interpretations of each algorithm and of both together (`JOINT`), the nearest first."""
        return {name: self._ranking(name) for name in (*COMPARED, JOINT)}

    @cached_property
    def _values(self) -> dict[str, pd.DataFrame]:
        """All published values, each once, with those of each role under every criterion."""
        values = {}
        for role, pair in self.roles.items():
            values[role] = self._values_of(pair)
        return values

    @cached_property
    def effects_overview(self) -> pd.DataFrame:
        """The change of the deviance by each single option; rank 1 has the largest change of its algorithm."""
        changes = self.effects[self.effects["measure"] == "deviance"]
        ranks = changes.groupby("algorithm").cumcount() + 1
        return framed("effects_overview", changes.assign(change=changes["median"], rank=ranks))

    @property
    def role_verdicts(self) -> pd.DataFrame:
        """The verdicts on each claim under the interpretations in a role."""
        return self._shown_verdicts[0]

    @property
    def option_verdicts(self) -> pd.DataFrame:
        """The verdicts on each claim under every single option that can matter."""
        return self._shown_verdicts[1]

    def _ranking(self, algorithm: str) -> pd.DataFrame:
        """Return the interpretations of an algorithm (or `JOINT`), the smallest median deviance of the screening first.

        ``names`` are those in the settings, ``changes`` how many differences from the baseline it has; the median
        ``own_deviance`` is missing for both together.
        """
        of_algorithm = self.deviances[self.deviances["algorithm"] == algorithm]
        screened = of_algorithm[of_algorithm["data_seed"].isin(self.study.screening)]
        ranked = over_seeds(screened, ["interpretation", "values"], _NEARNESS)
        ranked["changes"] = ranked["interpretation"].map(lambda text: len(self.study.chosen(text)))
        ranked = ranked.sort_values(["deviance", "changes", "interpretation"], ignore_index=True)
        texts, names = ranked["interpretation"], self._names(algorithm)
        ranked["names"] = [", ".join(names[text]) for text in texts]
        ranked["contradicts"] = list(map(self.study.contradictions, texts))
        ranked.insert(0, "place", ranked.index + 1)
        ranked["own_deviance"] = texts.map(self._deviances_between_seeds(algorithm)).astype(float)
        return ranked

    def _names(self, algorithm: str) -> dict[str, list[str]]:
        """Return the names in the settings of the interpretations of an algorithm (or `JOINT`), by text."""
        names = defaultdict(list)
        for name, chosen in self.study.choices.named.items():
            text = interpretation_text(self.study.choices, chosen, None if algorithm == JOINT else algorithm)
            # An interpretation of the other algorithm alone says nothing of this one.
            if text != BASELINE or not chosen:
                names[text].append(name)
        return names

    def _deviances_between_seeds(self, algorithm: str) -> dict[str, float]:
        """Return the median deviance between two data seeds of each interpretation that was run on several."""
        medians, compared = {}, self.study.compared
        for text, rows in compared[compared["algorithm"] == algorithm].groupby("interpretation"):
            deviances = own_deviances(rows).values()
            if deviances:
                medians[text] = median(deviances)
        return medians

    @cached_property
    def finalists(self) -> pd.DataFrame:
        """The interpretations that were run under every criterion, the closest first (`choice.finalists`)."""
        return finalists(self.study)

    @cached_property
    def roles(self) -> dict[str, Pair]:
        """The interpretations that are set side by side, by role, if they were run; two roles may have the same."""
        texts = {AS_DESCRIBED: BASELINE}
        reset = self.study.choices.named.get("reset")
        if reset is not None:
            texts[WITH_RESET] = interpretation_text(self.study.choices, reset)
        ranked = self.finalists
        if ranked.empty:
            ranked = self.rankings[JOINT]
        texts[CLOSEST] = ranked["interpretation"].iloc[0]
        was_run, roles = set(self.study.texts(UPSO)), {}
        for role, text in texts.items():
            pair = self.study.pair(text)
            if pair.upso2d in was_run:
                roles[role] = pair
        return roles

    @cached_property
    def nearness(self) -> pd.DataFrame:
        """How near each role is to the published tables, under the criterion of the screening and under all.

        There is a row for both algorithms together (`JOINT`) and one for each: terms that one selects too often can
        hide terms that the other selects too seldom. The data ``seeds`` are those on which a role was run under all
        ``criteria``. ``own_`` columns are of `own_deviances`, ``p_value`` is that of `rank_test`. Of the closest, which
        was chosen by the data seeds of the screening, the ``held_out`` deviance is the median over the other seeds, and
        the p value is of these too.
        """
        rows = []
        for role, values in self._values.items():
            for (criteria, seeds), name in product(_spans(values).items(), (JOINT, *COMPARED)):
                is_shown = values["data_seed"].isin(seeds)
                if criteria != ALL:
                    is_shown &= values["criterion"] == SCREENED
                if name != JOINT:
                    is_shown &= values["algorithm"] == name
                if is_shown.any():
                    nearness_of_role = self._nearness_of_role(role, values[is_shown])
                    rows.append(nearness_of_role.assign(role=role, criteria=criteria, seeds=len(seeds), algorithm=name))
        return framed("nearness", pd.concat(rows, ignore_index=True))

    def _nearness_of_role(self, role: str, values: pd.DataFrame) -> pd.DataFrame:
        """Return the row of a role with its distance from some published values."""
        unseen, held_out = values, math.nan
        if role == CLOSEST:
            unseen = values[~values["data_seed"].isin(self.study.screening)]
            held_out = unseen.groupby("data_seed")["deviance"].sum().median()
        text, test = self.study.joined(*values["interpretation"].unique()), rank_test(unseen)
        by_seed = nearness(values, ["data_seed"]).assign(interpretation=text)
        between = list(own_deviances(values).values()) or [math.nan]
        return over_seeds(by_seed, ["interpretation", "values"], _NEARNESS).assign(
            own_deviance=median(between),
            own_low=min(between),
            own_high=max(between),
            held_out=significant(held_out),
            p_value=test.p_value,
            orders=test.orders,
            farthest=", ".join(test.farthest),
            systems=test.systems,
        )

    @cached_property
    def _judged_values(self) -> dict[str, pd.DataFrame]:
        """The published values with those of each role, and of each other named interpretation with all criteria.

        What was chosen after seeing the tables is judged on data seeds that had no part in the choice, if it has any.
        """
        judged = dict(self._values)
        judged[CLOSEST] = self._unseen(judged[CLOSEST])
        in_role = {pair.upso2d for pair in self.roles.values()}
        for name, chosen in self.study.choices.named.items():
            pair = self.study.pair(interpretation_text(self.study.choices, chosen))
            if name not in judged and pair.upso2d in texts_under_all_criteria(self.study) - in_role:
                judged[name] = self._unseen(self._values_of(pair))
        return judged

    def _unseen(self, values: pd.DataFrame) -> pd.DataFrame:
        """Return the values of the data seeds that the screening did not see, or all if there are no others."""
        unseen = values[~values["data_seed"].isin(self.study.screening)]
        return values if unseen.empty else unseen

    def _values_of(self, pair: Pair) -> pd.DataFrame:
        """Return all published values, each once, with those of a pair of interpretations under every criterion."""
        conditions = self.study.conditions
        in_pair = conditions["interpretation"] == conditions["algorithm"].map(pair._asdict())
        return compare(conditions[in_pair], self.study.published.once)

    @cached_property
    def by_system(self) -> pd.DataFrame:
        """How near each judged interpretation is to the tables of each system, and how far out the paper lies there.

        The ``rank`` of the paper among the data sets and itself is that of `agreement.system_ranks`.
        """
        parts = []
        for role, values in self._judged_values.items():
            text = self.study.joined(*values["interpretation"].unique())
            for criteria, seeds in _spans(values).items():
                is_shown = values["data_seed"].isin(seeds)
                if criteria != ALL:
                    is_shown &= values["criterion"] == SCREENED
                rows = distances(values[is_shown], ["system"])
                if len(seeds) > 1:
                    rows = rows.merge(system_ranks(values[is_shown]))
                parts.append(rows.assign(role=role, criteria=criteria, interpretation=text))
        frame = pd.concat(parts, ignore_index=True)
        return framed("by_system", frame.reindex(columns=SCHEMAS.columns["by_system"]))

    @cached_property
    def by_table(self) -> pd.DataFrame:
        """How near each judged interpretation is to each table: of an algorithm, a criterion and a system."""
        parts = []
        for role, values in self._judged_values.items():
            text = self.study.joined(*values["interpretation"].unique())
            parts.append(distances(values, TABLE).assign(role=role, interpretation=text))
        return framed("by_table", pd.concat(parts, ignore_index=True))

    @cached_property
    def identities(self) -> pd.DataFrame:
        """The telling identities of the published counts, and where each finalist keeps them, on all its data seeds.

        An interpretation keeps an identity at ``held`` of ``published`` places: SNRs on data seeds.
        """
        checks, parts = identity_checks(self.study), []
        for text in self.finalists["interpretation"].unique():
            pair = self.study.pair(text)
            parts.append(kept_identities(checks, pair).assign(interpretation=text))
        if not parts:
            return pd.DataFrame()
        kept = pd.concat(parts, ignore_index=True)
        return telling_identities(self.study.published).merge(kept)

    @cached_property
    def inputs(self) -> pd.DataFrame:
        """The deviance on each system under every input with which a role was run, all else as it is in the role.

        Systems were excited by one input each, perhaps not by the same: deviances of systems add up, so that the best
        input of each can be read from the rows. They are medians over the data seeds of the screening, for 2D-UPSO and
        GA together. A role with one input has no row.
        """
        compared = self.study.compared
        screened = compared[compared["data_seed"].isin(self.study.screening)]
        deviances = screened.groupby([*BY_SEED, "system"])["deviance"].sum()
        rows = []
        for role, pair in self.roles.items():
            rest = self.study.chosen(*pair)
            rest.pop(INPUT, None)
            for option in self.study.choices.design_choices[INPUT].options:
                text = interpretation_text(self.study.choices, rest | {INPUT: option})
                texts = self.study.pair(text)._asdict()
                if all(text in self.study.texts(name) for name, text in texts.items()):
                    parts = map(deviances.__getitem__, texts.items())
                    of_both = pd.concat(parts).groupby(["data_seed", "system"]).sum()
                    for system, deviance in of_both.groupby("system").median().items():
                        rows.append((role, option, system, deviance))
        inputs = pd.DataFrame(rows, columns=["role", INPUT, "system", "deviance"])
        return inputs[inputs.groupby("role")[INPUT].transform("nunique") > 1].reset_index(drop=True)

    @cached_property
    def side_by_side(self) -> pd.DataFrame:
        """Each published value once with its values over the ``data_sets`` in each role, under every criterion.

        A value is ``different`` if it is so on every data set.
        """
        parts = []
        for role, values in self._values.items():
            parts.append(values.assign(role=role, different=different(values, ["data_seed"])))
        rows = pd.concat(parts)
        by = ["role", "interpretation", "table", *VALUE, "published"]
        reproduced = over_seeds(rows, by, ["reproduced"])
        grouped = rows.groupby(by, sort=False)
        reproduced["different"] = grouped["different"].all().to_numpy()
        reproduced["data_sets"] = grouped["data_seed"].nunique().to_numpy()
        terms = self.study.published.terms[["system", "label", "term"]]
        return framed("values", reproduced.merge(terms, how="left").fillna({"term": ""}))

    @cached_property
    def _role_frame(self) -> pd.DataFrame:
        """The interpretations in a role with ``role`` and ``algorithm``, each in its first role only."""
        rows = []
        for role, pair in self.roles.items():
            for algorithm, text in pair._asdict().items():
                rows.append((role, algorithm, text))
        roles = pd.DataFrame(rows, columns=["role", "algorithm", "interpretation"])
        return roles.drop_duplicates(["algorithm", "interpretation"])

    @cached_property
    def effects(self) -> pd.DataFrame:
        """The changes of deviance and biases by each single option; the largest change of the deviance comes first."""
        measures = self.deviances[self.deviances["algorithm"] != JOINT].set_index(BY_SEED)[["deviance", *BIASES]]
        baseline = measures.xs(BASELINE, level="interpretation").reindex(measures.index.droplevel("interpretation"))
        differences = measures - baseline.set_axis(measures.index)
        long = differences.melt(var_name="measure", value_name="change", ignore_index=False).reset_index()
        long = long.merge(self.study.options[["interpretation"]]).dropna()
        described = measures.xs(BASELINE, level="interpretation").groupby("algorithm")
        spreads = described.std().melt(var_name="measure", value_name="spread", ignore_index=False).reset_index()
        sets = long["algorithm"].map(described.size()).astype(float)
        together = long.groupby("algorithm")["interpretation"].transform("nunique")
        long = long.assign(sets=sets, together=together).merge(spreads)
        changes = change(long, ["algorithm", "interpretation", "measure"])
        of_deviance = changes[changes["measure"] == "deviance"]
        order = of_deviance.assign(size=-of_deviance["median"].abs().round(6))
        order = order.sort_values(["algorithm", "size", "interpretation"], ascending=[False, True, True])
        ordered = order[["algorithm", "interpretation"]].merge(changes)
        return ordered.merge(self.study.options, on="interpretation")

    @cached_property
    def closer(self) -> pd.DataFrame:
        """For each design choice, the single option that brings 2D-UPSO nearest, if it does so clearly."""
        changes = self.effects[(self.effects["algorithm"] == UPSO) & (self.effects["measure"] == "deviance")]
        nearer = changes[changes["clear"] & (changes["median"] < 0)][["interpretation", "design_choice", "median"]]
        options = self.rankings[UPSO].merge(nearer.rename(columns={"median": "change"}))
        options = options.drop_duplicates("design_choice", ignore_index=True)
        final = self.study.conditions_of(UPSO)[["problem", *DATA_SET, "interpretation", "median_fitness"]]
        final = final.fillna({"median_fitness": math.inf})
        described = final[final["interpretation"] == BASELINE].drop(columns="interpretation")
        both = final.merge(described, on=["problem", *DATA_SET], suffixes=("", "_described"))
        worse = both["median_fitness"] > both["median_fitness_described"] + SAME_J
        return options.assign(worse=options["interpretation"].map(worse.groupby(both["interpretation"]).mean()))

    @cached_property
    def ties(self) -> pd.DataFrame:
        """The changes of 2D-UPSO's deviance by interpretations, and by these with ties in random order."""
        upso = self.deviances[self.deviances["algorithm"] == UPSO]
        deviances = upso.pivot(index="data_seed", columns="interpretation", values="deviance")
        changes = deviances.sub(deviances[BASELINE], axis=0).median()
        rows = []
        for with_random_ties in deviances:
            parts = with_random_ties.split("+")
            if RANDOM_TIES not in parts:
                continue
            parts.remove(RANDOM_TIES)
            text = "+".join(parts) or BASELINE
            if text in deviances:
                rows.append((text, changes[text], changes[with_random_ties]))
        ties = pd.DataFrame(rows, columns=["interpretation", "change", "change_random"])
        return ties.sort_values(["change", "interpretation"], ignore_index=True)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The verdict on each claim under each interpretation that can matter to it.

        An algorithm that the claim does not speak of has none. Of the ``judged`` data seeds the claim ``holds``, is
        ``undecided`` and ``fails`` on so many; on more than half of them it misses clearly on the systems ``missed``.
        The ``verdict`` is that of more than half of them; where they disagree the claim is undecided.
        """
        rows_of = {group: claim_rows(rows) for group, rows in self.study.conditions.groupby(BY_SEED, sort=False)}
        verdicts = []
        for claim in self._claims:
            for pair in self._pairs_of(claim):
                views = self._views(pair, rows_of)
                # Some criteria were run on some of the data seeds.
                judged = [verdict for verdict in map(claim.judge, views) if verdict.holds is not None]
                verdicts.append((claim.id, *pair, *_majority(judged)))
        return pd.DataFrame(verdicts, columns=["claim", *COMPARED, *_JUDGED])

    def _pairs_of(self, claim: Claim) -> Iterator[Pair]:
        """Return the pairs of interpretations that can matter to a claim; "" stands for an algorithm without a part."""
        texts = [self.study.texts(name) if name in claim.algorithms else [""] for name in COMPARED]
        if all(map(all, texts)):
            return self.study.pairs()
        return starmap(Pair, product(*texts))

    def _views(self, pair: Pair, rows_of: Mapping[tuple[str, str, int], Sequence[Row]]) -> Iterator[ConditionsView]:
        """Yield the conditions of a pair of interpretations on each data seed on which all of them were run."""
        for seed in self.study.seeds:
            groups = [rows_of.get((name, text, seed)) for name, text in pair._asdict().items() if text]
            if None not in groups:
                yield ConditionsView(list(chain.from_iterable(filter(None, groups))))

    @cached_property
    def _shown_verdicts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The verdicts under the interpretations in a role, and those under every single option that can matter."""
        verdict_of = {row[:3]: row[3:] for row in self.verdicts.itertuples(index=False, name=None)}
        of_roles, of_options = [], []
        for claim in self._claims:
            for role, pair in self.roles.items():
                of_roles.append((claim.id, role, *_verdict_under(claim, pair, verdict_of)))
            options = self._single_options(claim)
            for text, part in zip(options["interpretation"], options["part"], strict=True):
                pair = Pair(*(text if part in (*SHARED_PARTS, name) else BASELINE for name in COMPARED))
                of_options.append((claim.id, text, *_verdict_under(claim, pair, verdict_of)))
        return framed("role_verdicts", of_roles), pd.DataFrame(of_options, columns=["claim", "option", *_JUDGED])

    def _single_options(self, claim: Claim) -> pd.DataFrame:
        """Return the single options that were run and can matter to a claim."""
        was_run = {*chain.from_iterable(map(self.study.texts, COMPARED))}
        options = self.study.options
        can_matter = options["part"].isin([*SHARED_PARTS, *claim.algorithms])
        return options[options["interpretation"].isin(was_run) & can_matter]

    @cached_property
    def claims(self) -> pd.DataFrame:
        """The verdicts on each claim; it holds under ``holds`` of the interpretations that can judge it."""
        on_paper = published_view(self.study.published)
        described = self.role_verdicts[self.role_verdicts["role"] == AS_DESCRIBED].set_index("claim")
        overview = []
        for claim in self._claims:
            verdicts = self.verdicts.loc[self.verdicts["claim"] == claim.id, "verdict"]
            judged, holds = int((verdicts != VERDICTS[None]).sum()), int((verdicts == VERDICTS[True]).sum())
            words = claim.judge(on_paper).word, *described.loc[claim.id, ["verdict", "holds"]]
            overview.append((claim.id, claim.title, *words, judged, holds, _spread(judged, holds)))
        return framed("claim_overview", overview)

    @cached_property
    def structures_found(self) -> pd.DataFrame:
        """How many runs of some searches end at exactly the true structure, under BIC on data as described."""
        rows = []
        for label, name, text in _SEARCHES:
            conditions = self.study.conditions_of(name).query("interpretation == @text")
            if conditions["data_seed"].nunique() < len(self.study.seeds):
                continue  # shares on other data do not compare
            for system, here in conditions.groupby("system", sort=False):
                by_seed = here.groupby("data_seed")[["runs", "exact_runs"]].sum()
                rates = (by_seed["exact_runs"] / by_seed["runs"]).map(significant)
                runs, exact = by_seed.sum()
                limits = significant(exact / runs), rates.min(), rates.max()
                rows.append((label, name, text, system, len(here), runs, exact, *limits))
        return framed("found", rows)

    @cached_property
    def contests(self) -> pd.DataFrame:
        """The number of SNRs and data seeds on which 2D-UPSO in a role has a lower median final J than a rival."""
        of_upso = self._role_frame.merge(self.study.conditions_of(UPSO)).drop(columns="interpretation")
        rivals = pd.concat(map(self.study.conditions_of, (GA, REFERENCE))).rename(columns={"algorithm": "rival"})
        rivals = rivals[["rival", "interpretation", "shared", *DATA_SET, "median_fitness"]]
        both = of_upso.merge(rivals, on=["shared", *DATA_SET], suffixes=("", "_rival"))
        # A missing J is infinite; of two infinite J none is lower.
        worst = both[["median_fitness", "median_fitness_rival"]].fillna(math.inf)
        excess = (worst["median_fitness"] - worst["median_fitness_rival"]).fillna(0.0)
        both = both.assign(lower=excess < -SAME_J, equal=excess.abs() <= SAME_J, higher=excess > SAME_J)
        by = ["role", "rival", "interpretation", "system"]
        return both.groupby(by, sort=False)[["lower", "equal", "higher"]].sum().reset_index()

    @cached_property
    def criteria(self) -> pd.DataFrame:
        """The scores of all criteria for the interpretations of 2D-UPSO that were run under more than one."""
        conditions = self.study.conditions[self.study.conditions["algorithm"] == UPSO]
        conditions = conditions[conditions.groupby("interpretation")["criterion"].transform("nunique") > 1]
        conditions = conditions.assign(met=[both_criteria(row).holds for row in claim_rows(conditions)], rows=1)
        by = ["interpretation", "criterion"]
        scores = conditions.groupby(by, sort=False)[["met", "rows", "exact_runs", "runs"]].sum().reset_index()
        compared = compare(conditions, self.study.published.once)
        if compared.empty:
            return pd.DataFrame()
        by_seed = nearness(compared, [*by, "data_seed"])
        return scores.merge(over_seeds(by_seed, by, ["deviance"]), how="left", on=by)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """The distances of J from the best known J of the same data, under the interpretations in a role.

        The best known J is the smallest that any run of any algorithm, or the true structure, has on the same data
        under the same criterion. A stronger GA and another search are shown as well. Gaps are missing where J is not
        finite or every run has data of its own. ``true_above`` counts the data seeds whose true structure is not best.
        """
        conditions = self.study.conditions
        lowest = conditions.assign(lowest=conditions[["best_fitness", "true_fitness"]].min(axis=1))
        best = lowest.groupby(["problem", *DATA_SET, "criterion"])["lowest"].transform("min")
        is_comparable = ~conditions["problem"].isin(self._problems_without_shared_data())
        gaps = {}
        for name in ("median", "best", "true"):
            gap = conditions[f"{name}_fitness"] - best
            # A difference of rounding alone is none.
            gaps[f"{name}_gap"] = gap.mask(gap <= SAME_J, 0.0).where(is_comparable)
        rows = self._searches_with_gaps().merge(conditions.assign(**gaps))
        rows = rows.assign(seeds=1, true_above=rows["true_gap"] > 0)
        by = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion"]
        counts = rows.groupby(by, sort=False)[["seeds", "true_above", "exact_runs", "runs"]].sum().reset_index()
        return over_seeds(rows, by, ["median_gap", "best_gap", "true_gap"]).merge(counts, on=by)

    def _searches_with_gaps(self) -> pd.DataFrame:
        """Return the interpretations in a role, a stronger GA, and another search on the same data."""
        in_role = self._role_frame.sort_values("algorithm", ascending=False, kind="stable")
        rows = []
        if STRONG_GA not in set(in_role["interpretation"]):
            rows.append((STRONG_GA_NAME, GA, STRONG_GA))
        data = dict.fromkeys(self.study.shared(pair.upso2d) for pair in self.roles.values())
        role_names = {BASELINE: AS_DESCRIBED}
        for text in data:
            rows.append((role_names.get(text, text), REFERENCE, text))
        return pd.concat([in_role, pd.DataFrame(rows, columns=in_role.columns)])

    def _problems_without_shared_data(self) -> list[str]:
        """Return the problems on which every run has data of its own: no J compares with that of another run."""
        problems = []
        for text in self.study.conditions["problem"].unique():
            settings = interpretation_settings(self.study.choices, self.study.chosen(text))
            if settings["data"]["realisation"] != "shared":
                problems.append(text)
        return problems
