"""The steps of a reader of docs/own_algorithm.md: files to save, commands, and what they print."""

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/own_algorithm.md"
# Language and content of each block.
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def files_to_save():
    """Return the files that the page says to save, by the names in their first lines."""
    files = {}
    for _, content in BLOCKS:
        match = re.match(r"# (\S+\.\w+)\n", content)
        if match:
            files[match[1]] = content
    return files


def console_commands():
    """Return each command and the text that it prints by the block after it, or nothing."""
    commands = []
    for (language, content), (next_language, next_content) in pairwise([*BLOCKS, ("", "")]):
        if not language:
            commands.append((content.strip(), next_content if next_language == "text" else ""))
    return commands


def examples():
    """Return the examples in Python as one text."""
    contents = [content for language, content in BLOCKS if language == "python"]
    return "\n".join(content for content in contents if content.startswith(">>>"))


def run_command(command, folder, *paths):
    """Return the process of a command of the page, run in a checkout with further import paths."""
    words = shlex.split(command.removeprefix("python3 -m uv run "))
    module = {"narxbench": "narxbench._cli"}.get(words[0], words[0])
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
    """Return whether a text is the shown one, in which three dots stand for anything."""
    pattern = ".*".join(map(re.escape, shown.split("...")))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None
