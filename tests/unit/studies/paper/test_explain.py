"""``narxbench explain`` prints the facts behind a value of a small study that is forged here, or refuses."""

import json

import pytest
from tests.unit.studies.paper.factory import make_frames, summary, value_rows

from narxbench.__main__ import main
from narxbench._io.csv import write_table
from narxbench._io.files import canonical_json, sha256
from narxbench._studies.paper.explain_command import EXPLAIN
from narxbench._studies.paper.frames import framed
from narxbench._study.runs import seal_of, seals_of_runs

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
    content = summary("S2", 30.0, runs=4) | {"data_sha256": sha256("u,y\n0.5,1.0\n")}
    candidates, system_terms = content["candidates"], content["system_terms"]
    content["seals"], structures = {}, []
    for seed in range(1, 5):
        terms = [*system_terms, TERM] if seed < 3 else system_terms
        structures.append(sorted(map(candidates.index, terms)))
        record = {"condition": {"method": "upso2d", "criterion": "bic"}, "runs": [{"seed": seed, "terms": terms}]}
        content["seals"] |= seals_of_runs(record)
        write(f"{RUNS}/seed-{seed}.json", canonical_json({**record, "seal": seal_of(record)}))
    content["runs"]["structures"] = structures
    write("data/paper/conditions/baseline/data-1/S2/30dB/upso2d/bic.json", json.dumps(content))
    frames = make_frames([content])
    for name in ("metrics", "selection", "agreement_values"):
        write(f"data/paper/frames/{name}.csv", write_table(frames[name]))
    write("data/reference/paper/interpretations/values.csv", write_table(framed("values", value_rows())))
    write("reports/paper/manifest.csv", "name,value\nsettings/statistics.confidence,0.95\n")
    return root


@pytest.fixture
def explain(study, monkeypatch, capsys):
    """Return what prints the facts, given words, and returns the exit code and the lines of either stream."""
    monkeypatch.chdir(study)

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
    assert "kept, as described: 0.50, median over 10 data sets (0 to 1), clearly different on each" in lines
    assert "kept, closest: 0.50, median over 10 data sets (0 to 1)" in lines
    assert f"  {DATA}  {sha256((study / DATA).read_bytes())}" in lines
    seal = json.loads((study / RUNS / "seed-2.json").read_text())["seal"]
    assert f"  seed-2.json  {seal}  chose {TERM}" in lines
    assert lines[-1] == "  snakemake --cores 2 -- data/paper/conditions/baseline/data-1/S2/30dB/upso2d/bic.json"


def test_the_examples_of_the_help_run(explain):
    lines = EXPLAIN.examples.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert explain(*line.split()[2:])[0] == 0


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("r", f"this run: 0.02 (1 of 66 candidate terms: {TERM}), 95 % interval 0.00 to 0.08"),
        ("ν_max", f"this run: 0.50 (2 of 4 runs: {TERM}), 95 % interval 0.15 to 0.85"),
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
        (("S2", "--snr", "30", "--criterion", "aic-2", "r"), "--criterion: found 'aic-2'; allowed: bic"),
        (("S2", "--snr", "30", "--method", "ga", "r"), "--method: found 'ga'; allowed: upso2d"),
        (
            ("S2", "--snr", "30", "nu_mx"),
            "VALUE: found 'nu_mx'; allowed: r, nu_max, T1, T2, T3, T4, T5, or a candidate ",
        ),
        (
            ("S2", "--snr", "30", "--study", "papr", "r"),
            "--study: found no results of 'papr' here; allowed: paper (did ",
        ),
    ],
)
def test_a_mistake_is_one_line_with_what_is_allowed(explain, words, mistake):
    code, (line,) = explain(*words)
    assert code == 2 and line.startswith(f"narxbench: {mistake}")


def test_without_a_study_the_command_that_makes_one_is_printed(explain, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    _, (line,) = explain("S2", "--snr", "30", "r")
    assert (
        line
        == "narxbench: --study: found no results of 'paper' here; make it in the project's folder: snakemake --cores 2"
    )


@pytest.mark.parametrize("change", ["edited", "replaced", "deleted"])
def test_run_files_that_are_not_those_of_the_summary_are_refused(explain, study, change):
    path = study / RUNS / "seed-4.json"
    kept = path.read_text()
    record = json.loads(kept)
    record["runs"][0]["terms"] = [TERM]
    if change == "replaced":
        record["seal"] = seal_of(record)
    path.write_text(canonical_json(record))
    if change == "deleted":
        path.unlink()
    code, (line,) = explain("S2", "--snr", "30", "r")
    path.write_text(kept)
    assert code == 2 and line.startswith(f"narxbench: {RUNS}")


def test_changed_data_are_refused(explain, study):
    kept = (study / DATA).read_text()
    (study / DATA).write_text("u,y\n")
    _, (line,) = explain("S2", "--snr", "30", "r")
    (study / DATA).write_text(kept)
    assert line == f"narxbench: {DATA}: changed since its runs were summed up; delete it and run again"
