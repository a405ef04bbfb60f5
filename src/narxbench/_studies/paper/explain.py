"""The facts behind a value of a study of the paper: published and reproduced values, data sets, run files, command.

They come from the results of a finished study in the working folder. Run files are read, and their seals compared with
those that the summary of the condition keeps.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._io.csv import TEXT, read_table
from narxbench._io.errors import NarxbenchError, did_you_mean, show
from narxbench._io.files import read_bytes, read_json, sha256
from narxbench._io.words import some
from narxbench._model.dataset import snr_label
from narxbench._report.formats import criterion_name, method_name, p_value, percent, rounded, signed, snr
from narxbench._studies.paper.frames import read_frame, rows_at
from narxbench._studies.paper.kept_files import FILES
from narxbench._studies.paper.metrics import NU, NU_MAX, R
from narxbench._studies.paper.origin import condition_path, data_paths
from narxbench._studies.paper.printed import FITNESS_TABLES, NUMERALS
from narxbench._studies.paper.published import RUNS, published_count
from narxbench._study.design_choices import interpretation_words, load_design_choices, parse_interpretation
from narxbench._study.run_record import read_run_record
from narxbench._study.runs import read_sealed, seals_of_runs

_LABEL = re.compile(r"T[1-9][0-9]*")
# The numerals of the paper's tables by their names in the published values.
_TABLES = {f"fitness_{system}": NUMERALS[name] for name, system in FITNESS_TABLES.items()}
_TABLES["comparison_S4"] = NUMERALS["table_7"]


@dataclass(frozen=True)
class _Value:
    """A reproduced value of a condition: ``count`` of ``size``, with its interval, and the terms that it is about."""

    metric: str
    label: str
    words: str
    number: float
    low: float
    high: float
    count: int
    size: str
    terms: tuple[str, ...]


def explain(study: str, value_name: str, words: Mapping[str, str], folder: Path | None = None) -> str:
    """Return the facts behind a value as lines of text. ``folder`` is the working folder by default.

    ``words`` are the user's for system, method, criterion and SNR. An unknown word raises NarxbenchError with
    the allowed ones.
    """
    folder = folder or Path()
    frames = _read_frames(study, folder)
    condition = _condition(words, frames["metrics"])
    value = _value(value_name, condition, frames["selection"])
    place = condition_path(condition)
    summary = read_json(folder / f"data/{study}/conditions/{place}.json")
    value = replace(value, terms=value.terms or _spurious_terms(summary))
    shown_condition = ", ".join(
        [
            condition["system"],
            snr(condition["snr_db"]),
            method_name(condition["method"]),
            criterion_name(condition["criterion"]),
        ]
    )
    sections = [
        [f"{shown_condition}: {value.words}", f"study {study}, interpretation {condition['interpretation']}"],
        _values_in_words(value, condition, frames, _confidence(study, folder)),
        _data_in_words(study, summary, folder),
        _runs_in_words(study, place, value, summary, folder),
        _commands(study, place, folder),
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


# What the user asks for.


def _read_frames(study: str, folder: Path) -> dict[str, pd.DataFrame]:
    """Return the frames of a study, or say which studies there are."""
    path = folder / f"data/{study}/frames/agreement_values.csv"
    if not path.is_file():
        studies = sorted(file.parts[-3] for file in folder.glob("data/*/frames/agreement_values.csv"))
        there = f"allowed: {', '.join(studies)}{did_you_mean(study, studies)}, or make it"
        if not studies:
            there = "make it in the project's folder"
        raise NarxbenchError(
            f"--study: found no results of {show(study, kind=False)} here; {there}: snakemake --cores 2"
        )
    files = {name: folder / f"data/{study}/frames/{name}.csv" for name in ("metrics", "selection", "agreement_values")}
    # The kept medians, which a checkout may lack.
    kept = folder / "data/reference" / FILES["kept_values"]
    if kept.is_file():
        files["values"] = kept
    return {name: read_frame(name, file) for name, file in files.items()}


def _condition(words: Mapping[str, str], metrics: pd.DataFrame) -> dict[str, Any]:
    """Return the row of the condition that the user means, after a check of each word in turn."""
    rows = metrics.assign(snr=metrics["snr_db"].map(snr_label))
    for column, option in {
        "system": "SYSTEM",
        "method": "--method",
        "criterion": "--criterion",
        "snr": "--snr",
    }.items():
        word = re.sub(r" *dB$", "", words[column], flags=re.IGNORECASE) if column == "snr" else words[column]
        rows = rows[_selected(option, word, rows[column])]
    row: dict[str, Any] = rows.iloc[0].to_dict()
    return row


def _selected(option: str, word: str, column: pd.Series) -> pd.Series:
    """Return which rows have a word in a column. If there is none, say which words there are."""
    is_selected = column == word
    if not is_selected.any():
        allowed = list(dict.fromkeys(column))
        text = f"found {show(word, kind=False)}; allowed: {', '.join(allowed)}{did_you_mean(word, allowed)}"
        raise NarxbenchError(f"{option}: {text}")
    return is_selected


def _value(word: str, condition: Mapping[str, Any], selection: pd.DataFrame) -> _Value:
    """Return the value that a word names: r, nu_max, or the selection frequency of a term."""
    if word == R.name:
        limits = condition["r"], condition["r_low"], condition["r_high"]
        spurious, size = round(condition["r"] * condition["n_terms"]), f"{condition['n_terms']} candidate terms"
        return _Value(R.name, "", f"r, the {R.description}", *limits, spurious, size, ())
    if word in (NU_MAX.name, NU_MAX.heading):
        limits = condition["nu_max"], condition["nu_max_low"], condition["nu_max_high"]
        count = round(condition["nu_max"] * condition["runs"])
        terms = tuple(filter(None, [condition["worst_spurious_term"]]))
        words = f"{NU_MAX.heading}, the {NU_MAX.description}"
        return _Value(NU_MAX.name, "", words, *limits, count, f"{condition['runs']} runs", terms)
    place = {column: condition[column] for column in ("system", "snr_db", "method", "criterion")}
    return _frequency(word, rows_at(selection, place))


def _frequency(word: str, terms: pd.DataFrame) -> _Value:
    """Return the selection frequency of the term that a label or a name means."""
    column = "label" if _LABEL.fullmatch(word) else "term"
    rows = terms[terms[column] == word]
    if rows.empty:
        labels = [label for label in terms["label"] if label]
        allowed = [R.name, NU_MAX.name, *labels]
        text = f"{', '.join(allowed)}, or a candidate term{did_you_mean(word, [*allowed, *terms['term']])}"
        raise NarxbenchError(f"VALUE: found {show(word, kind=False)}; allowed: {text}")
    row = rows.iloc[0]
    name = f"{row['label']} = {row['term']}" if row["label"] else f"{row['term']}, a spurious term"
    numbers = row["frequency"], row["low"], row["high"], int(row["count"])
    words = f"ν of {name}, the {NU.description}"
    return _Value(NU.name, row["label"], words, *numbers, f"{row['runs']} runs", (row["term"],))


def _spurious_terms(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the spurious terms that any run of a condition chose."""
    chosen: set[str] = set()
    for structure in summary["structures"]:
        chosen.update(summary["candidates"][place] for place in structure)
    return tuple(term for term in summary["candidates"] if term in chosen and term not in summary["system_terms"])


# What is printed.


def _values_in_words(
    value: _Value, condition: Mapping[str, Any], frames: Mapping[str, pd.DataFrame], confidence: str
) -> list[str]:
    """Return the lines on the published value and the reproduced ones."""
    about = ""
    if value.metric != NU.name and value.terms:
        about = f": {_some_terms(value.terms)}"
    lines = [
        f"this run: {rounded(value.number)} ({value.count} of {value.size}{about}), "
        f"{confidence}interval {rounded(value.low)} to {rounded(value.high)}"
    ]
    place = {name: condition[name] for name in ("system", "algorithm", "criterion", "snr_db")}
    place |= {"metric": value.metric, "label": value.label}
    agreement = rows_at(frames["agreement_values"], place)
    agreement = agreement[agreement["method"] == condition["method"]]
    if agreement.empty or (value.metric == NU.name and not value.label):
        return ["published: the paper prints no such value", *lines]
    compared = agreement.iloc[0]
    lines = [_published_in_words(compared, list(agreement["table"]), value), *lines]
    verdict = "clearly different" if compared["different"] else "not clearly different"
    test = "Fisher's exact test, Holm's correction over all values of the study"
    lines.append(f"difference: {signed(compared['difference'])}, {verdict} (p {p_value(compared['p_value'])}; {test})")
    if "values" in frames:
        lines.extend(_interpretations_in_words(rows_at(frames["values"], place)))
    return lines


def _published_in_words(compared: pd.Series, tables: Sequence[str], value: _Value) -> str:
    """Return the line on the published value."""
    numerals = " and ".join(_TABLES[table] for table in tables)
    line = f"published: {rounded(compared['published'])} (table {numerals}"
    if value.metric != R.name:
        line += f"; {published_count(compared['published'])} of {RUNS} runs"
    return f"{line})"


def _interpretations_in_words(values: pd.DataFrame) -> Iterator[str]:
    """Yield a line on the value under each interpretation with a name."""
    choices = load_design_choices()
    for row in values.itertuples(index=False):
        words = interpretation_words(choices, parse_interpretation(choices, row.interpretation))
        between = f"{rounded(row.reproduced_low)} to {rounded(row.reproduced_high)}"
        line = f"kept, {row.role}: {rounded(row.reproduced)}, median over {row.data_sets} data sets ({between})"
        if row.different:
            line += ", clearly different on each"
        if words:
            line += f", with {words}"
        yield line


def _confidence(study: str, folder: Path) -> str:
    """Return the coverage of the intervals as the manifest of a study has it, or "" before the study is finished."""
    path = folder / f"reports/{study}/manifest.csv"
    if not path.is_file():
        return ""
    rows = read_table(path, {"name": TEXT, "value": TEXT})
    confidence = rows.loc[rows["name"] == "settings/statistics.confidence", "value"]
    return f"{percent(float(confidence.iloc[0]))} " if len(confidence) else ""


def _data_in_words(study: str, summary: Mapping[str, Any], folder: Path) -> list[str]:
    """Return the lines on the data sets with their digests."""
    paths = data_paths(summary, study)
    lines = ["data sets, with the SHA-256 digest of each:"]
    digests = []
    for path in paths:
        digests.append(sha256(read_bytes(folder / path)))
        lines.append(f"  {path}  {digests[-1]}")
    digest = digests[0] if len(digests) == 1 else sha256("\n".join(digests))
    if digest != summary["data_sha256"]:
        raise NarxbenchError(f"{paths[0]}: changed since its runs were summed up; delete it and run again")
    return lines


def _runs_in_words(study: str, place: str, value: _Value, summary: Mapping[str, Any], folder: Path) -> list[str]:
    """Return the lines on the run files, each with its seal and what its runs have of the terms."""
    runs_folder = f"data/{study}/runs/{place}"
    paths = sorted((folder / runs_folder).glob("seed*.json"), key=_first_seed)
    lines = [f"run files in {runs_folder}, with the seal of each:"]
    seals: dict[str, str] = {}
    for path in paths:
        record = read_sealed(path)
        of_file = seals_of_runs(record)
        seals |= {name: seal for name, seal in of_file.items() if name in summary["seals"]}
        if not of_file.keys() & summary["seals"].keys():
            continue  # runs of seeds that the study no longer has
        lines.append(f"  {path.name}  {record['seal']}  {_terms_in_words(record['runs'], value)}")
    if seals != summary["seals"]:
        problem = "its run files are not those that were summed up"
        raise NarxbenchError(f"{runs_folder}: {problem}; run again: {_snakemake(study, place, folder)}")
    return lines


def _first_seed(path: Path) -> int:
    """Return the first seed in the name of a run file."""
    return int(path.stem.split("-")[1])


def _terms_in_words(runs: Iterable[Mapping[str, Any]], value: _Value) -> str:
    """Return which of the terms behind a value the runs of a file chose."""
    texts = []
    for run in runs:
        chosen = [term for term in value.terms if term in run["terms"]]
        texts.append(f"chose {_some_terms(chosen)}" if chosen else "without")
    return "; ".join(texts)


def _some_terms(terms: Sequence[str]) -> str:
    """Return the first of some terms, and the number of the others."""
    return some(["constant" if term == "1" else term for term in terms], "terms")


def _commands(study: str, place: str, folder: Path) -> list[str]:
    """Return the lines on the command that makes the value."""
    return ["made by:", f"  {_snakemake(study, place, folder)}"]


def _snakemake(study: str, place: str, folder: Path) -> str:
    """Return the command that makes the summary of a condition."""
    settings = ""
    record = folder / f"reports/{study}/run.json"
    if record.is_file():
        settings = read_run_record(record).settings
    target = f"-- {shlex.quote(f'data/{study}/conditions/{place}.json')}"
    return " ".join(filter(None, ["snakemake --cores 2", settings, target]))
