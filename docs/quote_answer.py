"""Quote in the README what the reference results say: the answer, published values beside ours, which method to use.

Run it after new reference results: python docs/quote_answer.py
"""

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
WORST = {"nu": "min", "r": "max", "nu_max": "max"}
BEGIN, END = "<!-- {}, by docs/quote_answer.py: -->\n", "<!-- End -->\n"


def answers() -> str:
    """Return what the first screen of the page answers."""
    names = ("nearness", "by_table", "role_verdicts", "found")
    nearness, by_table, verdicts, found = (read_frame(name, PAPER / "interpretations" / f"{name}.csv") for name in names)
    told = {
        "Does the paper hold?": claims_hold(verdicts),
        "Are its numbers reproduced?": values_near(nearness, by_table),
        "Is 2D-UPSO worth using?": use_of_the_swarm(found, verdicts),
    }
    # The page has all sentences: the first says what was found, the last what else must be known.
    short = {ask: dict.fromkeys([answer.sentences[0], answer.sentences[-1]]) for ask, answer in told.items()}
    return "".join(f"- **{ask} {told[ask].word}** {' '.join(sentences)}\n" for ask, sentences in short.items())


def values() -> str:
    """Return the values of 2D-UPSO under BIC that tell most, published and reproduced, as the worst of all SNRs."""
    printed = read_frame("agreement_values", PAPER / "agreement_values.csv")
    printed = printed[(printed["algorithm"] == UPSO) & (printed["criterion"] == "bic")]
    sides = ("published", "reproduced")
    worst = [
        printed[printed["metric"] == metric].groupby("system")[side].agg(function)
        for metric, function in WORST.items()
        for side in sides
    ]
    names = [f"{name}: {side}" for name in ("Smallest ν", "Largest *r*", "Largest ν<sub>max</sub>") for side in sides]
    systems = sorted(set(printed["system"]))
    rows = [[system, *(rounded(column[system]) for column in worst)] for system in systems]
    lines = [["System", *names], ["---", *("---:" for _ in names)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def method() -> str:
    """Return which method to use by default, and where it breaks; the comparisons between stand in the answer."""
    answer = (METHODS / "answer.md").read_text(encoding="utf-8").split("\n")[0].removeprefix("- ")
    first, *_, last = re.split(r"(?<=[a-z]\.) (?=\S)", answer)
    return f"{first} {last}\n"


# What is quoted, by the folder or file that it comes from.
QUOTES: dict[str, Callable[[], str]] = {
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
