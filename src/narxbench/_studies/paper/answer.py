"""The answers on the first screen: their words, numbers and conclusions follow from the frames on interpretations."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from narxbench._model.noise import NOISES
from narxbench._report.formats import count, listed, method_name, p_value, share
from narxbench._studies.paper.claims import GA, UPSO, VERDICTS
from narxbench._studies.paper.frames import UNDECIDED
from narxbench._studies.paper.interpretations.nearness import FAR, JOINT, near_tables
from narxbench._study.design_choices import DesignChoices

# From these shares of the tables on, numbers count as mostly or in part reproduced.
_MOSTLY, _IN_PART = 0.75, 0.25
_LOWER_J = "upso-reaches-better-j"  # the claim that 2D-UPSO reaches a lower J than the GA
# An interpretation that was chosen after seeing the tables is no finding as the others are.
_CHOSEN_LATER = "The closest interpretation, chosen after seeing the tables"
_INPUTS = {
    "uniform": "white, uniform between {low} and {high}",
    "gaussian": "white, Gaussian with standard deviation {sd}",
    "autoregressive": "coloured, Gaussian with standard deviation {sd} and pole {pole}",
    "recorded": "recorded, from {file}",
}


class ShortAnswer(NamedTuple):
    """An answer in a word or two, and the sentences that support it."""

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


# Does the paper hold?


def claims_hold(verdicts: pd.DataFrame) -> ShortAnswer:
    """Return whether the paper's claims hold, from the frame ``role_verdicts``.

    The answer is that of the first role, as described; the last role, the closest, shows what it depends on.
    """
    first_role, *_, last_role = dict.fromkeys(verdicts["role"])
    described, closest = verdicts[verdicts["role"] == first_role], verdicts[verdicts["role"] == last_role]
    where = _where_they_fail(described[described["verdict"] == VERDICTS[False]])
    word = f"Of its {len(described)} claims {_in_words(described['verdict'].value_counts())}"
    sentences = [
        f"{first_role.capitalize()}, a verdict is that on more than half of {_seeds_in_words(described)} data sets of "
        "each system and SNR.",
        f"{_CHOSEN_LATER}: {_in_words(closest['verdict'].value_counts())}.",
    ]
    return ShortAnswer(f"{word}{where}.", sentences)


def _where_they_fail(failing: pd.DataFrame) -> str:
    """Return on which systems the failing claims miss clearly on most data sets, most claims first."""
    if failing.empty:
        return ""
    systems = Counter(chain.from_iterable(names.split(", ") for names in failing["missed"] if names))
    if len(systems) == 1 and systems.total() == len(failing):
        return f", {'each of these ' * (len(failing) > 1)}on {next(iter(systems))} alone"
    places = [f"{number} on {system}" for system, number in systems.most_common()]
    return f" ({listed(places)})" if places else ""


def _seeds_in_words(described: pd.DataFrame) -> str:
    """Return the smallest and the largest number of data sets on which claims were judged."""
    seeds = described.loc[described["judged"] > 0, "judged"]
    return " to ".join(dict.fromkeys(map(str, (seeds.min(), seeds.max()))))


def _in_words(counts: Mapping[str, int]) -> str:
    """Return how many claims have each verdict."""
    words = {
        VERDICTS[True]: ("holds", "hold"),
        UNDECIDED: ("is undecided", "are undecided"),
        VERDICTS[None]: ("cannot be judged", "cannot be judged"),
        VERDICTS[False]: ("fails", "fail"),
    }
    texts = []
    for verdict, (singular, plural) in words.items():
        number = int(counts.get(verdict, 0))
        if number:
            texts.append(f"{number} {singular if number == 1 else plural}")
    return listed(texts)


# Are the numbers reproduced?


def _widest(nearness: pd.DataFrame) -> pd.DataFrame:
    """Return for each role and algorithm the row with most values: a role may also have a row under fewer criteria."""
    return nearness.loc[nearness.groupby(["role", "algorithm"], sort=False)["values"].idxmax()]


def values_near(nearness: pd.DataFrame, by_table: pd.DataFrame) -> ShortAnswer:
    """Return how near the published values are, from the frames on interpretations: in the first role, and the last.

    What counts are the tables that are near, and the systems on which the paper lies farthest out.
    """
    joint = _widest(nearness[nearness["algorithm"] == JOINT])
    first_role, *_, last_role = joint["role"]
    of_both = joint.iloc[0]
    tables = by_table[by_table["role"] == first_role]
    sentences = [
        f"As described, {_tables_in_words(tables)} lie within {FAR} times the deviance "
        "between two data sets of ours; "
        f"{_farthest_in_words(of_both)}.",
        f"{count(of_both['different'])} of {count(of_both['values'])} values differ clearly.",
        f"{_CHOSEN_LATER}: {_tables_in_words(by_table[by_table['role'] == last_role])}; "
        f"{_farthest_in_words(joint.iloc[-1])}.",
    ]
    return ShortAnswer(_word_for_tables(near_tables(tables).mean()), sentences)


def _tables_in_words(tables: pd.DataFrame) -> str:
    """Return how many tables are near."""
    return f"{count(near_tables(tables).sum())} of {count(len(tables))} tables"


def _farthest_in_words(row: pd.Series) -> str:
    """Return on which systems the paper lies farthest out, and the p value with the least possible."""
    where = f"0 of {count(row['systems'])} systems"
    if row["farthest"]:
        systems = row["farthest"].split(", ")
        where = f"{len(systems)} of {count(row['systems'])} systems ({listed(systems)})"
    tested = f"p {p_value(row['p_value'])}, where the least possible is 1 in {count(row['orders'])}"
    return f"the paper’s tables lie farther out than all of these on {where}; {tested}"


def _word_for_tables(share_near: float) -> str:
    """Return the answer in a word for a share of the tables that is near."""
    if share_near == 1:
        return "Yes."
    if share_near >= _MOSTLY:
        return "Mostly."
    return "In part." if share_near >= _IN_PART else "No."


def why(causes: pd.DataFrame, effects: pd.DataFrame, choices: DesignChoices) -> list[str]:
    """Return what brings the numbers nearer on which systems, from `causes.causes` and ``effects_overview``."""
    # The systems of an algorithm with the same options stand in one sentence.
    systems_of: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for (algorithm, system), rows in causes.groupby(["algorithm", "system"], sort=False):
        options = tuple(rows[["design_choice", "option"]].itertuples(index=False, name=None))
        systems_of.setdefault((algorithm, options), []).append(system)
    sentences = []
    for (algorithm, options), systems in systems_of.items():
        rows = causes[(causes["algorithm"] == algorithm) & causes["system"].isin(systems)]
        sentences.append(_cause_sentence(algorithm, options, systems, rows, choices))
    clear = effects[(effects["algorithm"] == UPSO) & (effects["interval_high"] < 0)]
    compared = clear.merge(causes, on=["algorithm", "design_choice", "option"], how="left", indicator=True)
    unnamed = compared[compared["_merge"] == "left_only"].drop_duplicates(["design_choice", "option"])
    caution = "All this was seen with the tables in hand: it fits them, and proves no cause."
    return [*sentences, f"{caution} {len(unnamed)} other options bring 2D-UPSO clearly nearer too, each alone."]


def _cause_sentence(
    algorithm: str,
    options: Sequence[tuple[str, str]],
    systems: Sequence[str],
    causes: pd.DataFrame,
    choices: DesignChoices,
) -> str:
    """Return which parts of an algorithm and which options bring its deviance down on some systems."""
    parts, moves = [], []
    for name, option in options:
        rows = causes[(causes["design_choice"] == name) & (causes["option"] == option)]
        parts.append(_part_in_words(name, rows))
        words = choices.design_choices[name].options[option].words or f"{name} {option}".replace("-", " ")
        against = ", against the sources" if rows["contradicts"].iloc[0] else ""
        moves.append(f"{words} ({count(rows['without'].sum())} to {count(rows['with'].sum())}{against})")
    seeds = _data_sets(int(causes["seeds"].min()))
    return (
        f"{method_name(algorithm)} on {listed(systems)}: {listed(dict.fromkeys(parts))}. The deviance falls most with "
        f"{listed(moves)}; medians of {seeds} of each system and SNR."
    )


def _part_in_words(design_choice: str, rows: pd.DataFrame) -> str:
    """Return the part of a study or of an algorithm that a design choice belongs to."""
    part, words = rows["part"].iloc[0], design_choice.replace("-", " ")
    if part == GA:
        return f"its {words}"
    if part == "data":
        return f"the {words} of the data"
    if part == "fitness":
        return words
    if (rows["worse"] > 0.5).all():
        return "a slower search"  # as the final J shows
    return "the search"


# Which method finds the true structure?


def board_of_searches(searches: pd.DataFrame) -> Board:
    """Return the board of the frame ``found``, which is over all SNRs and data seeds."""
    sets = listed(dict.fromkeys(map(_data_sets, searches["data_sets"])))
    note = f"Share of the runs that end at exactly the true structure, under BIC; for each system {sets}. "
    note += "Below it the smallest and largest share on one of these. Bold: the largest share."
    return _board(searches, note)


def board_of_study(recovery: pd.DataFrame, criterion: str, name: str) -> Board:
    """Return the board of the study's own runs under one criterion, all SNRs together, from the frame ``recovery``."""
    rows = recovery[recovery["criterion"] == criterion]
    counts = rows.groupby(["method", "system"], sort=False)[["exact", "runs"]].sum().reset_index()
    counts = counts.assign(label=counts["method"].map(method_name), rate=counts["exact"] / counts["runs"])
    return _board(
        counts, f"Share of the runs under {name}, on the data set of this page for each SNR. Bold: the largest share."
    )


def _board(rates: pd.DataFrame, note: str) -> Board:
    """Return the board of a frame with a row for each label and system."""
    systems = list(dict.fromkeys(rates["system"]))
    best = rates.groupby("system")["rate"].max()
    rows = []
    for label, of_label in rates.groupby("label", sort=False):
        shares: dict[str, Share] = {}
        for row in of_label.to_dict("records"):
            is_best = 0 < row["rate"] == best[row["system"]]
            shares[row["system"]] = Share(share(row["rate"]), _between(row), round(10 * row["rate"]), is_best)
        rows.append((str(label), list(map(shares.get, systems))))
    return Board(systems, rows, note)


def _between(row: Mapping[str, Any]) -> str:
    """Return the range of a share as readers see it; "" for a share without one."""
    if "low" not in row:
        return ""
    low, high = share(row["low"]), share(row["high"])
    return low if low == high else f"{low.removesuffix(' %')}–{high}"


def best_of(board: Board) -> ShortAnswer:
    """Return which method of a board ends most often at the true structure of each system."""
    systems_of: dict[str, list[str]] = {}
    for place, system in enumerate(board.systems):
        labels, text = [], ""
        for label, shares in board.rows:
            here = shares[place]
            if here and here.best:
                labels.append(label)
                text = f" ({here.text})"
        systems_of.setdefault(listed(labels) if labels else "None", []).append(f"{system}{text}")
    word = f"{next(iter(systems_of))}." if len(systems_of) == 1 else "It depends on the system."
    sentences = []
    for names, systems in systems_of.items():
        frequency = "Never" if names == "None" else f"{names} most often"
        sentences.append(f"{frequency} on {listed(systems)}.")
    return ShortAnswer(word, sentences)


def where_j_misleads(misled: pd.DataFrame) -> str:
    """Return on which systems the lowest J is often not the true structure's, from `causes.misleading`."""
    right = list(misled.loc[misled["misled"] == 0, "system"])
    wrong = []
    for row in misled[misled["misled"] > 0].to_dict("records"):
        wrong.append(f"{row['misled']} of {_data_sets(row['data_sets'])} of {row['system']}")
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
    rows = scored[(scored["scenario"] == scenario) & scored["system"].isin(systems)]
    exact = rows.set_index(["method", "system"])["exact"].map(share)
    methods = []
    for name in dict.fromkeys((method, UPSO)):
        systems_of: dict[str, list[str]] = {}
        for system in systems:
            systems_of.setdefault(exact[name, system], []).append(system)
        shares = ", ".join(f"{text} on {listed(names)}" for text, names in systems_of.items())
        methods.append(f"{method_name(name)} {shares}")
    about = kept[f"settings/scenarios.{scenario}.description"]
    return f"On other data of these systems, {_data_sets(number)} each ({about}): {'; '.join(methods)}."


# Is 2D-UPSO worth using?


def use_of_the_swarm(searches: pd.DataFrame, verdicts: pd.DataFrame) -> ShortAnswer:
    """Return whether 2D-UPSO finds the true structures more often than other searches, and than the paper's GA.

    One search finds a structure clearly more often than another where even its worst data set beats the other's best.
    The frames are ``found`` and ``role_verdicts``.
    """
    swarm = searches[searches["algorithm"] == UPSO].drop_duplicates("system").set_index("system")
    is_papers_ga = (searches["algorithm"] == GA) & (searches["interpretation"] == swarm["interpretation"].iloc[0])
    of_rivals = searches[~is_papers_ga & (searches["algorithm"] != UPSO)]
    means = of_rivals.groupby("label", sort=False)["rate"].mean().sort_values(ascending=False, kind="stable")
    by_system = of_rivals.set_index("system")
    rivals = [by_system[by_system["label"] == label] for label in means.index]
    sentences = [f"It finds the true structure {_compared(swarm, searches[is_papers_ga], 'the paper’s GA')}."]
    for label, rival in zip(means.index[:1], rivals, strict=False):
        sentences.append(f"{label[0].upper()}{label[1:]} finds it {_compared(rival, swarm.reset_index(), '2D-UPSO')}.")
    sentences += _runs_at_the_truth(searches)
    sentences += _against_the_ga(verdicts)
    never = list(swarm.index[swarm["exact"] == 0])
    if never:
        sentences.append(f"2D-UPSO never finds it on {listed(never)}.")
    unbeaten = pd.Series(True, swarm.index)
    for rival in rivals:
        unbeaten &= ~(swarm["low"] <= rival["high"].reindex(swarm.index))
    best = list(swarm.index[unbeaten])
    word = "Hardly."
    if len(best) == len(swarm):
        word = "Yes."
    elif best:
        word = f"On {listed(best)} alone."
    return ShortAnswer(word, sentences)


def _runs_at_the_truth(searches: pd.DataFrame) -> list[str]:
    """Return the share of all runs of 2D-UPSO and of each GA that end at the true structure, if there are several."""
    rows = searches[searches["algorithm"].isin([UPSO, GA])]
    shares = []
    for label, counts in rows.groupby("label", sort=False)[["exact", "runs"]].sum().iterrows():
        shares.append(f"{label}: {share(counts['exact'] / counts['runs'])}")
    return [f"Runs that find it: {'; '.join(shares)}."] if len(shares) > 2 else []


def _against_the_ga(verdicts: pd.DataFrame) -> list[str]:
    """Return at how many places 2D-UPSO reaches a lower J than the GA under the last role, the closest."""
    rows = verdicts[(verdicts["claim"] == _LOWER_J) & (verdicts["judged"] > 0)]
    if rows.empty or rows["role"].iloc[-1] == verdicts["role"].iloc[0]:
        return []
    row = rows.iloc[-1]
    return [
        f"By the {row['role']} interpretation its median J is below the GA’s at {count(row['held'])} of "
        f"{count(row['places'])} places."
    ]


def _compared(search: pd.DataFrame, rival: pd.DataFrame, name: str) -> str:
    """Return on which systems a search finds more, fewer and about as many true structures than a named rival."""
    more_often: list[str] = []
    less_often: list[str] = []
    alike: list[str] = []
    for row in rival.to_dict("records"):
        system = row["system"]
        if system not in search.index:
            continue
        here = search.loc[system]
        if here["low"] > row["high"]:
            more_often.append(system)
        elif row["low"] > here["high"]:
            less_often.append(system)
        else:
            alike.append(system)
    words = {"more often": more_often, "less often": less_often, "neither clearly more nor less often": alike}
    texts = []
    for frequency, systems in words.items():
        if systems:
            texts.append(f"{frequency} on {listed(systems)}")
    return ", ".join([texts[0].replace(" on ", f" than {name} on ", 1), *texts[1:]])


# What must I know?


def data_shown(settings: Mapping[str, Any], systems: Iterable[Any]) -> str:
    """Return a description of the data of a study's own runs."""
    data = settings["data"]
    values = {key: _as_readers_write(value) for key, value in data["excitation"].items()}
    excitation = _INPUTS[data["excitation"]["kind"]].format_map(values)
    exceptions = [system.name for system in systems if system.excitation is not None]
    if exceptions:
        excitation += f" (not for {listed(exceptions)}, with inputs of their own)"
    seeds = data["seeds"]
    plural = "s" * (len(seeds) > 1)
    return f"input {excitation}; noise {NOISES[data['noise']].words}; data seed{plural} {listed(map(str, seeds))}"


def _as_readers_write(value: Any) -> Any:
    """Return a number as readers write it: -1.0 is −1."""
    return f"{value:g}".replace("-", "−") if isinstance(value, float) else value


def _data_sets(number: int) -> str:
    """Return a number of data sets in words."""
    return f"{number} data set{'s' * (number != 1)}"
