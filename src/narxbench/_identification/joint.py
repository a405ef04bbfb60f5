"""Several outputs together: models that predict all of them from the inputs, judged by their joint free run.

Each output is searched with the other outputs as measured. Their noise leads to terms that the joint run does not need,
so each output is searched once more with the others as the best models simulate them. The structures of both searches
are combined, and compared by the error of the joint free run over parts of the data that the weights do not know. The
simulated outputs come from models of all known data, so structures of the second kind are judged a little too well.
Test records are not used.

The module is long because the parts of a joint identification are used only here.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from narxbench._fitness.problem import check_compiler
from narxbench._identification.conclusion import last_cases
from narxbench._identification.data.reading import Reading, read_recording, readings_with_others
from narxbench._identification.finding import Finding, Status, look_if
from narxbench._identification.identify import conclude_search, search_recording, was_interrupted
from narxbench._identification.phrases import MOVING_INPUTS, Values, count_terms
from narxbench._identification.result import Identification
from narxbench._identification.search.candidate import EXACT, Candidate
from narxbench._identification.search.choice import MOST_EXAMINED, Choice
from narxbench._identification.search.competitors import SPARSE_WITHIN, best_by_description, description
from narxbench._identification.search.outside import joint_run_diverges_when_held
from narxbench._identification.search.plan import FINALISTS, LEADERS, SearchPlan
from narxbench._identification.search.steps import SearchProgress, interruption
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.validation.answers import prediction_answer
from narxbench._identification.validation.avoidable import avoidable_share
from narxbench._identification.validation.error_table import Case, decisive, validate
from narxbench._identification.validation.fit import ModelFit
from narxbench._identification.validation.verdicts import summary
from narxbench._io.errors import FieldError, NarxbenchError, did_you_mean, printable, show
from narxbench._io.interruptions import interruptible
from narxbench._io.words import listed
from narxbench._model.dataset import DIVERGED, Signals
from narxbench._model.joint import JointModel
from narxbench._model.loading import IDENTIFICATION_VERSION, JOINT_IDENTIFICATION_FORMAT
from narxbench._model.narx import DivergedError, Model
from narxbench._model.records import Record, Recording, Role
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Numbers of candidates, one for each output.
Combination = tuple[int, ...]
# The kinds of models whose errors are reported: those that are selected, and those that each output has by itself.
Kind = Literal["joint", "as_measured"]


@dataclass(frozen=True, repr=False)
class JointIdentification:
    """Models of several outputs that run together, and how well they do.

    Attributes
    ----------
    model : JointModel
        The models: they simulate, forecast, score, save and export themselves together.
    identifications : dict of str to Identification
        For each output, the identification with the other outputs as measured inputs, for predictions where they are
        measured. Its model is the one of ``model`` where the joint run was best with it.
    errors : DataFrame
        The relative error (RRSE) of joint free runs, with the columns ``role`` (``selection``: over parts of the data
        that the weights do not know; ``test``), ``models``, ``output`` and ``rrse``, None where a run diverges. The
        ``models`` are ``joint`` (the selected ones) and ``as_measured`` (the best ones with the other outputs as
        measured, run jointly).
    structures : list of dict
        For each output, of the selected model: ``output``, ``kind`` (such as ``sparse``), ``terms`` (their number),
        and which ``others`` it depends on.
    notes : list of Finding
        How the combination was chosen.
    summary : list of Finding
        For each output, whether one may predict it with the joint models: ``to_predict``, as for one output, with the
        name of the output in the values. The others are simulated or, without inputs, as measured.

    Examples
    --------
    >>> import narxbench
    >>> u, a = narxbench.load_system("S1").simulate(400, snr_db=40)
    >>> data = {"u": u, "a": a, "b": [0.0, *a[:-1]]}
    >>> lags = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "effort": 1, "noise": "narx"}
    >>> identification = narxbench.identify(data, ["a", "b"], input="u", joint=True, **lags)
    >>> identification.model.outputs
    ('a', 'b')
    """

    model: JointModel
    identifications: Mapping[str, Identification]
    errors: pd.DataFrame
    structures: list[dict[str, Any]]
    notes: list[Finding] = field(default_factory=list)
    summary: list[Finding] = field(default_factory=list)

    def rrse(self, models: Kind = "joint", role: str = "selection") -> dict[str, float | None]:
        """Return the relative error of the joint free run by output, or an empty dict without data of the role."""
        rows = self.errors.to_dict("records")
        return {row["output"]: row["rrse"] for row in rows if (row["models"], row["role"]) == (models, role)}

    def __repr__(self) -> str:
        """Return what a terminal shows: the equations and the errors."""
        lines = [f"<JointIdentification: {self.model.equation()}"]
        for role in dict.fromkeys(self.errors["role"]):
            texts = [f"{output} {_shown(rrse)}" for output, rrse in self.rrse(role=role).items()]
            lines.append(f"Joint free run over the data of {role}, RRSE: {', '.join(texts)}")
        if self.summary:
            verdicts = [f"{finding.values['output']} {finding.status}" for finding in self.summary]
            lines.append(f"To predict: {', '.join(verdicts)}")
        return "\n".join(lines) + ">"

    def simulate(self, u: ArrayLike | None, y_initial: ArrayLike, *, samples: int | None = None) -> Floats:
        """Return the joint free run, as :meth:`narxbench.JointModel.simulate` does."""
        return self.model.simulate(u, y_initial, samples=samples)

    def forecast(
        self, u: ArrayLike | None, y: ArrayLike, u_future: ArrayLike | None = None, steps: int | None = None
    ) -> Floats:
        """Return the outputs after a record, as :meth:`narxbench.JointModel.forecast` does: without bands."""
        return self.model.forecast(u, y, u_future, steps)

    def to_dict(self) -> dict[str, Any]:
        """Return the models and their checks as plain data.

        ``model`` has all values of the joint model, which :meth:`narxbench.JointModel.load` reads from the file,
        ``errors`` and ``structures`` are those of the attributes, ``summary`` and ``notes`` hold findings as values,
        and ``outputs`` has :meth:`narxbench.Identification.to_dict` by output.
        """
        return {
            "format": JOINT_IDENTIFICATION_FORMAT,
            "version": IDENTIFICATION_VERSION,
            "equation": self.model.equation(),
            "model": self.model.to_dict(),
            "errors": self.errors.to_dict("records"),
            "structures": self.structures,
            "summary": [finding.to_dict() for finding in self.summary],
            "notes": [note.to_dict() for note in self.notes],
            "outputs": {output: result.to_dict() for output, result in self.identifications.items()},
        }


def _shown(rrse: float | None) -> str:
    return "diverges" if rrse is None else f"{rrse:.3g}"


def read_jointly(data: Any, reading: Reading) -> list[Recording]:
    """Return the recordings of several outputs, each with the other outputs as the last inputs.

    What :func:`readings_with_others` refuses is refused.
    """
    if reading.get("bridge"):
        finding = f"found {show(reading['bridge'])} with joint"
        raise FieldError("bridge", f"{finding}; allowed: 0, for gaps cut the records of outputs that run together")
    # A row with a missing value of any output is missing to all of them.
    without_bridges: Reading = {**reading, "bridge": 0}
    return [read_recording(data, **arguments) for arguments in readings_with_others(without_bridges).values()]


class OutputCandidate:
    """A structure that the model of an output may have, with weights that do not know a part of the data.

    Parameters
    ----------
    plan : SearchPlan
        The search of the structure.
    structure : Candidate
        The structure.
    stretches : sequence of Record
        The records whose parts take turns.

    Raises
    ------
    NarxbenchError
        If the weights of the structure diverge, or are singular.
    """

    def __init__(self, plan: SearchPlan, structure: Candidate, stretches: Sequence[Record]) -> None:
        is_whole = sum(map(len, stretches)) == sum(map(len, plan.searched.known)) == sum(map(len, plan.recording.known))
        # The fit need not estimate the weights of all data twice.
        self.structure, self._fit = structure, ModelFit(plan, structure, None if is_whole else stretches)
        arrangement = self._fit.turns
        self.models: list[Model] = []
        self.times: list[list[Integers]] = []
        for part in range(arrangement.n_parts_selected):
            is_inside = (arrangement.part == part) & arrangement.has_lags
            times_by_record = []
            for record in range(len(stretches)):
                times_by_record.append(np.sort(arrangement.time[is_inside & (arrangement.record == record)]))
            self.times.append(times_by_record)
            self.models.append(self._fit.unknowing(part) if arrangement.takes_turns else self._fit.plain_model())

    @cached_property
    def model(self) -> Model:
        """The model with the weights of all data and their covariance."""
        return self._fit.model(self._fit.weights())


# Joint models, a record that they predict, its role, and the samples of it that count; None: all.
_Run = tuple[JointModel, Signals, Role, Integers | None]


def signals_of(records: Sequence[Record], n_outputs: int) -> list[Signals]:
    """Return the inputs and all outputs in records of the first output, whose last inputs are the other outputs."""
    signals = []
    for record in records:
        n_inputs = record.u.shape[1] - n_outputs + 1
        signals.append(Signals(record.u[:, :n_inputs], np.column_stack([record.y, record.u[:, n_inputs:]])))
    return signals


def simulated_outputs(records: Sequence[Record], model: JointModel) -> list[Floats]:
    """Return all outputs of a joint free run over each record of the first output.

    Raises
    ------
    DivergedError
        If a run diverges.
    """
    return [_joint_run(model, signals) for signals in signals_of(records, model.n_outputs)]


def records_of_output(
    records: Sequence[Record], output: int, n_outputs: int, seen_outputs: Sequence[Floats]
) -> list[Record]:
    """Turn records of the first output into records of another one.

    Parameters
    ----------
    records : sequence of Record
        Records of the first output, whose last inputs are the other outputs.
    output, n_outputs : int
        The position of the output, and the number of outputs.
    seen_outputs : sequence of array of float, shape (samples, outputs)
        For each record, all outputs as the model of this one sees them: the others become its last inputs.
    """
    arranged = []
    for number, signals in enumerate(signals_of(records, n_outputs)):
        u = np.column_stack([signals.u, np.delete(seen_outputs[number], output, axis=1)])
        y = np.ascontiguousarray(signals.y[:, output])
        arranged.append(replace(records[number], y=y, u=np.ascontiguousarray(u)))
    return arranged


class JointTrial:
    """Joint free runs of combinations of candidates, over the parts of the data that the weights do not know.

    Parameters
    ----------
    sources : sequence of sequence of sequence of OutputCandidate
        The candidates of each output, the one that its search chose first, by what their models see of the others.
    signals : sequence of Signals
        The records whose parts take turns.
    """

    def __init__(self, sources: Sequence[Sequence[Sequence[OutputCandidate]]], signals: Sequence[Signals]) -> None:
        self.signals = signals
        self.candidates: list[list[OutputCandidate]] = [[] for _ in sources[0]]
        self.starts: list[Combination] = []
        """For each source, the combination of what its searches chose."""
        for candidates_by_output in sources:
            self.starts.append(tuple(map(len, self.candidates)))
            for candidates, more_candidates in zip(self.candidates, candidates_by_output, strict=True):
                candidates += more_candidates
        self.errors = lru_cache(maxsize=None)(self._errors)

    @property
    def is_driven(self) -> bool:
        """Whether there is an input."""
        return bool(self.signals[0].u.shape[1])

    def error(self, combination: Combination) -> float:
        """Return the root mean square of the relative errors of all outputs, or infinity if a run diverges."""
        errors = self.errors(combination)
        return math.sqrt(math.fsum(error * error for error in errors) / len(errors))

    def _errors(self, combination: Combination) -> tuple[float, ...]:
        """Return the relative error of each output, or infinity if a run diverges or the joint model is impossible."""
        chosen, pieces = self.chosen(combination), list[tuple[Floats, Floats]]()
        try:
            for part in range(n_common_parts(chosen)):
                pieces += self._part_runs(chosen, part)
        except NarxbenchError:
            return (math.inf,) * len(chosen)
        return relative_errors(pieces)

    def chosen(self, combination: Combination) -> list[OutputCandidate]:
        """Return the candidates of a combination."""
        return [candidates[number] for candidates, number in zip(self.candidates, combination, strict=True)]

    def model(self, combination: Combination) -> JointModel:
        """Return the joint model with the weights of all data.

        Raises
        ------
        NarxbenchError
            If outputs depend on one another at the same sample.
        """
        return JointModel(tuple(candidate.model for candidate in self.chosen(combination)))

    def n_terms(self, combination: Combination) -> int:
        """Return the number of terms of all models of a combination."""
        return sum(len(candidate.structure.terms) for candidate in self.chosen(combination))

    def diverges_when_held(self, combination: Combination) -> bool:
        """Return whether the joint model diverges when inputs are held inside their ranges."""
        model = self.model(combination)
        u = np.concatenate([record.u for record in self.signals])
        y = np.concatenate([record.y for record in self.signals])
        return joint_run_diverges_when_held(model, u, y)

    def _part_runs(self, chosen: Sequence[OutputCandidate], part: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield measured and simulated outputs in a part, for each record. A run covers the whole record."""
        model = JointModel(tuple(candidate.models[part] for candidate in chosen))
        for record, signals in enumerate(self.signals):
            times = _common_times(chosen, part, record)
            if len(times):
                run = _joint_run(model, signals)
                yield signals.y[times], run[times]


def n_common_parts(chosen: Sequence[OutputCandidate]) -> int:
    """Return the number of parts that all outputs have. With short data it depends on the decimation."""
    return min(len(candidate.models) for candidate in chosen)


def _common_times(chosen: Sequence[OutputCandidate], part: int, record: int) -> Integers:
    """Return the samples of a record in a part that the models of all outputs can predict."""
    times = chosen[0].times[part][record]
    for candidate in chosen[1:]:
        times = np.intersect1d(times, candidate.times[part][record], assume_unique=True)
    return times


def _joint_run(model: JointModel, signals: Signals) -> Floats:
    """Return the joint free run over a record."""
    return model.simulate(signals.u if model.inputs else None, signals.y, samples=len(signals.y))


def relative_errors(pieces: Sequence[tuple[Floats, Floats]]) -> tuple[float, ...]:
    """Return the relative error of each output over pieces of measured outputs and of a run."""
    measured = np.concatenate([piece for piece, _ in pieces])
    run = np.concatenate([piece for _, piece in pieces])
    errors = []
    for outputs, predictions in zip(measured.T, run.T, strict=True):
        # math.fsum is correctly rounded, while NumPy's sums depend on the processor's vector width.
        mean = math.fsum(outputs.tolist()) / len(outputs)
        energy = math.fsum(((outputs - mean) ** 2).tolist())
        squares = math.fsum(((outputs - predictions) ** 2).tolist())
        errors.append(math.sqrt(squares / energy) if energy > 0 else math.inf)
    return tuple(errors)


def whole_errors(model: JointModel, signals: Sequence[Signals], first: int) -> tuple[float, ...]:
    """Return the relative error of each output over whole records from a sample on, or infinity if a run diverges."""
    pieces = []
    try:
        for record in signals:
            if len(record.y) > first:
                pieces.append((record.y[first:], _joint_run(model, record)[first:]))
    except DivergedError:
        return (math.inf,) * model.n_outputs
    return relative_errors(pieces) if pieces else ()


def identify_jointly(
    recordings: Sequence[Recording],
    settings: IdentificationSettings,
    check_cost: Callable[[SearchPlan], None] | None = None,
    report_progress: Callable[[SearchProgress], None] | None = None,
) -> JointIdentification:
    """Identify models of several outputs that run together.

    Parameters
    ----------
    recordings : sequence of Recording
        For each output, the data with the other outputs as the last inputs. All have the same samples.
    settings : IdentificationSettings
        The settings of each search, of which there are two for each output.
    check_cost, report_progress
        As for :func:`narxbench._identification.identify.identify_recording`, for each search.

    Raises
    ------
    NarxbenchError
        As :func:`narxbench.identify`.
    KeyboardInterrupt
        For Ctrl-C before each output has a model. Later, the best ones so far are kept.
    """
    check_compiler()
    _check_settings(settings, recordings[0])
    identifications: dict[str, Identification] = {}
    as_measured: list[list[OutputCandidate]] = []
    stretches: list[Record] = []
    for output, recording in enumerate(recordings):
        output_settings = _settings_for(recording, settings)
        identification, plan, choice = conclude_search(recording, output_settings, check_cost, report_progress)
        if was_interrupted(identification):
            raise KeyboardInterrupt
        identifications[recording.output] = identification
        # The first search chooses the stretches of long records for all outputs.
        stretches = stretches or list(plan.searched.known)
        measured = [signals.y for signals in signals_of(stretches, len(recordings))]
        arranged = records_of_output(stretches, output, len(recordings), measured)
        as_measured.append(_candidates(plan, choice, arranged))
    signals = signals_of(stretches, len(recordings))
    selection = select_combination(JointTrial([as_measured], signals))
    is_interrupted = False
    if selection.error > EXACT and selection.trial.is_driven:
        model = selection.trial.model(selection.combination)
        try:
            with interruptible():
                as_simulated = _as_simulated(recordings, settings, stretches, model, report_progress)
                selection = select_combination(JointTrial([as_measured, as_simulated], signals))
        except NarxbenchError:
            # The joint run diverges on some record, or no structure describes the output: one source is enough.
            pass
        except KeyboardInterrupt:
            is_interrupted = True
    return _conclusion(recordings, identifications, selection, is_interrupted=is_interrupted)


def _as_simulated(
    recordings: Sequence[Recording],
    settings: IdentificationSettings,
    stretches: Sequence[Record],
    model: JointModel,
    report_progress: Callable[[SearchProgress], None] | None,
) -> list[list[OutputCandidate]]:
    """Return the candidates of each output, which sees the others as a joint model simulates them."""
    known, n_outputs = recordings[0].known, len(recordings)
    seen, seen_in_stretches = simulated_outputs(known, model), simulated_outputs(stretches, model)
    candidates = []
    for output in range(n_outputs):
        arranged = records_of_output(known, output, n_outputs, seen)
        recording = replace(recordings[output], records=tuple(arranged))
        plan, choice = search_recording(recording, _settings_for(recording, settings), report_progress)
        arranged = records_of_output(stretches, output, n_outputs, seen_in_stretches)
        candidates.append(_candidates(plan, choice, arranged))
    return candidates


def _check_settings(settings: IdentificationSettings, recording: Recording) -> None:
    """Raise FieldError for settings that can only be meant for one output."""
    if settings.horizon != "auto":
        allowed = "auto, for joint models are judged by their joint free run"
        raise FieldError("horizon", f"found {settings.horizon} with joint; allowed: {allowed}")
    for name in ("include", "exclude"):
        terms = getattr(settings, name)
        if terms:
            raise FieldError(
                name, f"found {show(terms)} with joint; allowed: none, for each output has terms of its own"
            )
    signals = (*recording.inputs, recording.output)
    if isinstance(settings.u_lags, dict):
        for name in settings.u_lags:
            if name not in signals:
                hint = did_you_mean(name, signals)
                raise FieldError("u_lags", f"found {show(name, kind=False)}; allowed: {', '.join(signals)}{hint}")


def _settings_for(recording: Recording, settings: IdentificationSettings) -> IdentificationSettings:
    """Return the settings of the search of an output: lags of signals that it does not see are left out."""
    if not isinstance(settings.u_lags, dict):
        return settings
    lags = {name: values for name, values in settings.u_lags.items() if name in recording.inputs}
    return settings.model_copy(update={"u_lags": lags or "auto"})


def _conclusion(
    recordings: Sequence[Recording],
    identifications: Mapping[str, Identification],
    selection: "JointChoice",
    *,
    is_interrupted: bool,
) -> JointIdentification:
    """Return the selected models, with the errors of their joint run and of others."""
    trial = selection.trial
    combinations: dict[Kind, Combination] = {"joint": selection.combination, "as_measured": trial.starts[0]}
    models = []
    for recording, candidate in zip(recordings, trial.chosen(selection.combination), strict=True):
        models.append(replace(candidate.model, data_digest=recording.digest))
    model = JointModel(tuple(models))
    tests = signals_of(list(recordings[0].of_role("test")), len(recordings))
    errors = _error_rows(trial, combinations, tests)
    structures = _structure_rows(trial.chosen(selection.combination), model)
    notes = [joint_check(selection, structures, errors)]
    if is_interrupted:
        notes.insert(0, interruption("searches with simulated outputs"))
    return JointIdentification(
        model=model,
        identifications=identifications,
        errors=pd.DataFrame(errors, columns=["role", "models", "output", "rrse"], dtype=object),
        structures=structures,
        notes=notes,
        summary=joint_verdicts(recordings, identifications, selection, model, tests),
    )


def joint_verdicts(
    recordings: Sequence[Recording],
    identifications: Mapping[str, Identification],
    selection: "JointChoice",
    model: JointModel,
    tests: Sequence[Signals],
) -> list[Finding]:
    """Return for each output whether one may predict it with the joint models."""
    is_driven = selection.trial.is_driven
    runs = _known_runs(selection)
    for signals in tests:
        if len(signals.y) > model.initial_samples:
            runs.append((model, signals, "test", None))
    outputs = [_simulated(*run[:2]) if is_driven else run[1].y for run in runs]
    verdicts = []
    for output, (recording, part) in enumerate(zip(recordings, model.models, strict=True)):
        cases = [_case_of(run, output, others) for run, others in zip(runs, outputs, strict=True)]
        frame = validate(cases)
        _, steps = decisive(part, frame)
        avoidable = avoidable_share(last_cases(cases), steps)
        checks = identifications[recording.output].checks
        findings = {finding.name: finding for finding in summary(part, frame, (), (), (), checks, avoidable=avoidable)}
        verdicts.append(prediction_answer(part, recording, frame, findings, "simulated" if is_driven else "measured"))
    return verdicts


def _simulated(model: JointModel, signals: Signals) -> Floats:
    """Return the joint free run, or huge outputs if it diverges."""
    try:
        return _joint_run(model, signals)
    except DivergedError:
        return np.full_like(signals.y, DIVERGED)


def _case_of(run: _Run, output: int, others: Floats) -> Case:
    """Return what the model of an output predicts in a run. Of ``others`` it sees all outputs but itself."""
    model, signals, role, times = run
    part = model.models[output]
    u = np.column_stack([signals.u, np.delete(others, output, axis=1)])[:, : part.n_inputs]
    is_missing = None
    if times is not None:
        is_missing = np.ones(len(u), np.bool_)
        is_missing[times] = False
    record = Record(f"the data of {role}", u, signals.y[:, output], role, None, is_missing)
    return Case(record, part, {})


def _known_runs(selection: "JointChoice") -> list[_Run]:
    """Return runs over the parts of the data that the weights do not know."""
    trial = selection.trial
    chosen = trial.chosen(selection.combination)
    runs = list[_Run]()
    for part in range(n_common_parts(chosen)):
        part_model = JointModel(tuple(candidate.models[part] for candidate in chosen))
        for record, signals in enumerate(trial.signals):
            times = _common_times(chosen, part, record)
            if len(times):
                runs.append((part_model, signals, "selection", times))
    return runs


def _candidates(plan: SearchPlan, choice: Choice, stretches: Sequence[Record]) -> list[OutputCandidate]:
    """Return the structures of a search as candidates: first the selected one, then others of low error."""
    finite = [structure for structure in choice.finalists if structure.rrse is not None]
    finite.sort(key=lambda structure: structure.rrse or 0.0)
    competitors = list(best_by_description(choice.competitors).values())
    structures = [choice.selected, choice.best, *choice.finalists[:FINALISTS], *finite[:FINALISTS]]
    structures += competitors[:LEADERS]
    candidates: list[OutputCandidate] = []
    compared: list[Any] = []
    for structure in structures:
        key = (structure.configuration, structure.terms, structure.noise_model, structure.shrinkage)
        if key in compared:
            continue
        compared.append(key)
        try:
            candidates.append(OutputCandidate(plan, structure, stretches))
        except NarxbenchError:
            # A structure whose weights diverge without a part is not a candidate. The selected one has weights.
            if not candidates:
                raise
    return candidates


class JointChoice(NamedTuple):
    """The selected combination."""

    trial: JointTrial
    combination: Combination
    n_compared: int
    n_unbounded: int = 0
    """How many were passed over, for their joint run diverges when inputs are held."""
    is_bounded: bool = True

    @property
    def error(self) -> float:
        """The joint error of the combination."""
        return self.trial.error(self.combination)


def select_combination(trial: JointTrial) -> JointChoice:
    """Return the selected combination.

    A search from each start changes the candidate of one output at a time, while the joint error falls. Of all
    that it meets, the one of fewest terms is selected whose joint error is at most ``SPARSE_WITHIN`` times the lowest,
    and which stays within bounds where inputs are held. If none does, each output has its best model with the others as
    measured.

    Without inputs a free run says little because it is not driven, so each output has that model, too.
    """
    errors: dict[Combination, float] = {}
    for start in trial.starts:
        errors |= _descent(trial, start)
    if not trial.is_driven:
        errors = {trial.starts[0]: trial.error(trial.starts[0])}
    finite = [combination for combination, error in errors.items() if math.isfinite(error)]
    n_unbounded = 0
    while finite and n_unbounded < MOST_EXAMINED:
        limit = SPARSE_WITHIN * max(EXACT, min(errors[combination] for combination in finite))
        within = [combination for combination in finite if errors[combination] <= limit]
        fewest = min(within, key=lambda combination: (trial.n_terms(combination), errors[combination]))
        if not trial.diverges_when_held(fewest):
            return JointChoice(trial, fewest, len(errors), n_unbounded)
        finite.remove(fewest)
        n_unbounded += 1
    return JointChoice(trial, trial.starts[0], len(errors), n_unbounded, is_bounded=False)


def _descent(trial: JointTrial, start: Combination) -> dict[Combination, float]:
    """Return the joint errors of all combinations that a search from one meets."""
    combination, errors = start, {start: trial.error(start)}
    is_better = True
    while is_better:
        is_better = False
        for output, candidates in enumerate(trial.candidates):
            for number in range(len(candidates)):
                changed = (*combination[:output], number, *combination[output + 1 :])
                errors[changed] = trial.error(changed)
                if errors[changed] < errors[combination]:
                    combination, is_better = changed, True
    return errors


def _error_rows(
    trial: JointTrial, combinations: Mapping[Kind, Combination], tests: Sequence[Signals]
) -> list[dict[str, Any]]:
    """Return the relative errors of joint runs by role, kind of models and output, None if a run diverges."""
    models: dict[Kind, JointModel | None] = {}
    for kind, combination in combinations.items():
        models[kind] = None
        # Models that depend on one another at the same sample cannot run together.
        with suppress(NarxbenchError):
            models[kind] = trial.model(combination)
    # All are scored on the same samples.
    first = max(model.initial_samples for model in models.values() if model)
    rows = []
    for kind, combination in combinations.items():
        rows += _rows("selection", kind, trial, trial.errors(combination))
    for kind, model in models.items():
        errors = (math.inf,) * len(trial.candidates)
        if model is not None:
            errors = whole_errors(model, tests, first)
        if tests and errors:
            rows += _rows("test", kind, trial, errors)
    return rows


def _rows(role: str, kind: Kind, trial: JointTrial, errors: Sequence[float]) -> list[dict[str, Any]]:
    """Return a row for each output."""
    rows = []
    for candidates, error in zip(trial.candidates, errors, strict=True):
        rrse = significant(error) if math.isfinite(error) else None
        rows.append({"role": role, "models": kind, "output": candidates[0].model.output, "rrse": rrse})
    return rows


def _structure_rows(chosen: Sequence[OutputCandidate], model: JointModel) -> list[dict[str, Any]]:
    """Return the kind of each selected model, the number of its terms, and the other outputs that it depends on."""
    rows = []
    for position, (candidate, equation) in enumerate(zip(chosen, model.equations, strict=True)):
        seen_outputs = {signal for signal, _ in equation.factors} & set(range(model.n_outputs)) - {position}
        rows.append(
            {
                "output": model.outputs[position],
                "kind": description(candidate.structure),
                "terms": len(model.models[position].terms),
                "others": [model.outputs[signal] for signal in sorted(seen_outputs)],
            }
        )
    return rows


def joint_check(
    selection: JointChoice, structures: Sequence[Mapping[str, Any]], errors: Sequence[Mapping[str, Any]]
) -> Finding:
    """Return how the combination was chosen. The status is bad if none stays within bounds."""
    uses_outputs = any(row["others"] for row in structures)
    values = {
        "compared": selection.n_compared,
        "simulated": len(selection.trial.starts) > 1,
        "unbounded": selection.n_unbounded,
        "bounded": selection.is_bounded,
        "driven": selection.trial.is_driven,
        "coupled": uses_outputs,
        "structures": list(structures),
        "rows": [dict(row) for row in errors if row["role"] == "selection"],
    }
    status: Status = look_if(not uses_outputs) if selection.is_bounded else "bad"
    return Finding("joint", status, values, *joint_text(values))


def joint_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`joint_check`."""
    text = f"{values['compared']} combinations of models were compared by their joint free run over parts of the data "
    text += "that the weights do not know. "
    if not values["driven"]:
        text = "Without inputs nothing drives a joint free run, so each output has the model that is best with the "
        text += "others as measured. "
    if values["unbounded"]:
        text += f"{values['unbounded']} of low error were rejected because they diverge when inputs are held. "
    if not values["bounded"]:
        text += "None was found that stays within bounds, so each output has the model that is best with the others "
        text += "as measured."
        return text, MOVING_INPUTS
    dependencies = []
    for row in values["structures"]:
        seen = listed([printable(name) for name in row["others"]]) if row["others"] else "no other output"
        terms = count_terms(row["terms"])
        dependencies.append(f"{printable(row['output'])} ({row['kind']}, {terms}) depends on {seen}")
    return f"{text}{'; '.join(dependencies)}.", ""
