"""Let the coverage of a reader guide its fuzzing: ``uv run --with atheris python -m tests.fuzz.guided YAML 60``.

The arguments are a reader's name as the soak prints it, and seconds. Atheris is not among the project's packages, so
that this needs it installed besides; inputs that did something new are kept in a temporary folder only.
"""

import importlib
import sys
import tempfile
from pathlib import Path

from tests.fuzz.soak import SECONDS, TRACED


def main() -> None:
    """Fuzz one reader; libFuzzer ends the process, with an error and the input at the first finding."""
    name, seconds = sys.argv[1], int(sys.argv[2])
    atheris = importlib.import_module("atheris")
    for module in [module for module in sys.modules if module.startswith(("narxbench", "tests.fuzz.targets", "yaml"))]:
        del sys.modules[module]
    with atheris.instrument_imports(include=["yaml", *(f"narxbench.{module}" for module in TRACED)]):
        fresh = importlib.import_module("tests.fuzz.targets")
    folder = Path(tempfile.mkdtemp())
    target = next(target for target in fresh.targets(folder) if target.name == name)
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)
    options = [f"-max_total_time={seconds}", f"-timeout={SECONDS:.0f}", "-max_len=4096", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], str(corpus), *options], lambda data: fresh.outcome(target, data) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
