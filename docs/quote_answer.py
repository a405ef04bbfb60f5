"""Quote in the README what the reference results say: verdicts, published values beside ours, which method to use.

Run it after new reference results: python docs/quote_answer.py
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from narxbench._studies.paper.answer import claims_hold, use_of_the_swarm, values_near
from narxbench._studies.paper.facsimile import FITNESS_TABLES, SOURCES

from narxbench._report.formats import rounded
from narxbench._studies.paper.frames import read_frame

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAPER = ROOT / "data" / "reference" / "paper"
METHODS = ROOT / "data" / "reference" / "methods"
MEASURED = ROOT / "data" / "reference" / "measured"
R, NU_MAX = "*r*", "ν<sub>max</sub>"
BEGIN, END = "<!-- {}, by docs/quote_answer.py: -->\n", "<!-- End -->\n"


def verdict() -> str:
    """Return what the report on the buck converter says first."""
    identification = json.loads((MEASURED / "identification.json").read_text(encoding="utf-8"))
    finding = identification["summary"][0]
    title = finding["name"].replace("_", " ").capitalize()
    return f"> **{title}: {finding['status']}.** {finding['text']}\n"


def answers() -> str:
    """Return what the first screen of the page answers."""
    frames = {}
    for name in ("nearness", "by_table", "role_verdicts", "found"):
        frames[name] = read_frame(name, PAPER / "interpretations" / f"{name}.csv")
    answers_by_question = {
        "Does the paper hold?": claims_hold(frames["role_verdicts"]),
        "Are its numbers reproduced?": values_near(frames["nearness"], frames["by_table"]),
        "Is 2D-UPSO worth using?": use_of_the_swarm(frames["found"], frames["role_verdicts"]),
    }
    text = ""
    for question, answer in answers_by_question.items():
        # The page has all sentences: the first says what was seen, the last what else must be known.
        sentences = dict.fromkeys([answer.sentences[0], answer.sentences[-1]])
        text += f"- **{question} {answer.word}** {' '.join(sentences)}\n"
    return text


def values() -> str:
    """Return the values of 2D-UPSO under BIC that tell most, from each source, as the worst of all SNRs."""
    lines = [["System", "Values", "Smallest ν", f"Largest {R}", f"Largest {NU_MAX}"]]
    lines.append(["---", "---", "---:", "---:", "---:"])
    for name, system in FITNESS_TABLES.items():
        table = read_printed(_text(name))
        table = table[table["Fitness *J*"] == "BIC"]
        for source in SOURCES:
            numbers = table[table["Values"] == source]
            smallest = numbers.filter(regex="^T[0-9]").min(axis=None)
            worst = [smallest, numbers[R].max(), numbers[NU_MAX].max()]
            first_cell = system if source == SOURCES[0] else ""
            lines.append([first_cell, source, *map(rounded, worst)])
    (note,) = set(re.findall(r"As described and closest: .*?\.", "".join(map(_text, FITNESS_TABLES))))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{note}\n"


def _text(table: str) -> str:
    return (PAPER / f"{table}.md").read_text(encoding="utf-8")


def read_printed(markdown: str) -> pd.DataFrame:
    """Return the table of a text in Markdown, in which bold marks values that differ."""
    lines = markdown.replace("**", "").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    table = pd.DataFrame(rows[2:], columns=rows[0])
    numbers = table.columns.drop(["Fitness *J*", "SNR", "Values"])
    return table.astype(dict.fromkeys(numbers, float))


def method() -> str:
    """Return which method to use by default, and where it breaks; the comparisons between stand in the answer."""
    answer = (METHODS / "answer.md").read_text(encoding="utf-8").split("\n")[0].removeprefix("- ")
    first, *_, last = re.split(r"(?<=[a-z]\.) (?=\S)", answer)
    return f"{first} {last}\n"


# What is quoted, by the folder or file that it comes from.
QUOTES: dict[str, Callable[[], str]] = {
    "From data/reference/measured/identification.json": verdict,
    "From data/reference/paper/interpretations": answers,
    "From data/reference/paper/table_3.md to table_6.md": values,
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
