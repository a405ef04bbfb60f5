"""The outcome of an identification: the model, how sure it is, how good it is, and how it came about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from narxbench._identification.finding import Finding
from narxbench._identification.phrases import prediction_kind
from narxbench._identification.validation.answers import ANSWERS
from narxbench._identification.validation.bands import BAND, Unseen, half_width
from narxbench._identification.validation.dynamics import Dynamics
from narxbench._identification.validation.error_table import FREE_RUN, ONE_STEP, metrics_by_role
from narxbench._identification.validation.forecasts import forecast_after_record, forecast_frame
from narxbench._identification.validation.probabilities import StructureCertainty
from narxbench._identification.validation.residuals import CorrelationTest
from narxbench._identification.validation.steady_state import FixedPoint, Rest
from narxbench._io.errors import NarxbenchError, show
from narxbench._model.loading import IDENTIFICATION_FORMAT, IDENTIFICATION_VERSION
from narxbench._model.narx import DivergedError, Initial, Model
from narxbench._model.records import Recording


@dataclass(frozen=True, repr=False)
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
        ``candidates`` (their number) and ``dropped`` (redundant candidates, with the reason).
    checks : list of Finding
        What the data say before any search.
    tried : DataFrame
        One row for each configuration with its best structure, the best first.
    left_out : int
        Configurations that the planned time did not suffice for.
    weights : list of dict
        One for each term: coefficient, standard errors, t, p and error reduction ratio.
    certainty : StructureCertainty
        How probable the structure and its terms are: ``probability``, ``probabilities``, the ten best other structures
        (``rivals``), ``groups`` of exchangeable terms, and ``doubts``, or why probabilities are ``missing``.
    method : str
        The search that proposed the structure.
    alike : list of (str, str, float)
        Terms of the model, the candidate outside that could nearly take their place, and their correlation.
    validation : DataFrame
        Figures by role, record, model and kind: :func:`narxbench._identification.validation.error_table.validate`.
    tests : list of CorrelationTest
        Correlation tests of the residuals.
    curve : list of FixedPoint
        Steady states of the model.
    rests : list of Rest
        Steady states in the data.
    summary : list of Finding
        Checks of the model, most important first.
    notes : list of Finding
        What else a reader must know: that the search was ``interrupted``, that there are ``no_test`` data, and how the
        ``noise_model`` was decided on.
    unseen : dict of str to tuple of array
        Sorted absolute errors in each part of the data on samples that the weights did not know, of the kinds
        ``free_run`` and ``one_step``.
    dynamics : Dynamics, optional
        How the output answers the inputs near the middle of the data, with intervals. None if it does not rest.
    models : dict of str to Model
        The model by its kind: ``sparse``, ``linear`` (a full structure of degree 1), ``unpruned`` (all candidates, by
        ridge regression) or ``last value``. Where it is not sparse, the sparse one is there too.
    competitors : dict of str to Model or None
        All models that competed by their description, such as ``sparse`` and ``linear ARX``: of each kind and noise
        model the best, with the weights of all data and without their covariance. None if there are no weights.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
    >>> settings = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 1.0}
    >>> identification = narxbench.identify(u, y, test="20%", **settings)
    >>> identification.configuration["candidates"]
    15
    >>> [finding.status for finding in identification.summary if finding.name == "errors"]
    ['fine']
    """

    model: Model
    recording: Recording
    settings: dict[str, Any]
    configuration: dict[str, Any]
    checks: list[Finding]
    tried: pd.DataFrame
    left_out: int
    weights: list[dict[str, Any]]
    certainty: StructureCertainty
    method: str
    alike: list[tuple[str, str, float]]
    validation: pd.DataFrame
    tests: list[CorrelationTest]
    curve: list[FixedPoint]
    rests: list[Rest]
    summary: list[Finding]
    notes: list[Finding] = field(default_factory=list)
    unseen: Mapping[str, Unseen] = field(default_factory=dict)
    models: Mapping[str, Model] = field(default_factory=dict)
    competitors: Mapping[str, Model | None] = field(default_factory=dict)
    dynamics: Dynamics | None = None

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability that a candidate is a term, by name, without the smallest ones. Empty if none is known."""
        return self.certainty.probabilities

    @property
    def warnings(self) -> list[Finding]:
        """The findings that a reader must know besides the three answers: bad ones first, then those to look at.

        Within each status, those on the search come first, then those on the model, then those on the data.
        """
        findings = []
        for status in ("bad", "look"):
            for finding in (*self.notes, *self.summary):
                if finding.status == status and finding.name not in ANSWERS:
                    findings.append(finding)
        return findings

    def __repr__(self) -> str:
        """Return what a terminal shows: the equation, the error, and what to look at."""
        lines = [f"<Identification: {self.model.equation()}", *(f"{title}: {text}" for title, text in self._facts())]
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """Return what a notebook shows, likewise."""
        facts = [("Equation", self.model.equation()), *self._facts()]
        cell = '<td style="text-align: left; white-space: pre-wrap">'
        rows = "".join(f"<tr><th>{escape(title)}</th>{cell}{escape(text)}</td></tr>" for title, text in facts)
        return f"<table>{rows}</table>"

    def _facts(self) -> list[tuple[str, str]]:
        """Return titles and texts: the error, the noise, the findings by status, and the warnings."""
        facts = [("Error", self._error()), ("Noise", self.model.noise.description)]
        for status in ("bad", "look", "fine"):
            titles = [finding.title for finding in self.summary if finding.status == status]
            if titles:
                facts.append((status.capitalize(), "; ".join(titles)))
        notes = [*self.recording.notes, *(note.title for note in self.notes if note.status != "fine")]
        if notes:
            facts.append(("Warnings", "; ".join(dict.fromkeys(notes))))
        return facts

    def _values_of(self, name: str) -> dict[str, Any]:
        """Return the values of a finding of the summary, or an empty dict if there is none of this name."""
        return next((finding.values for finding in self.summary if finding.name == name), {})

    @property
    def steps_judged(self) -> int | None:
        """How many steps of the model ahead decide, or None for free runs."""
        steps: int | None = self._values_of("errors").get("steps")
        return steps

    def _error(self) -> str:
        """Return the error of the predictions that decide, and on which data."""
        prediction = self._values_of("errors")
        how = prediction_kind(prediction["steps"])
        error = "diverges" if prediction["rrse"] is None else f"RRSE {prediction['rrse']:.3g}"
        return f"{how} over the data of {prediction['role']}: {error}"

    def bands(
        self,
        u: ArrayLike | None,
        y: ArrayLike,
        confidence: float = BAND,
        *,
        steps: int | None = None,
        samples: int | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the band about a prediction in which this share of the measured samples is expected.

        Its half width comes from the errors on parts of the data that the weights did not know, and is such that each
        part would have been held by the others'. So it holds on average over samples, for data like those of the
        identification. It is too narrow where the input leaves its range, where the process changes, and where errors
        are slow, so that few of them in the data are independent.

        Parameters
        ----------
        u, y, samples
            As for :meth:`narxbench._model.narx.Model.predict`.
        confidence : float
            Share of samples, above 0 and below 1.
        steps : int, optional
            None: a free run; 1: one step of the model ahead.

        Returns
        -------
        lower, upper : array of float, shape (samples,)
            In units of the output; both are the given output at the first ``model.initial_samples``.

        Raises
        ------
        NarxbenchError
            For another confidence or number of steps, where predictions of all or many unseen data diverge, so that no
            band is known, and as ``predict``.
        """
        if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
            raise NarxbenchError(f"confidence: found {show(confidence)}; allowed: a number above 0 and below 1")
        if steps not in (None, 1):
            raise NarxbenchError(f"steps: found {show(steps)}; allowed: 1 and None")
        half = half_width(self.unseen[FREE_RUN if steps is None else ONE_STEP], confidence)
        if half is None:
            raise NarxbenchError(
                f"bands: found no unseen data whose predictions stay finite; no band holds {confidence:g}"
            )
        predicted = self.model.predict(u, y, steps, samples=samples)
        width = np.where(np.arange(len(predicted)) < self.model.initial_samples, 0.0, half)
        return predicted - width, predicted + width

    def forecast(
        self,
        u: ArrayLike | None = None,
        y: ArrayLike | None = None,
        u_future: ArrayLike | None = None,
        steps: int | None = None,
        confidence: float = BAND,
        *,
        initial: Initial = "measured",
    ) -> pd.DataFrame:
        """Return the outputs that the model expects after a record, with bands that widen with the horizon.

        Each band is as wide as the errors of forecasts this many steps ahead on parts of the data that the weights did
        not know. So it holds on average over samples, for data like those of the identification and the inputs that
        are given. It is too narrow where inputs leave their range and where the process changes.

        Parameters
        ----------
        u, y : array or frame, optional
            Inputs and outputs of the record, as for :meth:`narxbench.Model.forecast`. Without ``y`` it is the last
            record of the identification, with its times if these are known.
        u_future, steps, initial
            As for :meth:`narxbench.Model.forecast`.
        confidence : {0.5, 0.8, 0.9, 0.95, 0.99}
            The share of samples that the band holds.

        Returns
        -------
        DataFrame
            The columns ``forecast``, ``lower`` and ``upper``, with the index of the record continued.

        Raises
        ------
        NarxbenchError
            As :meth:`narxbench.Model.forecast`, for another confidence, and where forecasts of many unseen data
            diverge, so that no band is known.

        Examples
        --------
        >>> import narxbench
        >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
        >>> identification = narxbench.identify(u[:595], y[:595], degree=2, y_lags=2, u_lags=2)
        >>> forecast = identification.forecast(u[:595], y[:595], u[595:])
        >>> ((forecast["lower"] < y[595:]) & (y[595:] < forecast["upper"])).tolist()
        [True, True, True, True, True]
        """
        if y is None:
            if u is not None:
                raise NarxbenchError("y: found null next to u; needed: the outputs of the record, or neither")
            record = self.recording.records[-1]
            return forecast_after_record(self.model, record, u_future, steps, confidence, initial=initial)
        return forecast_frame(self.model, u, y, u_future, steps, confidence, initial=initial)

    def _band(self, steps: int | None, unseen: Unseen) -> dict[str, Any]:
        """Return the half width of a band, and the share of the samples of all test records that it holds."""
        half, inside, samples = half_width(unseen, BAND), 0, 0
        for record in self.recording.of_role("test"):
            first = self.model.initial_samples
            is_counted = record.is_measured[first:]
            if half is None or not is_counted.any():
                continue
            samples += int(is_counted.sum())
            try:
                u = record.u if self.model.n_inputs else None
                lower, upper = self.bands(u, record.measured(first), steps=steps, samples=len(record))
            except DivergedError:
                continue
            is_inside = (lower <= record.y) & (record.y <= upper)
            inside += int((is_inside[first:] & is_counted).sum())
        share = inside / samples if samples else None
        return {"half_width": half, "parts": len(unseen), "test_coverage": share}

    def to_dict(self) -> dict[str, Any]:
        """Return the model and its checks as plain data.

        ``model`` has all values of the model, as :meth:`narxbench.Model.save` writes them, so that
        :func:`narxbench.load_model` reads it from a file; ``competitors`` has those of the models that it competed
        with. ``certainty`` has how probable the structure is, its terms and its rivals. ``noise`` has the noise model
        with its coefficients. ``metrics`` has the roles estimation, selection and test, each with ``one_step`` and
        ``free_run`` at the sampling of the data; None where there is no such record. ``bands`` has for both kinds the
        half width of the band, the parts it comes from and its coverage of test data. ``dynamics`` has gain, poles,
        settling time, delay, step response and static curve with intervals, and terms that the model lacks; None where
        it does not rest. ``warnings`` are the sentences of :attr:`warnings` and the notes on the data; ``checks``,
        ``summary`` and ``notes`` hold findings.
        """
        model = self.model
        warnings = [f"{finding.title}: {finding.text}" for finding in self.warnings]
        warnings += dict.fromkeys(self.recording.notes)
        bands: dict[str, Any] = {"confidence": BAND}
        for kind, unseen in self.unseen.items():
            bands[kind] = self._band(None if kind == FREE_RUN else 1, unseen)
        return {
            "format": IDENTIFICATION_FORMAT,
            "version": IDENTIFICATION_VERSION,
            "equation": model.equation(),
            "model": model.to_dict(),
            "models": {name: _as_plain_data(shown) for name, shown in self.models.items()},
            "competitors": self._competitors(),
            "terms": list(model.terms),
            "coefficients": list(model.coefficients),
            "standard_errors": [row["standard_error"] for row in self.weights],
            "degree": model.degree,
            "lags": model.lags,
            "certainty": self.certainty.as_dict(),
            "noise": {
                "name": model.noise_model,
                "description": model.noise.description,
                "autoregression": list(model.autoregression),
                "moving_average": list(model.moving_average),
                "is_integrated": model.is_integrated,
                "degrees_of_freedom": model.degrees_of_freedom,
            },
            "offsets": None if model.offsets is None else list(model.offsets),
            "scales": None if model.scales is None else list(model.scales),
            "units": dict(model.units),
            "decimation": model.decimation,
            "sampling_time": model.sampling_time,
            "method": self.method,
            "settings": {**self.settings, "found": self.configuration},
            "metrics": metrics_by_role(self.validation),
            "bands": bands,
            "dynamics": None if self.dynamics is None else self.dynamics.as_dict(),
            "warnings": warnings,
            "checks": [finding.to_dict() for finding in self.checks],
            "summary": [finding.to_dict() for finding in self.summary],
            "notes": [finding.to_dict() for finding in self.notes],
            "data_digest": model.data_digest,
        }

    def _competitors(self) -> list[dict[str, Any]]:
        """Return the models that competed with their selection errors, without covariances."""
        entries = []
        for row in self._values_of("competitors").get("rows", ()):
            model = self.competitors.get(row["name"])
            plain_model = model.to_dict() if model else None
            entries.append({"name": row["name"], "selection_rrse": row["rrse"], "model": plain_model})
        return entries


def _as_plain_data(model: Model) -> dict[str, Any]:
    return {
        "equation": model.equation(),
        "terms": list(model.terms),
        "coefficients": list(model.coefficients),
        "noise": model.noise.description,
    }
