"""The tables of measured data: records, and facts on each signal."""

from collections.abc import Sequence

from narxbench._identification.data.look import SignalFacts
from narxbench._io.errors import MOST_NAMES, printable
from narxbench._model.records import Recording
from narxbench._report.formats import MISSING, count, shortened
from narxbench._report.model_fits import SHARED, name_of
from narxbench._report.table import Column, Table, columns


def records_table(recording: Recording, shared: str = SHARED) -> Table:
    """Return the table of the first records, where ``shared`` says what records without a role are used for."""
    time, records = recording.sampling_time, recording.records
    has_roles = bool(shared) or any(record.role for record in records)
    head = columns(name="Record")
    if has_roles:
        head += columns(role="Used for")
    head += columns(samples="Samples")
    if time is not None:
        head += columns(duration="Seconds")
    rows = []
    # A file with many gaps has hundreds of records.
    for record in records[:MOST_NAMES]:
        cells = [name_of(record)]
        if has_roles:
            cells.append(record.role or shared)
        cells.append(count(len(record)))
        if time is not None:
            cells.append(shortened(time * len(record)))
        rows.append(cells)
    notes = () if len(rows) == len(records) else (f"{len(records) - len(rows)} more are not listed.",)
    return Table.of("data-records", "Records", head, rows, notes=notes)


def signals_table(facts: Sequence[SignalFacts], sampling_time: float | None) -> Table:
    """Return the table of facts on the signals, from all records except the test."""
    head: tuple[Column, ...] = columns(name="Signal")
    head += columns(group="Range", low="Lowest", high="Highest")
    head += columns(group="Share at", at_low="lowest", at_high="highest")
    head += columns(mean="Mean", deviation="Deviation", levels="Levels")
    head += columns(change="Samples per change", rest="Longest rest", noise="Noise, at most", reach="95 % below")
    has_test = any(signal.test_range for signal in facts)
    if has_test:
        head += columns(group="Range of the test", test_low="Lowest", test_high="Highest")
    rows = []
    for signal in facts:
        cells = [title_of(signal), shortened(signal.low), shortened(signal.high)]
        cells += [_per_cent(signal.at_low), _per_cent(signal.at_high)]
        cells += [shortened(signal.mean), shortened(signal.deviation), count(signal.levels)]
        cells += [samples_per_change(signal), count(signal.longest_rest), shortened(signal.noise, 2)]
        cells.append(frequency(signal.reach, sampling_time))
        if has_test:
            cells += [shortened(limit) for limit in signal.test_range or ()]
        rows.append(cells)
    notes = (
        "Noise: the deviation of white noise that changes as fast from sample to sample, an upper bound of the noise.",
        "95 % below: the frequency below which 95 % of the power of the changes lies.",
    )
    return Table.of("signals-facts", "Signals, of all records but those of the test", head, rows, notes=notes)


def title_of(signal: SignalFacts) -> str:
    """Return the name of a signal with its unit, where it is known."""
    if not signal.unit:
        return printable(signal.name)
    return f"{printable(signal.name)} ({printable(signal.unit)})"


def samples_per_change(signal: SignalFacts) -> str:
    """Return how many samples a signal keeps its value, on average."""
    if not signal.changes:
        return "no change"
    return f"{signal.samples / signal.changes:.3g}"


def frequency(cycles_per_sample: float | None, sampling_time: float | None) -> str:
    """Return a frequency in Hz, or in cycles per sample where the sampling time is not known."""
    if cycles_per_sample is None:
        return MISSING
    if sampling_time is None:
        return f"{cycles_per_sample:.3g}/sample"
    return f"{cycles_per_sample / sampling_time:.3g} Hz"


def _per_cent(share: float) -> str:
    return f"{100 * share:.2g} %"
