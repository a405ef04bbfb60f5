"""The summary of an identification that a terminal shows."""

import re
import textwrap
from typing import Any

from narxbench.identification.result import Identification
from narxbench.identification.trust import validation
from narxbench.identification.trust.verdicts import ANSWERS
from narxbench.io.errors import printable
from narxbench.model.records import ROLES
from narxbench.report.findings import Words, as_option, before_all, in_words
from narxbench.report.model_certainty import doubt_sentences, group_sentence, probability

LINES, WIDTH = 40, 100


def summary_lines(found: Identification, *, report: bool) -> list[str]:
    """Return what a terminal shows: at most 40 lines of 100 characters."""
    records = found.recording.records
    counts = {test: [len(r) for r in records if (r.role == "test") == test] for test in (False, True)}
    samples = [f"{sum(each)} samples in {len(each)} record{'s' * (len(each) != 1)}" for each in counts.values()]
    title = f"{found.model.output} from {', '.join(found.model.inputs) or 'its own past'}: {samples[0]}"
    title += f"; for the test {samples[1]}" if counts[True] else "; none for a test"
    equation, *legend = found.model.equation().split("\n")
    head = [_cut(title), "", *_wrapped(equation, 3, "       ", kept=r" (?![+-])"), *_wrapped(" ".join(legend), 2, "  ")]
    blocks = [head, _lights(found), _figures(found), _ending(found, report)]
    room = LINES - report - sum(map(len, blocks)) - len(blocks)
    blocks.insert(3, _terms(found, room))
    return [line for block in blocks for line in ("", *block)][1:]


def _cut(text: str, width: int = WIDTH) -> str:
    text = printable(text, 10 * WIDTH)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _wrapped(text: str, lines: int, indent: str = "", kept: str = "(?!)") -> list[str]:
    """Return text in at most so many lines, not broken at ``kept``; what does not fit is cut off."""
    # Lines are not broken at a no-break space.
    text = re.sub(kept, "\xa0", printable(text, 20 * WIDTH))
    options: dict[str, Any] = {"subsequent_indent": indent, "placeholder": " …", "break_on_hyphens": False}
    return [line.replace("\xa0", " ") for line in textwrap.wrap(text, WIDTH, max_lines=lines, **options)]


def _lights(found: Identification) -> list[str]:
    """Return the three answers, then the findings: what is bad, what to look at, and the names of what is fine."""
    of: dict[str, list[Words]] = {"bad": [], "look": [], "fine": []}
    lines = []
    for finding in found.summary:
        words = in_words(finding, as_option)
        if finding.name in ANSWERS:
            lines += _wrapped(f"{finding.status.upper():5} {words.title}: {words.text}", 3, " " * 6)
        else:
            of[finding.status].append(words)
    bad, look = of["bad"][:2], of["look"][: max(1, 3 - 2 * len(of["bad"]))]
    lines += [line for words in bad for line in _wrapped(f"BAD   {words.title}: {words.text}", 2, " " * 6)]
    lines += [_cut(f"LOOK  {words.title}: {words.text}") for words in look]
    more = [words.title for words in (*of["bad"][2:], *of["look"][len(look) :])]
    lines += [_cut(f"LOOK  Also: {'; '.join(more)}")] if more else []
    return [*lines, *_wrapped(f"FINE  {'; '.join(w.title for w in of['fine'])}", 2, " " * 6)] if of["fine"] else lines


def _figures(found: Identification) -> list[str]:
    """Return the table of errors, by role and kind of prediction."""
    keys = ["role", "kind", "sampling", "model"]
    kinds = [validation.ONE_STEP, validation.FREE_RUN if found.model.inputs else validation.K_STEP]
    shown = found.validation[found.validation["record"] == validation.ALL]
    rows = {tuple(row[key] for key in keys): row for row in shown.to_dict("records")}
    stride = found.model.decimation
    every = {validation.DECIMATED: f"one in {stride} samples", validation.INCOMING: "all samples"}
    samplings = every if stride > 1 else {validation.INCOMING: ""}
    names = (validation.MODEL, validation.ARX, validation.LAST_VALUE)
    lines = [f"{'RRSE (fit = 100 (1 - RRSE) %)':30}" + "".join(f"{title:>34}" for title in samplings.values())]
    lines.append(" " * 30 + "{:>10}{:>12}{:>12}".format(*names) * len(samplings))
    for role in ROLES:
        for kind in kinds:
            row = [rows.get((role, kind, sampling, name)) for sampling in samplings for name in names]
            if row[0]:
                steps = row[0]["steps"]
                ahead = "free run" if steps is None else f"{steps} step{'s' * (steps != 1)} ahead"
                widths = (10, 12, 12) * len(samplings)
                cells = "".join(f"{_rrse(cell):>{width}}" for cell, width in zip(row, widths, strict=True))
                lines.append(f"{f'{role}, {ahead}':30}{cells}")
    return [line.rstrip() for line in lines]


def _rrse(row: dict[str, Any] | None) -> str:
    if row is None or row["rrse"] is None:
        return "diverges" if row and row["diverged"] else "-"
    return f"{row['rrse']:.3g}"


def _terms(identification: Identification, lines: int) -> list[str]:
    """Return the terms with how sure they are, exchangeable ones and doubts, as many as there are lines for."""
    model, certainty = identification.model, identification.certainty
    names = [_cut(term, 50) for term in model.terms]
    width = max(4, *map(len, names))
    rows = [f"{'term':{width}}{'coefficient':>14} ± standard error   probability"]
    errors = [weight["standard_error"] for weight in identification.weights]
    for term, name, weight, error in zip(model.terms, names, model.coefficients, errors, strict=True):
        sure = certainty.probabilities.get(term)
        error_text = "-" if error is None else f"{error:.2g}"
        rows.append(f"{name:{width}}{weight:14.5g} ± {error_text:<17}{'-' if sure is None else probability(sure)}")
    sentences = [*map(group_sentence, certainty.groups), *doubt_sentences(certainty)]
    further = [_cut(sentence) for sentence in sentences]
    n_further = min(len(further), max(lines // 3, lines - len(rows)))
    n_rows = lines - n_further
    if len(rows) > n_rows:
        rows[n_rows - 1 :] = [f"and {len(rows) - n_rows + 1} more"]
    if len(further) > n_further:
        further[n_further - 1 :] = [f"and {len(further) - n_further + 1} more lines: --json and the page have them"]
    return [*rows, *further[:n_further]]


def _ending(found: Identification, report: bool) -> list[str]:
    """Return warnings that the findings do not repeat, and what to do next."""
    notes = before_all(found)
    lines = [_cut(f"Note: {note}") for note in notes[:3]]
    if len(notes) > 3:
        lines[2:] = [f"Note: and {len(notes) - 2} more; --json and the page have them."]
    findings = [finding for status in ("bad", "look") for finding in found.summary if finding.status == status]
    best = next(filter(None, (in_words(finding, as_option).advice for finding in findings)), "")
    lines += _wrapped(f"Next: {best}", 2, " " * 6) if best else []
    return lines if report else [*lines, "Next: --report FOLDER writes the page with charts, the model and its code."]
