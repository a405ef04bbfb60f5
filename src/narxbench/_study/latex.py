"""LaTeX documents as PDF files, by the LaTeX that is installed."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from narxbench._io.errors import NarxbenchError
from narxbench._io.words import listed

PROGRAMS = ("pdflatex", "bibtex", "kpsewhich")
# The class and its fonts, the style of the references, and the packages that tables need.
FILES = ("IEEEtran.cls", "IEEEtran.bst", "ptmr8t.tfm", "booktabs.sty", "multirow.sty", "adjustbox.sty")
DEBIAN_PACKAGES = (
    "texlive-latex-recommended",
    "texlive-latex-extra",
    "texlive-publishers",
    "texlive-fonts-recommended",
)
_LIMIT = 300  # seconds of one call, unless it hangs
_NAME = "document"


def missing_parts() -> list[str]:
    """Return the programs and files of LaTeX that are not installed."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if not missing:
        for name in FILES:
            # PATH says which LaTeX is meant.
            if subprocess.run(["kpsewhich", name], capture_output=True).returncode:  # nosec B607
                missing.append(name)
    return missing


def check_latex() -> None:
    """Raise NarxbenchError with what to install if a part of LaTeX is missing."""
    missing = missing_parts()
    if missing:
        remedy = f"on Debian: apt-get install {' '.join(DEBIAN_PACKAGES)}"
        raise NarxbenchError(f"LaTeX: found no {listed(missing)}; {remedy}")


def compiled(source: str, references: str, figures: Mapping[str, bytes]) -> bytes:
    """Return the PDF of a LaTeX document with its BibTeX references and figures by file name.

    Its bytes depend on nothing but these and the version of LaTeX. The document names its references ``document``. What
    LaTeX complains about raises NarxbenchError.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"{_NAME}.tex").write_text(source, encoding="utf-8")
        (folder / f"{_NAME}.bib").write_text(references, encoding="utf-8")
        for file, content in figures.items():
            (folder / file).write_bytes(content)
        latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", _NAME]
        for command in (latex, ["bibtex", _NAME], latex, latex):
            _call(command, folder)
        return (folder / f"{_NAME}.pdf").read_bytes()


def _call(command: list[str], folder: Path) -> None:
    """Run a program of LaTeX; its first complaint raises NarxbenchError."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT
    )
    if done.returncode:
        printed = done.stdout.decode("utf-8", "replace")
        complaint = re.search(r"^(?:! .*|.*---.*)$", printed, re.MULTILINE)
        raise NarxbenchError(f"{command[0]}: {complaint[0] if complaint else printed[-300:]}")
