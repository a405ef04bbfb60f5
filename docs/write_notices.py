"""Write the notices of third parties: python docs/write_notices.py

Pages hold a chart library and the shapes of letters, and so the licences of these, from templates/notices/. The list in
docs/third_party.md names these and every package that the pipeline needs. A test checks that all is current. npm tells
what is in the chart library; it is asked only when the library's version is a new one.
"""

import json
import re
import subprocess
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import matplotlib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from plotly.offline import get_plotlyjs_version  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOTICES = ROOT / "src/narxbench/report/templates/notices"
PAGE, FONTS, CHARTS = ROOT / "docs/third_party.md", NOTICES / "fonts.txt", NOTICES / "plotly.js.txt"
MIT = "Permission is hereby granted, free of charge"
HOLDER = re.compile(
    r"^\W*((?:portions )?(?:copyright\b(?! notice| holder| owner| law| and)|\(c\)|©).*)$", re.IGNORECASE | re.MULTILINE
)
TABLE = """\
# Third parties

What narxbench needs, and what its pages and figures hold of others. Written by `docs/write_notices.py`.

## In pages and figures

| What | Where | Licences |
|---|---|---|
| plotly.js {plotly} and the packages in it | pages with interactive charts | [texts](../{charts}), also there |
| shapes of letters: STIX, DejaVu | figures, pages with figures | [texts](../{fonts}), also in the pages |
| measured data of a buck converter | `data/buck/` | [text](../data/buck/LICENSE) |

## Packages

They are installed, not handed on; each brings the text of its licence, also into a container image. What only Windows
needs is left out.

| Package | Version | Licence |
|---|---|---|
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
    return names


def page() -> str:
    """Return the list of all that is used."""
    groups = PROJECT["dependency-groups"]
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["methods"]]
    names = sorted(needed([*wanted, *groups["cluster"]]))
    rows = (f"| {name} | {metadata.version(name)} | {licence(name)} |\n" for name in names)
    files = {"charts": CHARTS.relative_to(ROOT), "fonts": FONTS.relative_to(ROOT)}
    return TABLE.format(plotly=get_plotlyjs_version(), **files, rows="".join(rows))


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
    """Return the licences of the fonts, from matplotlib, which brings them."""
    folder = Path(matplotlib.get_data_path(), "fonts/ttf")
    texts = ((folder / f"LICENSE_{name}").read_text(encoding="utf-8") for name in ("STIX", "DEJAVU"))
    lines = "\n\n\n".join(text.strip() for text in texts).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def charts() -> str:
    """Return the licences of the chart library and of all packages whose code is in it."""
    with tempfile.TemporaryDirectory() as folder:
        library = {"plotly.js": get_plotlyjs_version()}
        modules = install(Path(folder, "library"), library)
        # The bundle that is not minified names the file that each part of it comes from.
        code = (modules / "plotly.js/dist/plotly.js").read_text(encoding="utf-8")
        paths = dict.fromkeys(re.findall(r"^ *// (node_modules/\S+)", code, re.MULTILINE), "*")
        # A part of it is a bundle already, from packages that a lock file of its own names.
        locked = json.loads((modules / "plotly.js/stackgl_modules/package-lock.json").read_text(encoding="utf-8"))
        for path, about in locked["packages"].items():
            if path and not about.get("dev"):
                paths.setdefault(path, "*" if about["resolved"].startswith("git") else about["version"])
        # Where a package is there in several versions, the one that is not inside another package.
        deepest = sorted(paths, key=lambda path: (-path.count("node_modules/"), path))
        inside = {re.findall(r"node_modules/((?:@[^/]+/)?[^/]+)", path)[-1]: paths[path] for path in deepest}
        modules = install(Path(folder, "packages"), inside | library)
        return notices(modules / name for name in sorted(inside | library))


def install(folder: Path, packages: dict[str, str]) -> Path:
    """Return where npm puts packages and what they need."""
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": packages}))
    options = ("--silent", "--ignore-scripts", "--no-package-lock", "--legacy-peer-deps", "--no-audit", "--no-fund")
    subprocess.run(["npm", "install", "--omit=dev", *options], cwd=folder, check=True)
    return folder / "node_modules"


def notices(packages: Iterable[Path]) -> str:
    """Return each licence once, below the holders of copyright and their packages."""
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    bodies: dict[str, str] = {}
    for about, texts in with_licences(packages):
        author = about.get("author") or ""
        author = author["name"] if isinstance(author, dict) else re.sub(r" *[<(].*", "", author)
        for holders, body in map(parts, texts):
            key = re.sub(r"\W+", " ", body.lower()).strip()
            bodies.setdefault(key, body.strip())
            for holder in holders or [author]:
                groups[key][holder].append(about["name"])
    shown = []
    for key in sorted(groups, key=lambda key: (-sum(map(len, groups[key].values())), key)):
        names = (f"{holder}: {', '.join(names)}".removeprefix(": ") for holder, names in sorted(groups[key].items()))
        shown.append("\n".join(names) + "\n\n" + bodies[key])
    head = f"plotly.js {get_plotlyjs_version()} and the packages in it, with the texts of their licences."
    text = f"\n\n{'-' * 80}\n\n".join([head, *shown])
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def with_licences(packages: Iterable[Path]) -> list[tuple[dict[str, Any], list[str]]]:
    """Return what packages say of themselves, with the texts of their licences."""
    found = []
    for package in packages:
        about = json.loads((package / "package.json").read_text(encoding="utf-8"))
        files = [path for path in sorted(package.iterdir()) if re.match("(?i)(un)?licen[sc]e|notice", path.name)]
        texts = [path.read_text(encoding="utf-8").replace("\r", "") for path in files if path.is_file()]
        found.append((about, texts))
    # A package without a text has that of another one with the same licence.
    kinds = {about["license"]: texts for about, texts in found if texts and isinstance(about.get("license"), str)}
    kinds["Apache-2.0"] = [metadata.distribution("requests").read_text("licenses/LICENSE") or ""]
    return [(about, texts or [parts(text)[1] for text in kinds[about.get("license", "MIT")]]) for about, texts in found]


def parts(text: str) -> tuple[list[str], str]:
    """Return the holders of copyright, where a text begins with them, and the rest of it."""
    last = [found for found in HOLDER.finditer(text) if text.count("\n", 0, found.end()) < 10][-1:]
    if last and HOLDER.search(text, last[0].end()) is None:
        return [holder.strip() for holder in HOLDER.findall(text)], text[last[0].end() :]
    if last or MIT not in text:
        return [], text
    return [], text[text.index(MIT) :]


def main() -> None:
    """Write what is not current."""
    NOTICES.mkdir(exist_ok=True)
    if not (CHARTS.exists() and CHARTS.read_text(encoding="utf-8").startswith(f"plotly.js {get_plotlyjs_version()} ")):
        CHARTS.write_text(charts(), encoding="utf-8")
    FONTS.write_text(fonts(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
