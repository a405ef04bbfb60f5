"""The main page of a run: what ran, its tables beside the paper's, and the claims in it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from narxbench._report.formats import count, criterion_name, listed, method_name, rounded, snr
from narxbench._report.markup import inline_svg
from narxbench._studies.paper.agreement import BIASES
from narxbench._studies.paper.claims import VERDICTS
from narxbench._studies.paper.figures import LEFT_OUT
from narxbench._studies.paper.frames import UNDECIDED
from narxbench._studies.paper.printed import FITNESS_TABLES, NUMERALS, ValueTable
from narxbench._studies.paper.published import RUNS
from narxbench._studies.paper.site import MAIN, Material
from narxbench._studies.paper.status import PAPER_CONDITIONS, compare_with_kept
from narxbench._studies.paper.tables import claim_verdicts, held_at, shared_criterion

# The verdicts of the table of rules, in its order.
_VERDICTS = (VERDICTS[True], UNDECIDED, VERDICTS[False])
# The tables of the frame ``agreement``: the name of each in the tables of values, and what it is of.
_AGREEMENT = {(f"fitness_{system}", "upso2d"): (name, system) for name, system in FITNESS_TABLES.items()}
_AGREEMENT["comparison_S4", "ga"] = ("table_7", "S4, GA")


def report_page(material: Material) -> str:
    """Return the main page of a run.

    A complete run is compared with the paper, value by value and claim by claim. A trial shows its values alone, and so
    does a study of other systems.
    """
    settings, status = material.settings, material.status
    values: dict[str, Any] = {
        "settings": settings,
        "record": material.record,
        "status": status,
        "failed": int(material.failures["failed"].sum()),
        "kept": material.kept,
        "comparison": kept_comparison(material),
        "whole_command": material.command(),
        "figures": figures(material),
        "figure_notes": figure_notes(material),
        "n_claims": len(material.claims),
        "paper_searches": count(_paper_searches()),
        "citation": material.texts["citation"].strip().split("\n\n"),
        "extremes": list(_extremes(material)),
        "methods": listed(map(method_name, settings["methods"])),
    }
    if status.is_complete:
        values |= {
            "agreement": list(_agreement(material)),
            "rules": verdicts_by_rule(material),
            "totals": verdict_totals(material),
            "claims": list(_claims(material)),
        }
    return material.site.page(MAIN, values)


def answer_line(material: Material) -> str:
    """Return what a run says of the paper in one line, for the terminal."""
    if material.status.is_trial:
        return f"Trial run: no conclusions ({listed(material.status.shortfalls)})."
    if not material.status.is_of_paper:
        return f"{count(material.status.searches)} searches of systems that the paper does not have."
    totals = {row["name"]: row for row in _agreement(material)}["all"]
    claims = verdict_totals(material)
    different = f"{count(totals['different'])} of {count(totals['compared'])} values differ clearly"
    sides = f"{count(totals['lower'])} lower, {count(totals['higher'])} higher"
    words = ", ".join(f"{claims.get(verdict, 0)} {word}" for verdict, word in verdict_words(claims))
    return f"{different} ({sides}); claims: {words}."


def verdict_words(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the verdicts with the word for their number of claims: ``hold`` for several that hold."""
    words = []
    for verdict in (*_VERDICTS, VERDICTS[None]):
        number = counts.get(verdict, 0)
        if number or verdict in _VERDICTS:
            plural = {"holds": "hold", "fails": "fail"}.get(verdict, verdict)
            words.append((verdict, verdict if number == 1 else plural))
    return words


def kept_comparison(material: Material) -> dict[str, Any] | None:
    """Return how the conditions of the run compare with the kept ones, or None where no kept run is like it."""
    kept = material.kept.frames.get("kept_conditions")
    if kept is None:
        return None
    comparison = compare_with_kept(material.frames["conditions"], kept, material.settings, material.choices)
    return comparison if comparison["compared"] else None


def figures(material: Material) -> dict[str, Any]:
    """Return figures 1 and 2 of the run for a page."""
    return {name: inline_svg(svg, name) for name, svg in material.figures.items()}


def figure_notes(material: Material) -> dict[str, str]:
    """Return what figures 1 and 2 show: runs, SNR, criterion, and the system that figure 2 leaves out."""
    systems = material.settings["systems"]
    return {
        "runs": material.status.runs,
        "snr": snr(material.frames["selection"]["snr_db"].min()),
        "criterion": criterion_name(shared_criterion(material.settings)),
        "left_out": LEFT_OUT if len(systems) > 1 and LEFT_OUT in systems else "",
    }


def _paper_searches() -> int:
    """Return the number of searches of the paper's study."""
    return len(PAPER_CONDITIONS) * RUNS


def _agreement(material: Material) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table of tables: how many values differ clearly, on which side, and the biases."""
    for row in material.frames["agreement"].to_dict("records"):
        name, subject = _AGREEMENT.get((row["table"], row["algorithm"]), ("all", ""))
        shown: dict[str, Any] = {str(key): value for key, value in row.items()}
        for bias in BIASES:
            shown[bias] = _signed(row[bias])
        yield shown | {
            "name": name,
            "numeral": NUMERALS.get(name, "All"),
            "subject": subject,
            "different": row["lower"] + row["higher"],
        }


def _signed(value: float) -> str:
    """Return a bias with two decimals, rounded half up as frequencies are, and its sign."""
    text = rounded(abs(value))
    if not text.strip("0."):
        return "0.00"
    return f"{'−' if value < 0 else '+'}{text}"


def _extremes(material: Material) -> Iterator[dict[str, Any]]:
    """Yield for each table with values of the run how many it has, and the extremes among them."""
    for name, table in material.values.items():
        if not table.values:
            continue
        yield {
            "name": name,
            "numeral": NUMERALS.get(name, ""),
            "subject": _subject(name, table),
            "made": len(table.values),
            "all": sum(len(table.keys) for _ in table.conditions),
            "nu": table.smallest_frequency,
            "r": table.largest("r"),
            "nu_max": table.largest("nu_max"),
        }


def _subject(name: str, table: ValueTable) -> str:
    """Return what a table of values is of."""
    if name == "table_7":
        return f"{table.system}, both"
    return table.system if name in NUMERALS else f"{table.system}, further"


def verdicts_by_rule(material: Material) -> list[dict[str, Any]]:
    """Return how many claims have each verdict by each rule, in the order of the claims."""
    counts: dict[str, Counter[str]] = {}
    for claim in material.claims:
        _, run = claim_verdicts(material.frames["claims"], claim)
        counts.setdefault(run["rule"] or "no condition to judge by", Counter())[run["verdict"]] += 1
    return [{"rule": rule, "counts": [by_verdict[word] for word in _VERDICTS]} for rule, by_verdict in counts.items()]


def verdict_totals(material: Material) -> dict[str, int]:
    """Return how many claims have each verdict."""
    totals: Counter[str] = Counter()
    for claim in material.claims:
        _, run = claim_verdicts(material.frames["claims"], claim)
        totals[run["verdict"]] += 1
    return dict(totals)


def _claims(material: Material) -> Iterator[dict[str, Any]]:
    """Yield the claims, in the paper's order, with their verdicts on the run, on the paper's values, and kept ones."""
    for claim in material.claims:
        published, run = claim_verdicts(material.frames["claims"], claim)
        kept = []
        for role in material.kept.roles:
            verdict = material.kept.verdicts(role).get(claim.id)
            if verdict:
                kept.append(verdict)
        yield {"claim": claim, "run": run, "held": held_at(run), "published": published, "kept": kept}
