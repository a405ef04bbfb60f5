"""Quote in the README what the reference results say: a verdict, the paper's values beside kept ones, the best method.

Run it after new reference results: python docs/quote_answer.py
"""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from narxbench._report.formats import rounded
from narxbench._studies.paper.claims import UPSO
from narxbench._studies.paper.frames import read_frame
from narxbench._studies.paper.printed import KEPT_ROLES
from narxbench._study.run_record import read_run_record

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAPER = ROOT / "data" / "reference" / "paper"
METHODS = ROOT / "data" / "reference" / "methods"
BUCK = ROOT / "data" / "reference" / "buck"
R, NU_MAX = "*r*", "ν<sub>max</sub>"
BEGIN, END = "<!-- {}, by docs/quote_answer.py: -->\n", "<!-- End -->\n"


def verdict() -> str:
    """Return what the report on the buck converter says first."""
    identification = json.loads((BUCK / "identification.json").read_text(encoding="utf-8"))
    finding = identification["summary"][0]
    title = finding["name"].replace("_", " ").capitalize()
    return f"> **{title}: {finding['status']}.** {finding['text']}\n"


def values() -> str:
    """Return the worst values of 2D-UPSO under BIC over all SNRs: the paper's and the kept ones."""
    kept = read_frame("values", PAPER / "interpretations" / "values.csv")
    of_bic = kept[(kept["algorithm"] == UPSO) & (kept["criterion"] == "bic")]
    lines = [["System", f"Paper: smallest ν, largest {R}, largest {NU_MAX}", *(f"Kept, {role}" for role in KEPT_ROLES)]]
    lines.append(["---"] * len(lines[0]))
    for system, of_system in of_bic.groupby("system"):
        cells = [_worst(of_system[of_system["role"] == KEPT_ROLES[0]], "published")]
        for role in KEPT_ROLES:
            cells.append(_worst(of_system[of_system["role"] == role], "reproduced"))
        lines.append([str(system), *cells])
    seeds = int(of_bic["data_sets"].max())
    note = f"Kept: medians over {seeds} data seeds; closest: chosen after seeing the paper.\n"
    note += _source("interpretations")
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{note}\n"


def _worst(rows: pd.DataFrame, column: str) -> str:
    """Return the smallest frequency of a system term, and the largest r and nu_max."""
    by_metric = rows.groupby("metric")[column]
    values = by_metric.min()["nu"], by_metric.max()["r"], by_metric.max()["nu_max"]
    return ", ".join(map(rounded, values))


def _source(study: str) -> str:
    """Return the study behind kept results, with its date and commit."""
    record = read_run_record(ROOT / "data" / "reference" / study / "run.json")
    return f"Study *{study}*, {record.day}, commit `{record.commit[:8]}`."


def method() -> str:
    """Return which method finds the true terms, and where it breaks."""
    lines = [line.removeprefix("- ") for line in (METHODS / "answer.md").read_text(encoding="utf-8").splitlines()]
    where_it_breaks = [line for line in lines if line.startswith("**Where it breaks.**")]
    return "\n\n".join([lines[0], *where_it_breaks, f"Kept results: {_source('methods')}"]) + "\n"


# What is quoted, by the folder or file that it comes from.
QUOTES: dict[str, Callable[[], str]] = {
    "From data/reference/buck/identification.json": verdict,
    "From data/reference/paper/interpretations/values.csv": values,
    "From data/reference/methods/answer.md": method,
}


def quoted(text: str) -> str:
    """Return the README with what the reference results say now."""
    for source, quote in QUOTES.items():
        begin = BEGIN.format(source)
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{quote()}\n{END}{rest.partition(END)[2]}"
    return text


if __name__ == "__main__":
    README.write_text(quoted(README.read_text(encoding="utf-8")), encoding="utf-8")
