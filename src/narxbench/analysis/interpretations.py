"""What the interpretations of the paper do to its results; everything is computed from the frame of conditions.

A quantity ``q`` of several data seeds stands in frames as its median ``q`` and its range ``q_low`` to ``q_high``.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import pandas as pd
from scipy import stats

from narxbench.analysis.agreement import BIASES, compare, different, nearness, own_deviances
from narxbench.analysis.claims import GA, UPSO, VERDICTS, Claim, View, both_criteria, claim_rows, published_view
from narxbench.analysis.frames import framed
from narxbench.analysis.interpretation_study import BY_SEED, COMPARED, DATA_SET, JOINT, InterpretationStudy, Pair
from narxbench.analysis.metrics import significant
from narxbench.analysis.published import VALUE
from narxbench.experiment.interpretations import BASELINE, SHARED_PARTS, interpretation_settings, interpretation_text

# Final J are stored to six decimals, so that two of them may differ by their rounding alone.
SAME_J = 1.5e-6
CONFIDENCE = 0.95
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
_NEARNESS = ["deviance", *BIASES, "different"]


@dataclass(frozen=True, eq=False)
class Findings:
    """All findings of a study; each frame is described where it is made.

    ``deviances`` (by data seed) and ``rankings`` are by algorithm and for both together (`JOINT`), under BIC; ``roles``
    are the interpretations that are set side by side, by role.
    """

    study: InterpretationStudy
    deviances: pd.DataFrame
    rankings: Mapping[str, pd.DataFrame]
    roles: Mapping[str, Pair]
    nearness: pd.DataFrame
    held_out: pd.DataFrame
    effects: pd.DataFrame
    effects_overview: pd.DataFrame
    closer: pd.DataFrame
    ties: pd.DataFrame
    side_by_side: pd.DataFrame
    verdicts: pd.DataFrame
    role_verdicts: pd.DataFrame
    option_verdicts: pd.DataFrame
    claims: pd.DataFrame
    found: pd.DataFrame
    contests: pd.DataFrame
    criteria: pd.DataFrame
    gaps: pd.DataFrame


def analyse(study: InterpretationStudy, claims: Sequence[Claim]) -> Findings:
    """Return all findings on ``claims`` and on the published values."""
    parts = [*map(study.nearness, COMPARED), study.joint_nearness()]
    by_seed = pd.concat(parts, ignore_index=True)
    rankings = {name: ranking(study, by_seed, name) for name in (*COMPARED, JOINT)}
    roles = find_roles(study, rankings[JOINT])
    validation = held_out(by_seed[by_seed["algorithm"] == JOINT], rankings[JOINT])
    values = {role: role_values(study, pair) for role, pair in roles.items()}
    changes = effects(study, by_seed)
    verdicts = claim_verdicts(study, claims)
    of_roles, of_options = shown_verdicts(study, claims, verdicts, roles)
    return Findings(
        study=study,
        deviances=by_seed,
        rankings=rankings,
        roles=roles,
        nearness=role_nearness(study, roles, values, validation),
        held_out=validation,
        effects=changes,
        effects_overview=effects_overview(changes),
        closer=closer(study, rankings[UPSO], changes),
        ties=random_ties(by_seed),
        side_by_side=side_by_side(study, values),
        verdicts=verdicts,
        role_verdicts=of_roles,
        option_verdicts=of_options,
        claims=claim_overview(study, claims, verdicts, of_roles),
        found=exact_structures(study),
        contests=contests(study, roles),
        criteria=criterion_scores(study),
        gaps=gaps(study, roles),
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


# Nearness


def ranking(study: InterpretationStudy, by_seed: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    """Return the interpretations of an algorithm (or `JOINT`), the smallest median deviance first.

    The columns are ``place``, ``interpretation``, the ``names`` that it has in the settings, how many ``changes`` from
    the baseline it makes, what it ``contradicts``; the number of ``values``; deviance, biases and the number of
    ``different`` values, each over the data seeds; the median ``own_deviance`` (missing for both together); and whether
    it is ``near`` the closest, such that there is no clear change of the deviance.
    """
    names = defaultdict(list)
    for name, chosen in study.choices.named.items():
        names[interpretation_text(study.choices, chosen, None if algorithm == JOINT else algorithm)].append(name)
    own = by_seed[by_seed["algorithm"] == algorithm]
    ranked = over_seeds(own, ["interpretation", "values"], _NEARNESS)
    ranked["changes"] = [len(study.chosen(text)) for text in ranked["interpretation"]]
    ranked = ranked.sort_values(["deviance", "changes", "interpretation"], ignore_index=True)
    texts = ranked["interpretation"]
    ranked["names"] = [", ".join(names[text]) for text in texts]
    ranked["contradicts"] = [study.contradictions(text) for text in texts]
    ranked.insert(0, "place", ranked.index + 1)
    compared = study.compared[study.compared["algorithm"] == algorithm]
    own_of = {text: own_deviances(rows) for text, rows in compared.groupby("interpretation")}
    ranked["own_deviance"] = texts.map({text: median(own) for text, own in own_of.items() if own}).astype(float)
    by_text = own.pivot(index="data_seed", columns="interpretation", values="deviance")
    beyond = by_text.sub(by_text[ranked["interpretation"].iloc[0]], axis=0) if len(ranked) else by_text
    found = change(beyond.melt(value_name="change"), ["interpretation"]).dropna()
    return ranked.assign(near=ranked["interpretation"].isin(found.loc[~found["clear"], "interpretation"]))


def find_roles(study: InterpretationStudy, joint: pd.DataFrame) -> dict[str, Pair]:
    """Return the interpretations that are set side by side, by role.

    They are the baseline, the one named ``reset`` if it was run, and the closest: that of both algorithms with the
    smallest median deviance. Two roles may have the same interpretation.
    """
    texts = {AS_DESCRIBED: BASELINE}
    if (reset := study.choices.named.get("reset")) is not None:
        texts[WITH_RESET] = interpretation_text(study.choices, reset)
    texts[CLOSEST] = joint["interpretation"].iloc[0]
    pairs = {role: study.pair(text) for role, text in texts.items()}
    return {role: pair for role, pair in pairs.items() if pair.upso2d in study.texts(UPSO)}


def held_out(joint: pd.DataFrame, ranked: pd.DataFrame) -> pd.DataFrame:
    """Return for each data seed what is closest on the others, and its deviance on this one.

    ``interpretation`` has the smallest median deviance on all data seeds but ``data_seed``, ``deviance`` is its own
    there, which no choice has made small. There is no row where there is one data seed only.
    """
    by_text = joint.pivot(index="data_seed", columns="interpretation", values="deviance")
    # In the order of the ranking, so that of equal ones the same comes first.
    by_text = by_text[list(ranked["interpretation"])]
    rows = [
        (seed, chosen := by_text.drop(index=seed).median().idxmin(), by_text.loc[seed, chosen])
        for seed in (by_text.index if len(by_text) > 1 else [])
    ]
    return pd.DataFrame(rows, columns=["data_seed", "interpretation", "deviance"])


def role_nearness(
    study: InterpretationStudy, roles: Mapping[str, Pair], values: Mapping[str, pd.DataFrame], validation: pd.DataFrame
) -> pd.DataFrame:
    """Return how near each role is to all published tables, under every criterion under which it was run.

    ``values`` has the `role_values` of each role. There is a row for both algorithms together (`JOINT`) and one for
    each: what the one selects too often can hide what the other selects too seldom. ``own_deviance`` is the median of
    `agreement.own_deviances`, ``own_low`` to ``own_high`` their range; ``held_out`` is that of `_held_out_deviance`.
    """
    rows = []
    for role, pair in roles.items():
        compared = values[role]
        held = _held_out_deviance(study, compared, validation) if role == CLOSEST else math.nan
        for name, text in {JOINT: study.joined(*pair), **pair._asdict()}.items():
            part = compared if name == JOINT else compared[compared["algorithm"] == name]
            by_seed = nearness(part, ["data_seed"]).assign(role=role, algorithm=name, interpretation=text)
            found = over_seeds(by_seed, ["role", "algorithm", "interpretation", "values"], _NEARNESS)
            own = own_deviances(part) or [math.nan]
            found = found.assign(own_deviance=median(own), own_low=min(own), own_high=max(own))
            rows.append(found.assign(held_out=held if name == JOINT else math.nan))
    return framed("nearness", pd.concat(rows, ignore_index=True))


def _held_out_deviance(study: InterpretationStudy, compared: pd.DataFrame, validation: pd.DataFrame) -> float:
    """Return the median deviance of what `held_out` chooses on the data seed that had no part in the choice.

    It is missing without a choice, and where one of them was not run under the criteria of ``compared``.
    """
    held = []
    for seed, text, _ in validation.itertuples(index=False, name=None):
        there = role_values(study, study.pair(text))
        there = there[there["data_seed"] == seed]
        if len(there) != (compared["data_seed"] == seed).sum():
            return math.nan
        held.append(math.fsum(there["deviance"]))
    return significant(median(held)) if held else math.nan


def role_values(study: InterpretationStudy, pair: Pair) -> pd.DataFrame:
    """Return all published values, each once, with those of a pair under every criterion."""
    known = study.conditions
    of_pair = known["interpretation"] == known["algorithm"].map(pair._asdict())
    return compare(known[of_pair], study.published.once)


def side_by_side(study: InterpretationStudy, values: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return each published value once with what the roles reproduce over the data seeds, under every criterion.

    The columns are ``role``, ``interpretation``, those of the published values, ``term`` (the system term of a nu),
    ``reproduced``, and whether the value is clearly ``different`` on every data seed; Holm's
    correction covers all values of a role on a data seed. ``values`` has the `role_values` of each role.
    """
    rows = pd.concat([of.assign(role=role, different=different(of, ["data_seed"])) for role, of in values.items()])
    by = ["role", "interpretation", "table", *VALUE, "published"]
    found = over_seeds(rows, by, ["reproduced"])
    found["different"] = rows.groupby(by, sort=False)["different"].all().to_numpy()
    return found.merge(study.published.terms[["system", "label", "term"]], how="left").fillna({"term": ""})


def role_frame(roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return the interpretations in a role with ``role`` and ``algorithm``, each in its first role only."""
    rows = [(role, *of) for role, pair in roles.items() for of in pair._asdict().items()]
    found = pd.DataFrame(rows, columns=["role", "algorithm", "interpretation"])
    return found.drop_duplicates(["algorithm", "interpretation"])


# Effects of options


def effects(study: InterpretationStudy, by_seed: pd.DataFrame) -> pd.DataFrame:
    """Return what each single option changes, in pairs of data seeds; the largest change of the deviance first.

    There is one row for each ``algorithm``, option and ``measure``: ``deviance`` and the three biases. The columns are
    those of `change` and the options.
    """
    measures = by_seed[by_seed["algorithm"] != JOINT].set_index(BY_SEED)[["deviance", *BIASES]]
    baseline = measures.xs(BASELINE, level="interpretation").reindex(measures.index.droplevel("interpretation"))
    differences = measures - baseline.set_axis(measures.index)
    long = differences.melt(var_name="measure", value_name="change", ignore_index=False).reset_index()
    long = long.merge(study.options[["interpretation"]]).dropna()
    found = change(long, ["algorithm", "interpretation", "measure"])
    order = found[found["measure"] == "deviance"].assign(size=lambda of: -of["median"].abs().round(6))
    order = order.sort_values(["algorithm", "size", "interpretation"], ascending=[False, True, True])
    return order[["algorithm", "interpretation"]].merge(found).merge(study.options, on="interpretation")


def effects_overview(changes: pd.DataFrame) -> pd.DataFrame:
    """Return what each single option changes of the deviance; ``rank`` 1 has the largest change of its algorithm."""
    own = changes[changes["measure"] == "deviance"]
    ranks = own.groupby("algorithm").cumcount() + 1
    return framed("effects_overview", own.assign(change=own["median"], rank=ranks))


def closer(study: InterpretationStudy, ranked: pd.DataFrame, changes: pd.DataFrame) -> pd.DataFrame:
    """Return, of each design choice, the single option that brings 2D-UPSO nearest, if it does so clearly.

    The columns are those of `ranking`, ``design_choice``, ``change`` of the deviance, and ``worse``: on which
    share of the data sets the median final J is higher than as described; it is missing on other data.
    """
    own = changes[(changes["algorithm"] == UPSO) & (changes["measure"] == "deviance")]
    own = own[own["clear"] & (own["median"] < 0)][["interpretation", "design_choice", "median"]]
    found = ranked.merge(own.rename(columns={"median": "change"})).drop_duplicates("design_choice", ignore_index=True)
    known = study.of(UPSO)[["problem", *DATA_SET, "interpretation", "median_fitness"]]
    known = known.fillna({"median_fitness": math.inf})
    described = known[known["interpretation"] == BASELINE].drop(columns="interpretation")
    both = known.merge(described, on=["problem", *DATA_SET], suffixes=("", "_described"))
    worse = both["median_fitness"] > both["median_fitness_described"] + SAME_J
    return found.assign(worse=found["interpretation"].map(worse.groupby(both["interpretation"]).mean()))


def random_ties(by_seed: pd.DataFrame) -> pd.DataFrame:
    """Return what random order of equally likely terms leaves of the change that other options make, if both were run.

    The rows are interpretations of 2D-UPSO; ``change`` and ``change_random`` are the median changes of the deviance as
    described, in stable and in random order.
    """
    own = by_seed[by_seed["algorithm"] == UPSO].pivot(index="data_seed", columns="interpretation", values="deviance")
    changes = own.sub(own[BASELINE], axis=0).median()
    rows = [
        (text, changes[text], changes[both])
        for both in own
        if RANDOM_TIES in both.split("+")
        and (text := "+".join(part for part in both.split("+") if part != RANDOM_TIES) or BASELINE) in own
    ]
    found = pd.DataFrame(rows, columns=["interpretation", "change", "change_random"])
    return found.sort_values(["change", "interpretation"], ignore_index=True)


# Claims


def claim_verdicts(study: InterpretationStudy, claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the verdict on each claim under each interpretation that can matter to it.

    ``upso2d`` and ``ga`` are its interpretations (empty for an algorithm that the claim does not speak of), ``seeds``
    counts the data seeds on which the claim holds. The ``verdict`` is that of more than half of the data seeds; a claim
    cannot be judged where there is no such majority.
    """
    texts = {name: study.texts(name) for name in COMPARED}
    rows = {of: claim_rows(group) for of, group in study.conditions.groupby(BY_SEED, sort=False)}
    found = []
    for claim in claims:
        # An algorithm that a claim does not speak of has one interpretation, without any row.
        own = [texts[name] if name in claim.algorithms else [""] for name in COMPARED]
        pairs = study.pairs() if all(map(all, own)) else (Pair(a, b) for a in own[0] for b in own[1])
        for pair in pairs:
            named = [(name, text) for name, text in pair._asdict().items() if text]
            views = (View([row for name in named for row in rows[*name, seed]]) for seed in study.seeds)
            holds = [claim.judge(view).holds for view in views]
            majority = next((side for side in (True, False) if 2 * holds.count(side) > len(holds)), None)
            found.append((claim.id, *pair, holds.count(True), VERDICTS[majority]))
    return pd.DataFrame(found, columns=["claim", *COMPARED, "seeds", "verdict"])


def shown_verdicts(
    study: InterpretationStudy, claims: Sequence[Claim], verdicts: pd.DataFrame, roles: Mapping[str, Pair]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts under the interpretations in a role, and those under every single option that can matter.

    ``role`` and ``option`` name the interpretation; ``seeds`` and ``verdict`` are as in `claim_verdicts`.
    """
    known = {row[:3]: row[3:] for row in verdicts.itertuples(index=False, name=None)}
    run = {text for name in COMPARED for text in study.texts(name)}
    options = study.options[study.options["interpretation"].isin(run)]
    found: dict[bool, list[tuple[str, str, str, int]]] = {False: [], True: []}
    for claim in claims:
        own = options[options["part"].isin([*SHARED_PARTS, *claim.algorithms])]
        single = {
            text: Pair(*(text if part in (*SHARED_PARTS, name) else BASELINE for name in COMPARED))
            for text, part in zip(own["interpretation"], own["part"], strict=True)
        }
        for name, pair in {**roles, **single}.items():
            spoken = (text if of in claim.algorithms else "" for of, text in pair._asdict().items())
            seeds, verdict = known.get((claim.id, *spoken), (0, VERDICTS[None]))
            found[name in single].append((claim.id, name, verdict, seeds))
    of_options = pd.DataFrame(found[True], columns=["claim", "option", "verdict", "seeds"])
    return framed("role_verdicts", found[False]), of_options


def claim_overview(
    study: InterpretationStudy, claims: Sequence[Claim], verdicts: pd.DataFrame, of_roles: pd.DataFrame
) -> pd.DataFrame:
    """Return for each claim the verdicts on the ``published`` values and ``as_described``.

    It holds on ``seeds`` data seeds as described, and under ``holds`` of the interpretations under which it can be
    ``judged``: its ``group`` is ``all``, ``none`` or ``some`` of them, or ``unjudged``.
    """
    on_paper = published_view(study.published)
    described = of_roles[of_roles["role"] == AS_DESCRIBED].set_index("claim")
    found = []
    for claim in claims:
        own = verdicts.loc[verdicts["claim"] == claim.id, "verdict"]
        judged, holds = int((own != VERDICTS[None]).sum()), int((own == VERDICTS[True]).sum())
        group = "unjudged" if not judged else "all" if holds == judged else "some" if holds else "none"
        words = VERDICTS[claim.judge(on_paper).holds], *described.loc[claim.id, ["verdict", "seeds"]]
        found.append((claim.id, claim.title, *words, judged, holds, group))
    return framed("claim_overview", found)


# What finds the true structure


def exact_structures(study: InterpretationStudy) -> pd.DataFrame:
    """Return how many runs of some searches end at exactly the true structure, under BIC on data as described.

    ``low`` and ``high`` are the smallest and largest ``rate`` of a data seed.
    """
    rows = []
    for label, name, text in _SEARCHES:
        own = study.of(name).query("interpretation == @text")
        for system, here in own.groupby("system", sort=False):
            by_seed = here.groupby("data_seed")[["runs", "exact_runs"]].sum()
            rates = (by_seed["exact_runs"] / by_seed["runs"]).map(significant)
            runs, exact = by_seed.sum()
            limits = significant(exact / runs), rates.min(), rates.max()
            rows.append((label, name, text, system, len(here), runs, exact, *limits))
    return framed("found", rows)


# One algorithm against another, one criterion against another


def contests(study: InterpretationStudy, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return how the median final J of 2D-UPSO in each role compares with that of every GA and of other searches.

    ``interpretation`` is that of the ``rival``, on the same data. The J of 2D-UPSO is ``lower`` (better), ``equal`` and
    ``higher`` on so many SNRs and data seeds of a system.
    """
    own = role_frame(roles).merge(study.of(UPSO)).drop(columns="interpretation")
    rivals = pd.concat([study.of(name) for name in (GA, *REFERENCES)]).rename(columns={"algorithm": "rival"})
    rivals = rivals[["rival", "interpretation", "shared", *DATA_SET, "median_fitness"]]
    both = own.merge(rivals, on=["shared", *DATA_SET], suffixes=("", "_rival"))
    # Missing is infinite; of two infinite J none is lower.
    worst = both[["median_fitness", "median_fitness_rival"]].fillna(math.inf)
    excess = (worst["median_fitness"] - worst["median_fitness_rival"]).fillna(0.0)
    both = both.assign(lower=excess < -SAME_J, equal=excess.abs() <= SAME_J, higher=excess > SAME_J)
    by = ["role", "rival", "interpretation", "system"]
    return both.groupby(by, sort=False)[["lower", "equal", "higher"]].sum().reset_index()


def criterion_scores(study: InterpretationStudy) -> pd.DataFrame:
    """Return the scores of all criteria for the interpretations of 2D-UPSO that were run under more than one.

    The two criteria by which the text prefers BIC are ``met`` in so many ``rows`` (systems, SNRs, data seeds).
    """
    known = study.conditions[study.conditions["algorithm"] == UPSO]
    known = known[known.groupby("interpretation")["criterion"].transform("nunique") > 1]
    known = known.assign(met=[both_criteria(row).holds for row in claim_rows(known)], rows=1)
    by = ["interpretation", "criterion"]
    found = known.groupby(by, sort=False)[["met", "rows", "exact_runs", "runs"]].sum().reset_index()
    compared = compare(known, study.published.once)
    if compared.empty:
        return pd.DataFrame()
    by_seed = nearness(compared, [*by, "data_seed"])
    return found.merge(over_seeds(by_seed, by, ["deviance"]), how="left", on=by)


# Optimality gaps


def gaps(study: InterpretationStudy, roles: Mapping[str, Pair]) -> pd.DataFrame:
    """Return how far J lies above the best known J of the same data, under the interpretations in a role.

    The best known J is the smallest that any run of any algorithm, or the true structure, has on the same data under
    the same criterion. A stronger GA and other searches are shown as well. The gaps of the median and best final J
    and of the true structure are taken over the data ``seeds``; they are missing where one is not finite or where every
    run has data of its own. ``true_above`` counts the data seeds on which the true structure is not the best known.
    """
    named = role_frame(roles).sort_values("algorithm", ascending=False, kind="stable")
    data = dict.fromkeys(study.shared(pair.upso2d) for pair in roles.values())
    more = [(AS_DESCRIBED if text == BASELINE else text, name, text) for name in REFERENCES for text in data]
    if STRONG_GA not in [pair.ga for pair in roles.values()]:
        more.insert(0, (STRONG_GA_NAME, GA, STRONG_GA))
    known = pd.concat([named, pd.DataFrame(more, columns=named.columns)]).merge(_above_best(study))
    known = known.assign(seeds=1, true_above=known["true_gap"] > 0)
    by = ["algorithm", "role", "interpretation", "system", "snr_db", "criterion"]
    counts = known.groupby(by, sort=False)[["seeds", "true_above", "exact_runs", "runs"]].sum().reset_index()
    return over_seeds(known, by, ["median_gap", "best_gap", "true_gap"]).merge(counts, on=by)


def _above_best(study: InterpretationStudy) -> pd.DataFrame:
    """Return the conditions with the gaps of their median, best and true J above the best known J of their data."""
    known = study.conditions
    best = known[["best_fitness", "true_fitness"]].min(axis=1)
    best = best.groupby([known[name] for name in ("problem", *DATA_SET, "criterion")]).transform("min")
    settings = {text: interpretation_settings(study.choices, study.chosen(text)) for text in known["problem"].unique()}
    # Runs with data of their own: no J can be compared with that of another run.
    own = known["problem"].isin([text for text, of in settings.items() if of["data"]["realisation"] == "per_run"])
    above = {f"{name}_gap": known[f"{name}_fitness"] - best for name in ("median", "best", "true")}
    # A difference of rounding alone is none.
    return known.assign(**{name: gap.mask(gap <= SAME_J, 0.0).mask(own) for name, gap in above.items()})
