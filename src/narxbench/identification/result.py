"""What an identification gives: the model, how sure it is, how good it is, and how it was found."""

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from narxbench.identification.finding import Finding
from narxbench.identification.search.structures import Structure
from narxbench.identification.trust.residuals import CorrelationTest
from narxbench.identification.trust.steady_state import FixedPoint, Rest
from narxbench.identification.trust.validation import metrics_by_role
from narxbench.model.narx import Model
from narxbench.model.records import Recording


@dataclass(frozen=True)
class Identification:
    """A model of measured data, and all that shows how far to trust it.

    Attributes
    ----------
    model : Model
        The model: it predicts, saves and exports itself.
    recording : Recording
        The data. Of records without a role, parts take turns in selection.
    settings : dict
        All settings as plain data.
    configuration : dict
        What the candidate terms are made of: ``name``, ``decimation``, ``degree``, ``y_lags``, ``u_lags``, ``centred``,
        ``candidates`` (their number) and ``dropped``, those that say nothing new with the reason.
    checks : list of Finding
        What the data say before any search.
    tried : DataFrame
        One row for each configuration with its best structure, the best first.
    left_out : int
        Configurations that the planned time did not suffice for.
    weights : list of dict
        One for each term: coefficient, standard errors, t, p and error reduction ratio.
    selection : DataFrame
        How often each candidate was chosen: :func:`narxbench.identification.trust.certainty.selection_table`.
    structures : dict of str to Structure
        Structures next to one another: ``best``, ``threshold``, ``most_frequent`` and, where it was made,
        ``iterative_ofr``.
    structures_made : dict
        How the second and the third came about: :class:`narxbench.identification.trust.certainty.Structures`.
    alike : list of (str, str, float)
        Terms of the model, the candidate outside that could nearly take their place, and their correlation.
    validation : DataFrame
        Figures by role, record, model and kind: :func:`narxbench.identification.trust.validation.validate`.
    tests : list of CorrelationTest
        Correlation tests of the residuals.
    curve : list of FixedPoint
        Steady states of the model.
    rests : list of Rest
        Steady states in the data.
    summary : list of Finding
        What is fine about the model and what is not, most important first.
    notes : list of Finding
        What else a reader must know: ``searches`` that found nothing, ``no_test`` data, fewer ``resamples`` than
        wanted, what the ``refinement`` of the weights did.
    """

    model: Model
    recording: Recording
    settings: dict[str, Any]
    configuration: dict[str, Any]
    checks: list[Finding]
    tried: pd.DataFrame
    left_out: int
    weights: list[dict[str, Any]]
    selection: pd.DataFrame
    structures: dict[str, Structure]
    structures_made: dict[str, Any]
    alike: list[tuple[str, str, float]]
    validation: pd.DataFrame
    tests: list[CorrelationTest]
    curve: list[FixedPoint]
    rests: list[Rest]
    summary: list[Finding]
    notes: list[Finding] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the model and what is known of it as plain data.

        ``metrics`` has the roles estimation, selection and test, each with ``one_step`` and ``free_run`` at the
        sampling of the model, and both again ``at_incoming_sampling``; None where there is no such record. ``warnings``
        and ``summary`` hold findings as values; :func:`narxbench.report.findings.as_json` adds the words.
        """
        model = self.model
        column = "resample_frequency" if self.settings["resamples"] else "seed_frequency"
        often = dict(zip(self.selection["term"], self.selection[column], strict=True))
        return {
            "equation": model.equation(),
            "terms": list(model.terms),
            "coefficients": list(model.coefficients),
            "standard_errors": [row["standard_error"] for row in self.weights],
            "selection_frequency": [often.get(term, 0.0) for term in model.terms],
            "decimation": model.decimation,
            "sampling_time": model.sampling_time,
            "method": self.settings["method"],
            "settings": {**self.settings, "found": self.configuration},
            "metrics": metrics_by_role(self.validation),
            "warnings": [*self.recording.notes, *(vars(note) for note in self.notes)],
            "summary": [vars(finding) for finding in self.summary],
            "data_digest": model.data_digest,
        }
