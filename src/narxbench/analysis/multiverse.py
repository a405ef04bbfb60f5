"""What the interpretations of the paper do to its results; everything is computed from the frame of conditions.

A quantity ``q`` of several data seeds stands in frames as its median ``q`` and its range ``q_low`` to ``q_high``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from scipy import stats

from narxbench.analysis.agreement import clearly_different, compare, distances
from narxbench.analysis.claims import CRITERIA, GA, SPARSE, UPSO, Claim, View, both_criteria, claim_rows, published_view
from narxbench.analysis.multiverse_frame import BY_SEED, COMPARED, DATA_SET, JOINT, SCREENED, Multiverse, Pair
from narxbench.analysis.published import METRICS
from narxbench.experiment.interpretations import BASELINE, SHARED_PARTS, interpretation_settings, interpretation_text

# Final J are stored to six decimals, so that two of them may differ by their rounding alone.
SAME_J = 1.5e-6
CONFIDENCE = 0.95
REFERENCE = "stepwise"
# A GA that is known to be stronger than the baseline's, which is shown whatever its distance is.
STRONG_GA = "selection=tournament+elitism=on"
ROLES = ("baseline", "default", "closest", "closest without contradiction")
VERDICTS = {True: "holds", False: "does not hold", None: "cannot be judged"}

_DISTANCES = ["distance", *METRICS, "different"]


@dataclass(frozen=True, eq=False)
class Findings:
    """All findings of a multiverse; each frame is described where it is made.

    ``distances`` and ``rankings`` are by algorithm and for both together (`JOINT`); ``roles`` are the interpretations
    that are set side by side.
    """

    multiverse: Multiverse
    distances: pd.DataFrame
    rankings: Mapping[str, pd.DataFrame]
    roles: Mapping[str, Pair]
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
    parts = [*map(multiverse.distances, COMPARED), multiverse.joint_distances()]
    by_seed = pd.concat(parts, ignore_index=True)
    rankings = {name: ranking(multiverse, by_seed, name) for name in (*COMPARED, JOINT)}
    roles = find_roles(multiverse, rankings[JOINT])
    closest = next(pair for names, pair in roles.items() if "closest" in names.split(", "))
    values = reproduced(multiverse)
    verdicts = claim_verdicts(multiverse, claims)
    in_view = shown_verdicts(multiverse, claims, verdicts, roles)
    return Findings(
        multiverse=multiverse,
        distances=by_seed,
        rankings=rankings,
        roles=roles,
        whole=whole_distances(multiverse, roles),
        effects=effects(multiverse, by_seed),
        interactions=interactions(by_seed),
        side_by_side=role_frame(roles).merge(values[values["metric"] != "nu"]),
        unexplained=role_frame({"closest": closest}).merge(values[values["different"]]),
        verdicts=verdicts,
        shown_verdicts=in_view,
        claims=claim_overview(multiverse, claims, verdicts, in_view),
        contests=contests(multiverse, roles),
        criteria=criterion_scores(multiverse),
        gaps=gaps(multiverse, roles),
    )


def over_seeds(frame: pd.DataFrame, by: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return median and range of columns in groups; all three are missing where any value of a group is."""
    grouped = frame.groupby(list(by), sort=False)[list(names)]
    found = {"": grouped.median(skipna=False), "_low": grouped.min(skipna=False), "_high": grouped.max(skipna=False)}
    return pd.DataFrame({f"{name}{end}": of[name] for name in names for end, of in found.items()}).reset_index()


def change(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return median, range and Student's interval of the mean of the column ``change`` in groups.

    A change is ``clear`` if the interval does not contain 0. It is missing for a single data seed. An exact sign test
    of five pairs cannot reach the level 5 %.
    """
    found = differences.groupby(list(by), sort=False)["change"].agg(["median", "min", "max", "mean", "sem", "count"])
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, found["count"] - 1) * found["sem"]
    found = found.assign(interval_low=found["mean"] - reach, interval_high=found["mean"] + reach)
    found["clear"] = (found["interval_low"] > 0) | (found["interval_high"] < 0)
    return found.drop(columns=["mean", "sem", "count"]).rename(columns={"min": "low", "max": "high"}).reset_index()


# Ranking


def ranking(multiverse: Multiverse, by_seed: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    """Return the interpretations of an algorithm (or `JOINT`), the smallest median distance first.

    The columns are ``place``, ``interpretation``, the ``names`` that it has in the settings, how many ``changes`` from
    the baseline it makes, what it ``contradicts``; distance, its parts and the number of clear differences
    (``different``), each over the data seeds; the number of published ``values``; and whether it is ``near`` the
    closest, such that no clear change of the distance tells them apart.
    """
    names: dict[str, list[str]] = {}
    for name, chosen in multiverse.choices.named.items():
        text = interpretation_text(multiverse.choices, chosen, None if algorithm == JOINT else algorithm)
        names.setdefault(text, []).append(name)
    own = by_seed[by_seed["algorithm"] == algorithm]
    ranked = over_seeds(own, ["interpretation", "values"], _DISTANCES)
    texts = ranked["interpretation"]
    ranked["names"] = [", ".join(names.get(text, [])) for text in texts]
    ranked["changes"] = [len(multiverse.chosen(text)) for text in texts]
    ranked["contradicts"] = [multiverse.contradictions(text) for text in texts]
    ranked = ranked.sort_values(["distance", "changes", "interpretation"], ignore_index=True)
    ranked.insert(0, "place", ranked.index + 1)
    by_text = own.pivot(index="data_seed", columns="interpretation", values="distance")
    beyond = by_text.sub(by_text[ranked["interpretation"].iloc[0]], axis=0) if len(own) else by_text
    found = change(beyond.melt(value_name="change"), ["interpretation"]).dropna()
    return ranked.assign(near=ranked["interpretation"].isin(found.loc[~found["clear"], "interpretation"]))


def find_roles(multiverse: Multiverse, joint: pd.DataFrame) -> dict[str, Pair]:
    """Return the interpretations that are set side by side, by role; the names of equal ones are joined.

    Closest is the interpretation of both algorithms with the smallest median distance, closest without contradiction
    that of those which contradict no explicit statement of the sources.
    """
    consistent = joint[joint["contradicts"] == ""]
    closest = [multiverse.chosen(frame["interpretation"].iloc[0]) for frame in (joint, consistent)]
    names: dict[Pair, list[str]] = {}
    for role, chosen in zip(ROLES, [{}, multiverse.default, *closest], strict=True):
        pair = Pair(*(interpretation_text(multiverse.choices, chosen, name) for name in COMPARED))
        names.setdefault(pair, []).append(role)
    return {", ".join(of): pair for pair, of in names.items()}


def whole_distances(multiverse: Multiverse, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return, for the roles that were run under every criterion, the distance to all published tables."""
    found = []
    for role, pair in roles.items():
        parts = [(UPSO, pair.upso2d, criterion) for criterion in CRITERIA] + [(GA, pair.ga, SCREENED)]
        if all(text in multiverse.texts(name, criterion) for name, text, criterion in parts):
            own = [multiverse.of(name, criterion).query("interpretation == @text") for name, text, criterion in parts]
            found.append(compare(pd.concat(own), multiverse.published).assign(role=role))
    if not found:
        return pd.DataFrame()
    by_seed = distances(pd.concat(found), ["role", "data_seed"])
    return over_seeds(by_seed, ["role", "conditions", "values"], _DISTANCES).sort_values("distance")


# Effects of options


def effects(multiverse: Multiverse, by_seed: pd.DataFrame) -> pd.DataFrame:
    """Return what each single option changes, in pairs of data seeds; the largest change of the distance first.

    There is one row for each ``algorithm``, option and ``measure``: ``distance``, its parts ``distance_nu``,
    ``distance_r``, ``distance_nu_max``; and ``nu`` (mean over the system terms), ``r`` and ``nu_max``, averaged over
    the conditions of S1 to S3 (``_sparse``) and of S4 (``_s4``). The columns are those of `change` and the options.
    """
    own = by_seed[by_seed["algorithm"] != JOINT].set_index(BY_SEED)
    measures = own[["distance", *METRICS]].rename(columns={part: f"distance_{part}" for part in METRICS})
    measures = measures.join(_group_means(multiverse.conditions))
    baseline = measures.xs(BASELINE, level="interpretation").reindex(measures.index.droplevel("interpretation"))
    differences = measures - baseline.set_axis(measures.index)
    long = differences.melt(var_name="measure", value_name="change", ignore_index=False).reset_index()
    long = long.merge(multiverse.options[["interpretation"]]).dropna()
    found = change(long, ["algorithm", "interpretation", "measure"])
    order = found[found["measure"] == "distance"].assign(size=lambda of: -of["median"].abs().round(12))
    order = order.sort_values(["algorithm", "size", "interpretation"], ascending=[False, True, True])
    return order[["algorithm", "interpretation"]].merge(found).merge(multiverse.options, on="interpretation")


def _group_means(conditions: pd.DataFrame) -> pd.DataFrame:
    """Return means of nu, r and nu_max over the conditions of S1 to S3, and of S4."""
    known = conditions[conditions["criterion"] == SCREENED]
    measured = known[BY_SEED].assign(
        nu=[sum(counts) / len(counts) for counts in known["nu"]] / known["runs"],
        r=known["spurious"] / known["n_terms"],
        nu_max=known["nu_max"] / known["runs"],
        group=known["system"].map(dict.fromkeys(SPARSE, "0_sparse") | {"S4": "1_s4"}),
    )
    means = measured.groupby([*BY_SEED, "group"])[list(METRICS)].mean().unstack("group")
    means = means.sort_index(axis=1, level="group", sort_remaining=False)
    return means.set_axis([f"{measure}{group[1:]}" for measure, group in means.columns], axis=1)


def interactions(by_seed: pd.DataFrame) -> pd.DataFrame:
    """Return what pairs of options do to the distance beyond the sum of their single changes, if all were run.

    ``total`` is the median change by both; the columns of `change` tell what exceeds the sum. The largest excess is
    first.
    """
    found = []
    for algorithm in COMPARED:
        own = by_seed[by_seed["algorithm"] == algorithm]
        by_text = own.pivot(index="data_seed", columns="interpretation", values="distance")
        for text in dict.fromkeys(own["interpretation"]):
            single = text.split("+")
            if len(single) == 2 and set(single) <= set(by_text):
                changes = by_text[[text, *single]].sub(by_text[BASELINE], axis=0)
                entry = {"algorithm": algorithm, "interpretation": text, "total": changes[text].median()}
                beyond = changes[text] - changes[single].sum(axis=1)
                found.append(change(beyond.to_frame("change").assign(**entry), list(entry)))
    if not found:
        return pd.DataFrame()
    return pd.concat(found).sort_values("median", key=lambda value: -value.abs(), kind="stable", ignore_index=True)


# Published and reproduced


def reproduced(multiverse: Multiverse) -> pd.DataFrame:
    """Return the published values under BIC, each once, with those of all interpretations over the data seeds.

    ``term`` is the system term of a nu; ``different`` tells whether a value differs clearly on every data seed.
    """
    rows = compare(pd.concat([multiverse.of(name) for name in COMPARED]), multiverse.published)
    rows["different"] = clearly_different(rows, BY_SEED)
    # A value that is printed in two tables is tested twice and told once.
    rows = rows.merge(multiverse.published.terms[["system", "label", "term"]], how="left").fillna({"term": ""})
    place = ["algorithm", "system", "snr_db", "metric", "label", "term"]
    by = ["table", *place, "published", "interpretation"]
    found = over_seeds(rows, by, ["reproduced"]).merge(rows.groupby(by)["different"].all().reset_index())
    return found.drop_duplicates([*place, "interpretation"])


def role_frame(roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return the interpretations in a role with ``role`` and ``algorithm``."""
    rows = [(role, *of) for role, pair in roles.items() for of in zip(COMPARED, pair, strict=True)]
    return pd.DataFrame(rows, columns=["role", "algorithm", "interpretation"])


# Claims


def claim_verdicts(multiverse: Multiverse, claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the verdict on each claim under each interpretation that can matter to it.

    ``upso2d`` and ``ga`` are its interpretations (empty for an algorithm that the claim does not speak of), ``seeds``
    counts the data seeds on which the claim holds. The ``verdict`` is that of more than half of the data seeds; a claim
    cannot be judged where there is no such majority.
    """
    texts = {name: multiverse.texts(name) for name in COMPARED}
    rows = {of: claim_rows(group) for of, group in multiverse.conditions.groupby(BY_SEED, sort=False)}
    found = []
    for claim in claims:
        # An algorithm that a claim does not speak of has one interpretation, without any row.
        own = [texts[name] if name in claim.algorithms else [""] for name in COMPARED]
        pairs = multiverse.pairs() if all(map(all, own)) else (Pair(a, b) for a in own[0] for b in own[1])
        for pair in pairs:
            named = [(name, text) for name, text in zip(COMPARED, pair, strict=True) if text]
            views = (View([row for name in named for row in rows[*name, seed]]) for seed in multiverse.seeds)
            holds = [claim.judge(view).holds for view in views]
            majority = next((side for side in (True, False) if 2 * holds.count(side) > len(holds)), None)
            found.append((claim.id, *pair, holds.count(True), VERDICTS[majority]))
    return pd.DataFrame(found, columns=["claim", *COMPARED, "seeds", "verdict"])


def shown_verdicts(
    multiverse: Multiverse, claims: Sequence[Claim], verdicts: pd.DataFrame, roles: Mapping[str, Pair]
) -> pd.DataFrame:
    """Return the verdicts under the interpretations in a role, and under every single option that can matter.

    ``name`` is the role or the option; ``seeds`` and ``verdict`` are as in `claim_verdicts`.
    """
    known = {row[:3]: row[3:] for row in verdicts.itertuples(index=False, name=None)}
    run = {text for name in COMPARED for text in multiverse.texts(name)}
    options = multiverse.options[multiverse.options["interpretation"].isin(run)]
    found = []
    for claim in claims:
        own = options[options["part"].isin([*SHARED_PARTS, *claim.algorithms])]
        single = {
            text: Pair(*(text if part in (*SHARED_PARTS, name) else BASELINE for name in COMPARED))
            for text, part in zip(own["interpretation"], own["part"], strict=True)
        }
        for name, pair in {**roles, **single}.items():
            spoken = (text if of in claim.algorithms else "" for of, text in zip(COMPARED, pair, strict=True))
            found.append((claim.id, name, name in single, *known.get((claim.id, *spoken), (0, VERDICTS[None]))))
    return pd.DataFrame(found, columns=["claim", "name", "option", "seeds", "verdict"])


def claim_overview(
    multiverse: Multiverse, claims: Sequence[Claim], verdicts: pd.DataFrame, shown: pd.DataFrame
) -> pd.DataFrame:
    """Return for each claim the verdicts on the ``published`` values and under the ``baseline``.

    It holds on ``seeds`` data seeds there, and under ``holds`` of the interpretations under which it can be ``judged``.
    ``flips`` lists the single options whose verdict is the opposite of the baseline's.
    """
    opposite = {VERDICTS[side]: VERDICTS[not side] for side in (True, False)}
    on_paper = published_view(multiverse.published)
    found = []
    for claim in claims:
        own, each = (frame[frame["claim"] == claim.id] for frame in (verdicts, shown))
        baseline = each.iloc[0]  # the first of the roles
        flips = each[each["option"] & (each["verdict"] == opposite.get(baseline["verdict"]))]
        counts = [(own["verdict"] != VERDICTS[None]).sum(), (own["verdict"] == VERDICTS[True]).sum()]
        words = VERDICTS[claim.judge(on_paper).holds], baseline["verdict"], baseline["seeds"]
        found.append((claim.id, claim.title, *words, *counts, list(flips["name"])))
    columns = ["claim", "title", "published", "baseline", "seeds", "judged", "holds", "flips"]
    return pd.DataFrame(found, columns=columns)


# One algorithm against another, one criterion against another


def contests(multiverse: Multiverse, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return how the median final J of 2D-UPSO in each role compares with that of every GA and of stepwise selection.

    ``interpretation`` is that of the ``rival``, on the same data. The J of 2D-UPSO is ``lower`` (better), ``equal`` and
    ``higher`` on so many SNRs and data seeds of a system.
    """
    own = role_frame(roles).merge(multiverse.of(UPSO)).drop(columns="interpretation")
    rivals = pd.concat([multiverse.of(name) for name in (GA, REFERENCE)]).rename(columns={"algorithm": "rival"})
    rivals = rivals[["rival", "interpretation", "shared", *DATA_SET, "median_fitness"]]
    both = own.merge(rivals, on=["shared", *DATA_SET], suffixes=("", "_rival"))
    # Missing is infinite; of two infinite J none is lower.
    worst = both[["median_fitness", "median_fitness_rival"]].fillna(math.inf)
    excess = (worst["median_fitness"] - worst["median_fitness_rival"]).fillna(0.0)
    both = both.assign(lower=excess < -SAME_J, equal=excess.abs() <= SAME_J, higher=excess > SAME_J)
    by = ["role", "rival", "interpretation", "system"]
    return both.groupby(by, sort=False)[["lower", "equal", "higher"]].sum().reset_index()


def criterion_scores(multiverse: Multiverse) -> pd.DataFrame:
    """Return the scores of all criteria for the interpretations of 2D-UPSO that were run under more than one.

    The two criteria by which the text prefers BIC are ``met`` in so many ``rows`` (systems, SNRs, data seeds).
    """
    known = multiverse.conditions[multiverse.conditions["algorithm"] == UPSO]
    known = known[known.groupby("interpretation")["criterion"].transform("nunique") > 1]
    known = known.assign(met=[both_criteria(row).holds for row in claim_rows(known)], rows=1)
    by = ["interpretation", "criterion"]
    found = known.groupby(by, sort=False)[["met", "rows", "exact_runs", "runs"]].sum().reset_index()
    by_seed = [multiverse.distances(UPSO, name).assign(criterion=name) for name in dict.fromkeys(known["criterion"])]
    if not by_seed:
        return pd.DataFrame()
    return found.merge(over_seeds(pd.concat(by_seed), by, ["distance"]), how="left", on=by)


# Optimality gaps


def gaps(multiverse: Multiverse, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return how far J lies above the best known J of the same data, under the interpretations in a role.

    The best known J is the smallest that any run of any algorithm, or the true structure, has on the same data under
    the same criterion. A stronger GA and stepwise selection are shown as well. The gaps of the median and best final J
    and of the true structure are told over the data ``seeds``; they are missing where one is not finite or where every
    run has data of its own. ``true_above`` counts the data seeds on which the true structure is not the best known.
    """
    named = role_frame(roles).sort_values("algorithm", ascending=False, kind="stable")
    data = dict.fromkeys(multiverse.shared(pair.upso2d) for pair in roles.values())
    more = [(text, REFERENCE, text) for text in data]
    if STRONG_GA not in [pair.ga for pair in roles.values()]:
        more.insert(0, ("tournament and elitism", GA, STRONG_GA))
    known = pd.concat([named, pd.DataFrame(more, columns=named.columns)]).merge(_above_best(multiverse))
    known = known.assign(seeds=1, true_above=known["true_gap"] > 0)
    by = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion"]
    counts = known.groupby(by, sort=False)[["seeds", "true_above", "exact_runs", "runs"]].sum().reset_index()
    return over_seeds(known, by, ["median_gap", "best_gap", "true_gap"]).merge(counts, on=by)


def _above_best(multiverse: Multiverse) -> pd.DataFrame:
    """Return the conditions with the gaps of their median, best and true J above the best known J of their data."""
    known = multiverse.conditions
    best = known[["best_fitness", "true_fitness"]].min(axis=1)
    best = best.groupby([known[name] for name in ("shared", *DATA_SET, "criterion")]).transform("min")
    settings = {
        text: interpretation_settings(multiverse.choices, multiverse.chosen(text)) for text in known["shared"].unique()
    }
    # Runs with data of their own: no J can be compared with that of another run.
    own = known["shared"].map({text: of["data"]["realisation"] == "per_run" for text, of in settings.items()})
    above = {f"{name}_gap": known[f"{name}_fitness"] - best for name in ("median", "best", "true")}
    # A difference of rounding alone is none.
    return known.assign(**{name: gap.mask(gap <= SAME_J, 0.0).mask(own) for name, gap in above.items()})
