"""A look at measured data in words, for a terminal and for a page."""

from typing import Any

from narxbench._identification.data.look import DataLook, SignalFacts
from narxbench._identification.finding import Finding
from narxbench._identification.phrases import count_samples, names_of, plural_s
from narxbench._io.errors import printable
from narxbench._io.words import SHOWN
from narxbench._model.equation import duration
from narxbench._report.data_tables import samples_per_change, title_of
from narxbench._report.findings import as_option, for_shell
from narxbench._report.model_summary import cut_line, whole

# Lines for each check: its first sentence, and what to do, mostly fit.
_LINES = 3

_NEXT = "Say which is the output, and which are inputs, to see how they belong together, as in"


def look_title(look: DataLook) -> str:
    """Return which signals a look is about."""
    recording = look.recording
    if not look.has_output:
        return names_of(signal.name for signal in look.signals)
    title = printable(recording.output)
    if recording.inputs:
        title += f" from {names_of(recording.inputs)}"
    return title


def look_summary(look: DataLook) -> str:
    """Return how many samples there are, and how long the records are."""
    recording = look.recording
    tests = list(recording.of_role("test"))
    text = f"{_samples(recording.known, recording.sampling_time)} in {_records(recording.known)}"
    text += f"; for the test {_samples(tests, recording.sampling_time)} in {_records(tests)}" if tests else ""
    if recording.sampling_time is None:
        return f"{text}. The sampling time is not known."
    return f"{text}, every {duration(recording.sampling_time)}."


def _samples(records: Any, sampling_time: float | None) -> str:
    return count_samples(sum(map(len, records)), sampling_time)


def _records(records: Any) -> str:
    return f"{len(records)} record{plural_s(len(records))}"


def findings_of(look: DataLook) -> list[Finding]:
    """Return the findings of a look by their status, the most serious first."""
    order = ("bad", "look", "fine")
    return sorted(look.checks, key=lambda check: order.index(check.status))


def outlier_sentences(look: DataLook) -> list[str]:
    """Return a sentence for each signal with outliers, where signals were examined by themselves."""
    sentences = []
    for name, checks in look.signal_checks.items():
        for check in checks:
            if check.status != "fine":
                sentences.append(check.text.replace("the output", printable(name)))
    return sentences


def next_command(look: DataLook) -> str:
    """Return what to do after a look where no output was chosen: a sentence that ends with options for a shell."""
    if look.has_output:
        return ""
    return f"{_NEXT} {_next_options(look)}"


def _next_options(look: DataLook) -> str:
    names = [signal.name for signal in look.signals]
    options = [as_option("output", names[-1])]
    inputs = names[:-1]
    if inputs and not any("," in name for name in inputs):
        inputs = [",".join(inputs)]
    options += [as_option("input", name) for name in inputs]
    return printable(" ".join(options), 10_000)


def look_lines(look: DataLook) -> list[str]:
    """Return what a terminal shows of a look, lines of 100 characters."""
    lines = [*whole(f"{look_title(look)}: {look_summary(look)}", _LINES), "", *_signal_lines(look.signals), ""]
    for finding in findings_of(look):
        text = f"{finding.status.upper():5} {finding.title}: {finding.text} {finding.advice}".strip()
        lines += whole(for_shell(text), _LINES, " " * 6)
    for sentence in outlier_sentences(look):
        lines += whole(f"LOOK  {sentence}", _LINES, " " * 6)
    notes = look.recording.notes
    for note in notes[:SHOWN]:
        lines += whole(f"Note: {note}", 2, " " * 6)
    if len(notes) > SHOWN:
        lines.append(f"Note: and {len(notes) - SHOWN} more; --json and the page have them.")
    if not look.has_output:
        # A line that is broken cannot be pasted.
        lines += [*whole(f"Next: {_NEXT}", 2, " " * 6), f"      {_next_options(look)}"]
    return lines


def _signal_lines(signals: tuple[SignalFacts, ...]) -> list[str]:
    heads = ("lowest", "highest", "mean", "deviation", "levels", "hold", "noise <=")
    lines = [f"{'signal':28}" + "".join(f"{head:>10}" for head in heads)]
    for signal in signals:
        numbers = [f"{value:.4g}" for value in (signal.low, signal.high, signal.mean, signal.deviation)]
        numbers += [str(signal.levels), samples_per_change(signal), f"{signal.noise:.2g}"]
        lines.append(f"{cut_line(title_of(signal), 27):28}" + "".join(f"{number:>10}" for number in numbers))
    lines.append("hold: samples until the value changes, on average; noise <=: of white noise as fast as the signal")
    return lines
