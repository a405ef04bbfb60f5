"""What the interpretations of the paper do to its results; everything is computed from the frame of conditions.

A quantity ``q`` of several data seeds stands in frames as its median ``q`` and its range ``q_low`` to ``q_high``.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from statistics import median
from typing import Any

import pandas as pd
from scipy import stats

from narxbench.numerics.rounding import significant
from narxbench.studies.paper.agreement import BIASES, compare, different, nearness, own_deviances, rank_test
from narxbench.studies.paper.causes import SAME_J
from narxbench.studies.paper.claims import (
    GA,
    UPSO,
    VERDICTS,
    Claim,
    ConditionsView,
    both_criteria,
    claim_rows,
    published_view,
)
from narxbench.studies.paper.frames import UNCLEAR, framed
from narxbench.studies.paper.interpretations.nearness import (
    BY_SEED,
    COMPARED,
    DATA_SET,
    JOINT,
    SCREENED,
    InterpretationStudy,
    Pair,
)
from narxbench.studies.paper.published import VALUE
from narxbench.study.design_choices import BASELINE, SHARED_PARTS, interpretation_settings, interpretation_text

CONFIDENCE = 0.95
INPUT = "input"  # the design choice of the input signal
# Searches that the paper does not have, on the same data.
REFERENCES = ("multistart", "stepwise")
# A GA that is known to be stronger than the one as described; it is shown however near it comes.
STRONG_GA = "selection=tournament+crossover=uniform+elitism=on"
STRONG_GA_NAME = "tournament, uniform crossover, elitism"
RANDOM_TIES = "ties=random"
AS_DESCRIBED, WITH_RESET, CLOSEST = "as described", "with reset", "closest"

# The searches whose exact structures are counted on data as described: label, algorithm, interpretation.
_SEARCHES = (
    ("multistart", "multistart", BASELINE),
    ("stepwise (add/drop/swap)", "stepwise", BASELINE),
    (f"GA ({STRONG_GA_NAME})", GA, STRONG_GA),
    ("2D-UPSO, as described", UPSO, BASELINE),
    ("GA, as described", GA, BASELINE),
)
# The findings that pages of other studies read too, each a frame with a schema.
FRAMES = ("nearness", "claim_overview", "role_verdicts", "found", "effects_overview")
_JUDGED = ["verdict", "seeds", "judged", "held", "places", "missed"]
_NEARNESS = ["deviance", *BIASES, "different"]
_ROLE = ["role", "criteria", "seeds", "algorithm", "interpretation"]
ALL = "all"  # criteria under which a role was run


def over_seeds(frame: pd.DataFrame, by: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return median and range of columns in groups; all three are missing where any value of a group is."""
    grouped = frame.groupby(list(by), sort=False)[list(names)]
    found = {"": grouped.median(skipna=False), "_low": grouped.min(skipna=False), "_high": grouped.max(skipna=False)}
    return pd.DataFrame({f"{name}{end}": of[name] for name in names for end, of in found.items()}).reset_index()


def change(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return median, range and an interval of the mean of the column ``change`` in groups; ``clear`` ones exclude 0.

    The screening has too few data seeds to tell how much a change varies. It is set against the ``spread`` of the
    measure, its standard deviation over the ``sets`` of all data seeds of the interpretation from which the changes
    depart. The interval is that of the mean difference of two independent sets of data seeds with this spread
    (Student's t): pairs vary less, so that it is too wide rather than too narrow. All intervals of the changes judged
    ``together`` have the coverage (Bonferroni). It is missing where there is one data set.
    """
    grouped = differences.groupby(list(by), sort=False)
    found = grouped["change"].agg(["median", "min", "max", "mean", "count"])
    constant = grouped[["spread", "sets", "together"]].first()
    quantile = stats.t.ppf(1 - (1 - CONFIDENCE) / 2 / constant["together"], constant["sets"] - 1)
    reach = quantile * constant["spread"] * (2 / found["count"]) ** 0.5
    found = found.assign(interval_low=found["mean"] - reach, interval_high=found["mean"] + reach)
    found["clear"] = (found["interval_low"] > 0) | (found["interval_high"] < 0)
    return found.drop(columns=["mean", "count"]).rename(columns={"min": "low", "max": "high"}).reset_index()


class Findings:
    """All findings of a study on claims and on the published values, each computed when it is asked for."""

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
        known, texts = self.study.conditions, self.study.conditions["interpretation"]
        of_role = {role: known[texts == known["algorithm"].map(pair._asdict())] for role, pair in self.roles.items()}
        return {role: compare(own, self.study.published.once) for role, own in of_role.items()}

    @cached_property
    def effects_overview(self) -> pd.DataFrame:
        """What each single option changes of the deviance; rank 1 has the largest change of its algorithm."""
        own = self.effects[self.effects["measure"] == "deviance"]
        ranks = own.groupby("algorithm").cumcount() + 1
        return framed("effects_overview", own.assign(change=own["median"], rank=ranks))

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
        ``own_deviance`` is missing for both together; those ``near`` the closest have no clear change of the deviance.
        """
        names = defaultdict(list)
        for name, chosen in self.study.choices.named.items():
            names[interpretation_text(self.study.choices, chosen, None if algorithm == JOINT else algorithm)].append(
                name
            )
        own = self.deviances[
            (self.deviances["algorithm"] == algorithm) & self.deviances["data_seed"].isin(self.study.screening)
        ]
        ranked = over_seeds(own, ["interpretation", "values"], _NEARNESS)
        ranked["changes"] = [len(self.study.chosen(text)) for text in ranked["interpretation"]]
        ranked = ranked.sort_values(["deviance", "changes", "interpretation"], ignore_index=True)
        texts = ranked["interpretation"]
        ranked["names"] = [", ".join(names[text]) for text in texts]
        ranked["contradicts"] = [self.study.contradictions(text) for text in texts]
        ranked.insert(0, "place", ranked.index + 1)
        compared = self.study.compared[self.study.compared["algorithm"] == algorithm]
        own_of = {text: own_deviances(rows).values() for text, rows in compared.groupby("interpretation")}
        ranked["own_deviance"] = texts.map({text: median(own) for text, own in own_of.items() if own}).astype(float)
        if ranked.empty:
            return ranked.assign(near=False)
        by_text = own.pivot(index="data_seed", columns="interpretation", values="deviance")
        beyond = by_text.sub(by_text[texts[0]], axis=0).drop(columns=texts[0]).melt(value_name="change")
        of_closest = self.deviances[
            (self.deviances["algorithm"] == algorithm) & (self.deviances["interpretation"] == texts[0])
        ]
        spread = {"spread": of_closest["deviance"].std(), "sets": len(of_closest), "together": len(ranked) - 1}
        found = change(beyond.assign(**spread), ["interpretation"]).dropna()
        return ranked.assign(near=texts.isin([texts[0], *found.loc[~found["clear"], "interpretation"]]))

    @cached_property
    def roles(self) -> dict[str, Pair]:
        """The interpretations that are set side by side, by role, if they were run; two roles may have the same."""
        texts = {AS_DESCRIBED: BASELINE}
        if (reset := self.study.choices.named.get("reset")) is not None:
            texts[WITH_RESET] = interpretation_text(self.study.choices, reset)
        texts[CLOSEST] = self.rankings[JOINT]["interpretation"].iloc[0]
        pairs = {role: self.study.pair(text) for role, text in texts.items()}
        return {role: pair for role, pair in pairs.items() if pair.upso2d in self.study.texts(UPSO)}

    @cached_property
    def nearness(self) -> pd.DataFrame:
        """How near each role is to the published tables, under the criterion of the screening and under all.

        There is a row for both algorithms together (`JOINT`) and one for each: what the one selects too often can hide
        what the other selects too seldom. The data ``seeds`` are those on which a role was run under all ``criteria``.
        ``own_`` columns are of `own_deviances`, ``p_value`` is that of `rank_test`. Of the closest, which was chosen by
        the data seeds of the screening, the ``held_out`` deviance is the median over the others, as the p value is.
        """
        rows = []
        for role, compared in self._values.items():
            everywhere = sorted(compared["data_seed"].unique())
            under_all = compared.groupby("data_seed")["criterion"].nunique()
            spans = {SCREENED: everywhere}
            if compared["criterion"].nunique() > 1:
                spans[ALL] = sorted(under_all.index[under_all == under_all.max()])
            for (criteria, seeds), name in product(spans.items(), (JOINT, *COMPARED)):
                own = compared[compared["data_seed"].isin(seeds)]
                own = own if criteria == ALL else own[own["criterion"] == SCREENED]
                own = own if name == JOINT else own[own["algorithm"] == name]
                if own.empty:
                    continue
                unseen = own if role != CLOSEST else own[~own["data_seed"].isin(self.study.screening)]
                text = self.study.joined(*own["interpretation"].unique())
                by_seed = nearness(own, ["data_seed"]).assign(role=role, criteria=criteria, algorithm=name)
                by_seed = by_seed.assign(interpretation=text, seeds=len(seeds))
                found = over_seeds(by_seed, [*_ROLE, "values"], _NEARNESS)
                between = list(own_deviances(own).values()) or [math.nan]
                found = found.assign(own_deviance=median(between), own_low=min(between), own_high=max(between))
                held = unseen.groupby("data_seed")["deviance"].sum().median() if role == CLOSEST else math.nan
                rows.append(found.assign(held_out=significant(held), p_value=rank_test(unseen)))
        return framed("nearness", pd.concat(rows, ignore_index=True))

    @cached_property
    def inputs(self) -> pd.DataFrame:
        """The deviance on each system under every input with which a role was run, all else as it is in the role.

        Systems were excited by one input each, perhaps not by the same: deviances of systems add up, so that the best
        input of each can be read from the rows. They are medians over the data seeds of the screening, for 2D-UPSO and
        GA together. A role with one input has no row.
        """
        screened = self.study.compared[self.study.compared["data_seed"].isin(self.study.screening)]
        totals = screened.groupby([*BY_SEED, "system"])["deviance"].sum()
        rows = []
        for role, pair in self.roles.items():
            others = {name: option for name, option in self.study.chosen(*pair).items() if name != INPUT}
            for option in self.study.choices.design_choices[INPUT].options:
                text = interpretation_text(self.study.choices, others | {INPUT: option})
                texts = self.study.pair(text)._asdict().items()
                if all(text in self.study.texts(name) for name, text in texts):
                    of_both = pd.concat(totals[of] for of in texts).groupby(["data_seed", "system"]).sum()
                    rows += [(role, option, *of) for of in of_both.groupby("system").median().items()]
        found = pd.DataFrame(rows, columns=["role", INPUT, "system", "deviance"])
        return found[found.groupby("role")[INPUT].transform("nunique") > 1].reset_index(drop=True)

    @cached_property
    def remaining(self) -> pd.DataFrame:
        """How far as described and the closest stay from each table: of an algorithm, a criterion and a system."""
        by = ["algorithm", "criterion", "system"]

        def distances(of_role: pd.DataFrame) -> pd.DataFrame:
            rows = []
            for group, own in of_role.assign(different=different(of_role, ["data_seed"])).groupby(by, sort=False):
                middle = own.groupby("data_seed")["deviance"].sum().median()
                always = own.groupby(VALUE)["different"].all()
                rows.append(
                    (*group, len(always), middle, median(own_deviances(own).values() or [math.nan]), always.sum())
                )
            return pd.DataFrame(rows, columns=[*by, "values", "deviance", "own_deviance", "different"])

        described = distances(self._values[AS_DESCRIBED])[[*by, "deviance", "own_deviance"]]
        described = described.rename(columns={name: f"described_{name}" for name in ("deviance", "own_deviance")})
        return described.merge(distances(self._values[CLOSEST]), on=by)

    @cached_property
    def side_by_side(self) -> pd.DataFrame:
        """Each published value once with what the roles reproduce over the data seeds, under every criterion."""
        rows = pd.concat(
            [of.assign(role=role, different=different(of, ["data_seed"])) for role, of in self._values.items()]
        )
        by = ["role", "interpretation", "table", *VALUE, "published"]
        found = over_seeds(rows, by, ["reproduced"])
        found["different"] = rows.groupby(by, sort=False)["different"].all().to_numpy()
        return found.merge(self.study.published.terms[["system", "label", "term"]], how="left").fillna({"term": ""})

    @cached_property
    def _role_frame(self) -> pd.DataFrame:
        """The interpretations in a role with ``role`` and ``algorithm``, each in its first role only."""
        rows = [(role, *of) for role, pair in self.roles.items() for of in pair._asdict().items()]
        found = pd.DataFrame(rows, columns=["role", "algorithm", "interpretation"])
        return found.drop_duplicates(["algorithm", "interpretation"])

    @cached_property
    def effects(self) -> pd.DataFrame:
        """What each single option changes of deviance and biases; the largest change of the deviance first."""
        measures = self.deviances[self.deviances["algorithm"] != JOINT].set_index(BY_SEED)[["deviance", *BIASES]]
        baseline = measures.xs(BASELINE, level="interpretation").reindex(measures.index.droplevel("interpretation"))
        differences = measures - baseline.set_axis(measures.index)
        long = differences.melt(var_name="measure", value_name="change", ignore_index=False).reset_index()
        long = long.merge(self.study.options[["interpretation"]]).dropna()
        described = measures.xs(BASELINE, level="interpretation").groupby("algorithm")
        spreads = described.std().melt(var_name="measure", value_name="spread", ignore_index=False).reset_index()
        sets = long["algorithm"].map(described.size())
        together = long.groupby("algorithm")["interpretation"].transform("nunique")
        long = long.assign(sets=sets, together=together).merge(spreads)
        found = change(long, ["algorithm", "interpretation", "measure"])
        order = found[found["measure"] == "deviance"].assign(size=lambda of: -of["median"].abs().round(6))
        order = order.sort_values(["algorithm", "size", "interpretation"], ascending=[False, True, True])
        return order[["algorithm", "interpretation"]].merge(found).merge(self.study.options, on="interpretation")

    @cached_property
    def closer(self) -> pd.DataFrame:
        """Return, of each design choice, the single option that brings 2D-UPSO nearest, if it does so clearly."""
        own = self.effects[(self.effects["algorithm"] == UPSO) & (self.effects["measure"] == "deviance")]
        own = own[own["clear"] & (own["median"] < 0)][["interpretation", "design_choice", "median"]]
        found = (
            self.rankings[UPSO]
            .merge(own.rename(columns={"median": "change"}))
            .drop_duplicates("design_choice", ignore_index=True)
        )
        known = self.study.of(UPSO)[["problem", *DATA_SET, "interpretation", "median_fitness"]]
        known = known.fillna({"median_fitness": math.inf})
        described = known[known["interpretation"] == BASELINE].drop(columns="interpretation")
        both = known.merge(described, on=["problem", *DATA_SET], suffixes=("", "_described"))
        worse = both["median_fitness"] > both["median_fitness_described"] + SAME_J
        return found.assign(worse=found["interpretation"].map(worse.groupby(both["interpretation"]).mean()))

    @cached_property
    def ties(self) -> pd.DataFrame:
        """What random order of equally likely terms leaves of the change of deviance that others make in 2D-UPSO."""
        own = self.deviances[self.deviances["algorithm"] == UPSO].pivot(
            index="data_seed", columns="interpretation", values="deviance"
        )
        changes = own.sub(own[BASELINE], axis=0).median()
        rows = [
            (text, changes[text], changes[both])
            for both in own
            if RANDOM_TIES in both.split("+")
            and (text := "+".join(part for part in both.split("+") if part != RANDOM_TIES) or BASELINE) in own
        ]
        found = pd.DataFrame(rows, columns=["interpretation", "change", "change_random"])
        return found.sort_values(["change", "interpretation"], ignore_index=True)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The verdict on each claim under each interpretation that can matter to it.

        An algorithm that the claim does not speak of has none. The claim holds on ``seeds`` of the ``judged`` data
        seeds; on more than half of them it misses clearly on the systems ``missed``. The ``verdict`` is that of more
        than half of them; where they disagree there is no clear difference.
        """
        texts = {name: self.study.texts(name) for name in COMPARED}
        rows = {of: claim_rows(group) for of, group in self.study.conditions.groupby(BY_SEED, sort=False)}
        found = []
        for claim in self._claims:
            # An algorithm that a claim does not speak of has one interpretation, without any row.
            own = [texts[name] if name in claim.algorithms else [""] for name in COMPARED]
            pairs = self.study.pairs() if all(map(all, own)) else (Pair(a, b) for a in own[0] for b in own[1])
            for pair in pairs:
                named = [(name, text) for name, text in pair._asdict().items() if text]
                known = (seed for seed in self.study.seeds if all((*name, seed) in rows for name in named))
                views = (ConditionsView([row for name in named for row in rows[*name, seed]]) for seed in known)
                # Some criteria were run on some of the data seeds.
                judged = [verdict for view in views if (verdict := claim.judge(view)).holds is not None]
                words = [verdict.word for verdict in judged]
                most = max(words, key=words.count, default=VERDICTS[None])
                majority = most if not words or 2 * words.count(most) > len(words) else UNCLEAR
                missed = Counter(system for verdict in judged for system in verdict.missed)
                found.append(
                    (
                        *(claim.id, *pair, majority, words.count(VERDICTS[True]), len(judged)),
                        *(sum(verdict.held for verdict in judged), sum(verdict.places for verdict in judged)),
                        ", ".join(sorted(system for system, times in missed.items() if 2 * times > len(judged))),
                    )
                )
        return pd.DataFrame(found, columns=["claim", *COMPARED, *_JUDGED])

    @cached_property
    def _shown_verdicts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The verdicts under the interpretations in a role, and those under every single option that can matter."""
        known = {row[:3]: row[3:] for row in self.verdicts.itertuples(index=False, name=None)}
        run = {text for name in COMPARED for text in self.study.texts(name)}
        options = self.study.options[self.study.options["interpretation"].isin(run)]
        found: dict[bool, list[tuple[Any, ...]]] = {False: [], True: []}
        for claim in self._claims:
            own = options[options["part"].isin([*SHARED_PARTS, *claim.algorithms])]
            single = {
                text: Pair(*(text if part in (*SHARED_PARTS, name) else BASELINE for name in COMPARED))
                for text, part in zip(own["interpretation"], own["part"], strict=True)
            }
            for name, pair in {**self.roles, **single}.items():
                spoken = (text if of in claim.algorithms else "" for of, text in pair._asdict().items())
                judged = known.get((claim.id, *spoken), (VERDICTS[None], 0, 0, 0, 0, ""))
                found[name in single].append((claim.id, name, *judged))
        of_options = pd.DataFrame(found[True], columns=["claim", "option", *_JUDGED])
        return framed("role_verdicts", found[False]), of_options

    @cached_property
    def claims(self) -> pd.DataFrame:
        """The verdicts on each claim; it holds under ``holds`` of the interpretations that can judge it."""
        on_paper = published_view(self.study.published)
        described = self.role_verdicts[self.role_verdicts["role"] == AS_DESCRIBED].set_index("claim")
        found = []
        for claim in self._claims:
            own = self.verdicts.loc[self.verdicts["claim"] == claim.id, "verdict"]
            judged, holds = int((own != VERDICTS[None]).sum()), int((own == VERDICTS[True]).sum())
            group = "unjudged" if not judged else "all" if holds == judged else "some" if holds else "none"
            words = claim.judge(on_paper).word, *described.loc[claim.id, ["verdict", "seeds"]]
            found.append((claim.id, claim.title, *words, judged, holds, group))
        return framed("claim_overview", found)

    @cached_property
    def found(self) -> pd.DataFrame:
        """How many runs of some searches end at exactly the true structure, under BIC on data as described."""
        rows = []
        for label, name, text in _SEARCHES:
            own = self.study.of(name).query("interpretation == @text")
            if own["data_seed"].nunique() < len(self.study.seeds):
                continue  # shares on other data do not compare
            for system, here in own.groupby("system", sort=False):
                by_seed = here.groupby("data_seed")[["runs", "exact_runs"]].sum()
                rates = (by_seed["exact_runs"] / by_seed["runs"]).map(significant)
                runs, exact = by_seed.sum()
                limits = significant(exact / runs), rates.min(), rates.max()
                rows.append((label, name, text, system, len(here), runs, exact, *limits))
        return framed("found", rows)

    @cached_property
    def contests(self) -> pd.DataFrame:
        """On how many SNRs and data seeds the median final J of 2D-UPSO in a role is lower than that of rivals."""
        own = self._role_frame.merge(self.study.of(UPSO)).drop(columns="interpretation")
        rivals = pd.concat([self.study.of(name) for name in (GA, *REFERENCES)]).rename(columns={"algorithm": "rival"})
        rivals = rivals[["rival", "interpretation", "shared", *DATA_SET, "median_fitness"]]
        both = own.merge(rivals, on=["shared", *DATA_SET], suffixes=("", "_rival"))
        # Missing is infinite; of two infinite J none is lower.
        worst = both[["median_fitness", "median_fitness_rival"]].fillna(math.inf)
        excess = (worst["median_fitness"] - worst["median_fitness_rival"]).fillna(0.0)
        both = both.assign(lower=excess < -SAME_J, equal=excess.abs() <= SAME_J, higher=excess > SAME_J)
        by = ["role", "rival", "interpretation", "system"]
        return both.groupby(by, sort=False)[["lower", "equal", "higher"]].sum().reset_index()

    @cached_property
    def criteria(self) -> pd.DataFrame:
        """The scores of all criteria for the interpretations of 2D-UPSO that were run under more than one."""
        known = self.study.conditions[self.study.conditions["algorithm"] == UPSO]
        known = known[known.groupby("interpretation")["criterion"].transform("nunique") > 1]
        known = known.assign(met=[both_criteria(row).holds for row in claim_rows(known)], rows=1)
        by = ["interpretation", "criterion"]
        found = known.groupby(by, sort=False)[["met", "rows", "exact_runs", "runs"]].sum().reset_index()
        compared = compare(known, self.study.published.once)
        if compared.empty:
            return pd.DataFrame()
        by_seed = nearness(compared, [*by, "data_seed"])
        return found.merge(over_seeds(by_seed, by, ["deviance"]), how="left", on=by)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """How far J lies above the best known J of the same data, under the interpretations in a role.

        The best known J is the smallest that any run of any algorithm, or the true structure, has on the same data
        under the same criterion. A stronger GA and other searches are shown as well. Gaps are missing where one is not
        finite or every run has data of its own. ``true_above`` counts the data seeds whose true structure is not best.
        """
        named = self._role_frame.sort_values("algorithm", ascending=False, kind="stable")
        data = dict.fromkeys(self.study.shared(pair.upso2d) for pair in self.roles.values())
        more = [(AS_DESCRIBED if text == BASELINE else text, name, text) for name in REFERENCES for text in data]
        if STRONG_GA not in [pair.ga for pair in self.roles.values()]:
            more.insert(0, (STRONG_GA_NAME, GA, STRONG_GA))
        known = self.study.conditions
        best = known[["best_fitness", "true_fitness"]].min(axis=1)
        best = best.groupby([known[name] for name in ("problem", *DATA_SET, "criterion")]).transform("min")
        settings = {
            text: interpretation_settings(self.study.choices, self.study.chosen(text))
            for text in known["problem"].unique()
        }
        # Runs with data of their own: no J can be compared with that of another run.
        own = known["problem"].isin([text for text, of in settings.items() if of["data"]["realisation"] == "per_run"])
        above = {f"{name}_gap": known[f"{name}_fitness"] - best for name in ("median", "best", "true")}
        # A difference of rounding alone is none.
        known = known.assign(**{name: gap.mask(gap <= SAME_J, 0.0).mask(own) for name, gap in above.items()})
        known = pd.concat([named, pd.DataFrame(more, columns=named.columns)]).merge(known)
        known = known.assign(seeds=1, true_above=known["true_gap"] > 0)
        by = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion"]
        counts = known.groupby(by, sort=False)[["seeds", "true_above", "exact_runs", "runs"]].sum().reset_index()
        return over_seeds(known, by, ["median_gap", "best_gap", "true_gap"]).merge(counts, on=by)
