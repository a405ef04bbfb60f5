"""``narxbench explain`` prints the facts behind a value of a small study that is forged here, or refuses."""

import json
import re
from hashlib import sha256
from importlib.metadata import entry_points

import pytest
from tests.unit.studies.paper.runs import Run
from tests.unit.studies.paper.summaries import REFERENCE, make_summary
from tests.unit.studies.steps import digest, read

RUNS = "data/paper/runs/baseline/data-1/S2/30dB/upso2d/bic"
DATA = "data/paper/problems/baseline/data-1/S2/30dB.csv"
TERM = "u(k-3)*u(k-5)"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return the folder of a study of one condition: all of its 4 runs choose the system terms, two of them another."""
    root = tmp_path_factory.mktemp("study")

    def write(path, text):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")

    write(DATA, "u,y\n0.5,1.0\n")
    content = make_summary("S2", 30.0, runs=4) | {"data_sha256": sha256(b"u,y\n0.5,1.0\n").hexdigest()}
    candidates, system_terms = content["candidates"], content["system_terms"]
    content["seals"], structures = {}, []
    for seed, further in enumerate(([TERM], [TERM], [], []), start=1):
        terms = [*system_terms, *further]
        structures.append(sorted(map(candidates.index, terms)))
        record = {"condition": {"method": "upso2d", "criterion": "bic"}, "runs": [{"seed": seed, "terms": terms}]}
        content["seals"] |= {f"upso2d/bic/{seed}": digest(record["runs"][0])}
        write(f"{RUNS}/seed-{seed}.json", json.dumps({**record, "seal": digest(record)}))
    content["structures"] = structures
    write("data/paper/conditions/baseline/data-1/S2/30dB/upso2d/bic.json", json.dumps(content))
    for name, path in Run(tmp_path_factory.mktemp("frames"), [content]).frames.items():
        write(f"data/paper/frames/{name}.csv", read(path))
    kept = "paper/interpretations/values.csv"
    write(f"data/reference/{kept}", read(REFERENCE / kept))
    write("reports/paper/manifest.csv", "name,value\nsettings/statistics.confidence,0.95\n")
    return root


@pytest.fixture
def explain(study, monkeypatch, capsys):
    """Return what prints the facts, given words, and returns the exit code and the lines of either stream."""
    monkeypatch.chdir(study)
    (command,) = entry_points(group="console_scripts", name="narxbench")
    main = command.load()

    def run(*words):
        code = main(["explain", *words])
        printed = capsys.readouterr()
        return code, (printed.out or printed.err).splitlines()

    return run


def test_all_facts_of_a_value_are_printed(explain, study):
    code, lines = explain("S2", "--criterion", "bic", "--snr", "30", "nu_max")
    assert code == 0
    assert lines[:2] == [
        "S2, 30 dB, 2D-UPSO, BIC: ν_max, the largest selection frequency of a spurious term",
        "study paper, interpretation baseline",
    ]
    assert "published: 0.50 (table IV; 20 of 40 runs)" in lines
    assert f"this run: 0.50 (2 of 4 runs: {TERM}), 95 % interval 0.15 to 0.85" in lines
    kept = [line for line in lines if line.startswith("kept, ")]
    for line, role in zip(kept, ("as described", "with reset", "closest"), strict=True):
        assert re.match(rf"kept, {role}: 0\.\d\d, median over 10 data sets \(0\.\d\d to 0\.\d\d\)", line)
    assert kept[2].endswith("velocities bounded at 1.75 and a stagnation count that an improvement resets")
    assert f"  {DATA}  {sha256((study / DATA).read_bytes()).hexdigest()}" in lines
    seal = json.loads((study / RUNS / "seed-2.json").read_text())["seal"]
    assert f"  seed-2.json  {seal}  chose {TERM}" in lines
    assert lines[-1] == "  snakemake --cores 2 -- data/paper/conditions/baseline/data-1/S2/30dB/upso2d/bic.json"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("r", f"this run: 0.02 (1 of 66 candidate terms: {TERM}), 95 % interval 0.00 to 0.08"),
        ("T2", "this run: 1 (4 of 4 runs), 95 % interval 0.51 to 1"),
        (TERM, "published: the paper prints no such value"),
    ],
)
def test_values_have_names(explain, value, line):
    _, lines = explain("S2", "--snr", "30dB", value)
    assert line in lines


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        (("S3", "--snr", "30", "r"), "SYSTEM: found 'S3'; allowed: S2"),
        (("S2", "--snr", "40", "r"), "--snr: found '40'; allowed: 30"),
        (("S2", "--snr", "30", "nu_mx"), "VALUE: found 'nu_mx'; allowed: r, nu_max, T1, T2, T3, T4, T5, or a "),
        (("S2", "--snr", "30", "--study", "papr", "r"), "--study: found no results of 'papr' here; allowed: paper"),
    ],
)
def test_a_mistake_is_one_line_with_what_is_allowed(explain, words, mistake):
    code, (line,) = explain(*words)
    assert code == 2 and line.startswith(f"narxbench: {mistake}")


def test_without_a_study_the_command_that_makes_one_is_printed(explain, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    _, (line,) = explain("S2", "--snr", "30", "r")
    assert line.startswith("narxbench: --study: found no results of 'paper' here; make it in the project's folder: ")


@pytest.mark.parametrize(
    ("path", "is_lost", "reported"),
    [
        (f"{RUNS}/seed-4.json", False, f"{RUNS}/seed-4.json: changed since it was made"),
        (f"{RUNS}/seed-4.json", True, f"{RUNS}: its run files are not those that were summed up"),
        (DATA, False, f"{DATA}: changed since its runs were summed up"),
    ],
)
def test_files_that_are_not_those_of_the_summary_are_refused(explain, study, path, is_lost, reported):
    kept = (study / path).read_text()
    (study / path).write_text(kept.replace("1", "2", 1))
    if is_lost:
        (study / path).unlink()
    code, (line,) = explain("S2", "--snr", "30", "r")
    (study / path).write_text(kept)
    assert code == 2 and line.startswith(f"narxbench: {reported}")
