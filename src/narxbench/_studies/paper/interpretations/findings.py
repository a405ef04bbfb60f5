"""The effects of the interpretations of the paper on its results, computed from the frame of conditions.

In frames, a quantity ``q`` of several data seeds has its median in ``q`` and its range from ``q_low`` to ``q_high``.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, product
from statistics import median
from typing import Any

import pandas as pd
from scipy import stats

from narxbench._numerics.intervals import LEVEL
from narxbench._numerics.rounding import significant
from narxbench._studies.paper.agreement import BIASES, compare, different, nearness, own_deviances, rank_test
from narxbench._studies.paper.claims import UPSO, VERDICTS, Claim, ConditionsView, Row, Verdict, claim_rows
from narxbench._studies.paper.frames import UNDECIDED, framed
from narxbench._studies.paper.identities import telling_identities
from narxbench._studies.paper.interpretations.choice import finalists, identity_checks, kept_identities
from narxbench._studies.paper.interpretations.nearness import (
    BY_SEED,
    COMPARED,
    FAR,
    JOINT,
    InterpretationStudy,
    Pair,
)
from narxbench._studies.paper.interpretations.settings import SCREENED
from narxbench._studies.paper.published import VALUE
from narxbench._study.design_choices import BASELINE, interpretation_text

AS_DESCRIBED, WITH_RESET, CLOSEST = "as described", "with reset", "closest"
# The findings that pages of other studies read too, each a frame with a schema.
FRAMES = ("nearness", "values", "role_verdicts")
_NEARNESS = ["deviance", *BIASES, "different"]
TABLE = ["algorithm", "criterion", "system"]  # the columns that identify a published table
ALL = "all"  # criteria under which a role was run


def over_seeds(frame: pd.DataFrame, by: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return median and range of columns in groups. All three are missing where any value of a group is."""
    grouped = frame.groupby(list(by), sort=False)[list(names)]
    middle, low, high = grouped.median(skipna=False), grouped.min(skipna=False), grouped.max(skipna=False)
    columns: dict[str, pd.Series] = {}
    for name in names:
        columns |= {name: middle[name], f"{name}_low": low[name], f"{name}_high": high[name]}
    return pd.DataFrame(columns).reset_index()


def change(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return median, range and an interval of the mean of the column ``change`` in groups. ``clear`` ones exclude 0.

    The screening has too few data seeds to estimate how much a change varies. The change is compared with the
    ``spread`` of the measure, its standard deviation over the ``sets`` of all data seeds of the interpretation from
    which the changes depart. The interval is that of the mean difference of two independent sets of data seeds with
    this spread (Student's t): pairs vary less, so that it is too wide rather than too narrow. The intervals of all
    changes that are judged ``together`` have the coverage jointly (Bonferroni). The interval is missing where there is
    one data set.
    """
    grouped = differences.groupby(list(by), sort=False)
    changes = grouped["change"].agg(["median", "min", "max", "mean", "count"])
    constant = grouped[["spread", "sets", "together"]].first()
    quantile = stats.t.ppf(1 - LEVEL / 2 / constant["together"], constant["sets"] - 1)
    reach = quantile * constant["spread"] * (2 / changes["count"]) ** 0.5
    changes = changes.assign(interval_low=changes["mean"] - reach, interval_high=changes["mean"] + reach)
    changes["clear"] = (changes["interval_low"] > 0) | (changes["interval_high"] < 0)
    return changes.drop(columns=["mean", "count"]).rename(columns={"min": "low", "max": "high"}).reset_index()


def _spans(values: pd.DataFrame) -> dict[str, list[int]]:
    """Return the data seeds of a role's values, under the criterion of the screening and under all criteria."""
    n_criteria = values.groupby("data_seed")["criterion"].nunique()
    spans = {SCREENED: sorted(values["data_seed"].unique())}
    if values["criterion"].nunique() > 1:
        spans[ALL] = sorted(n_criteria.index[n_criteria == n_criteria.max()])
    return spans


def _majority(verdicts: Sequence[Verdict]) -> tuple[Any, ...]:
    """Return verdict and counts of the frame ``role_verdicts`` for the verdicts on a claim on several data seeds."""
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


class Findings:
    """All findings of a study on claims and on the published values, each computed when it is first used."""

    def __init__(self, study: InterpretationStudy, claims: Sequence[Claim]) -> None:
        self.study, self._claims = study, claims

    @cached_property
    def finalists(self) -> pd.DataFrame:
        """The interpretations among which the closest is chosen, the closest first (`choice.finalists`)."""
        return finalists(self.study)

    @cached_property
    def roles(self) -> dict[str, Pair]:
        """The interpretations that are set side by side, by role, if they were run. Two roles may have the same."""
        texts = {AS_DESCRIBED: BASELINE}
        reset = self.study.choices.named.get("reset")
        if reset is not None:
            texts[WITH_RESET] = interpretation_text(self.study.choices, reset)
        texts[CLOSEST] = self.finalists["interpretation"].iloc[0]
        was_run, roles = set(self.study.texts(UPSO)), {}
        for role, text in texts.items():
            pair = self.study.pair(text)
            if pair[UPSO] in was_run:
                roles[role] = pair
        return roles

    @cached_property
    def _values(self) -> dict[str, pd.DataFrame]:
        """All published values, each once, beside the values of each role under every criterion."""
        conditions, values = self.study.conditions, {}
        for role, pair in self.roles.items():
            in_pair = conditions["interpretation"] == conditions["algorithm"].map(pair)
            values[role] = compare(conditions[in_pair], self.study.published.once)
        return values

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
            **test,
        )

    @cached_property
    def tables(self) -> pd.DataFrame:
        """The median deviance of each table of a role, and the median ``own_deviance`` between two of its data seeds.

        A table is ``near`` if its deviance is at most `FAR` times that between data seeds. The closest is judged on
        data seeds that had no part in its choice, if it has any.
        """
        rows = []
        for role, values in self._values.items():
            judged = values
            if role == CLOSEST:
                unseen = values[~values["data_seed"].isin(self.study.screening)]
                judged = values if unseen.empty else unseen
            for table, of_table in judged.groupby(TABLE, sort=False):
                by_seed = of_table.groupby("data_seed")["deviance"].sum()
                between = median(own_deviances(of_table).values() or [math.nan])
                rows.append((role, *table, len(by_seed), by_seed.median(), between))
        tables = pd.DataFrame(rows, columns=["role", *TABLE, "seeds", "deviance", "own_deviance"])
        return tables.assign(near=tables["deviance"] <= FAR * tables["own_deviance"])

    @cached_property
    def relations(self) -> pd.DataFrame:
        """The exact relations between published counts that chance does not explain, and where each role keeps them.

        A role keeps a relation at ``held`` of ``published`` places: SNRs on data seeds.
        """
        checks, parts = identity_checks(self.study), []
        for role, pair in self.roles.items():
            parts.append(kept_identities(checks, pair).assign(role=role))
        return telling_identities(self.study.published).merge(pd.concat(parts))

    @cached_property
    def values(self) -> pd.DataFrame:
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
    def effects(self) -> pd.DataFrame:
        """The changes of deviance and biases by each single option. The largest change of the deviance comes first."""
        deviances = pd.concat(map(self.study.nearness, COMPARED), ignore_index=True)
        measures = deviances.set_index(BY_SEED)[["deviance", *BIASES]]
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

    def changes_of_deviance(self, algorithm: str) -> pd.DataFrame:
        """Return the change of an algorithm's deviance by each single option, the largest first."""
        effects = self.effects
        return effects[(effects["algorithm"] == algorithm) & (effects["measure"] == "deviance")]

    @cached_property
    def role_verdicts(self) -> pd.DataFrame:
        """The verdict on each claim in each role: the one on more than half of its data seeds, or undecided.

        Of the ``judged`` data seeds, the columns ``holds``, ``undecided`` and ``fails`` count those with each verdict.
        On more than half of them the claim misses clearly on the systems ``missed``.
        """
        rows_of = {group: claim_rows(rows) for group, rows in self.study.conditions.groupby(BY_SEED, sort=False)}
        verdicts = []
        for claim in self._claims:
            for role, pair in self.roles.items():
                texts = {name: text for name, text in pair.items() if name in claim.algorithms}
                # Some criteria were run on some of the data seeds.
                views = self._views(texts, rows_of)
                judged = [verdict for verdict in map(claim.judge, views) if verdict.holds is not None]
                verdicts.append((claim.id, role, *_majority(judged)))
        return framed("role_verdicts", verdicts)

    def _views(
        self, texts: Mapping[str, str], rows_of: Mapping[tuple[str, str, int], Sequence[Row]]
    ) -> Iterator[ConditionsView]:
        """Yield the conditions of each algorithm's interpretation on each data seed on which all of them were run."""
        for seed in self.study.seeds:
            groups = [rows_of.get((name, text, seed)) for name, text in texts.items()]
            if None not in groups:
                yield ConditionsView(list(chain.from_iterable(filter(None, groups))))
