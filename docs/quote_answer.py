"""Quote in the README which method to use, as the reference results of the comparison of methods say it.

Run it after new reference results: python docs/quote_answer.py
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
ANSWER = ROOT / "data" / "reference" / "methods" / "answer.md"
BEGIN, END = "<!-- From data/reference/methods/answer.md, by docs/quote_answer.py: -->\n", "<!-- End -->\n"


def quoted(text: str) -> str:
    """Return the README with the current answer."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{ANSWER.read_text(encoding='utf-8')}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    README.write_text(quoted(README.read_text(encoding="utf-8")), encoding="utf-8")
