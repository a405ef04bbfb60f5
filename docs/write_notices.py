"""Write the notices of third parties: python docs/write_notices.py

Pages hold the shapes of letters, and so the licence of these, from templates/notices/. The list in docs/third_party.md
names these and every package that the pipeline, the comparison and files of data need. A test checks that all is
current.
"""

import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import matplotlib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOTICES = ROOT / "src/narxbench/_report/templates/notices"
PAGE, FONTS = ROOT / "docs/third_party.md", NOTICES / "fonts.txt"
MIT = "Permission is hereby granted, free of charge"
TABLE = """\
# Third parties

What narxbench needs, and what its pages and figures hold of others. Written by `docs/write_notices.py`.

## In pages and figures

| What | Where | Licences |
|---|---|---|
| shapes of letters: DejaVu | figures, pages with figures | [text](../{fonts}), also in the pages |
| shapes of letters: STIX | figures as printed | SIL Open Font License 1.1; no conditions for documents |
| measured data of a buck converter | `data/buck/` | [text](../data/buck/LICENSE) |

## Packages

They are installed, not distributed. Each brings the text of its licence. `requirements.txt` has the versions.
Packages that only Windows needs are left out.

| Licence | Packages |
|---|---|
{rows}"""


def needed(requirements: Iterable[str]) -> set[str]:
    """Return the names of what requirements need, however indirectly, as far as it is installed."""
    todo = [(Requirement(text), "") for text in requirements]
    names: set[str] = set()
    seen: set[tuple[str, str]] = set()
    while todo:
        requirement, extra = todo.pop()
        name = canonicalize_name(requirement.name)
        left_out = name in PROJECT["tool"]["uv"]["exclude-dependencies"]
        if left_out or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
            continue
        names.add(name)
        for chosen in {"", *requirement.extras} - {chosen for done, chosen in seen if done == name}:
            seen.add((name, chosen))
            try:
                todo += [(Requirement(text), chosen) for text in metadata.requires(name) or ()]
            except metadata.PackageNotFoundError:
                continue
    return names - {PROJECT["project"]["name"]}


def page() -> str:
    """Return the list of all that is used."""
    groups = PROJECT["dependency-groups"]
    names = sorted(needed(["narxbench[pipeline,methods,files]", *groups["cluster"]]))
    by_licence: dict[str, list[str]] = {}
    for name in names:
        by_licence.setdefault(licence(name), []).append(name)
    rows = (f"| {name} | {', '.join(packages)} |\n" for name, packages in sorted(by_licence.items()))
    return TABLE.format(fonts=FONTS.relative_to(ROOT), rows="".join(rows))


def licence(name: str) -> str:
    """Return what a package says of its licence, in short."""
    package = metadata.distribution(name)
    about = package.metadata
    if "License-Expression" in about:
        return about["License-Expression"]
    told = [text.split(" :: ")[-1] for text in about.get_all("Classifier") or () if text.startswith("License")]
    files = [file for file in package.files or () if re.match("(?i)licen[sc]e|copying", file.name)]
    if not told and any(MIT in file.read_text() for file in files):
        return "MIT"
    return ", ".join(text for text in told if text != "OSI Approved") or about["License"]


def fonts() -> str:
    """Return the licence of the font, from matplotlib, which brings it."""
    text = Path(matplotlib.get_data_path(), "fonts/ttf/LICENSE_DEJAVU").read_text(encoding="utf-8")
    return "".join(f"{line.rstrip()}\n" for line in text.strip().splitlines())


def main() -> None:
    """Write what is not current."""
    NOTICES.mkdir(exist_ok=True)
    FONTS.write_text(fonts(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
