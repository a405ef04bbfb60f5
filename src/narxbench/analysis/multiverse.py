"""What the interpretations of the paper do to its results; everything is computed from the frame of conditions."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import pandas as pd
from scipy import stats

from narxbench.analysis.agreement import clearly_different, compare, distances
from narxbench.analysis.claims import CRITERIA, GA, SPARSE, UPSO, Claim, Row, View, claim_rows, meets_both, published_view
from narxbench.analysis.multiverse_frame import (
    BY_SEED,
    COMPARED,
    DATA_SET,
    JOINT,
    SCREENED,
    Multiverse,
    Pair,
    joint_distances,
)
from narxbench.analysis.published import METRICS, Published
from narxbench.experiment.interpretations import BASELINE, SHARED_PARTS, interpretation_settings, interpretation_text

# Final J are stored to six decimals, so that two of them may differ by their rounding alone.
SAME_J = 1.5e-6
CONFIDENCE = 0.95
REFERENCE = "stepwise"
# A GA that is known to be stronger than the baseline's, which is shown whatever its distance is.
STRONG_GA = "selection=tournament+elitism=on"
ROLES = ("baseline", "default", "closest", "closest without contradiction")

# How verdicts are told.
VERDICTS = {True: "holds", False: "does not hold", None: "cannot be judged"}

_PLACE = ["table", "algorithm", "system", "snr_db", "metric", "label", "term"]
_DISTANCES = ["distance", *METRICS, "different"]

T = TypeVar("T")


@dataclass(frozen=True)
class Findings:
    """All findings of a multiverse.

    A quantity ``q`` of several data seeds stands in frames as its median ``q`` and its range ``q_low`` to ``q_high``.

    Attributes
    ----------
    distances : DataFrame
        `Multiverse.distances` of 2D-UPSO and GA, and `joint_distances`.
    rankings : dict of DataFrame
        By algorithm, and for both together: `ranking`.
    roles : dict of Pair
        The interpretations that are set side by side, by role (`find_roles`).
    shown : dict of dict
        By algorithm, the texts of its interpretations in ``roles`` that are complete, by role.
    """

    multiverse: Multiverse
    distances: pd.DataFrame
    rankings: Mapping[str, pd.DataFrame]
    roles: Mapping[str, Pair]
    shown: Mapping[str, Mapping[str, str]]
    whole: pd.DataFrame
    effects: pd.DataFrame
    interactions: pd.DataFrame
    side_by_side: pd.DataFrame
    unexplained: pd.DataFrame
    verdicts: pd.DataFrame
    shown_verdicts: pd.DataFrame
    claims: pd.DataFrame
    contests: pd.DataFrame
    criteria: pd.DataFrame
    gaps: pd.DataFrame


def analyse(multiverse: Multiverse, claims: Sequence[Claim]) -> Findings:
    """Return all findings on ``claims`` and on the published values."""
    own = {name: multiverse.distances(name) for name in COMPARED}
    by_seed = pd.concat([*own.values(), joint_distances(multiverse, *own.values())], ignore_index=True)
    rankings = {name: ranking(multiverse, by_seed, name) for name in (*COMPARED, JOINT)}
    roles = find_roles(multiverse, rankings[JOINT])
    shown = {
        name: _sharing((role, pair[index]) for role, pair in roles.items() if pair[index] in multiverse.complete(name))
        for index, name in enumerate(COMPARED)
    }
    values = compared_values(multiverse)
    verdicts = claim_verdicts(multiverse, claims)
    in_view = shown_verdicts(multiverse, claims, verdicts, roles)
    return Findings(
        multiverse=multiverse,
        distances=by_seed,
        rankings=rankings,
        roles=roles,
        shown=shown,
        whole=whole_distances(multiverse, roles),
        effects=effects(multiverse, by_seed),
        interactions=interactions(by_seed),
        side_by_side=side_by_side(values, roles),
        unexplained=unexplained(values, {name: with_role("closest", of) for name, of in shown.items()}),
        verdicts=verdicts,
        shown_verdicts=in_view,
        claims=claim_overview(claims, multiverse.published, verdicts, in_view),
        contests=contests(multiverse, shown[UPSO]),
        criteria=criterion_scores(multiverse),
        gaps=gaps(multiverse, shown),
    )


def over_seeds(frame: pd.DataFrame, by: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return median and range of columns in groups; all three are missing where any value of a group is."""
    grouped = frame.groupby(list(by), sort=False)[list(names)]
    found = {"": grouped.median(skipna=False), "_low": grouped.min(skipna=False), "_high": grouped.max(skipna=False)}
    columns = {f"{name}{end}": values[name] for name in names for end, values in found.items()}
    return pd.DataFrame(columns).reset_index()


# Ranking


def ranking(multiverse: Multiverse, by_seed: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    """Return the complete interpretations of an algorithm (or `JOINT`), the smallest median distance first.

    Returns
    -------
    DataFrame
        ``place``, ``interpretation``, the ``names`` that it has in the settings, how many ``changes`` from the baseline
        it makes, what it ``contradicts``; distance, its parts and the number of clear differences
        (``different``), each over the data seeds; the number of published ``values``.
    """
    own = by_seed[by_seed["algorithm"] == algorithm]
    names: dict[str, list[str]] = {}
    for name, chosen in multiverse.choices.named.items():
        text = interpretation_text(multiverse.choices, chosen, None if algorithm == JOINT else algorithm)
        names.setdefault(text, []).append(name)
    ranked = over_seeds(own, ["interpretation", "values"], _DISTANCES)
    texts = ranked["interpretation"]
    ranked["names"] = [" ".join(names.get(text, [])) for text in texts]
    ranked["changes"] = [len(multiverse.chosen(text)) for text in texts]
    ranked["contradicts"] = ["; ".join(multiverse.contradictions(text)) for text in texts]
    ranked = ranked.sort_values(["distance", "changes", "interpretation"], ignore_index=True)
    ranked.insert(0, "place", ranked.index + 1)
    return ranked


def near_closest(by_seed: pd.DataFrame, ranked: pd.DataFrame) -> list[str]:
    """Return the interpretations whose distance does not clearly differ from the closest one's, as `change` tells it.

    There is none for a single data seed, with which nothing can be told.
    """
    closest = ranked["interpretation"].iloc[0]
    by_text = by_seed.pivot(index="data_seed", columns="interpretation", values="distance")
    farther = by_text.sub(by_text[closest], axis=0).drop(columns=closest)
    if len(farther) < 2 or farther.empty:
        return []
    found = change(farther.melt(value_name="change"), ["interpretation"])
    near = set(found.loc[~found["clear"], "interpretation"])
    return [text for text in ranked["interpretation"] if text in near]


def find_roles(multiverse: Multiverse, joint: pd.DataFrame) -> dict[str, Pair]:
    """Return the interpretations that are set side by side, by role; the names of equal ones are joined.

    Closest is the interpretation of both algorithms with the smallest median distance, closest without contradiction
    that of those which contradict no explicit statement of the sources.
    """
    closest = [joint["interpretation"].iloc[0], joint.loc[joint["contradicts"] == "", "interpretation"].iloc[0]]
    chosen = [{}, multiverse.default, *map(multiverse.chosen, closest)]
    return _sharing(
        (role, Pair(*(interpretation_text(multiverse.choices, options, name) for name in COMPARED)))
        for role, options in zip(ROLES, chosen, strict=True)
    )


def has_role(names: str, role: str) -> bool:
    """Tell whether a role is among those that share an interpretation."""
    return role in names.split(", ")


def with_role(role: str, shown: Mapping[str, T]) -> T | None:
    """Return what has a role, alone or with others."""
    return next((value for names, value in shown.items() if has_role(names, role)), None)


def _sharing(named: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return values by name; the names of equal values are joined."""
    names: dict[T, list[str]] = {}
    for name, value in named:
        names.setdefault(value, []).append(name)
    return {", ".join(of): value for value, of in names.items()}


def whole_distances(multiverse: Multiverse, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return the distance to all published tables of the interpretations that were run under every criterion."""
    every = set.intersection(*(set(multiverse.complete(UPSO, criterion)) for criterion in CRITERIA))
    partner = {pair.upso2d: pair.ga for pair in reversed(list(roles.values()))}
    known = multiverse.complete(GA)
    found = []
    for text in multiverse.complete(UPSO):
        pair = Pair(text, partner.get(text, multiverse.shared(text)))
        if text in every and pair.ga in known:
            parts = [multiverse.of(UPSO, text, criterion) for criterion in CRITERIA] + [multiverse.of(GA, pair.ga)]
            found.append(compare(pd.concat(parts), multiverse.published).assign(**pair._asdict()))
    if not found:
        return pd.DataFrame()
    by_seed = distances(pd.concat(found), [*Pair._fields, "data_seed"])
    by = [*Pair._fields, "conditions", "values"]
    return over_seeds(by_seed, by, _DISTANCES).sort_values("distance", ignore_index=True)


# Effects of single options


def change(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return median, range and Student's interval of the mean of the column ``change`` in groups.

    The interval is missing for a single data seed. An exact sign test of five pairs cannot reach the level 5 %.
    """
    found = differences.groupby(list(by), sort=False)["change"].agg(["median", "min", "max", "mean", "sem", "count"])
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, found["count"] - 1) * found["sem"]
    found = found.assign(interval_low=found["mean"] - reach, interval_high=found["mean"] + reach)
    found["clear"] = (found["interval_low"] > 0) | (found["interval_high"] < 0)
    names = {"min": "low", "max": "high"}
    return found.drop(columns=["mean", "sem", "count"]).rename(columns=names).reset_index()


def effects(multiverse: Multiverse, by_seed: pd.DataFrame) -> pd.DataFrame:
    """Return what each single option changes, in pairs of data seeds; the largest change of the distance first.

    Returns
    -------
    DataFrame
        One row for each ``algorithm``, option and ``measure``: ``distance``, its parts ``distance_nu``, ``distance_r``,
        ``distance_nu_max``; and ``nu`` (mean over the system terms), ``r`` and ``nu_max``, averaged over the conditions
        of S1 to S3 (``_sparse``) and of S4 (``_s4``). ``part`` is what the design choice belongs to. Then the columns
        of `change`.
    """
    own = by_seed[by_seed["algorithm"] != JOINT].set_index(BY_SEED)
    measures = own[["distance", *METRICS]].rename(columns={part: f"distance_{part}" for part in METRICS})
    measures = measures.join(_group_means(multiverse.conditions))
    baseline = measures.xs(BASELINE, level="interpretation")
    differences = measures - baseline.reindex(measures.index.droplevel("interpretation")).set_axis(measures.index)
    long = differences.melt(var_name="measure", value_name="change", ignore_index=False).reset_index()
    single = [len(multiverse.chosen(text)) == 1 for text in long["interpretation"]]
    found = change(long[single].dropna(), ["algorithm", "interpretation", "measure"])
    known = multiverse.choices.design_choices
    options = [next(iter(multiverse.chosen(text).items())) for text in found["interpretation"]]
    found["part"] = [known[name].part for name, _ in options]
    found["contradicts"] = [known[name].options[option].contradicts for name, option in options]
    found["design_choice"], found["option"] = [name for name, _ in options], [option for _, option in options]
    size = found["median"].abs().where(found["measure"] == "distance")
    found["size"] = -size.groupby([found["algorithm"], found["interpretation"]]).transform("max")
    found["order"] = found["algorithm"].map(COMPARED.index)
    found["at"] = found["measure"].map(list(measures.columns).index)
    found = found.sort_values(["order", "size", "interpretation", "at"], ignore_index=True)
    return found.drop(columns=["order", "size", "at"])


def _group_means(conditions: pd.DataFrame) -> pd.DataFrame:
    """Return means of nu, r and nu_max over the conditions of S1 to S3, and of S4."""
    known = conditions[conditions["criterion"] == SCREENED]
    measured = known[BY_SEED].assign(
        nu=[sum(counts) / len(counts) for counts in known["nu"]] / known["runs"],
        r=known["spurious"] / known["n_terms"],
        nu_max=known["nu_max"] / known["runs"],
        group=known["system"].map(dict.fromkeys(SPARSE, "sparse") | {"S4": "s4"}),
    )
    means = measured.groupby([*BY_SEED, "group"])[list(METRICS)].mean().unstack("group")
    means.columns = [f"{measure}_{group}" for measure, group in means.columns]
    return means[[name for group in ("sparse", "s4") for m in METRICS if (name := f"{m}_{group}") in means]]


def interactions(by_seed: pd.DataFrame) -> pd.DataFrame:
    """Return what pairs of options do to the distance beyond the sum of their single changes, if all were run.

    Returns
    -------
    DataFrame
        ``algorithm``, ``interpretation``, ``total`` (the median change by both), and the columns of `change` for what
        exceeds the sum; the largest excess first.
    """
    found = []
    for algorithm in COMPARED:
        own = by_seed[by_seed["algorithm"] == algorithm]
        by_text = own.pivot(index="data_seed", columns="interpretation", values="distance")
        changes = by_text.sub(by_text[BASELINE], axis=0) if BASELINE in by_text else by_text
        for text in dict.fromkeys(own["interpretation"]):
            single = text.split("+")
            if len(single) == 2 and set(single) <= set(changes):
                beyond = changes[text] - changes[single].sum(axis=1)
                entry = {"algorithm": algorithm, "interpretation": text, "total": changes[text].median()}
                found.append(change(beyond.rename("change").to_frame().assign(**entry), list(entry)))
    if not found:
        return pd.DataFrame()
    return pd.concat(found).sort_values("median", key=lambda value: -value.abs(), kind="stable", ignore_index=True)


# Published and reproduced, side by side


def compared_values(multiverse: Multiverse) -> pd.DataFrame:
    """Return `agreement.compare` of the complete interpretations under BIC.

    Beside its columns there are the system ``term`` behind a label, and whether the value is clearly ``different``.
    """
    rows = pd.concat([multiverse.compared(name) for name in COMPARED], ignore_index=True)
    rows["different"] = clearly_different(rows, BY_SEED)
    terms = multiverse.published.terms[["system", "label", "term"]]
    return rows.merge(terms, how="left", on=["system", "label"]).fillna({"term": ""})


def side_by_side(values: pd.DataFrame, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return the published r and nu_max of every condition under BIC beside those of the interpretations in a role.

    Returns
    -------
    DataFrame
        The place, ``published``, ``role``, and ``reproduced`` over the data seeds; no row where an algorithm has no
        complete interpretation of the role.
    """
    parts = [
        _reproduced(values[values["metric"] != "nu"], algorithm, text).assign(role=role)
        for role, pair in roles.items()
        for algorithm, text in zip(COMPARED, pair, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


def unexplained(values: pd.DataFrame, closest: Mapping[str, str | None]) -> pd.DataFrame:
    """Return the published values that differ clearly from the closest interpretation on every data seed, each once.

    Returns
    -------
    DataFrame
        The place, with the system term of a nu, ``published``, and ``reproduced`` over the data seeds.
    """
    parts = [_reproduced(values, algorithm, text) for algorithm, text in closest.items() if text]
    found = pd.concat(parts, ignore_index=True)
    return found[found.pop("clear")].reset_index(drop=True)


def _reproduced(values: pd.DataFrame, algorithm: str, text: str) -> pd.DataFrame:
    own = values[(values["algorithm"] == algorithm) & (values["interpretation"] == text)]
    found = over_seeds(own, [*_PLACE, "published"], ["reproduced"])
    # A value that is printed in two tables is taken once.
    found["clear"] = own.groupby([*_PLACE, "published"], sort=False)["different"].all().to_numpy()
    return found.drop_duplicates([name for name in _PLACE if name != "table"])


# Claims


def claim_verdicts(multiverse: Multiverse, claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the verdict on each claim under each interpretation that can matter to it.

    Returns
    -------
    DataFrame
        ``claim``; ``upso2d`` and ``ga``, the interpretations (empty for an algorithm that the claim does not speak of);
        on how many data ``seeds`` the claim holds; and the ``verdict`` of more than half of the data seeds, which cannot
        be judged where there is no such majority.
    """

    @cache
    def views(algorithm: str, text: str) -> dict[int, tuple[Row, ...]]:
        known = pd.concat([multiverse.of(algorithm, text, criterion) for criterion in CRITERIA])
        return {seed: claim_rows(known[known["data_seed"] == seed]) for seed in multiverse.seeds}

    def holds(claim: Claim, pair: Pair) -> list[bool | None]:
        own = [views(name, text) for name, text in zip(COMPARED, pair, strict=True) if text]
        return [claim.judge(View([row for rows in own for row in rows[seed]])).holds for seed in multiverse.seeds]

    found = []
    for claim in claims:
        for pair in _pairs(multiverse, claim):
            each = holds(claim, pair)
            majority = next((side for side in (True, False) if 2 * each.count(side) > len(each)), None)
            found.append((claim.id, *pair, each.count(True), VERDICTS[majority]))
    return pd.DataFrame(found, columns=["claim", *Pair._fields, "seeds", "verdict"])


def _pairs(multiverse: Multiverse, claim: Claim) -> Iterable[Pair]:
    upso2d, ga = map(multiverse.complete, COMPARED)
    if GA not in claim.algorithms:
        return [Pair(text, "") for text in upso2d]
    return multiverse.pairs(upso2d, ga) if UPSO in claim.algorithms else [Pair("", text) for text in ga]


def shown_verdicts(
    multiverse: Multiverse, claims: Sequence[Claim], verdicts: pd.DataFrame, roles: Mapping[str, Pair]
) -> pd.DataFrame:
    """Return the verdicts under the interpretations in a role, and under every single option that can matter.

    Returns
    -------
    DataFrame
        ``claim``; ``role``, empty for a single option; ``interpretation``, empty for a role; ``seeds`` and ``verdict``
        as in `claim_verdicts`, 0 and not judged where there is no condition.
    """
    known = {tuple(row[:3]): row[3:] for row in verdicts.itertuples(index=False, name=None)}
    complete = {text for name in COMPARED for text in multiverse.complete(name)}
    options = {
        f"{name}={option}": choice.part
        for name, choice in multiverse.choices.design_choices.items()
        for option in choice.options
        if f"{name}={option}" in complete
    }
    found = []
    for claim in claims:
        concerned = [(role, "", pair) for role, pair in roles.items()]
        for text, part in options.items():
            if part in (*SHARED_PARTS, *claim.algorithms):
                own = (text if part in (*SHARED_PARTS, name) else BASELINE for name in COMPARED)
                concerned.append(("", text, Pair(*own)))
        for role, text, pair in concerned:
            own = (of if name in claim.algorithms else "" for name, of in zip(COMPARED, pair, strict=True))
            found.append((claim.id, role, text, *known.get((claim.id, *own), (0, VERDICTS[None]))))
    return pd.DataFrame(found, columns=["claim", "role", "interpretation", "seeds", "verdict"])


def claim_overview(claims: Sequence[Claim], published: Published, verdicts: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each claim.

    Returns
    -------
    DataFrame
        ``claim``, ``title``, the verdict on the ``published`` values and under the ``baseline`` (with the number of data
        ``seeds`` on which it holds there), under how many interpretations it is ``judged`` and ``holds``, and ``flips``,
        the list of single options whose verdict is the opposite of the baseline's.
    """
    opposite = {VERDICTS[True]: VERDICTS[False], VERDICTS[False]: VERDICTS[True]}
    found = []
    for claim in claims:
        own, each = (frame[frame["claim"] == claim.id] for frame in (verdicts, shown))
        baseline = next(row for row in each.itertuples() if has_role(row.role, "baseline"))
        flips = each[(each["role"] == "") & (each["verdict"] == opposite.get(baseline.verdict, ""))]
        found.append(
            {
                "claim": claim.id,
                "title": claim.title,
                "published": VERDICTS[claim.judge(published_view(published)).holds],
                "baseline": baseline.verdict,
                "seeds": baseline.seeds,
                "holds": int((own["verdict"] == VERDICTS[True]).sum()),
                "judged": int((own["verdict"] != VERDICTS[None]).sum()),
                "flips": list(flips["interpretation"]),
            }
        )
    return pd.DataFrame(found)


# One algorithm against another, one criterion against another


def head_to_head(multiverse: Multiverse, own: tuple[str, str], other: tuple[str, str]) -> pd.DataFrame:
    """Return how the median final J of an algorithm under an interpretation compares with another's on the same data.

    Returns
    -------
    DataFrame
        By ``system``, on how many SNRs and data seeds that of ``own`` is ``lower`` (better), ``equal`` and ``higher``.
    """
    pairs = multiverse.of(*own).merge(multiverse.of(*other), on=DATA_SET, suffixes=("", "_other"))
    # Missing is infinite; of two infinite J none is lower.
    worst = pairs[["median_fitness", "median_fitness_other"]].fillna(math.inf)
    excess = (worst["median_fitness"] - worst["median_fitness_other"]).fillna(0.0)
    counted = pairs[["system"]].assign(lower=excess < -SAME_J, equal=excess.abs() <= SAME_J, higher=excess > SAME_J)
    return counted.groupby("system").sum().reset_index()


def contests(multiverse: Multiverse, upso2d: Mapping[str, str]) -> pd.DataFrame:
    """Return `head_to_head` of 2D-UPSO in each role with every GA, and the plain search, on the same data.

    Returns
    -------
    DataFrame
        ``role``, ``rival`` (the other algorithm), ``interpretation`` (that of the rival), ``system``, ``lower``,
        ``equal``, ``higher``.
    """
    columns = ["role", "rival", "interpretation", "system", "lower", "equal", "higher"]
    found = [
        head_to_head(multiverse, (UPSO, text), (rival, other)).assign(role=role, rival=rival, interpretation=other)
        for role, text in upso2d.items()
        for rival in (GA, REFERENCE)
        for _, other in multiverse.pairs([text], multiverse.complete(rival))
    ]
    return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)


def criterion_scores(multiverse: Multiverse) -> pd.DataFrame:
    """Return the scores of all criteria for the interpretations of 2D-UPSO that were run under more than one.

    Returns
    -------
    DataFrame
        ``interpretation``, ``criterion``; of how many ``rows`` (systems, SNRs, data seeds) the two criteria by which the
        text prefers BIC are ``met``; ``exact_runs`` of ``runs``; the ``distance`` over the data seeds, if published.
    """
    complete = {criterion: multiverse.complete(UPSO, criterion) for criterion in CRITERIA}
    distances = pd.concat(multiverse.distances(UPSO, criterion).assign(criterion=criterion) for criterion in CRITERIA)
    found = []
    for text in complete[SCREENED]:
        criteria = [criterion for criterion in CRITERIA if text in complete[criterion]]
        for criterion in criteria if len(criteria) > 1 else ():
            own = multiverse.of(UPSO, text, criterion)
            met = sum(map(meets_both, claim_rows(own)))
            runs = {"exact_runs": own["exact_runs"].sum(), "runs": own["runs"].sum()}
            found.append({"interpretation": text, "criterion": criterion, "met": met, "rows": len(own), **runs})
    if not found:
        return pd.DataFrame()
    by = ["interpretation", "criterion"]
    return pd.DataFrame(found).merge(over_seeds(distances, by, ["distance"]), how="left", on=by)


# Optimality gaps


def gaps(multiverse: Multiverse, shown: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return how far J lies above the best known J of the same data, under the interpretations in a role.

    The best known J is the smallest that any run of any algorithm, or the true structure, has on the same data under the
    same criterion. A stronger GA and a plain search are shown as well.

    Returns
    -------
    DataFrame
        ``algorithm``, ``role``, ``interpretation``, ``system``, ``snr_db``, ``criterion``, number of data ``seeds``; the
        gaps of the median final J (``median_gap``), of the best final J (``best_gap``) and of the true structure
        (``true_gap``) over the data seeds, missing where one is not finite or where every run has data of its own;
        ``true_above``, the number of data seeds on which the true structure is not the best known; ``exact_runs`` of
        ``runs``.
    """
    texts = {name: dict(of) for name, of in shown.items()}
    if STRONG_GA in multiverse.complete(GA) and STRONG_GA not in texts[GA].values():
        texts[GA]["tournament and elitism"] = STRONG_GA
    data = dict.fromkeys(map(multiverse.shared, texts[UPSO].values()))
    every = multiverse.complete(REFERENCE)
    texts[REFERENCE] = {text: text for text in data if text in every}
    above = _above_best_known(multiverse)
    above["criterion_order"] = above["criterion"].map(CRITERIA.index)
    series = [(algorithm, role, text) for algorithm, of in texts.items() for role, text in of.items()]
    known = pd.concat(
        above[(above["algorithm"] == algorithm) & (above["interpretation"] == text)]
        .sort_values(["criterion_order", "system", "snr_db"], ascending=[True, True, False])
        .assign(role=role, seeds=1, true_above=lambda own: own["true_gap"] > 0)
        for algorithm, role, text in series
    )
    by = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion"]
    counts = known.groupby(by, sort=False)[["seeds", "true_above", "exact_runs", "runs"]].sum().reset_index()
    return over_seeds(known, by, ["median_gap", "best_gap", "true_gap"]).merge(counts, on=by)


def _above_best_known(multiverse: Multiverse) -> pd.DataFrame:
    """Return the conditions with the gaps of their median, best and true J above the best known J of their data."""
    known = multiverse.conditions
    best = known[["best_fitness", "true_fitness"]].min(axis=1)
    best = best.groupby([known[name] for name in ("shared", *DATA_SET, "criterion")]).transform("min")
    settings = {
        text: interpretation_settings(multiverse.choices, multiverse.chosen(text)) for text in known["shared"].unique()
    }
    # Runs with data of their own: no J can be compared with that of another run.
    own = known["shared"].map({text: of["data"]["realisation"] == "per_run" for text, of in settings.items()})
    gaps = {f"{name}_gap": known[f"{name}_fitness"] - best for name in ("median", "best", "true")}
    # A difference of rounding alone is none.
    return known.assign(**{name: gap.mask(gap <= SAME_J, 0.0).mask(own) for name, gap in gaps.items()})
