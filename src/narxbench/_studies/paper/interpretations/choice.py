"""The choice of the closest interpretation among those that were run under every criterion of the published tables.

The data seeds of the screening choose it; the others judge it. An exact relation between published counts that chance
does not explain (:mod:`narxbench._studies.paper.identities`) weighs more than any deviance: first come the
interpretations that keep most of them, and among these those with the smallest deviance.
"""

from collections.abc import Iterator

import pandas as pd

from narxbench._studies.paper.agreement import compare
from narxbench._studies.paper.claims import GA, UPSO
from narxbench._studies.paper.identities import check_identities, telling_identities
from narxbench._studies.paper.interpretations.nearness import COMPARED, InterpretationStudy, Pair

FINALISTS = ["place", "interpretation", "contradicts", "kept", "identities", "deviance", "system", "system_deviance"]


def published_criteria(study: InterpretationStudy) -> list[str]:
    """Return the criteria of the published tables of 2D-UPSO."""
    published = study.published.once
    return list(dict.fromkeys(published.loc[published["algorithm"] == UPSO, "criterion"]))


def texts_under_all_criteria(study: InterpretationStudy) -> set[str]:
    """Return the interpretations of 2D-UPSO that were run under every criterion of the published tables."""
    return set.intersection(*(set(study.texts(UPSO, criterion)) for criterion in published_criteria(study)))


def identity_checks(study: InterpretationStudy) -> pd.DataFrame:
    """Return how many SNRs of each telling identity hold under each interpretation, by data seed."""
    conditions = study.conditions[study.conditions["algorithm"].isin(COMPARED)]
    return check_identities(telling_identities(study.published), conditions)


def kept_identities(checks: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    """Return for each identity at how many ``held`` of its ``published`` places a pair of interpretations keeps it.

    A place is an SNR on a data seed. The identity is ``kept`` if it holds at more than half of them.
    """
    in_pair = checks["interpretation"] == checks["method"].map(pair._asdict())
    by = ["system", "algorithm", "criterion", "relation", "terms"]
    totals = checks[in_pair].groupby(by, sort=False)[["held", "published"]].sum().reset_index()
    return totals.assign(kept=2 * totals["held"] > totals["published"])


def finalists(study: InterpretationStudy) -> pd.DataFrame:
    """Return the interpretations of both algorithms that were run under every criterion, the closest first.

    There is a row for each interpretation and system. ``kept`` of the telling ``identities`` are kept; the deviances,
    of all systems and of a ``system``, are medians over the data seeds of the screening.
    """
    is_screened = study.conditions["data_seed"].isin(study.screening)
    checks = identity_checks(study)
    checks = checks[checks["data_seed"].isin(study.screening)]
    n_identities = len(telling_identities(study.published))
    compared = compare(
        study.conditions[is_screened & study.conditions["algorithm"].isin(COMPARED)], study.published.once
    )
    by_place = ["algorithm", "interpretation", "data_seed", "system"]
    deviances = compared.groupby(by_place)["deviance"].sum().unstack("system")
    ranked = []
    for pair in _pairs(study):
        of_both = deviances.loc[UPSO, pair.upso2d].add(deviances.loc[GA, pair.ga], fill_value=0.0)
        total, by_system = round(of_both.sum(axis=1).median(), 6), of_both.median()
        n_kept = int(kept_identities(checks, pair)["kept"].sum())
        text = study.joined(*pair)
        ranked.append((-n_kept, total, len(study.chosen(text)), text, by_system))
    ranked.sort(key=lambda entry: entry[:-1])
    rows = []
    for place, (n_missing, total, _, text, by_system) in enumerate(ranked, start=1):
        about = (place, text, study.contradictions(text), -n_missing, n_identities, total)
        rows += [(*about, system, deviance) for system, deviance in by_system.items()]
    return pd.DataFrame(rows, columns=FINALISTS)


def _pairs(study: InterpretationStudy) -> Iterator[Pair]:
    """Yield the pairs of interpretations whose 2D-UPSO was run under every criterion."""
    texts = texts_under_all_criteria(study)
    for pair in study.pairs():
        if pair.upso2d in texts:
            yield pair
