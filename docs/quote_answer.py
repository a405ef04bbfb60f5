"""Quote in the README what the reference results say: verdicts, published values beside ours, which method to use.

Run it after new reference results: python docs/quote_answer.py
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

from narxbench._report.formats import rounded
from narxbench._studies.paper.answer import claims_hold, use_of_the_swarm, values_near
from narxbench._studies.paper.claims import UPSO
from narxbench._studies.paper.frames import read_frame

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAPER = ROOT / "data" / "reference" / "paper"
METHODS = ROOT / "data" / "reference" / "methods"
MEASURED = ROOT / "data" / "reference" / "measured"
# How the worst value of a metric over all SNRs is found, and what it is called.
WORST = {"nu": ("min", "Smallest ν"), "r": ("max", "Largest *r*"), "nu_max": ("max", "Largest ν<sub>max</sub>")}
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
    """Return the values of 2D-UPSO under BIC that tell most, published and reproduced, as the worst of all SNRs."""
    printed = read_frame("agreement_values", PAPER / "agreement_values.csv")
    printed = printed[(printed["algorithm"] == UPSO) & (printed["criterion"] == "bic")]
    head, columns = ["System"], []
    for metric, (function, title) in WORST.items():
        for side in ("published", "reproduced"):
            columns.append(printed[printed["metric"] == metric].groupby("system")[side].agg(function))
            head.append(f"{title}: {side}")
    lines = [head, ["---", *["---:"] * len(columns)]]
    for system in sorted(set(printed["system"])):
        lines.append([system, *(rounded(column[system]) for column in columns)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def method() -> str:
    """Return which method to use by default, and where it breaks; the comparisons between stand in the answer."""
    answer = (METHODS / "answer.md").read_text(encoding="utf-8").split("\n")[0].removeprefix("- ")
    first, *_, last = re.split(r"(?<=[a-z]\.) (?=\S)", answer)
    return f"{first} {last}\n"


# What is quoted, by the folder or file that it comes from.
QUOTES: dict[str, Callable[[], str]] = {
    "From data/reference/measured/identification.json": verdict,
    "From data/reference/paper/interpretations": answers,
    "From data/reference/paper/agreement_values.csv": values,
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
