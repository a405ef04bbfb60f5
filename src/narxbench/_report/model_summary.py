"""The summary of an identification that a terminal shows."""

import re
import textwrap
from collections.abc import Mapping
from itertools import product
from typing import Any

from narxbench._identification.result import Identification
from narxbench._identification.trust import validation
from narxbench._identification.trust.answers import ANSWERS
from narxbench._io.errors import printable
from narxbench._model.records import ROLES, Record
from narxbench._report.findings import Words, before_all, in_words
from narxbench._report.formats import probability
from narxbench._report.model_certainty import doubt_sentences, group_sentence
from narxbench._report.phrases import as_option, plural_s

LINES, WIDTH = 40, 100
_MODELS = (validation.MODEL, validation.ARX, validation.LAST_VALUE)
_MODEL_WIDTHS = (10, 12, 12)

# An option with its value, quoted for a shell.
_OPTION = re.compile(r"""--[\w-]+[ =](?:'[^']*'|"[^"]*"|[^\s'"])+""")


def summary_lines(identification: Identification, *, report: bool) -> list[str]:
    """Return what a terminal shows: at most 40 lines of 100 characters."""
    blocks = [
        _head(identification),
        _lights(identification),
        _figures(identification),
        _ending(identification, report),
    ]
    # One line tells where the rest is of what is cut.
    room = LINES - report - 1 - sum(map(len, blocks)) - len(blocks)
    blocks.insert(3, _terms(identification, room))
    lines: list[str] = []
    for block in blocks:
        lines += ["", *block]
    if any(line.endswith("…") for line in lines):
        lines.append("…: cut; all of it is in --json and on the page (--report FOLDER)")
    return lines[1:]


def _head(identification: Identification) -> list[str]:
    """Return the signals and the samples, and the equation."""
    model, tests, others = identification.model, list[Record](), list[Record]()
    for record in identification.recording.records:
        (tests if record.role == "test" else others).append(record)
    title = f"{model.output} from {', '.join(model.inputs) or 'its own past'}: {_samples(others)}"
    title += f"; for the test {_samples(tests)}" if tests else "; none for a test"
    equation, *legend = model.equation().split("\n")
    return [
        cut_line(title),
        "",
        *wrapped(equation, 3, "       ", kept=r" (?![+-])"),
        *wrapped(" ".join(legend), 2, "  "),
    ]


def _samples(records: list[Record]) -> str:
    return f"{sum(map(len, records))} samples in {len(records)} record{plural_s(len(records))}"


def cut_line(text: str, width: int = WIDTH) -> str:
    """Return a text in one line of a terminal; text that does not fit is cut off."""
    text = printable(text, 10 * WIDTH)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def wrapped(text: str, lines: int, indent: str = "", kept: str = "(?!)") -> list[str]:
    """Return text in at most so many lines, not broken at ``kept`` or in an option; text that does not fit is cut."""
    # Lines are not broken at a no-break space.
    text = re.sub(kept, "\xa0", printable(text, 20 * WIDTH))
    text = _OPTION.sub(lambda option: option[0].replace(" ", "\xa0"), text)
    options: dict[str, Any] = {"subsequent_indent": indent, "placeholder": " …", "break_on_hyphens": False}
    return [line.replace("\xa0", " ") for line in textwrap.wrap(text, WIDTH, max_lines=lines, **options)]


def _lights(identification: Identification) -> list[str]:
    """Return the three answers, then the findings: the bad ones, those to look at, and the names of the fine ones."""
    by_status: dict[str, list[Words]] = {"bad": [], "look": [], "fine": []}
    lines = []
    for finding in identification.summary:
        words = in_words(finding, as_option)
        if finding.name in ANSWERS:
            lines += wrapped(f"{finding.status.upper():5} {words.title}: {words.text}", 3, " " * 6)
        else:
            by_status[finding.status].append(words)
    bad, look = by_status["bad"][:2], by_status["look"][: max(1, 3 - 2 * len(by_status["bad"]))]
    for words in bad:
        lines += wrapped(f"BAD   {words.title}: {words.text}", 2, " " * 6)
    lines += [cut_line(f"LOOK  {words.title}: {words.text}") for words in look]
    further = [words.title for words in (*by_status["bad"][2:], *by_status["look"][len(look) :])]
    if further:
        lines.append(cut_line(f"LOOK  Also: {'; '.join(further)}"))
    if by_status["fine"]:
        lines += wrapped(f"FINE  {'; '.join(words.title for words in by_status['fine'])}", 2, " " * 6)
    return lines


def _figures(identification: Identification) -> list[str]:
    """Return the table of errors, by role and kind of prediction."""
    steps = identification.steps_judged
    kinds = [validation.ONE_STEP, validation.FREE_RUN if steps is None else validation.K_STEP]
    frame = identification.validation
    rows = {}
    for row in frame[frame["record"] == validation.ALL].to_dict("records"):
        if row["sampling"] == validation.INCOMING:
            rows[row["role"], row["kind"], row["model"]] = row
    lines = [f"{'RRSE (fit = 100 (1 - RRSE) %)':30}" + "{:>10}{:>12}{:>12}".format(*_MODELS)]
    for role, kind in product(ROLES, kinds):
        cells = [rows.get((role, kind, name)) for name in _MODELS]
        if cells[0]:
            lines.append(_figures_line(role, cells))
    return [line.rstrip() for line in lines]


def _figures_line(role: str, cells: list[dict[Any, Any] | None]) -> str:
    """Return the errors of all models for a role and a kind of prediction."""
    steps = cells[0]["steps"] if cells[0] else None
    how = "free run" if steps is None else f"{steps} step{plural_s(steps)} ahead"
    line = f"{f'{role}, {how}':30}"
    for cell, width in zip(cells, _MODEL_WIDTHS, strict=True):
        line += f"{_rrse(cell):>{width}}"
    return line


def _rrse(row: Mapping[Any, Any] | None) -> str:
    if row is None or row["rrse"] is None:
        return "diverges" if row and row["diverged"] else "-"
    return f"{row['rrse']:.3g}"


def _terms(identification: Identification, lines: int) -> list[str]:
    """Return the terms with how sure they are, exchangeable ones and doubts, as many as there are lines for."""
    model, certainty = identification.model, identification.certainty
    names = [cut_line(term, 50) for term in model.terms]
    width = max(4, *map(len, names))
    rows = [f"{'term':{width}}{'coefficient':>14} ± standard error   probability"]
    errors = [weight["standard_error"] for weight in identification.weights]
    for term, name, weight, error in zip(model.terms, names, model.coefficients, errors, strict=True):
        value = certainty.probabilities.get(term)
        error_text = "-" if error is None else f"{error:.2g}"
        rows.append(f"{name:{width}}{weight:14.5g} ± {error_text:<17}{'-' if value is None else probability(value)}")
    sentences = [cut_line(text) for text in (*map(group_sentence, certainty.groups), *doubt_sentences(certainty))]
    n_sentences = min(len(sentences), max(lines // 3, lines - len(rows)))
    n_rows = lines - n_sentences
    if len(rows) > n_rows:
        rows[n_rows - 1 :] = [f"and {len(rows) - n_rows + 1} more terms: --json and the page have them"]
    if len(sentences) > n_sentences:
        n_left = len(sentences) - n_sentences + 1
        sentences[n_sentences - 1 :] = [f"and {n_left} more lines: --json and the page have them"]
    return [*rows, *sentences[:n_sentences]]


def _ending(identification: Identification, report: bool) -> list[str]:
    """Return warnings that the findings do not repeat, and what to do next."""
    notes = before_all(identification)
    lines = [cut_line(f"Note: {note}") for note in notes[:3]]
    if len(notes) > 3:
        lines[2:] = [f"Note: and {len(notes) - 2} more; --json and the page have them."]
    advice = _first_advice(identification)
    if advice:
        lines += wrapped(f"Next: {advice}", 2, " " * 6)
    if not report:
        lines.append("Next: --report FOLDER writes the page with charts, the model and its code.")
    return lines


def _first_advice(identification: Identification) -> str:
    """Return the advice on the most serious finding that has any; "" where there is none."""
    for status in ("bad", "look"):
        for finding in (*identification.notes, *identification.summary):
            advice = in_words(finding, as_option).advice
            if finding.status == status and advice:
                return advice
    return ""
