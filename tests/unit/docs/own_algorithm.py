"""The page docs/own_algorithm.md, as what a reader does: files that are saved, commands, what they print."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/own_algorithm.md"
# Language and content of each block.
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def saved():
    """Return the files that the page says to save: their names stand in the first line of the block."""
    files = (re.match(r"# (\S+\.\w+)\n", content) for _, content in BLOCKS)
    return {match[1]: match.string for match in files if match}


def console():
    """Return each command, and what the block after it says that it prints."""
    following = [*BLOCKS[1:], ("", "")]
    return [
        (command.strip(), *_text(after)) for (kind, command), after in zip(BLOCKS, following, strict=True) if not kind
    ]


def _text(block):
    return [block[1] if block[0] == "text" else ""]


def examples():
    """Return the examples in Python as one text."""
    return "\n".join(content for kind, content in BLOCKS if kind == "python" and content.startswith(">>>"))


def typed(command, folder, *paths):
    """Return the process of a command of the page, typed in a folder that is a checkout, with further import paths."""
    words = shlex.split(command.removeprefix("python3 -m uv run "))
    module = {"narxbench": "narxbench.cli"}.get(words[0], words[0])
    imports = os.pathsep.join(map(str, (folder / "src", *paths)))
    return subprocess.run(
        [sys.executable, "-m", module, *words[1:]],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": imports},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )


def matches(printed, shown):
    """Whether a text is the shown one, whose three dots stand for anything."""
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None
