"""The summary of an identification that a terminal shows."""

import re
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from narxbench._identification.finding import Finding
from narxbench._identification.phrases import plural_s, prediction_kind
from narxbench._identification.result import Identification
from narxbench._identification.validation import error_table
from narxbench._identification.validation.answers import ANSWERS
from narxbench._io.errors import printable
from narxbench._model.records import ROLES, Record
from narxbench._report.findings import advice_on, for_shell, further_warnings, worse_sentences

# A terminal of 100 columns, which has room for the command and its answer without scrolling.
LINES, WIDTH = 25, 100
# Lines of an equation, with room for the answers, the warnings and the errors below.
MOST_EQUATION_LINES = 7
_MODELS = (error_table.MODEL, error_table.ARX, error_table.LAST_VALUE)
_DIVERGES = "diverges"
# Each column is as wide as the widest text in it, behind two blanks.
_MODEL_FORMATS = [f"{{:>{2 + max(len(name), len(_DIVERGES))}}}" for name in _MODELS]
_INDENT = " " * 6

# An option with its value, quoted for a shell.
_OPTION = re.compile(r"""--[\w-]+[ =](?:'[^']*'|"[^"]*"|[^\s'"])+""")
# A sum is not broken before the term that a sign belongs to.
_INSIDE_SUMMAND = r" (?![+-])"
_SENTENCE_ENDS = re.compile(r"(?<=\.) (?=[A-Z0-9])")


def summary_lines(identification: Identification, *, report: bool) -> list[str]:
    """Return what a terminal shows: with a line on the page that ``report`` makes, at most 25 of 100 characters."""
    head = _head(identification)
    table = _errors_table(identification)
    next_step = _next_step(identification, report)
    room = LINES - report - len(head) - len(table) - len(next_step) - 3
    answers = _answers(identification)
    return [*head, "", *answers, *_warnings(identification, room - len(answers)), "", *table, "", *next_step]


def _head(identification: Identification) -> list[str]:
    """Return whether the model is worse than its competitors, the signals and the samples, and the equation."""
    model, tests, others = identification.model, list[Record](), list[Record]()
    for record in identification.recording.records:
        (tests if record.role == "test" else others).append(record)
    title = f"{model.output} from {', '.join(model.inputs) or 'its own past'}: {_samples(others)}"
    title += f"; for the test {_samples(tests)}" if tests else "; none for a test"
    _, _, legend = model.equation().partition("\n")
    lines = list[str]()
    for sentence in worse_sentences(identification):
        lines += whole(sentence, 1)
    return [*lines, *whole(title, 1), *_equation(identification), *_phrases(legend)]


def _samples(records: list[Record]) -> str:
    return f"{sum(map(len, records))} samples in {len(records)} record{plural_s(len(records))}"


def _equation(identification: Identification) -> list[str]:
    """Return the equation in lines: whole, or of many terms those that explain most."""
    n_terms = len(identification.model.terms)
    for n_shown in range(n_terms, 0, -1):
        lines = wrapped(_equation_of_largest(identification, n_shown), "       ", kept=_INSIDE_SUMMAND)
        if len(lines) <= MOST_EQUATION_LINES:
            break
    return lines


def _equation_of_largest(identification: Identification, n_shown: int) -> str:
    """Return the equation with the terms of the largest error reduction ratios, and how many more there are."""
    model, n_terms = identification.model, len(identification.model.terms)
    if n_shown == n_terms:
        return model.equation().partition("\n")[0]
    ratios = [row["err"] for row in identification.weights]
    largest = sorted(sorted(range(n_terms), key=lambda term: -ratios[term])[:n_shown])
    terms = tuple(model.terms[term] for term in largest)
    coefficients = tuple(model.coefficients[term] for term in largest)
    shown = replace(model, terms=terms, coefficients=coefficients, covariance=None)
    return f"{shown.equation().partition(chr(10))[0]} … and {n_terms - n_shown} more: --json"


def _phrases(legend: str) -> list[str]:
    """Return as many whole phrases of a legend as two lines hold."""
    shown = ""
    for phrase in legend.split("; "):
        longer = f"{shown}; {phrase}" if shown else phrase
        if len(wrapped(longer)) > 2:
            break
        shown = longer
    return wrapped(shown) if shown else []


def wrapped(text: str, indent: str = "", kept: str = "(?!)") -> list[str]:
    """Return text in lines of a terminal, not broken at ``kept`` or in an option."""
    # Lines are not broken at a no-break space.
    text = re.sub(kept, "\xa0", printable(text, 40 * WIDTH))
    text = _OPTION.sub(lambda option: option[0].replace(" ", "\xa0"), text)
    lines = textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def whole(text: str, lines: int, indent: str = "") -> list[str]:
    """Return as many sentences of a text as this many lines hold, but at least the first one.

    Instead of a first sentence that is more than two lines longer, as long names can make it, a reference is returned.
    """
    sentences = _SENTENCE_ENDS.split(text)
    shown = wrapped(sentences[0], indent)
    if len(shown) > lines + 2:
        return wrapped(f"{text.partition(':')[0][:WIDTH]}: see --json")
    for count in range(2, len(sentences) + 1):
        longer = wrapped(" ".join(sentences[:count]), indent)
        if len(longer) > lines:
            break
        shown = longer
    return shown


def cut_line(text: str, width: int = WIDTH) -> str:
    """Return a name cut to the width of a column."""
    text = printable(text, 10 * WIDTH)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _answers(identification: Identification) -> list[str]:
    """Return the three answers, two lines of each."""
    lines = []
    for finding in identification.summary:
        if finding.name in ANSWERS:
            lines += _marked(finding, 2)
    return lines


def _marked(finding: Finding, lines: int) -> list[str]:
    """Return the status, the title and the first sentences of a finding."""
    return whole(f"{finding.status.upper():5} {finding.title}: {for_shell(finding.text)}", lines, _INDENT)


def _warnings(identification: Identification, room: int) -> list[str]:
    """Return warnings and notes, the most serious first, in at most this many lines."""
    blocks = [_marked(finding, 1) for finding in further_warnings(identification)]
    blocks += [whole(f"Note: {note}", 1, _INDENT) for note in identification.recording.notes]
    lines = list[str]()
    for place, block in enumerate(blocks):
        is_last = place + 1 == len(blocks)
        if len(lines) + len(block) + (not is_last) > room:
            n_left = len(blocks) - place
            return [*lines, f"and {n_left} more warning{plural_s(n_left)}: --json"]
        lines += block
    return lines


def _errors_table(identification: Identification) -> list[str]:
    """Return the errors of the model and of simple ones on the two most informative roles of data."""
    steps = identification.steps_judged
    kinds = [error_table.ONE_STEP, error_table.FREE_RUN if steps is None else error_table.K_STEP]
    frame = identification.validation
    rows = {}
    for row in frame[frame["record"] == error_table.ALL].to_dict("records"):
        if row["sampling"] == error_table.INCOMING:
            rows[row["role"], row["kind"], row["model"]] = row
    lines = [f"{'RRSE (0 is perfect, 1 the mean)':32}" + "".join(_MODEL_FORMATS).format(*_MODELS)]
    present = [role for role in reversed(ROLES) if role in set(frame["role"])]
    for role, kind in product(present[:2], kinds):
        cells = [rows.get((role, kind, name)) for name in _MODELS]
        if cells[0]:
            lines.append(_errors_line(role, cells))
    return [line.rstrip() for line in lines]


def _errors_line(role: str, cells: list[dict[Any, Any] | None]) -> str:
    """Return the errors of all models for a role and a kind of prediction."""
    how = prediction_kind(cells[0]["steps"] if cells[0] else None)
    return f"{f'{role}, {how}':32}" + "".join(_MODEL_FORMATS).format(*map(_rrse, cells))


def _rrse(row: Mapping[Any, Any] | None) -> str:
    if row is None or row["rrse"] is None:
        return _DIVERGES if row and row["diverged"] else "-"
    return f"{row['rrse']:.3g}"


def _next_step(identification: Identification, report: bool) -> list[str]:
    """Return the next step: the advice on the most serious finding, or else to write the page."""
    advice = advice_on(identification)
    if advice:
        return whole(f"Next: {for_shell(advice)}", 2, _INDENT)
    return [] if report else ["Next: --report FOLDER writes the page with charts, the model and its code."]
