"""What a pipeline said and made where something went wrong, as the tests of disk, damage and failures look at it."""

import re

from tests.robustness.pipelines import Copy
from tests.workflow.project import RESULTS


def wrong_results(copy: Copy, ordinary: Copy) -> set[str]:
    """Return the results that are there, hidden ones included, and are not those of the undisturbed run."""
    right = ordinary.results()
    return {path for path, content in copy.contents(*RESULTS).items() if content != right.get(path)}


def told(printed: str, ending: str) -> dict[str, str]:
    """Return what is said of each file, in a line of its own with this ending; nothing shows lines of code."""
    for sign in ("Traceback", "Logging error"):
        assert sign not in printed, printed
    return dict(re.findall(rf"^narxbench: (\S+): (.*){re.escape(ending)}$", printed, re.MULTILINE))
