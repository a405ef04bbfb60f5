"""Experiments of measured data: the signals of a source, and the pieces without gaps that become records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.columns import Columns, chosen_signals, columns_listed
from narxbench._identification.data.errors import argument_error, data_error
from narxbench._identification.data.gaps import BridgedSignals, bridge_gaps
from narxbench._identification.data.sources import Signal, Source, SourceForm
from narxbench._identification.data.time_numbers import Times
from narxbench._identification.data.times import check_steps, find_times, note_on_time
from narxbench._io.errors import FieldError, printable
from narxbench._io.words import SHOWN, counted
from narxbench._model.indexes import UNEVEN
from narxbench._model.records import Record, Role

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A shorter record is useless: it has hardly more samples than a model needs to begin.
LEAST_SAMPLES = 10


@dataclass(frozen=True)
class Experiment:
    """The samples of a source, and the pieces of it (start, end) without gaps, but those that are bridged."""

    source: Source
    titles: tuple[str, ...]  # the output first
    bridged: BridgedSignals
    pieces: list[tuple[int, int]]
    sampling_time: float | None
    used_columns: Sequence[int]  # including the time
    signals: Sequence[Signal]
    times: Times | None = None

    @property
    def values(self) -> Array:
        """The signals in columns, the output first."""
        return self.bridged.values

    @property
    def index(self) -> Any:
        """The index of the samples for pandas, in dates by the clock at their end or in seconds. None without times."""
        if self.times is None:
            return None
        name = self.times.title.removeprefix("column ")
        if self.times.origin is None:
            return pd.Index(self.times.seconds, name=name)
        dates = pd.to_datetime(self.times.seconds, unit="s", origin=pd.Timestamp(self.times.origin))
        index = dates.round("us").rename(name)
        return index.tz_localize("UTC") if self.source.has_zone else index

    @property
    def units(self) -> dict[str, str]:
        """The units of the signals that the source has, by title."""
        units = {}
        for title, signal in zip(self.titles, self.signals, strict=True):
            if self.source.unit(signal):
                units[title] = self.source.unit(signal)
        return units

    def is_long_enough(self, start: int, end: int) -> bool:
        """Return whether a piece is a record. A planned run may be of any length."""
        return end - start >= LEAST_SAMPLES or bool(self.bridged.is_planned[end - 1])

    def title_of(self, name: Any) -> str | None:
        """Return the title of the signal of a name, with its unit or without, or None if there is none."""
        if name in self.titles:
            return str(name)
        for title, signal in zip(self.titles, self.signals, strict=True):
            full_names = self.source.full_names
            if full_names and not signal.function and full_names[signal.column] == name:
                return title
        return None


class Piece(NamedTuple):
    """A record, and its first row in its experiment."""

    experiment: Experiment
    start: int
    record: Record

    def rows(self, first: int, count: int) -> str:
        """Return some samples of the record, as messages say where they are."""
        source, row = self.experiment.source, self.start + first
        noun, start = source.place(row).split()
        _, end = source.place(row + count - 1).split()
        return f"{noun}s {start} to {end} of {printable(source.label)}"


def read_experiment(
    source: Source,
    columns: Columns,
    form: SourceForm,
    notes: list[str],
    longest_gap: int = 0,
    *,
    with_plan: bool = False,
) -> Experiment:
    """Return the chosen signals of a source, and where gaps cut them. Shorter gaps are bridged.

    ``with_plan`` has the meaning of :func:`~narxbench._identification.data.gaps.bridge_gaps`.
    """
    signals: list[Signal] = []
    for argument, specification in columns.items():
        if argument == "output" and not columns_listed(specification):
            raise FieldError("output", f"missing; allowed: one of {source.overview}", source.name)
        signals += chosen_signals(source, argument, specification, signals)
    values = source.numbers(signals, notes)
    titles = tuple(map(source.title, signals))
    times = find_times(source, form, signals, values, notes)
    used_columns = [signal.column for signal in signals]
    if times:
        used_columns += times.columns
        source, values, times = _without_rows(source, values, times)
    values, times = _without_empty_end(source, titles, values, times, notes)
    has_time = np.ones(len(values), bool)
    if times:
        has_time = ~np.isnan(times.seconds)
    bridged = bridge_gaps(values, has_time, longest_gap, _functions(signals), with_plan=with_plan)
    cuts, sampling_time, notes_on_steps = np.zeros(len(values), bool), None, list[str]()
    if times:
        cuts, sampling_time = check_steps(source, times, bridged.is_usable, notes_on_steps)
        notes += note_on_time(source, times, sampling_time)
    usable_pieces = _pieces_without_gaps(bridged.is_usable, cuts)
    _check_plan(source, bridged, usable_pieces)
    pieces = bridged.trimmed(usable_pieces)
    notes += [*bridged.notes(source, titles, pieces), *notes_on_steps]
    return Experiment(source, titles, bridged, pieces, sampling_time, used_columns, signals, times)


def _check_plan(source: Source, bridged: BridgedSignals, pieces: Sequence[tuple[int, int]]) -> None:
    """Raise NarxbenchError for a planned run whose inputs have a gap, because the output after it is unknown."""
    for (_, end_before), (start, end) in pairwise(pieces):
        if bridged.is_parted(start, end):
            finding = f"a planned run without a gap up to {source.place(end_before - 1)} alone"
            raise data_error(source.name, finding, "all inputs in each row of it")


def _functions(signals: Sequence[Signal]) -> dict[int, tuple[str, int]]:
    """Return the places of signals that are functions of other inputs, with the function and the place of the input."""
    functions = {}
    for place, signal in enumerate(signals):
        if signal.function and Signal(signal.column) in signals[1:]:
            functions[place] = signal.function, signals.index(Signal(signal.column), 1)
    return functions


def _without_rows(source: Source, values: Array, times: Times) -> tuple[Source, Array, Times]:
    """Return a source and its values in the order of its times, all without empty lines and repeated rows.

    The times say whether samples are missing between those that remain.
    """
    if times.is_newest_first:
        source, values = source.newest_last(), values[::-1]
    keeps_row = np.ones(len(values), bool)
    keeps_row[times.repeated_rows] = False
    if source.is_text:
        keeps_row[source.empty_rows()] = False
    if keeps_row.all():
        return source, values, times
    source = source.at_rows(keeps_row)
    return source, values[keeps_row], replace(times, seconds=times.seconds[keeps_row], repeated_rows=())


def _without_empty_end(
    source: Source, titles: Sequence[str], values: Array, times: Times | None, notes: list[str]
) -> tuple[Array, Times | None]:
    """Return values and times without the rows at the end where columns of other lengths go on."""
    has_value = np.append(True, np.isfinite(values).any(axis=1))
    end = int(np.flatnonzero(has_value)[-1])
    if not 0 < end < len(values):
        return values, times
    names = printable(", ".join(titles))
    notes.append(f"{source.label}: the data end in {source.place(end - 1)} of {names}; below it they are empty.")
    if times:
        times = replace(times, seconds=times.seconds[:end])
    return values[:end], times


def _pieces_without_gaps(is_usable: Mask, jumps: Mask) -> list[tuple[int, int]]:
    """Return start and end of the runs of rows that are usable, cut where the time jumps."""
    rows = np.flatnonzero(is_usable)
    gaps = np.flatnonzero((np.diff(rows) > 1) | jumps[rows[1:]]) + 1
    return [(int(piece[0]), int(piece[-1]) + 1) for piece in np.split(rows, gaps) if len(piece)]


def form_notes(source: Source, used_columns: Sequence[int], has_inputs: bool) -> list[str]:
    """Return notes on how a source was read, and on columns that may be inputs if there is none."""
    notes = list(source.notes)
    unused_columns = [column for column in range(len(source.columns)) if column not in used_columns]
    if unused_columns and not has_inputs:
        titles = ", ".join(map(repr, map(source.column_title, unused_columns)))
        notes.append(f"no input was named, so the output is predicted from its own past alone, not from {titles}.")
    return [f"{source.label}: {printable(note, 400)}" for note in notes]


def refuse_other_signals(experiment: Experiment, first: Experiment) -> None:
    """Raise NarxbenchError unless an experiment has the signals, units and sampling time of the first."""
    name, first_name = experiment.source.name, first.source.name
    if first.source.names and experiment.source.names and experiment.titles != first.titles:
        what = f"the columns {printable(', '.join(experiment.titles))} (output first)"
        raise data_error(name, what, f"{', '.join(first.titles)} as in {first_name}")
    for title, unit in experiment.units.items():
        if first.units.get(title, unit) != unit:
            allowed = f"{first.units[title]} as in {first_name}; convert the data to the same units"
            raise data_error(name, f"{printable(title)} in {printable(unit)}", allowed)
    sampling_time, needed = experiment.sampling_time, first.sampling_time
    if sampling_time and needed and abs(sampling_time / needed - 1) > UNEVEN:
        allowed = f"{needed:g} s as in {first_name}; resample the data to the same steps"
        raise data_error(name, f"a sampling time of {sampling_time:g} s", allowed)


def renamed(experiment: Experiment, first: Experiment) -> Experiment:
    """Return a test with the names of the first experiment, which has to have as many inputs."""
    n_inputs, needed = len(experiment.titles) - 1, len(first.titles) - 1
    if n_inputs != needed:
        raise argument_error("test_input", f"{n_inputs} inputs", f"{needed}, as the model has", experiment.source.name)
    source = experiment.source
    if source.label == first.source.label:
        source = replace(source, label=f"{source.label} (test)")
    return replace(experiment, source=source, titles=first.titles)


def cut_into_pieces(
    experiment: Experiment, role: Role | None, share: float | None, notes: list[str]
) -> Iterator[Piece]:
    """Yield the pieces of an experiment that are long enough.

    ``share`` is the part at the end of each that is for the test. An experiment with a role is not divided.
    """
    if role:
        share = None
    label = experiment.source.label
    u, y = np.ascontiguousarray(experiment.values[:, 1:]), experiment.values[:, 0].copy()
    whole = Record(label, u, y, role, experiment.index, ~experiment.bridged.has_values[:, 0])
    _note_short_pieces(experiment, notes)
    undivided = 0
    for start, end in experiment.pieces:
        cut = end - round((share or 0) * (end - start))
        # A test begins with a sample that was measured.
        while cut < end and not experiment.bridged.is_whole[cut]:
            cut += 1
        if min(end - cut, cut - start) >= LEAST_SAMPLES:
            yield Piece(experiment, start, whole.part(start, cut))
            yield Piece(experiment, cut, whole.part(cut, end, "test"))
        elif experiment.is_long_enough(start, end):
            undivided += 1
            is_whole = (start, end) == (0, len(whole))
            yield Piece(experiment, start, whole if is_whole else whole.part(start, end))
    if undivided and share is not None:
        subject = counted(undivided, "record is", "records are")
        notes.append(f"{label}: {subject} too short to set {share:.0%} of the samples aside for the test.")


def _note_short_pieces(experiment: Experiment, notes: list[str]) -> None:
    pieces = [piece for piece in experiment.pieces if not experiment.is_long_enough(*piece)]
    short = [f"{start + 1} to {end}" for start, end in pieces]
    if not short:
        return
    samples = ", ".join(short[:SHOWN])
    if len(short) > SHOWN:
        samples += ", …"
    subject = counted(len(short), "record", "records")
    label = experiment.source.label
    notes.append(f"{label}: {subject} of fewer than {LEAST_SAMPLES} samples left out: samples {samples}.")
