"""The answers on the first screen: words, numbers and conclusions come from the frames of the interpretations."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from narxbench.model.noise import NOISES
from narxbench.report.formats import count, listed, method_name, p_value, share, signed
from narxbench.studies.paper.claims import GA, UPSO, VERDICTS
from narxbench.studies.paper.frames import UNCLEAR
from narxbench.studies.paper.interpretations.nearness import JOINT
from narxbench.studies.paper.metrics import PUBLISHED
from narxbench.study.design_choices import DesignChoices
from narxbench.study.significance import ALPHA

# How near a deviance is that is so many times the one between two data sets of one's own.
_NEAREST, _FAR = 1.5, 3.0
_NEAR = {_NEAREST: "Near.", _FAR: "Fairly near.", math.inf: "Not near."}
# What was chosen after seeing the tables is no finding as the others are.
_SEEN = "The closest interpretation, chosen after seeing the tables"
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


class Board(NamedTuple):
    """Methods x systems: the share of the runs that end at exactly the system's terms, or None without a run."""

    systems: list[str]
    rows: list[tuple[str, list[Share | None]]]
    note: str


def in_short(text: str) -> str:
    """Return the first two sentences of an answer in Markdown: what to do, and why."""
    return " ".join(re.split(r"(?<=[.*]) (?=[A-Z])", text)[:2])


def claims_hold(verdicts: pd.DataFrame, nearness: pd.DataFrame) -> Answer:
    """Return whether the paper's claims hold, from the frames ``role_verdicts`` and ``nearness``.

    The answer is that of the first role, as described; what it hangs on is seen from the last, the closest.
    """
    role, *_, other = dict.fromkeys(verdicts["role"])
    described, last = (verdicts[verdicts["role"] == name] for name in (role, other))
    counts = described["verdict"].value_counts()
    known = len(described) - int(counts.get(VERDICTS[None], 0))
    failing = described[described["verdict"] == VERDICTS[False]]
    fail, holds = len(failing), int(counts.get(VERDICTS[True], 0))
    if fail in (0, known):
        word = "No" if fail else "Yes"
    else:
        word = "Mostly yes" if 2 * fail < known and holds >= fail else "Partly"
    times = _times(nearness, role)
    word += " in kind" if fail < known and times[JOINT] > _NEAREST else ""
    # What does not hold as described, and does otherwise: systems of claims, and the farthest algorithm.
    missed, still = (
        Counter(name for systems in own["missed"] if systems for name in systems.split(", "))
        for own in (failing, last[last["verdict"] == VERDICTS[False]])
    )
    hanging = [name for name in sorted(missed) if 2 * missed[name] > fail and still[name] < missed[name]]
    farthest = max((name for name in times if name != JOINT), key=times.__getitem__)
    if times[farthest] > _FAR and _times(nearness, other)[farthest] <= _NEAREST:
        hanging.append(f"the {method_name(farthest)}" if farthest == GA else method_name(farthest))
    if fail and hanging:
        word += f"; {listed(hanging)} hang{'s' * (len(hanging) == 1)} on what the paper leaves open"
    seeds = described.loc[described["judged"] > 0, "judged"]
    sets = " to ".join(dict.fromkeys(map(str, (seeds.min(), seeds.max()))))
    placed = share(described["held"].sum() / described["places"].sum())
    sentences = [
        f"{role.capitalize()}, on {sets} data sets of each system and SNR, of the paper’s "
        f"{len(described)} claims {_in_words(counts)}.",
        f"Place by place, a system at an SNR on a data set each, they hold at {placed}.",
    ]
    groups = [
        f"{'all ' * (number == fail > 2)}{number} miss{'es' * (number == 1)} clearly on "
        f"{listed(systems.split(', '))}{'' if ', ' in systems else ' alone'}"
        for systems, number in failing["missed"].value_counts().items()
        if systems
    ]
    if groups:
        sentences.append(f"Of those that do not hold, {listed(groups)}.")
    sentences.append(f"{_SEEN}: {_in_words(last['verdict'].value_counts())}.")
    return Answer(f"{word}.", sentences)


def _widest(nearness: pd.DataFrame) -> pd.DataFrame:
    """Return of each role and algorithm the row with most values: a role may stand there under fewer criteria too."""
    return nearness.loc[nearness.groupby(["role", "algorithm"], sort=False)["values"].idxmax()]


def _times(nearness: pd.DataFrame, role: str) -> dict[str, float]:
    """Return the deviance of each algorithm in a role, as a multiple of that between two data sets."""
    own = _widest(nearness[nearness["role"] == role]).set_index("algorithm")
    return dict(own["deviance"] / own["own_deviance"])


def _in_words(counts: Mapping[str, int]) -> str:
    """Return how many claims have each verdict."""
    words = {
        VERDICTS[True]: ("holds", "hold"),
        UNCLEAR: ("misses nowhere clearly", "miss nowhere clearly"),
        VERDICTS[False]: ("does not hold", "do not hold"),
        VERDICTS[None]: ("cannot be judged",) * 2,
    }
    known = {name: int(counts[name]) for name in words if counts.get(name, 0)}
    return listed([f"{number} {words[name][number != 1]}" for name, number in known.items()])


def values_near(nearness: pd.DataFrame) -> Answer:
    """Return how near the published values are, from the frame ``nearness``: in its first role, and in its last."""
    rows = {str(role): own.set_index("algorithm") for role, own in _widest(nearness).groupby("role", sort=False)}
    role, *_, other = rows
    here, times = rows[role].loc[JOINT], _times(nearness, role)[JOINT]
    # Those of both algorithms together may cancel.
    biases = [
        f"{method_name(name)} " + ", ".join(f"{of.heading} {signed(row[f'bias_{of.name}'], 2)}" for of in PUBLISHED)
        for name, row in rows[role].drop(index=JOINT).iterrows()
    ]
    size = "no farther" if times <= 1 else f"{times:.1f} times as far"
    than = f"{size} from the published ones {'than' if times <= 1 else 'as'} two data sets of ours are from each other"
    said = [
        f"As described, our numbers are {than}{_told_apart(here)}.",
        f"{count(here['different'])} of {count(here['values'])} values differ clearly.",
        f"Reproduced minus published, on average: {'; '.join(biases)}.",
        f"{_SEEN}: {_times(nearness, other)[JOINT]:.1f} times as far{_told_apart(rows[other].loc[JOINT])}.",
    ]
    return Answer(next(word for limit, word in _NEAR.items() if times <= limit), said)


def _told_apart(row: pd.Series) -> str:
    """Return whether a rank test tells the published tables from data sets of a role."""
    tells = "tells" if row["p_value"] <= ALPHA else "does not tell"
    return f"; a rank test {tells} the paper’s tables from them (p {p_value(row['p_value'])})"


def found_board(found: pd.DataFrame) -> Board:
    """Return the board of the frame ``found``, which is over all SNRs and data seeds."""
    sets = listed(dict.fromkeys(map(_data_sets, found["data_sets"])))
    note = f"Share of the runs that end at exactly the true structure, under BIC; for each system {sets}. "
    note += "Below it the smallest and largest share on one realisation of the data. Bold: the largest share."
    return _board(found, note)


def _data_sets(number: int) -> str:
    return f"{number} data set{'s' * (number != 1)}"


def where_j_misleads(misled: pd.DataFrame) -> str:
    """Return on which systems the lowest J is often not the true structure's, from `causes.misleading`."""
    right = list(misled.loc[misled["misled"] == 0, "system"])
    wrong = [
        f"{row['misled']} of {_data_sets(row['data_sets'])} of {row['system']}"
        for row in misled[misled["misled"] > 0].to_dict("records")
    ]
    if not wrong:
        return f"On {listed(right)} no run has a J below that of the true structure: what is missed, the search missed."
    never = f" On {listed(right)} that never happens: what is missed there, the search missed." if right else ""
    return (
        f"On {listed(wrong)} the lowest J of all runs is below that of the true structure: J misleads there, "
        f"and a search that ends at the lowest J misses the structure.{never}"
    )


def on_the_papers_systems(scored: pd.DataFrame, kept: Mapping[str, str], method: str, systems: Sequence[str]) -> str:
    """Return how often a method of the comparison ends at the true structure of the paper's systems, and 2D-UPSO."""
    scenario = scored["scenario"].iloc[0]
    number = len(json.loads(kept["settings/data.seeds"])) * len(json.loads(kept["settings/snr_db"]))
    own = scored[(scored["scenario"] == scenario) & scored["system"].isin(systems)]
    exact = own.set_index(["method", "system"])["exact"].map(share)
    methods = []
    for name in dict.fromkeys((method, UPSO)):
        groups: dict[str, list[str]] = {}
        for system in systems:
            groups.setdefault(exact[name, system], []).append(system)
        found = (f"{text} on {listed(of)}" for text, of in groups.items())
        methods.append(f"{method_name(name)} {', '.join(found)}")
    about = kept[f"settings/scenarios.{scenario}.description"]
    return f"On the paper’s systems, {_data_sets(number)} each ({about}): {'; '.join(methods)}."


def own_board(recovery: pd.DataFrame, criterion: str, name: str) -> Board:
    """Return the board of the study's own runs under one criterion, all SNRs together, from the frame ``recovery``."""
    rows = recovery[recovery["criterion"] == criterion]
    counts = rows.groupby(["method", "system"], sort=False)[["exact", "runs"]].sum().reset_index()
    counts = counts.assign(label=counts["method"].map(method_name), rate=counts["exact"] / counts["runs"])
    return _board(
        counts, f"Share of the runs under {name}, on the data set of this page for each SNR. Bold: the largest share."
    )


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
    papers = (found["algorithm"] == GA) & (found["interpretation"] == own["interpretation"].iloc[0])
    others = found[~papers & (found["algorithm"] != UPSO)]
    means = others.groupby("label", sort=False)["rate"].mean().sort_values(ascending=False, kind="stable")
    rivals = [others[others["label"] == label].set_index("system") for label in means.index]
    said = [f"It finds the true structure {_compared(own, found[papers], 'the paper’s GA')}."]
    for label, rival in zip(means.index[:2], rivals, strict=False):
        said.append(f"{label[0].upper()}{label[1:]} finds it {_compared(rival, own.reset_index(), '2D-UPSO')}.")
    if never := list(own.index[own["exact"] == 0]):
        said.append(f"2D-UPSO never found that of {listed(never)}.")
    beaten = [own["low"] <= rival["high"].reindex(own.index) for rival in rivals]
    best = [system for system in own.index if not any(of[system] for of in beaten)]
    return Answer("Yes." if len(best) == len(own) else f"On {listed(best)} alone." if best else "Hardly.", said)


def _compared(own: pd.DataFrame, other: pd.DataFrame, name: str) -> str:
    """Return on which systems a search finds more, fewer and about as many true structures than a named one."""
    groups: dict[str, list[str]] = {"more often": [], "less often": [], "neither clearly more nor less often": []}
    more, less, alike = groups.values()
    for row in other.to_dict("records"):
        if row["system"] in own.index:
            mine = own.loc[row["system"]]
            (more if mine["low"] > row["high"] else less if row["low"] > mine["high"] else alike).append(row["system"])
    said = [f"{word} on {listed(systems)}" for word, systems in groups.items() if systems]
    return ", ".join([said[0].replace(" on ", f" than {name} on ", 1), *said[1:]])


def why(causes: pd.DataFrame, effects: pd.DataFrame, choices: DesignChoices) -> list[str]:
    """Return what brings the numbers nearer on which systems, from `causes.causes` and ``effects_overview``."""
    same: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for (algorithm, system), of in causes.groupby(["algorithm", "system"], sort=False):
        options = tuple(of[["design_choice", "option"]].itertuples(index=False, name=None))
        same.setdefault((algorithm, options), []).append(system)
    sentences = []
    for (algorithm, options), systems in same.items():
        own = causes[(causes["algorithm"] == algorithm) & causes["system"].isin(systems)]
        parts, moves = [], []
        for name, option in options:
            of = own[(own["design_choice"] == name) & (own["option"] == option)]
            part, choice = of["part"].iloc[0], name.replace("-", " ")
            # Whether it slows the search is seen from the final J.
            search = "a slower search" if (of["worse"] > 0.5).all() else "the search"
            about = {GA: f"its {choice}", "data": f"the {choice} of the data", "fitness": choice}
            parts.append(about.get(part, search))
            words = choices.design_choices[name].options[option].words or f"{name} {option}".replace("-", " ")
            against = ", against the sources" if of["contradicts"].iloc[0] else ""
            moves.append(f"{words} ({count(of['without'].sum())} to {count(of['with'].sum())}{against})")
        seeds = _data_sets(int(own["seeds"].min()))
        on = f"{method_name(algorithm)} on {listed(systems)}: {listed(dict.fromkeys(parts))}"
        sentences.append(
            f"{on}. The deviance falls most with {listed(moves)}; medians of {seeds} of each system and SNR."
        )
    clear = effects[(effects["algorithm"] == UPSO) & (effects["interval_high"] < 0)]
    others = clear.merge(causes, on=["algorithm", "design_choice", "option"], how="left", indicator=True)
    number = len(others[others["_merge"] == "left_only"].drop_duplicates(["design_choice", "option"]))
    caution = "All this was seen with the tables in hand: it fits them, and proves no cause."
    return [*sentences, f"{caution} {number} other options bring 2D-UPSO clearly nearer too, each alone."]


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
        shares: dict[str, Share] = {}
        for row in own.to_dict("records"):
            low, high = (share(row[key]) for key in ("low", "high")) if "low" in row else ("", "")
            between = low if low == high else f"{low.removesuffix(' %')}–{high}"
            is_best = 0 < row["rate"] == best[row["system"]]
            shares[row["system"]] = Share(share(row["rate"]), between, round(10 * row["rate"]), is_best)
        rows.append((str(label), [shares.get(name) for name in systems]))
    return Board(systems, rows, note)
