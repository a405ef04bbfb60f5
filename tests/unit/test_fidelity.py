"""The sensitivity experiment: cells of readings as CSV, and every answer on small made-up cells."""

import csv
import io
import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cells import REFERENCE, drawn_cells, published, reading_cell
from scipy import stats
from scripts.fidelity import write_fidelity

from narxbench import fidelity, fidelity_answers, fidelity_document
from narxbench.analysis.claims import CLAIMS, CRITERIA, GA, UPSO
from narxbench.analysis.distance import distance
from narxbench.io.errors import NarxbenchError
from narxbench.analysis.multiverse_frame import ReadingCell, Study, make_study, read_cells, write_cells
from narxbench.analysis.multiverse import Answers, Pair
from narxbench.analysis.published import Published
from narxbench.experiment.interpretations import READINGS_FILE, Readings, load_readings

PLACES = [(system, snr_db) for system in ("S1", "S2", "S3", "S4") for snr_db in (50, 40, 30)]
BOUND, EXEMPLAR, TIES = "velocity-bound=1", "learning-set=exemplar", "ties=random"


def cells_of(algorithm: str, choices: str, seeds: int = 3, criterion: str = "bic", **values: Any) -> list[ReadingCell]:
    """Return the twelve cells of a reading on each data seed; a value may be a function of system, SNR and seed."""
    return [
        reading_cell(
            algorithm,
            choices,
            seed,
            system,
            snr_db,
            criterion,
            **{name: v(system, snr_db, seed) if callable(v) else v for name, v in values.items()},
        )
        for seed in range(1, seeds + 1)
        for system, snr_db in PLACES
    ]


def study(*groups: list[ReadingCell], default: dict[str, str] | None = None) -> Study:
    cells = [cell for group in groups for cell in group]
    return make_study(cells, *known(), default or {})


def answers(*groups: list[ReadingCell], default: dict[str, str] | None = None) -> Answers:
    return fidelity_answers.answer(study(*groups, default=default))


@cache
def known() -> tuple[Readings, Published]:
    return load_readings(), published()


@cache
def drawn() -> list[ReadingCell]:
    combined = f"{BOUND}+{TIES}"
    upso = ["base", "input=gaussian", "realisation=per-run", BOUND, TIES, EXEMPLAR, combined]
    ga = ["base", "input=gaussian", "realisation=per-run", "selection=tournament", "elitism=on"]
    ga.append("selection=tournament+elitism=on")
    return drawn_cells(upso, ga, ["base", "input=gaussian", "realisation=per-run"], finalists=("base", combined))


# Cells as CSV


def test_cells_are_written_sorted_and_read_back(tmp_path: Path) -> None:
    cells = [
        *cells_of(GA, "base", 1)[:2],
        reading_cell(best_fitness=None, curve=(None, None, *(-1.5,) * 8), cardinality=4.5, third_fitness=0.1 + 0.2),
        reading_cell(snr_db=30, true_fitness=float("inf")),
        reading_cell(snr_db=12.5),
    ]
    text = write_cells(reversed(cells))
    assert text == write_cells(cells)
    path = tmp_path / "cells.csv"
    path.write_text(text, encoding="utf-8")
    found = read_cells(path)
    assert write_cells(found) == text
    assert found[:2] == cells[:2]
    assert found[2] == cells[2]
    assert (found[3].snr_db, found[3].true_fitness, found[4].snr_db) == (30, None, 12.5)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[2]["nu"] == "40;40;40;40"
    assert rows[2]["curve"].startswith(";;-1.5;")
    assert (rows[2]["best_fitness"], rows[2]["third_fitness"]) == ("", "0.30000000000000004")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("system", "S5", "column system: found 'S5'; allowed: one of S1, S2, S3, S4"),
        ("algorithm", "", "column algorithm: found ''; allowed: a name"),
        (
            "choices",
            "ties",
            "column choices: found 'ties'; allowed: base, or point=option joined by +, each point once",
        ),
        ("choices", "ties=a+ties=b", "each point once"),
        ("data_seed", "0", "column data_seed: found '0'; allowed: whole number from 1"),
        ("runs", "4.0", "column runs: found '4.0'"),
        ("nu", "40;41;0;0", "column nu: found '40;41;0;0'; allowed: whole number from 0 to 40"),
        ("spurious", "63", "column spurious: found '63'; allowed: whole number from 0 to 62"),
        ("nu_max", "1", "column nu_max: found '1'; allowed: 0 exactly where spurious is 0 (found 0)"),
        ("data_seed", "9" * 5000, "column data_seed: found '999"),
        ("snr_db", "nan", "column snr_db: found 'nan'; allowed: a finite number"),
        ("snr_db", "1e999", "column snr_db: found '1e999'; allowed: a finite number"),
        ("cardinality", "1_0", "column cardinality: found '1_0'; allowed: a finite number"),
        ("best_fitness", "x", "column best_fitness: found 'x'"),
        ("curve", "1;2", "column curve: found '1;2'; allowed: 10 values joined by ;"),
        ("exact_runs", "-1", "column exact_runs: found '-1'"),
    ],
)
def test_a_wrong_value_is_named_by_line_and_column(tmp_path: Path, column: str, value: str, message: str) -> None:
    rows = list(csv.DictReader(io.StringIO(write_cells([reading_cell()]))))
    rows[0][column] = value
    path = tmp_path / "cells.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fidelity.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(NarxbenchError) as caught:
        read_cells(path)
    assert str(caught.value).startswith(f"{path}, line 2, ")
    assert message in str(caught.value)


def test_a_file_that_is_no_table_of_cells(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    good = write_cells([reading_cell()])
    for text, message in {
        "a,b\n": "line 1: found columns a,b; allowed: algorithm,",
        good.splitlines()[0] + "\n": "found no rows",
        good + good.splitlines()[1] + "\n": "line 3: found an earlier line's cell again",
        good + "x\n": "line 3: found 1 columns; allowed: 19",
    }.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(NarxbenchError, match=message.replace("(", r"\(")):
            read_cells(path)
    with pytest.raises(NarxbenchError, match=r"missing\.csv: cannot be read: No such file or directory$"):
        read_cells(tmp_path / "missing.csv")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (reading_cell(choices="tie=random"), "tie"),
        (reading_cell(choices="ties=canonical"), "found the choices 'ties=canonical'; allowed: 'base'"),
        (reading_cell(choices=f"{TIES}+{BOUND}"), f"allowed: '{BOUND}+{TIES}'"),
        (reading_cell(GA, choices=TIES), f"{GA}: found the choices '{TIES}'; allowed: 'base'"),
        (reading_cell(system="S2", nu=(1,)), "S2: found 1 counts of system terms; allowed: 5"),
    ],
)
def test_cells_that_do_not_fit_the_open_points(cell: ReadingCell, message: str) -> None:
    with pytest.raises(NarxbenchError) as caught:
        study([reading_cell(snr_db=40)], [cell])
    assert message in str(caught.value)


def test_without_base_there_is_no_study() -> None:
    full = cells_of(UPSO, "base")
    for cells, message in (
        (cells_of(GA, "base"), "no cell of upso2d with the choices base for data seed 1, S1, 50 dB"),
        (full[:-1], "no cell of upso2d with the choices base for data seed 3, S4, 30 dB"),
        ([*full, *cells_of(GA, "base", 2)], "no cell of ga with the choices base for data seed 3, S1, 50 dB"),
        ([*full, *cells_of("stepwise", "base", 4)], "no cell of upso2d with the choices base for data seed 4"),
    ):
        with pytest.raises(NarxbenchError, match=message):
            study(cells)


def test_without_published_values_of_an_algorithm_there_is_no_study() -> None:
    readings, known_values = known()
    values = {place: value for place, value in known_values.values.items() if place.algorithm != GA}
    without_ga = replace(known_values, values=values)
    assert make_study(cells_of(UPSO, "base"), readings, without_ga, {}).complete(UPSO) == ["base"]
    with pytest.raises(NarxbenchError, match="published values: found no value of ga under bic"):
        make_study([*cells_of(UPSO, "base"), *cells_of(GA, "base")], readings, without_ga, {})


def test_only_complete_readings_are_compared() -> None:
    found = study(cells_of(UPSO, "base"), cells_of(UPSO, BOUND)[1:], cells_of(UPSO, TIES), cells_of(UPSO, EXEMPLAR, 2))
    assert found.seeds == (1, 2, 3)
    assert found.complete(UPSO) == ["base", TIES]
    assert found.complete(GA) == []
    assert found.incomplete() == [(UPSO, EXEMPLAR), (UPSO, BOUND)]
    assert found.missing(UPSO, BOUND) == [(1, "S1", 50)]
    text = fidelity_document.document(fidelity_answers.answer(found))
    assert f"Left out, for they lack cells: `{EXEMPLAR}` of 2D-UPSO, `{BOUND}` of 2D-UPSO." in text
    assert [entry.choices for entry in fidelity_answers.ranking(found)] == ["base", TIES]


# Effects


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 30])
def test_student_quantile(freedom: int) -> None:
    assert fidelity_answers.student_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-5)


def test_a_change_has_students_interval() -> None:
    found = fidelity_answers.change([0.1, 0.3, 0.2])
    assert (found.median, found.low, found.high) == (0.2, 0.1, 0.3)
    assert found.interval == pytest.approx((0.2 - 4.30265 * 0.1 / math.sqrt(3), 0.2 + 4.30265 * 0.1 / math.sqrt(3)))
    assert not found.clear
    assert fidelity_answers.change([0.1, 0.11, 0.1]).clear
    assert fidelity_answers.change([-0.1, -0.11, -0.1]).clear
    single = fidelity_answers.change([0.1])
    assert (single.interval, single.clear) == (None, False)


def shifted(fall: float) -> Callable[[str, float, int], int]:
    """Return numbers of spurious terms that leave r by about ``fall`` below the published ones."""
    values = {(p.system, p.snr_db): v for p, v in known()[1].values.items() if p.metric == "r" and p.criterion == "bic"}
    return lambda system, snr_db, seed: round((values[system, snr_db] - fall) * (84 if system == "S3" else 66))


def test_effects_are_paired_by_data_seed_and_ranked() -> None:
    # The base changes from seed to seed by more than the option does.
    base = cells_of(UPSO, "base", spurious=lambda s, d, seed: 5 * seed, nu_max=1)
    bound = cells_of(UPSO, BOUND, spurious=lambda s, d, seed: 5 * seed + 1, nu_max=1)
    ties = cells_of(UPSO, TIES, spurious=lambda s, d, seed: 5 * seed, nu_max=4)
    same = cells_of(UPSO, "ring=2", spurious=lambda s, d, seed: 5 * seed, nu_max=1)
    found = answers(base, bound, ties, same).effects
    by_name = {effect.choices: effect for effect in found}
    assert [effect.choices for effect in found] == [TIES, BOUND, "ring=2"]
    assert by_name[BOUND].part == UPSO
    assert by_name[BOUND].contradicts
    assert not by_name[TIES].contradicts
    r = by_name[BOUND].changes
    assert r["r_s4"][:3] == pytest.approx((1 / 66,) * 3)
    assert r["r_sparse"].median == pytest.approx((1 / 66 + 1 / 66 + 1 / 84) / 3)
    assert (r["distance_nu"].median, r["distance_nu_max"].median, r["nu_s4"].median) == (0, 0, 0)
    assert r["distance"].median == pytest.approx(r["distance_r"].median / 3)
    # nu_max rises by 3 runs of 40 towards the published values, which are at least 0.15.
    nu_max = by_name[TIES].changes
    assert nu_max["nu_max_sparse"].median == pytest.approx(0.075)
    assert nu_max["distance_nu_max"].median == pytest.approx(-0.075)
    assert nu_max["distance"].clear
    assert all(change[:3] == (0, 0, 0) and not change.clear for change in by_name["ring=2"].changes.values())


def test_effects_on_data_concern_both_algorithms() -> None:
    groups = [cells_of(name, choices) for name in (UPSO, GA) for choices in ("base", "input=gaussian")]
    found = answers(*groups).effects
    assert [(effect.algorithm, effect.part) for effect in found] == [(UPSO, "data"), (GA, "data")]


def test_interactions() -> None:
    def spurious(more: int) -> list[ReadingCell]:
        return cells_of(UPSO, names[more], spurious=more, nu_max=1)

    names = {1: "base", 2: BOUND, 3: TIES, 6: f"{BOUND}+{TIES}"}
    (found,) = answers(*map(spurious, names)).interactions
    # r of S1, S2, S4 rises by 1/66, 2/66 and 5/66, so that 2/66 exceed the sum; nothing else changes.
    each = (9 / 66 + 3 / 84) / 12 / 3
    assert found.choices == names[6]
    assert found.together.median == pytest.approx(-5 * each)
    assert found.beyond_sum.median == pytest.approx(-2 * each)
    assert answers(*map(spurious, [1, 2, 6])).interactions == []


# Ranking


def test_the_closest_readings() -> None:
    found = answers(
        cells_of(UPSO, "base", spurious=1, nu_max=1),
        cells_of(UPSO, BOUND, spurious=shifted(0), nu_max=8),
        cells_of(UPSO, TIES, spurious=shifted(0.1), nu_max=8),
        cells_of(GA, "base"),
        default={"ties": "random", "elitism": "on"},
    )
    ranked = found.ranked[UPSO]
    assert [entry.choices for entry in ranked] == [BOUND, TIES, "base"]
    assert [bool(entry.contradictions) for entry in ranked] == [True, False, False]
    assert ranked[2].names == tuple(name for name, of in known()[0].named.items() if not of)
    assert (ranked[0].values, ranked[0].changes) == (207, 1)
    assert ranked[0].spreads["r"].median < 0.01
    shown = {name: {role: entry.choices for role, entry in of.items()} for name, of in found.roles.items()}
    assert shown[UPSO] == {"base": "base", "default, closest without contradiction": TIES, "closest": BOUND}
    # The default's GA has no cells.
    assert shown[GA] == {"base, closest, closest without contradiction": "base"}
    assert found.pairs["closest"] == Pair(BOUND, "base")
    labels = ["base", "default", "closest", "closest without contradiction"]
    rows = {row.place.algorithm: row.reproduced for row in found.beside}
    assert list(rows[UPSO]) == list(rows[GA]) == labels
    assert [label for label in labels if rows[GA][label] is None] == ["default"]
    assert rows[UPSO]["default"] == rows[UPSO]["closest without contradiction"]


def test_published_beside_reproduced_and_what_is_unexplained() -> None:
    # T2 of S1 at 50 dB is missed by every run of two data seeds, T3 by every run of all.
    def nu(system: str, snr_db: float, seed: int) -> tuple[int, ...]:
        full = (40,) * len(known()[1].system_terms[system])
        return (40, 0 if seed > 1 else 40, 0, 40) if (system, snr_db) == ("S1", 50) else full

    base = cells_of(UPSO, "base", nu=nu, spurious=lambda s, d, seed: 10 + seed, nu_max=lambda s, d, seed: 10 + seed)
    found = answers(base)
    rows = found.beside
    assert len(rows) == 24
    assert (rows[0].place.system, rows[0].place.metric, rows[0].published) == ("S1", "r", 0.15)
    role = "base, default, closest, closest without contradiction"
    assert rows[0].reproduced == {role: (12 / 66, 11 / 66, 13 / 66)}
    assert rows[1].reproduced[role] == (0.3, 0.275, 0.325)
    clear = found.unexplained[UPSO]
    assert (clear[0].term, clear[0].published, clear[0].reproduced) == ("y(k-1)*u(k-1)", 1.0, (0, 0, 0))
    assert [row.place.label for row in clear if row.place.system == "S1"] == ["T3"]
    # S4 with 11 to 13 of 43 spurious terms against 42 and more: printed in two tables, told once.
    assert [row.place.metric for row in clear if row.place.system == "S4"].count("r") == 3


def test_whole_distance() -> None:
    groups = [cells_of(UPSO, "base", criterion=criterion) for criterion in CRITERIA]
    assert answers(*groups).whole == []
    (whole,) = answers(*groups, cells_of(UPSO, TIES), cells_of(GA, "base")).whole
    assert (whole.pair, whole.distances[0].cells, whole.values) == (("base", "base"), 63, 810)
    counts = [cell.counts() for group in (*groups, cells_of(GA, "base")) for cell in group if cell.data_seed == 1]
    expected = distance(known()[1], counts)
    assert expected is not None
    assert whole.spreads["distance"].median == expected.distance


# Claims


def claim_map(found: Answers, name: str) -> fidelity_answers.ClaimMap:
    return next(entry for entry in found.claims if entry.claim.id == name)


def test_claims_by_majority_of_the_data_seeds() -> None:
    def missing_in(seeds: int) -> Callable[[str, float, int], tuple[int, ...]]:
        return lambda system, snr_db, seed: (0 if seed <= seeds else 40,) * len(known()[1].system_terms[system])

    found = answers(
        cells_of(UPSO, "base"),
        cells_of(UPSO, BOUND, nu=missing_in(1)),
        cells_of(UPSO, TIES, nu=missing_in(2)),
        cells_of(GA, "base"),
        cells_of(GA, "elitism=on"),
    )
    entry = claim_map(found, "bic-finds-all-terms")
    assert (entry.published, entry.base, entry.base_seeds) == (True, True, 3)
    assert entry.single == {BOUND: True, TIES: False}
    assert entry.flips == [TIES]
    assert (entry.holding, entry.judged, len(entry.verdicts)) == (2, 3, 3)
    # Criteria other than BIC were not run.
    unjudged = claim_map(found, "rho-256-loses-s4")
    assert (unjudged.base, unjudged.judged, unjudged.flips) == (None, 0, [])


def test_claims_on_two_algorithms_pair_readings_of_the_same_data() -> None:
    def fitness(value: float) -> dict[str, float]:
        return {"best_fitness": value, "median_fitness": value}

    found = answers(
        cells_of(UPSO, "base", **fitness(-10)),
        cells_of(UPSO, "input=gaussian", **fitness(-10)),
        cells_of(UPSO, BOUND, **fitness(-5)),
        cells_of(GA, "base", **fitness(-8)),
        cells_of(GA, "input=gaussian", **fitness(-12)),
        cells_of(GA, "elitism=on", **fitness(-11)),
    )
    entry = claim_map(found, "upso-reaches-better-j")
    assert dict(entry.verdicts) == {
        Pair("base", "base"): True,
        Pair("base", "elitism=on"): False,
        Pair("input=gaussian", "input=gaussian"): False,
        Pair(BOUND, "base"): False,
        Pair(BOUND, "elitism=on"): False,
    }
    assert entry.flips == ["input=gaussian", BOUND, "elitism=on"]
    assert set(claim_map(found, "ga-finds-s1-s3").single) == {"input=gaussian", "elitism=on"}
    assert set(claim_map(found, "bic-separates").single) == {"input=gaussian", BOUND}
    view = fidelity_answers.reading_view(found.study, Pair("base", "elitism=on"), 2)
    row = view.row("S3", 30, GA)
    assert row is not None
    assert row.fitness is not None
    assert (row.fitness.median, row.nu, row.r) == (-11, (1.0,) * 4, 0)


def test_every_claim_says_which_algorithms_it_needs() -> None:
    found = study(*(cells_of(UPSO, "base", criterion=c) for c in CRITERIA), cells_of(GA, "base"))
    for claim in CLAIMS:
        whole = fidelity_answers.reading_view(found, Pair("base", "base"), 1)
        own = Pair("base" if UPSO in claim.algorithms else "", "base" if GA in claim.algorithms else "")
        assert claim.judge(fidelity_answers.reading_view(found, own, 1)).holds is claim.judge(whole).holds
        for name in claim.algorithms:
            less = Pair(*("" if name == other else of for other, of in zip((UPSO, GA), own, strict=True)))
            assert claim.judge(fidelity_answers.reading_view(found, less, 1)).holds is None


# Contests and criteria


def test_contests() -> None:
    def better_on_s4(system: str, snr_db: float, seed: int) -> float:
        return -1001.0 if system == "S4" and seed > 1 else -1000.0000005

    found = study(
        cells_of(UPSO, "base"),
        cells_of(UPSO, "input=gaussian"),
        cells_of(GA, "base", median_fitness=None),
        cells_of(GA, "selection=tournament", median_fitness=better_on_s4),
    )
    weak, strong = fidelity_answers.contests(found, "base")
    assert (weak.ga, weak.total) == ("base", [36, 0, 0])
    assert strong.by_system == {"S1": [0, 9, 0], "S2": [0, 9, 0], "S3": [0, 9, 0], "S4": [0, 3, 6]}
    assert fidelity_answers.contests(found, "input=gaussian") == []


def test_criterion_scores() -> None:
    lost = cells_of(
        UPSO, "base", criterion="aic-8", exact_runs=10, spurious=1, nu_max=lambda s, d, n: 40 if n == 1 else 1
    )
    found = fidelity_answers.criterion_scores(study(cells_of(UPSO, "base"), lost, cells_of(UPSO, TIES)))
    assert [(score.choices, score.criterion, score.met, score.rows) for score in found] == [
        ("base", "bic", 36, 36),
        ("base", "aic-8", 24, 36),
    ]
    assert (found[1].exact_runs, found[1].runs) == (360, 1440)
    assert found[1].distance is not None


# Gaps


def test_gaps_tell_the_search_from_the_criterion() -> None:
    # The reference search finds J 2 below the true structure's on the first data seed only.
    found = answers(
        cells_of(UPSO, "base", true_fitness=-1000.0, best_fitness=-999.0, median_fitness=-990.0),
        cells_of(
            "stepwise", "base", true_fitness=-1000.0, best_fitness=lambda s, d, n: -1002.0 if n == 1 else -999.9999995
        ),
        cells_of(GA, "base", median_fitness=None),
        # Another data set, and another criterion: their J do not compare.
        cells_of(UPSO, "input=gaussian", best_fitness=-5000.0, median_fitness=-5000.0, true_fitness=-5000.0),
        cells_of(UPSO, "base", criterion="aic-2", true_fitness=-4000.0, best_fitness=-4000.0, median_fitness=-4000.0),
    )
    gaps = {(gap.algorithm, gap.criterion): gap for gap in found.gaps if gap.choices == "base"}
    upso = gaps[UPSO, "bic"]
    assert (upso.median, upso.best, upso.true) == ((10, 10, 12), (1, 1, 3), (0, 0, 2))
    assert (upso.true_above, upso.seeds, upso.exact_runs, upso.runs) == (1, 3, 120, 120)
    assert gaps["stepwise", "bic"].best == (0, 0, 0)
    assert gaps[GA, "bic"].median is None
    assert gaps[UPSO, "aic-2"].true == (0, 0, 0)


def test_gaps_of_runs_with_data_of_their_own_do_not_compare() -> None:
    found = answers(
        cells_of(UPSO, "base", spurious=1, nu_max=1), cells_of(UPSO, "realisation=per-run", spurious=9, nu_max=5)
    )
    own = [gap for gap in found.gaps if gap.choices == "realisation=per-run"]
    assert own
    assert all(gap.median is gap.best is gap.true is None and gap.true_above == 0 for gap in own)


# Document


def paths(folder: Path) -> dict[str, str]:
    figures = {name: f"{name}.svg" for name in ("effects", "ranking", "beside", "claims", "gaps")}
    tables = {f"{name}_csv": f"{name}.csv" for name in ("distances", "effects", "claims", "gaps")}
    names = {"document": "fidelity.md", "summary": "summary.json"} | figures | tables
    return {name: str(folder / file) for name, file in names.items()}


def written(cells: list[ReadingCell], folder: Path) -> dict[str, str]:
    table = folder / "cells.csv"
    folder.mkdir(exist_ok=True)
    table.write_text(write_cells(cells), encoding="utf-8")
    reference = [str(REFERENCE / name) for name in ("published_tables.csv", "system_terms.csv")]
    outputs = paths(folder)
    write_fidelity(str(table), str(READINGS_FILE), *reference, "cited-source", outputs)
    return {name: Path(path).read_text(encoding="utf-8") for name, path in outputs.items()}


def test_files_do_not_depend_on_the_order_of_the_cells(tmp_path: Path) -> None:
    one = written(drawn(), tmp_path / "one")
    mixed = drawn().copy()
    random.Random(1).shuffle(mixed)
    assert written(mixed, tmp_path / "other") == one
    for text in one.values():
        assert not any(word in text for word in ("None", "nan", "inf,", "Pair("))
    for name in ("effects", "ranking", "beside", "claims", "gaps"):
        assert one[name].startswith("<?xml")
        assert f"](fidelity/{name}.svg)" in one["document"]
    summary = json.loads(one["summary"])
    assert len(summary["claims"]) == len(CLAIMS)
    rows = list(csv.DictReader(io.StringIO(one["distances_csv"])))
    base = [row for row in rows if (row["algorithm"], row["choices"]) == (UPSO, "base")]
    assert [row["data_seed"] for row in base] == ["1", "2", "3"]
    median = sorted(float(row["distance"]) for row in base)[1]
    (role,) = (name for name in summary["distances"][UPSO] if name.startswith("base, default"))
    assert summary["distances"][UPSO][role]["distance"]["median"] == median
    assert f"distance {median:.3f} [" in one["document"]
    verdicts = list(csv.DictReader(io.StringIO(one["claims_csv"])))
    assert {row["verdict"] for row in verdicts} <= {"holds", "does not hold", "cannot be judged"}
    assert {row["claim"] for row in verdicts} == {claim.id for claim in CLAIMS}


@pytest.mark.parametrize(
    "cells",
    [
        cells_of(UPSO, "base", 1),
        [*cells_of(UPSO, "base", 2), *cells_of(UPSO, BOUND, 2), *cells_of(GA, "base", 2)],
        cells_of(UPSO, "base", 2, best_fitness=None, median_fitness=None, true_fitness=None, third_fitness=None),
    ],
)
def test_few_cells_make_a_document_too(tmp_path: Path, cells: list[ReadingCell]) -> None:
    document = written(cells, tmp_path)["document"]
    assert "distance" in document
    assert "None" not in document


def test_the_document_says_what_the_cells_say() -> None:
    found = answers(
        cells_of(UPSO, "base", exact_runs=4, best_fitness=-1000.0, median_fitness=-998.0),
        cells_of(UPSO, TIES, spurious=shifted(0), nu_max=11),
        cells_of(GA, "base", median_fitness=-997.0),
        cells_of(GA, "elitism=on", median_fitness=-999.0),
    )
    text = " ".join(fidelity_document.document(found).split())
    assert f"**2D-UPSO, closest, closest without contradiction** (`{TIES}`)" in text
    assert (
        "it is ahead of 1 of 2 variants of GA on the same data, and behind 1, most of all behind `elitism=on`" in text
    )
    assert "reaches the best known J in 0 of 12 cells (BIC, median over the data seeds), and 10 % of the runs" in text
    assert "| base, default | elitism=on | 0 / 0 / 9 | 0 / 0 / 9 | 0 / 0 / 9 | 0 / 0 / 9 | 0 / 0 / 36 |" in text
    assert "S4 with ϱ = 256" not in text
    assert "Is BIC better" not in text


def test_the_document_tells_of_s4_with_rho_256() -> None:
    high = cells_of(
        UPSO,
        "base",
        criterion="aic-256",
        best_fitness=lambda s, d, n: -1003.0 if n == 2 else -1000.0,
        median_fitness=-990.0,
        exact_runs=10,
    )
    text = " ".join(fidelity_document.document(answers(cells_of(UPSO, "base"), high)).split())
    assert (
        "**S4 with ϱ = 256**: on 3 of 9 data sets the best known J is not that of the true structure; 2D-UPSO" in text
    )
    assert "finds exactly the true structure in 25 % of the runs" in text
    assert (
        "50 dB: the true structure lies 0 [0, 3.00] above the best known J, the median run 10.00 [10.00, 13.00]" in text
    )
    assert "the criterion prefers another structure on 1 of 3 data sets" in text


def test_an_unknown_default_is_named(tmp_path: Path) -> None:
    table = tmp_path / "cells.csv"
    table.write_text(write_cells(cells_of(UPSO, "base", 1)), encoding="utf-8")
    reference = [str(REFERENCE / name) for name in ("published_tables.csv", "system_terms.csv")]
    with pytest.raises(NarxbenchError, match=r"found no 'cited-sorce'; allowed: .* \(did you mean 'cited-source'\?\)"):
        write_fidelity(str(table), str(READINGS_FILE), *reference, "cited-sorce", paths(tmp_path))
