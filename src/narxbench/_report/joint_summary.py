"""Joint models of several outputs as a terminal shows them."""

from narxbench._identification.joint import JointIdentification, Kind
from narxbench._io.errors import printable
from narxbench._report.findings import for_shell
from narxbench._report.model_summary import whole, wrapped

KIND_TITLES: dict[Kind, str] = {
    "joint": "joint models",
    "as_measured": "best with the others as measured",
}
# What each role of data is to the reader.
ROLE_TITLES = {"selection": "parts that the weights do not know", "test": "test"}


def joint_summary_lines(identification: JointIdentification) -> list[str]:
    """Return what a terminal shows: equations, joint errors by output, and how the models were chosen."""
    lines = []
    for model in identification.model.models:
        equation, *legend = model.equation().split("\n")
        lines += [*wrapped(equation, "       ", kept=r" (?![+-])"), *wrapped(" ".join(legend), "  ")]
    heads = {role: f"RRSE of joint free runs, {ROLE_TITLES[role]}" for role in identification.errors["role"]}
    width = max(map(len, [*KIND_TITLES.values(), *heads.values()]))
    for role, head in heads.items():
        errors = {kind: identification.rrse(kind, role) for kind in KIND_TITLES}
        names = "".join(f"  {printable(output)[:12]:>12}" for output in errors["joint"])
        lines += ["", f"{head:{width}}{names}"]
        for kind, title in KIND_TITLES.items():
            lines.append(f"{title:{width}}" + "".join(f"  {shown_error(rrse):>12}" for rrse in errors[kind].values()))
    lines.append("")
    for finding in (*identification.summary, *identification.notes):
        text = f"{finding.status.upper():5} {finding.title}: {finding.text} {finding.advice}".rstrip()
        lines += whole(for_shell(text), 6, " " * 6)
    return lines


def shown_error(rrse: float | None) -> str:
    """Return a joint error as tables show it."""
    return "diverges" if rrse is None else f"{rrse:.3g}"
