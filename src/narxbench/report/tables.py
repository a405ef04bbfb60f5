"""The paper's tables, built from the summaries of cells, and their forms in CSV, Markdown and LaTeX.

A cell is one combination of system, SNR, search and criterion, summed up over its runs as ``data/cells/**.json``.
"""

import csv
import io
import json
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from html import escape as escape_html
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from narxbench.analysis.published import Published
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import read_sealed, sha256
from narxbench.model.terms import model_size

if TYPE_CHECKING:
    from narxbench.model.system import System

Cell = dict[str, Any]
Value = str | int | float | None
CellName = tuple[str, str, str, float]
Flavour = Literal["plain", "markdown", "latex", "html"]


class Column(NamedTuple):
    """A column: key in CSV, heading, heading that it shares with its neighbours, and how its values are shown."""

    key: str
    heading: str
    group: str = ""
    kind: Literal["text", "number", "frequency", "snr", "criterion", "search", "equation"] = "text"


@dataclass(frozen=True)
class Table:
    """A table. The first ``stub`` columns head their rows; of these, the first ``merged`` show a repeated value once.

    ``cells`` names the cell (system, search, criterion, SNR in dB) behind each row, where rows show cells.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()
    stub: int = 1
    merged: int = 0
    cells: tuple[CellName, ...] = ()


def load_cells(paths: Iterable[str | PathLike[str]]) -> list[Cell]:
    """Read the summaries of cells in the given order; an error names a damaged file or a repeated cell."""
    cells: dict[CellName, Cell] = {}
    for path in paths:
        try:
            cell = read_sealed(path)
            if float(cell["snr_db"]).is_integer():
                cell["snr_db"] = int(cell["snr_db"])
            key = cell_name(cell)
        except (KeyError, TypeError) as error:
            raise NarxbenchError(
                f"{path}: found no summary of a cell ({error!r}); allowed: JSON of data/cells"
            ) from None
        if key in cells:
            raise NarxbenchError(f"{path}: found the cell {key} a second time; allowed: each cell once")
        cells[key] = cell
    return list(cells.values())


def cells_digest(paths: Iterable[str | PathLike[str]]) -> str:
    """Return one digest of the files of all cells, by which an analysis tells which cells it was made of."""
    return sha256("\n".join(sha256(Path(path).read_bytes()) for path in paths))


def read_analysis(path: str | PathLike[str], cells: Iterable[str | PathLike[str]]) -> dict[str, Any]:
    """Read checked claims or statistics; an error names a file that is damaged or was made of other cells."""
    content = read_sealed(path)
    if content.pop("cells_sha256", None) != cells_digest(cells):
        raise NarxbenchError(f"{path}: made of other cells than these; delete it and run again")
    return content


def cell_name(cell: Cell) -> CellName:
    """Return what tells a cell from the others: system, search, criterion and SNR in dB."""
    return cell["system"], cell["search"], cell["criterion"], cell["snr_db"]


def criteria_by_search(cells: Iterable[Cell]) -> dict[str, list[str]]:
    """Return the criteria of each search, both in order of appearance."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        found.setdefault(cell["search"], {})[cell["criterion"]] = None
    return {search: list(criteria) for search, criteria in found.items()}


def shared_criterion(criteria: Mapping[str, Sequence[str]]) -> str:
    """Return the criterion under which searches are compared: bic if all have it, else the first that most have."""
    names = dict.fromkeys(name for group in criteria.values() for name in group)
    if not names:
        raise NarxbenchError(
            "comparison of searches: found no criterion; allowed: at least one search with a criterion"
        )
    return max(names, key=lambda name: (sum(name in group for group in criteria.values()), name == "bic"))


def labels_of(cell: Cell, published: Published) -> dict[str, str]:
    """Return label by term of the system of a cell, in label order."""
    return published.labels(cell["system"], cell["true_structure"]["terms"])


def systems_table(systems: Iterable["System"]) -> Table:
    """Return the table "Test non-linear systems" (paper, table I)."""
    parameters = "NARX parameters"
    columns = (
        Column("system", "System"),
        Column("equation", "Known structure", kind="equation"),
        *(Column(key, key, parameters, "number") for key in ("n_u", "n_y", "N_l", "N_t")),
    )
    notes = ("n_u input lag, n_y output lag, N_l degree of non-linearity, N_t number of candidate terms.",)
    rows = []
    for system in systems:
        size = model_size(n_y=system.n_y, n_u=system.n_u, degree=system.degree)
        equation = _equation(system.terms, system.coefficients)
        rows.append((system.name, equation, system.n_u, system.n_y, system.degree, size))
    return Table("test_systems", "Test non-linear systems", columns, tuple(rows), notes)


def settings_table(searches: Mapping[str, Mapping[str, Any]], runs: int, evaluations: int) -> Table:
    """Return the table "Search parameter settings" (paper, table II) of the configured ``searches``."""
    columns = (
        Column("search", "Search", kind="search"),
        Column("algorithm", "Algorithm"),
        Column("setting", "Setting"),
        Column("value", "Value"),
    )
    rows: list[tuple[Value, ...]] = []
    for name, search in searches.items():
        settings = _flat(search["settings"]) or {"–": ""}
        rows += [(name, search["algorithm"], key, value) for key, value in settings.items()]
    notes = (f"{runs} runs of {evaluations} fitness evaluations for every system, SNR, search and criterion.",)
    return Table("search_settings", "Search parameter settings", columns, tuple(rows), notes, stub=3, merged=2)


def fitness_table(system: str, cells: Iterable[Cell], published: Published) -> Table:
    """Return the table "Effect of the fitness function" of one system (paper, tables III to VI).

    It shows the searches that ran under more than one criterion, or all of them where none did.
    """
    own = [cell for cell in cells if cell["system"] == system]
    several = {search for search, criteria in criteria_by_search(own).items() if len(criteria) > 1}
    shown = [cell for cell in own if not several or cell["search"] in several]
    with_search = len(criteria_by_search(shown)) > 1
    stub = [Column("criterion", "Fitness function", kind="criterion"), Column("snr_db", "SNR", kind="snr")]
    if with_search:
        stub.insert(0, Column("search", "Search", kind="search"))
    caption = f"Effect of the fitness function: {system}"
    return _frequencies(f"fitness_{system}", caption, stub, shown, published)


def comparison_table(system: str, cells: Iterable[Cell], published: Published, criterion: str) -> Table:
    """Return the comparison of all searches on one system under one criterion (paper, table VII, for S4 and BIC)."""
    shown = [cell for cell in cells if cell["system"] == system and cell["criterion"] == criterion]
    stub = [Column("search", "Search", kind="search"), Column("snr_db", "SNR", kind="snr")]
    caption = f"Comparison of searches under {criterion_name(criterion)}: {system}"
    return _frequencies(f"comparison_{system}", caption, stub, shown, published)


def spurious_table(cells: Iterable[Cell], criterion: str) -> Table:
    """Return r and nu_max of every system, search and SNR under one criterion."""
    columns = (
        Column("system", "System"),
        Column("search", "Search", kind="search"),
        Column("snr_db", "SNR", kind="snr"),
        *_SPURIOUS,
    )
    shown = _grouped([cell for cell in cells if cell["criterion"] == criterion], ("system", "search"))
    rows = [(cell["system"], cell["search"], cell["snr_db"], *_spurious(cell)) for cell in shown]
    caption = f"Spurious terms under {criterion_name(criterion)}"
    return Table("spurious_terms", caption, columns, tuple(rows), (_R_NOTE,), 3, 2, tuple(map(cell_name, shown)))


def selection_frequency_csv(cells: Iterable[Cell], published: Published) -> str:
    """Return every candidate term of every cell as CSV: its count of runs, frequency and confidence interval."""
    header = ["system", "snr_db", "search", "criterion", "term", "label", "system_term"]
    header += ["count", "runs", "frequency", "low", "high"]
    rows: list[list[Value]] = []
    for cell in cells:
        labels = labels_of(cell, published)
        place = [cell[key] for key in header[:4]]
        for term in cell["terms"]:
            known = [term["term"], labels.get(term["term"]), str(term["system_term"]).lower(), term["count"]]
            rows.append([*place, *known, cell["runs"], term["frequency"], term["low"], term["high"]])
    return csv_text(header, rows)


def cells_csv(cells: Iterable[Cell]) -> str:
    """Return one row for each cell as CSV: spurious terms with intervals, exact runs and fitness values J."""
    header = ["system", "snr_db", "search", "algorithm", "criterion", "runs", "evaluations", "n_terms"]
    header += ["r", "r_low", "r_high", "nu_max", "nu_max_low", "nu_max_high", "worst_spurious_term"]
    header += ["exact_runs", "final_is_exact", "best_fitness", "median_fitness", "true_structure_fitness"]
    rows: list[list[Value]] = []
    for cell in cells:
        r, worst = cell["spurious_ratio"], cell["spurious_frequency_max"]
        fitness = [math.inf if value is None else value for value in cell["fitness"]]
        best, median = (value if math.isfinite(value) else None for value in (min(fitness), statistics.median(fitness)))
        row = [*(cell[key] for key in header[:8]), r["value"], r["low"], r["high"]]
        row += [worst["value"], worst["low"], worst["high"], worst["term"], cell["exact_runs"]]
        row += [str(cell["final_is_exact"]).lower(), best, median, cell["true_structure"]["fitness"]]
        rows.append(row)
    return csv_text(header, rows)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return CSV with numbers at full precision, empty fields for None, and line feeds as line ends."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def to_csv(table: Table) -> str:
    """Return the table as CSV with numbers at full precision, without caption and notes."""
    return csv_text([column.key for column in table.columns], table.rows)


def to_markdown(table: Table) -> str:
    """Return the table as GitHub-flavoured Markdown; caption in bold above, notes below."""
    # Markdown has one row of headings: where two groups share a heading, each names its group.
    plain = [column.heading for column in table.columns]
    repeated = len(set(plain)) < len(plain)
    full = [f"{c.group}: {c.heading}" if repeated and c.group else c.heading for c in table.columns]
    heads = [rich(heading, "markdown") for heading in full]
    aligned = [":---" if _is_left(column) else "---:" for column in table.columns]
    lines = [f"**{escape(table.caption, 'markdown')}**", "", _pipes(heads), _pipes(aligned)]
    lines += [_pipes(show_row(table, row, "markdown")) for row in table.rows]
    for note in table.notes:
        lines += ["", rich(note, "markdown")]
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    """Return the table as a LaTeX float that needs the packages booktabs, multirow and adjustbox.

    A table with an equation or many columns spans both columns of the page. One that is too wide is scaled down.
    """
    columns = table.columns
    grouped = any(column.group for column in columns)
    spanning = len(columns) > _COLUMNS_OF_A_NARROW_TABLE or any(column.kind == "equation" for column in columns)
    float_name = "table*" if spanning else "table"
    kinds = {"equation": r"p{0.7\linewidth}"}
    spec = "".join(kinds.get(column.kind, "l" if _is_left(column) else "c") for column in columns)
    lines = ["% needs booktabs, multirow and adjustbox", rf"\begin{{{float_name}}}[!t]", r"  \centering\footnotesize"]
    lines += [rf"  \caption{{{escape(table.caption, 'latex')}}}"]
    lines += [rf"  \label{{tab:{re.sub('[^A-Za-z0-9]+', '-', table.name)}}}", r"  \setlength{\tabcolsep}{3pt}"]
    lines += [r"  \begin{adjustbox}{max width=\linewidth}", rf"  \begin{{tabular}}{{{spec}}}", r"    \toprule"]
    heads = [rich(column.heading, "latex") for column in columns]
    if grouped:
        top, rules = [], []
        for first, span, group in groups(columns):
            if group:
                top.append(rf"\multicolumn{{{span}}}{{c}}{{{rich(group, 'latex')}}}")
                rules.append(rf"\cmidrule(lr){{{first + 1}-{first + span}}}")
            else:
                top += [rf"\multirow{{2}}{{*}}{{{head}}}" for head in heads[first : first + span]]
                heads[first : first + span] = [""] * span
        lines += [f"    {' & '.join(top)} \\\\", f"    {' '.join(rules)}"]
    lines += [f"    {' & '.join(heads)} \\\\"]
    for number, (row, spans) in enumerate(zip(table.rows, merged_spans(table), strict=True)):
        if number == 0 or (spans and spans[0]):
            lines.append(r"    \midrule")
        shown = show_row(table, row, "latex")
        for index, height in enumerate(spans):
            shown[index] = rf"\multirow{{{height}}}{{*}}{{{shown[index]}}}" if height > 1 else shown[index] * height
        lines.append(f"    {' & '.join(shown)} \\\\")
    lines += [r"    \bottomrule", r"  \end{tabular}", r"  \end{adjustbox}"]
    # A label stays on the line of its term.
    notes = [re.sub(r"(\$T_\{\d+\}\$) ", r"\1~", rich(note, "latex")) for note in table.notes]
    lines += [rf"  \par\smallskip\raggedright\scriptsize {note}" for note in notes]
    return "\n".join([*lines, rf"\end{{{float_name}}}"]) + "\n"


def show_row(table: Table, row: Sequence[Value], flavour: Flavour) -> list[str]:
    """Return the values of a row as a reader sees them, escaped for ``flavour``."""
    return [_show(value, column, flavour) for value, column in zip(row, table.columns, strict=True)]


def groups(columns: Sequence[Column]) -> list[tuple[int, int, str]]:
    """Return first column, number of columns and heading of each run of columns with the same group."""
    runs: list[tuple[int, int, str]] = []
    for index, column in enumerate(columns):
        if runs and runs[-1][2] == column.group:
            first, span, group = runs[-1]
            runs[-1] = (first, span + 1, group)
        else:
            runs.append((index, 1, column.group))
    return runs


def merged_spans(table: Table) -> list[list[int]]:
    """Return for each row how many rows each of its merged values spans; 0 where a row above spans it already."""
    spans = [[0] * table.merged for _ in table.rows]
    for column in range(table.merged):
        start = 0
        for index, row in enumerate(table.rows):
            if row[: column + 1] != table.rows[start][: column + 1]:
                start = index
            spans[start][column] += 1
    return spans


def rounded(value: float) -> str:
    """Return a frequency or ratio like the paper prints it: two decimals, half up; exactly 0 and 1 without decimals."""
    if value in (0, 1):
        return str(int(value))
    # repr, because the nearest double of 0.975 lies below it and would be rounded down.
    return str(Decimal(repr(float(value))).quantize(Decimal("0.01"), ROUND_HALF_UP))


def search_name(name: str) -> str:
    """Return the name of a search as readers know it."""
    return {"upso2d": "2D-UPSO", "ga": "GA"}.get(name, name)


def criterion_name(name: str) -> str:
    """Return the name of a criterion as readers know it: ``aic-8`` is ``AIC (ϱ = 8)``."""
    match = re.fullmatch(r"aic-(\d+(?:\.\d+)?)", name, re.ASCII)
    return f"AIC (ϱ = {match[1]})" if match else {"bic": "BIC"}.get(name, name)


# Wider ones would be scaled down too far to be read in one of the two columns of a page.
_COLUMNS_OF_A_NARROW_TABLE = 9
_SPURIOUS = (Column("r", "r", "Spurious terms", "frequency"), Column("nu_max", "ν_max", "Spurious terms", "frequency"))
_R_NOTE = (
    "r: share of the candidate terms that are spurious and selected in at least one run; "
    "ν_max: largest selection frequency of a spurious term."
)


def _frequencies(name: str, caption: str, stub: Sequence[Column], cells: Sequence[Cell], published: Published) -> Table:
    labels = labels_of(cells[0], published) if cells else {}
    group = "ν of system terms"
    columns = (*stub, *(Column(label, label, group, "frequency") for label in labels.values()), *_SPURIOUS)
    rows: list[tuple[Value, ...]] = []
    shown = _grouped(cells, [column.key for column in stub[:-1]])
    for cell in shown:
        frequency = {term["term"]: term["frequency"] for term in cell["terms"]}
        nu = [frequency[term] for term in labels]
        rows.append((*(cell[column.key] for column in stub), *nu, *_spurious(cell)))
    meaning = ", ".join(f"{label} {'constant' if term == '1' else term}" for term, label in labels.items())
    notes = (f"ν: share of the runs in which a term was selected. {_R_NOTE}", f"System terms: {meaning}.")
    return Table(name, caption, columns, tuple(rows), notes, len(stub), len(stub) - 1, tuple(map(cell_name, shown)))


def _spurious(cell: Cell) -> tuple[float, float]:
    return cell["spurious_ratio"]["value"], cell["spurious_frequency_max"]["value"]


def _grouped(cells: Sequence[Cell], keys: Sequence[str]) -> list[Cell]:
    """Return the cells with equal values of ``keys`` side by side, in the order in which the values first appear."""
    order = {key: list(dict.fromkeys(cell[key] for cell in cells)) for key in keys}
    return sorted(cells, key=lambda cell: [order[key].index(cell[key]) for key in keys])


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found


def _equation(terms: Sequence[str], coefficients: Sequence[float]) -> str:
    parts = []
    for term, coefficient in zip(terms, coefficients, strict=True):
        size = f"{abs(coefficient):.12g}"
        factor = size if term == "1" else term if size == "1" else f"{size}*{term}"
        parts.append(f"{'-' if coefficient < 0 else '+'} {factor}")
    return "y(k) = " + " ".join(parts).removeprefix("+ ")


def _is_left(column: Column) -> bool:
    return column.kind in ("text", "criterion", "search", "equation")


def _pipes(values: Iterable[str]) -> str:
    return f"| {' | '.join(values)} |"


def _show(value: Value, column: Column, flavour: Flavour) -> str:
    if value is None:
        return "–"
    if column.kind == "frequency":
        return rounded(float(value))
    if column.kind == "snr":
        text = f"{value:g} dB" if isinstance(value, int | float) else f"{value} dB"
        return escape(text, flavour).replace(" ", "~") if flavour == "latex" else escape(text, flavour)
    if column.kind == "equation":
        return _show_equation(str(value), flavour)
    if column.kind == "criterion":
        value = criterion_name(str(value))
    if column.kind == "search":
        value = search_name(str(value))
    return escape(str(value), flavour)


def _show_equation(text: str, flavour: Flavour) -> str:
    if flavour == "latex":
        # Braces keep a term from being broken over two lines.
        return r"\raggedright $" + re.sub(r"\S{2,}", lambda word: f"{{{_latex_term(word[0])}}}", text) + "$"
    if flavour == "html":
        html = re.sub(r"\^(\d+)", r"<sup>\1</sup>", escape(text, "html")).replace("*", "\u2009").replace("-", "\u2212")
        return re.sub(r"[^ ]{2,}", r'<span class="term">\g<0></span>', html)
    return f"`{text}`" if flavour == "markdown" else text


def _latex_term(term: str) -> str:
    return re.sub(r"\^(\d+)", r"^{\1}", term).replace("*", r"\,")


_LATEX = {
    **{char: f"\\{char}" for char in "{}$&#_%"},
    # A bracket or star after the end of a row would be read as an argument of \\.
    **{char: f"{{{char}}}" for char in '[]*"'},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "ν": r"$\nu$",
    "ϱ": r"$\varrho$",
    "–": r"\textendash{}",
    "≥": r"$\ge$",
    "\n": " ",
}


def escape(text: str, flavour: Flavour) -> str:
    """Return any text, as a user may have written it, such that ``flavour`` shows it literally."""
    if flavour == "latex":
        return "".join(_LATEX.get(char, char) for char in text).replace("--", "-{}-")
    if flavour == "html":
        return escape_html(text)
    if flavour == "markdown":
        return re.sub(r"([\\`*_{}\[\]<>#|~!$&])", r"\\\1", text.replace("\n", " "))
    return text


_OWN = re.compile(
    r"(?P<term>[yu]\(k-\d+\)(?:\^\d+)?(?:\*[yu]\(k-\d+\)(?:\^\d+)?)*)|(?P<max>ν_max)"
    r"|\b(?P<label>T(?P<number>\d+))\b|\b(?P<order>[nN]_[uylt])\b|\b(?P<symbol>[rJ])\b"
)


def rich(text: str, flavour: Flavour) -> str:
    """Return a heading or note of this project, in which terms, labels and symbols are set as mathematics."""
    shown, end = [], 0
    for match in _OWN.finditer(text):
        shown += [escape(text[end : match.start()], flavour), _symbol(match, flavour)]
        end = match.end()
    return "".join([*shown, escape(text[end:], flavour)])


def _symbol(match: re.Match[str], flavour: Flavour) -> str:
    text = match[0]
    if flavour == "plain":
        return text
    if match["term"]:
        return {"latex": f"${{{_latex_term(text)}}}$", "markdown": f"`{text}`", "html": f"<code>{text}</code>"}[flavour]
    if match["symbol"]:
        return {"latex": f"${text}$", "markdown": f"*{text}*", "html": f"<i>{text}</i>"}[flavour]
    base, index = ("T", match["number"]) if match["label"] else text.split("_")
    if flavour == "latex":
        return r"$\nu_{\max}$" if match["max"] else f"${base}_{{{index}}}$"
    if flavour == "markdown" and match["label"]:
        return text
    return f"{base}<sub>{index}</sub>"
