"""The analysis of a study: from the summaries of its conditions to its frames."""

from collections.abc import Sequence

import pandas as pd

from narxbench._studies.paper import agreement, claims, convergence, frames
from narxbench._studies.paper.published import Published


def analyse(
    summaries: Sequence[frames.Summary],
    published: Published,
    paper_claims: Sequence[claims.Claim],
    *,
    confidence: float,
) -> dict[str, pd.DataFrame]:
    """Return all frames of a study of the paper by name, with the columns of :mod:`narxbench._studies.paper.frames`.

    The summaries are in the order of the study. Systems with other names, terms or coefficients than the published ones
    are compared with no published value: the paper claims nothing about them.
    """
    conditions = frames.conditions_frame(summaries, published)
    metrics = frames.metrics_frame(summaries, conditions, confidence)
    is_published = [published.is_published(s["system"], s["system_terms"], s["true_coefficients"]) for s in summaries]
    of_paper = conditions[is_published]
    values = agreement.agreement_values(of_paper, metrics, published, confidence)
    views = claims.published_view(published), claims.conditions_view(of_paper)
    return {
        "conditions": conditions,
        "metrics": metrics,
        "selection": frames.selection_frame(summaries, published, confidence),
        "convergence": convergence.convergence(summaries),
        "agreement_values": values,
        "agreement": agreement.agreement(values),
        "claims": claims.claims_frame(paper_claims, *views),
    }
