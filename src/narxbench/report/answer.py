"""The answers on the first screen: words, numbers and conclusions come from the frames of the interpretations."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from narxbench.analysis.claims import GA, UPSO
from narxbench.analysis.interpretation_study import JOINT
from narxbench.analysis.metrics import PUBLISHED
from narxbench.model.noise import NOISES
from narxbench.report.formats import MISSING, count, listed, method_name, share, signed

# How near a deviance is that is so many times the one between two data sets of one's own.
_NEAR = {1.5: "Near.", 3.0: "Fairly near.", math.inf: "Not near."}
_INPUTS = {
    "uniform": "white, uniform between {low} and {high}",
    "gaussian": "white, Gaussian with standard deviation {sd}",
    "autoregressive": "coloured, Gaussian with standard deviation {sd} and pole {pole}",
    "recorded": "recorded, from {file}",
}


class Answer(NamedTuple):
    """An answer in a word or two, and the sentences that carry it."""

    word: str
    sentences: list[str]


class Share(NamedTuple):
    """A share of runs and its range, as readers see them; ``level`` from 0 to 10 is its shade."""

    text: str
    between: str
    level: int
    best: bool


@dataclass(frozen=True)
class Board:
    """Methods x systems: the share of the runs that end at exactly the system's terms, or None without a run."""

    systems: list[str]
    rows: list[tuple[str, list[Share | None]]]
    note: str


def in_short(text: str) -> str:
    """Return the first two sentences of an answer in Markdown: what to do, and why."""
    return " ".join(re.split(r"(?<=[.*]) (?=[A-Z])", text)[:2])


def claims_hold(overview: pd.DataFrame) -> Answer:
    """Return whether the paper's claims hold over all interpretations, from the frame ``claim_overview``."""
    found = overview["group"].value_counts()
    every, none, some, unjudged = (int(found.get(group, 0)) for group in ("all", "none", "some", "unjudged"))
    judged = every + none + some
    if not judged:
        return Answer("Unknown.", ["None of the paper’s claims could be judged."])
    words = ((every == judged, "Yes."), (none == judged, "No."), (2 * every > judged, "Mostly."), (True, "Partly."))
    word = next(word for applies, word in words if applies)
    claims = f"{every} of the paper’s {len(overview)} claims {_verb(every, 'hold')}"
    # Claims on several criteria can be judged where all of these were run: under few.
    judges = sorted(overview.loc[overview["group"] == "all", "judged"])
    number = "every" if not judges else f"each of the {_between(*map(count, (judges[0], judges[-1])))}"
    parts = [f"{claims} under {number} interpretation{'s' if judges else ''} that can judge them"]
    parts += [f"{none} under none"] if none else []
    parts += [f"{some} {_verb(some, 'depend')} on what the paper leaves open"] if some else []
    parts += [f"{unjudged} cannot be judged"] if unjudged else []
    return Answer(word, [", ".join(parts) + "."])


def values_near(nearness: pd.DataFrame) -> Answer:
    """Return how near the published values are as described, the first role of the frame ``nearness``."""
    role = nearness[nearness["role"] == nearness["role"].iloc[0]]
    here = role.iloc[0]
    said = [
        f"{count(here['different'])} of {count(here['values'])} values differ clearly.",
        f"Reproduced minus published, on average: {'; '.join(_biases(role[role['algorithm'] != JOINT]))}.",
    ]
    if not here["own_deviance"] > 0:
        return Answer("On one data set alone:", said)
    times = here["deviance"] / here["own_deviance"]
    word = next(word for limit, word in _NEAR.items() if times <= limit)
    size = "no farther" if times <= 1 else f"{times:.1f} times as far"
    than = f"{size} from the published ones {'than' if times <= 1 else 'as'} two data sets of ours are from each other"
    return Answer(word, [f"As described, our numbers are {than}.", *said])


def _biases(nearness: pd.DataFrame) -> Iterator[str]:
    """Yield the biases of each algorithm: those of both together may cancel."""
    for row in nearness.to_dict("records"):
        biases = ((metric.heading, row[f"bias_{metric.name}"]) for metric in PUBLISHED)
        shown = ", ".join(f"{symbol} {signed(value, 2)}" for symbol, value in biases if not pd.isna(value))
        yield f"{method_name(row['algorithm'])} {shown}"


def nearness_rows(nearness: pd.DataFrame) -> list[dict[str, str]]:
    """Return deviance, own deviance (a dash on one data set) and clear differences of each role, for readers."""
    form = {"deviance": "deviance", "own": "own_deviance", "different": "different", "compared": "values"}
    return [
        {"role": row["role"], **{key: MISSING if pd.isna(row[of]) else count(row[of]) for key, of in form.items()}}
        for row in nearness[nearness["algorithm"] == JOINT].to_dict("records")
    ]


def found_board(found: pd.DataFrame, seeds: int) -> Board:
    """Return the board of the frame ``found``, which is over all SNRs and so many data seeds."""
    runs = count(found["runs"].max())
    note = f"Share of the runs (up to {runs} for a system) that end at exactly the true structure, under BIC"
    if seeds > 1:
        # The exact interval of a median that the least and the greatest of a sample are.
        level = share(1 - 2 * 0.5**seeds)
        note += (
            f"; below it the smallest and largest share on one of {seeds} realisations of the data, between which the "
            f"median of all realisations lies with {level} confidence"
        )
    return _board(found, f"{note}. Bold: the largest share.")


def own_board(recovery: pd.DataFrame, criterion: str, name: str) -> Board:
    """Return the board of the study's own runs under one criterion, all SNRs together, from the frame ``recovery``."""
    rows = recovery[recovery["criterion"] == criterion]
    counts = rows.groupby(["method", "system"], sort=False)[["exact", "runs"]].sum().reset_index()
    counts = counts.assign(label=counts["method"].map(method_name), rate=counts["exact"] / counts["runs"])
    return _board(counts, f"Share of the runs under {name}, all SNRs together. Bold: the largest share.")


def best_of(board: Board) -> Answer:
    """Return which method of a board ends most often at the true structure of each system."""
    said: dict[str, list[str]] = {}
    for place, system in enumerate(board.systems):
        best = [(label, found) for label, shares in board.rows if (found := shares[place]) and found.best]
        names = listed(label for label, _ in best) if best else "None"
        said.setdefault(names, []).append(f"{system} ({best[0][1].text})" if best else system)
    word = next(iter(said)) + "." if len(said) == 1 else "It depends on the system."
    how = {names: "Never" if names == "None" else f"{names} most often" for names in said}
    return Answer(word, [f"{how[names]} on {listed(systems)}." for names, systems in said.items()])


def use_of_the_swarm(found: pd.DataFrame) -> Answer:
    """Return whether 2D-UPSO finds the true structures more often than other searches, and than the paper's GA.

    One search finds a structure clearly more often than another where even its worst data set beats the other's best.
    """
    own = found[found["algorithm"] == UPSO].drop_duplicates("system").set_index("system")
    if own.empty:
        return Answer("Unknown.", ["2D-UPSO was not run."])
    papers = (found["algorithm"] == GA) & (found["interpretation"] == own["interpretation"].iloc[0])
    others = found[~papers & (found["algorithm"] != UPSO)]
    said = []
    if papers.any():
        said.append(f"It finds the true structure {_compared(own, found[papers], 'the paper’s GA')}.")
    means = others.groupby("label", sort=False)["rate"].mean().sort_values(ascending=False, kind="stable")
    rivals = [others[others["label"] == label].set_index("system") for label in means.index]
    for rival in rivals[:2]:
        label = str(rival["label"].iloc[0])
        said.append(f"{label[0].upper()}{label[1:]} finds it {_compared(rival, own.reset_index(), '2D-UPSO')}.")
    if never := list(own.index[own["exact"] == 0]):
        said.append(f"2D-UPSO never found that of {listed(never)}.")
    best = [
        system
        for system, row in own.iterrows()
        if all(_more(row, rival.loc[system]) for rival in rivals if system in rival.index)
    ]
    if not rivals:
        return Answer("More than the paper’s GA." if best else "Not next to the paper’s GA.", said)
    return Answer("Yes." if len(best) == len(own) else f"On {listed(best)} alone." if best else "Hardly.", said)


def _compared(own: pd.DataFrame, other: pd.DataFrame, name: str) -> str:
    """Return on which systems a search finds more, fewer and about as many true structures than a named one."""
    groups: dict[str, list[str]] = {"more often": [], "less often": [], "neither clearly more nor less often": []}
    more, less, alike = groups.values()
    for row in other.to_dict("records"):
        if row["system"] in own.index:
            mine = own.loc[row["system"]]
            (more if _more(mine, row) else less if _more(row, mine) else alike).append(row["system"])
    said = [f"{word} on {listed(systems)}" for word, systems in groups.items() if systems]
    return ", ".join([said[0].replace(" on ", f" than {name} on ", 1), *said[1:]])


def _more(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    return bool(a["low"] > b["high"])


class Move(NamedTuple):
    """What an option of a design choice does to the deviance from the published values."""

    choice: str
    option: str
    change: str
    contradicts: bool


def what_moves(effects: pd.DataFrame) -> dict[str, list[Move]]:
    """Return for each algorithm the largest change that contradicts nothing, and the one that comes nearest."""
    moves = {}
    for name in (UPSO, GA):
        own = effects[effects["algorithm"] == name].dropna(subset=["change"])
        allowed = own[own["contradicts"] == ""]
        largest = allowed.loc[allowed["change"].abs().sort_values(kind="stable", ascending=False).index].head(1)
        nearest = own[own["change"] < 0].sort_values("change", kind="stable").head(1)
        said = pd.concat([largest, nearest]).drop_duplicates(["design_choice", "option"]).to_dict("records")
        if said:
            moves[method_name(name)] = [_move(row) for row in said]
    return moves


def _move(row: Mapping[Any, Any]) -> Move:
    choice, option = (row[key].replace("-", " ") for key in ("design_choice", "option"))
    return Move(choice, option, signed(row["change"], 0), bool(row["contradicts"]))


def data_shown(settings: Mapping[str, Any], systems: Sequence[Any]) -> str:
    """Return in a sentence what the data of a study's own runs are."""
    data = settings["data"]
    excitation = data["excitation"]
    # As readers write numbers: -1.0 is −1.
    values = {
        key: f"{value:g}".replace("-", "−") if isinstance(value, float) else value for key, value in excitation.items()
    }
    drawn = _INPUTS[excitation["kind"]].format_map(values)
    own = [system.name for system in systems if system.excitation is not None]
    drawn += f" (not for {listed(own)}, with inputs of their own)" if own else ""
    seeds = data["seeds"]
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {listed(map(str, seeds))}"
    return f"input {drawn}; noise {NOISES[data['noise']].words}; data {which}"


def _board(found: pd.DataFrame, note: str) -> Board:
    systems = list(dict.fromkeys(found["system"]))
    best = found.groupby("system")["rate"].max()
    rows = []
    for label, own in found.groupby("label", sort=False):
        at = {row["system"]: row for row in own.to_dict("records")}
        rows.append((str(label), [_share(at[name], best[name]) if name in at else None for name in systems]))
    return Board(systems, rows, note)


def _share(row: Mapping[Any, Any], best: float) -> Share:
    between = _between(share(row["low"]), share(row["high"])) if "low" in row else ""
    return Share(share(row["rate"]), between, round(10 * row["rate"]), 0 < row["rate"] == best)


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low.removesuffix(' %')}–{high}"


def _verb(number: int, verb: str) -> str:
    return f"{verb}s" if number == 1 else verb
