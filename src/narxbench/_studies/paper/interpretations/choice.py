"""The choice of the closest interpretation among those that were run under every criterion of the published tables.

Where none was, the criterion of the screening decides. The data seeds of the screening choose it, and the others judge
it. An exact relation between published counts that chance does not explain
(:mod:`narxbench._studies.paper.identities`) weighs more than any deviance: first come the interpretations that keep
most of them, and among these those with the smallest deviance.
"""

from collections.abc import Sequence

import pandas as pd

from narxbench._studies.paper.agreement import compare
from narxbench._studies.paper.claims import UPSO
from narxbench._studies.paper.identities import check_identities, telling_identities
from narxbench._studies.paper.interpretations.nearness import COMPARED, InterpretationStudy, Pair
from narxbench._studies.paper.interpretations.settings import SCREENED

FINALISTS = ["place", "interpretation", "contradicts", "kept", "identities", "deviance"]


def criteria_of_choice(study: InterpretationStudy) -> list[str]:
    """Return the criteria under which the closest is chosen: all of the published tables of 2D-UPSO, if they were run.

    Otherwise it is the criterion of the screening.
    """
    published = study.published.once
    criteria = list(dict.fromkeys(published.loc[published["algorithm"] == UPSO, "criterion"]))
    return criteria if _texts_under(study, criteria) else [SCREENED]


def _texts_under(study: InterpretationStudy, criteria: Sequence[str]) -> set[str]:
    """Return the interpretations of 2D-UPSO that were run under all of these criteria."""
    return set.intersection(*(set(study.texts(UPSO, criterion)) for criterion in criteria))


def identity_checks(study: InterpretationStudy) -> pd.DataFrame:
    """Return how many SNRs of each telling identity hold under each interpretation, by data seed."""
    conditions = study.conditions[study.conditions["algorithm"].isin(COMPARED)]
    return check_identities(telling_identities(study.published), conditions)


def kept_identities(checks: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    """Return for each identity at how many ``held`` of its ``published`` places a pair of interpretations keeps it.

    A place is an SNR on a data seed. The identity is ``kept`` if it holds at more than half of them.
    """
    in_pair = checks["interpretation"] == checks["method"].map(pair)
    by = ["system", "algorithm", "criterion", "relation", "terms"]
    totals = checks[in_pair].groupby(by, sort=False)[["held", "published"]].sum().reset_index()
    return totals.assign(kept=2 * totals["held"] > totals["published"])


def finalists(study: InterpretationStudy) -> pd.DataFrame:
    """Return the interpretations of both algorithms among which the closest is chosen, the closest first.

    ``kept`` of the telling ``identities`` are kept. The deviance is the median over the data seeds of the screening.
    """
    criteria = criteria_of_choice(study)
    conditions = study.conditions[study.conditions["data_seed"].isin(study.screening)]
    checks = identity_checks(study)
    checks = checks[checks["data_seed"].isin(study.screening)]
    n_identities = len(telling_identities(study.published))
    is_compared = conditions["algorithm"].isin(COMPARED) & conditions["criterion"].isin(criteria)
    compared = compare(conditions[is_compared], study.published.once)
    deviances = compared.groupby(["algorithm", "interpretation", "data_seed"])["deviance"].sum().unstack("data_seed")
    texts, ranked = _texts_under(study, criteria), []
    for pair in study.pairs():
        if pair[UPSO] in texts:
            of_both = deviances[deviances.index.isin(pair.items())].sum()
            n_kept = int(kept_identities(checks, pair)["kept"].sum())
            text = study.joined(*pair.values())
            ranked.append((-n_kept, round(of_both.median(), 6), len(study.chosen(text)), text))
    rows = []
    for place, (n_missing, deviance, _, text) in enumerate(sorted(ranked), start=1):
        rows.append((place, text, study.contradictions(text), -n_missing, n_identities, deviance))
    return pd.DataFrame(rows, columns=FINALISTS)
