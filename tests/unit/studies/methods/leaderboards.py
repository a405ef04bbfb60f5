"""Made-up comparisons of methods: from score files to frames, tables, figures and pages, by the steps of the rules."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from tests.unit.studies.methods import scores
from tests.unit.studies.methods.scores import make_score, methods_study, write_scores
from tests.unit.studies.steps import read, step, texts_by_name

FRAMES = ("scores", "ranking", "pairs", "systems")
TABLES = ("leaderboard", "situations", "differences", "systems")
FIGURES = ("situations", "terms_error")
SITUATIONS = {"fast": {"description": "sampled fast", "systems": ["S1", "S3"]}}
MANY_METHODS = (*scores.METHODS, *map("method-{}".format, range(1, 10)))
# Shapes of studies: as made up by default, as large as the study of the repository, and as small as it can be.
SHAPES: dict[str, dict[str, Any]] = {
    "usual": {},
    "large": {
        "systems": (*map("S{}".format, range(1, 18)), "OUT"),
        "scenarios": tuple(map("scenario-{}".format, range(1, 9))),
        "methods": MANY_METHODS,
        "data_seeds": 3,
        "seeds": 5,
    },
    "small": {"systems": ("S1",), "scenarios": ("base",), "methods": ("ga", "frols"), "data_seeds": 1, "seeds": 1},
}


def cost_rows(**seconds: float) -> list[tuple[Any, ...]]:
    """Return the CPU time of these methods, which grows with the number of candidate terms."""
    rows = []
    for (method, time), n_terms in product(seconds.items(), (66, 286)):
        rows.append((method, n_terms, time * n_terms / 66, 1 if method == "frols" else 6000, "Processor, 2.4 GHz"))
    return rows


class Compared:
    """A comparison in a folder: its frames are made at once, tables, figures and pages when they are asked for.

    ``repeats`` has the first difference of a repeated run by method, "" for none, ``cost`` the rows of CPU times.
    """

    def __init__(
        self,
        folder: Path,
        problems: Sequence[scores.Score],
        *,
        cost: Sequence[tuple[Any, ...]] = (),
        repeats: Mapping[str, str] | None = None,
        situations: Mapping[str, Any] = SITUATIONS,
        **settings: Any,
    ) -> None:
        self.folder = folder
        files = list(map(str, write_scores(folder / "scores", list(problems))))
        self.frames = {name: str(folder / f"{name}.csv") for name in FRAMES}
        self.repeats = []
        for method, difference in (repeats or {}).items():
            condition = {name: make_score([])[name] for name in ("system", "snr_db", "data_seed", "criterion")}
            condition |= {"interpretation": "baseline", "method": method}
            content = {"condition": condition, "difference": difference, "cpu_seconds": 7.0}
            (folder / f"{method}.json").write_text(json.dumps(content), encoding="utf-8")
            self.repeats.append(str(folder / f"{method}.json"))
        systems = {name: situation["systems"] for name, situation in situations.items()}
        ranking = {"confidence": 0.95, "situations": systems}
        step("rank", {"ranking": ranking}, input={"scores": files, "repeats": self.repeats}, output=self.frames)
        columns = ["method", "n_terms", "seconds", "evaluations", "machine"]
        self.cost = str(folder / "cost.csv")
        pd.DataFrame(list(cost), columns=columns).to_csv(self.cost, index=False)
        scenarios = {score["scenario"]: {"description": f"what {score['scenario']} is"} for score in problems}
        self.settings = {"study": "methods", "statistics": {"confidence": 0.95}, "scenarios": scenarios}
        self.settings |= {"situations": situations, "tuned": ["ga"], "methods": {}, **settings}

    @classmethod
    def of_shape(cls, folder: Path, name: str, **changes: Any) -> "Compared":
        """Return a comparison of one of the `SHAPES`, with the time of every method."""
        problems = methods_study(**SHAPES[name])
        methods = dict.fromkeys(method["method"] for problem in problems for method in problem["methods"])
        return cls(folder, problems, **{"cost": cost_rows(**dict.fromkeys(methods, 1.0)), **changes})

    @property
    def _input(self) -> dict[str, Any]:
        return {**self.frames, "cost": self.cost, "repeats": self.repeats}

    def frame(self, name: str) -> pd.DataFrame:
        """Return a frame of the comparison."""
        return pd.read_csv(self.frames[name])

    @cached_property
    def files(self) -> dict[str, str]:
        """The tables and figures, and the answer in a list, by name."""
        names = [f"{table}.{form}" for table, form in product(TABLES, ("csv", "md", "tex"))]
        names += [f"{figure}.svg" for figure in FIGURES] + ["answer.md"]
        # Figures and tables have other names.
        output = {"": [str(self.folder / "shown" / name) for name in names]}
        paths = step("ranking_tables", {"study": self.settings}, input=self._input, output=output)
        return texts_by_name(paths)

    @property
    def answer(self) -> list[str]:
        """The answer, a sentence a line."""
        lines = self.files["answer.md"].replace("\u00a0", " ").splitlines()
        return [line.removeprefix("- ") for line in lines]

    def rows(self, table: str) -> dict[str, list[str]]:
        """Return the cells of a table by their first one, as they are printed in Markdown."""
        rows = {}
        for line in self.files[f"{table}.md"].splitlines():
            if line.startswith("| "):
                first, *cells = line[2:-2].split(" | ")
                rows[first] = list(map(str.strip, cells))
        return rows

    def page(self, added: Sequence[str] = (), left_out: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Return the page of the comparison, and the line for the terminal."""
        params = {"study": self.settings, "added": added, "left_out": left_out or {"nowhere": "needs a package"}}
        output = {"": [str(self.folder / "report.html")], "answer": self.folder / "answer.txt"}
        page, line = step("leaderboard", params, input=self._input, output=output)
        return read(page), read(line).strip()
