"""Algorithms that break the contract, and what becomes of each: modules that begin with what `climbing.py` has."""

import inspect
from typing import NamedTuple

from tests.unit.algorithms.plugins.climbing import Found, climb, np, os, random_start


class Cheat(NamedTuple):
    """The text of ``run``, how a run fails, which check of the conformance suite fails and how, and more of the module.

    One that neither fails nor is to fail a check is harmless.
    """

    body: str
    failure: str = ""
    check: str = ""
    message: str = ""
    about: str = ""
    preamble: str = ""

    @property
    def module(self) -> str:
        """The text of the module."""
        about = f'ABOUT = About(reference="None, it is here to be caught", {self.about})'
        run = f"def run(problem, objective, rng, settings):\n{self.body}"
        return f'"""It cheats."""\n\nfrom climbing import *\n\n{about}\n{self.preamble}\n\n\n{run}'


CHEATS: dict[str, Cheat] = {}
LIMIT = "not done after the time limit of 1 s"
ENDED = "its process has ended before it has returned a structure"


def cheat(**expected):
    """Enter the body of a function into the table."""

    def enter(run):
        CHEATS[run.__name__] = Cheat(inspect.getsource(run).partition("settings):\n")[2], **expected)
        return run

    return enter


def line(name, code, **expected):
    """Enter an algorithm of one line into the table."""
    CHEATS[name] = Cheat(f"    {code}\n", **expected)


def climbing(name, draw="rng.integers", start="None", **expected):
    """Enter an algorithm that climbs by these draws from this start."""
    line(name, f"return climb(objective, {draw}, {start})", **expected)


# ---- J, its counts and its record stay outside.


@cheat(failure="it evaluates more than the budget allows")
def reset_count(problem, objective, rng, settings):
    for _ in range(10):
        result = climb(objective, rng.integers)
        objective._remaining = objective.budget
    return result


@cheat(failure="it returns a structure that it did not evaluate, and nothing is left of the budget")
def forged_record(problem, objective, rng, settings):
    climb(objective, rng.integers)
    objective._fitness, objective._position = -1e9, np.ones(objective.n_terms, np.uint8)
    objective._evaluated = lambda positions: np.full(len(positions), -1e9)
    objective._remaining = 5
    objective.evaluate(objective._position[None])
    return Found(objective.best_position)


@cheat()
def forged_answer(problem, objective, rng, settings):
    """Answers in place of the process that it runs in."""
    import json

    best = climb(objective, rng.integers).position.tolist()
    answer = {"position": best, "coefficients": None, "details": {}, "fitness": -1e9, "evaluations": 1}
    objective._channel.send(b"a" + json.dumps(answer).encode())
    os._exit(0)


line("no_structures", "objective._channel.send(b'e' + bytes(7))", failure="it sends no structures")
line("no_answer", "objective._channel.send(b'a[]')", failure="it sends no message")
line("ends_early", "os._exit(0)", failure=ENDED)

# ---- It sees what the contract gives.


@cheat(about="deterministic=True, needs_objective=False")
def sees_all(problem, objective, rng, settings):
    """Tells what it sees by the weights of all terms."""
    arrays = [getattr(problem, name) for name in ("gram", "moments", "u", "y", "rows", "training_u", "training_y")]
    arrays += [problem.stretches, problem.segments, problem.penalties[:7], problem.regressors(), problem.outputs()]
    weights = np.zeros(objective.n_terms)
    weights[: len(arrays)] = [np.ravel(array) @ np.arange(1.0, 1.0 + np.size(array)) for array in arrays]
    return Found(np.ones(objective.n_terms, np.uint8), weights)


# ---- Each run begins anew, and gives the same again.


@cheat(preamble="KNOWN = []")
def memory(problem, objective, rng, settings):
    result = climb(objective, rng.integers, KNOWN[-1].copy() if KNOWN else random_start(objective, rng))  # noqa: F821
    KNOWN.append(result.position)  # noqa: F821
    return result


@cheat()
def global_generators(problem, objective, rng, settings):
    """Draws from the global generators, which are seeded for each run."""
    import random

    return climb(objective, lambda below: (np.random.randint(below) + random.randrange(below)) % below)


@cheat(check="same seed", message="differs from evaluation")
def memory_file(problem, objective, rng, settings):
    """Leaves its structure in the working folder, which its process keeps."""
    from pathlib import Path

    file = Path("remembered.npy")
    start = random_start(objective, rng)
    if file.exists() and file.stat().st_size == 128 + objective.n_terms:
        start = np.load(file)
    result = climb(objective, rng.integers, start)
    np.save(file, result.position)
    return result


# ---- Limits.

MEMORY = r"it needs more than its memory limit of 4\.0 GiB: "
LARGE = MEMORY + r".*Unable to allocate 24\.0 GiB .*much_memory\.py"
LONG = r"it sends a message of \d+ bytes; allowed: \d+$"
climbing("much_memory", start="np.ones(24 << 30, np.uint8)[: objective.n_terms]", failure=LARGE)
line("long_message", "objective._channel.send(bytes(10_000_000))", failure=LONG)
line("hangs", "while True: pass", failure=LIMIT)
line(
    "endless_message", "objective._channel.socket.sendall(bytes(7) + b'\\xff'); os.kill(os.getpid(), 19)", failure=LIMIT
)
line("stops_its_parent", "os.kill(os.getppid(), 19); return climb(objective, rng.integers)", failure=LIMIT)


@cheat()
def leaves_children(problem, objective, rng, settings):
    """Leaves two processes in its process group."""
    import time
    from pathlib import Path

    reported = Path(__file__).with_name("left.txt")
    for _ in range(2):
        if not os.fork():
            with reported.open("a") as stream:
                stream.write(f"{os.getpid()} ")
            time.sleep(600)
            os._exit(0)
    while not reported.exists() or len(reported.read_text().split()) < 2:
        time.sleep(0.01)
    return climb(objective, rng.integers)


# ---- Ends, and what it prints.

line("crashes", "ctypes.string_at(0)", failure=ENDED, preamble="import ctypes")
line("ends_its_parent", "os.kill(os.getppid(), 9)", failure=ENDED)
line("raises", "np.zeros(3).reshape(2, 2)", failure=r"ValueError: cannot reshape .* \(raises\.py, line \d+\)")


@cheat(preamble='import atexit\n\natexit.register(print, "{}")\nprint("{")')
def prints(problem, objective, rng, settings):
    import sys

    print("{}" * 1000)
    os.write(1, b"\xff\0" * 1000)
    os.write(2, b"\xff\0" * 1000)
    sys.stdout.close()
    return climb(objective, rng.integers)


# ---- The conformance suite: draws.

FIXED = "seeds 1 and 2 give the same run of 600 evaluations; allowed: deterministic=True"
DIFFERENT = "seeds 1 and 2 give different runs, and it declares deterministic=True"
RANDOM = "random_start(objective, rng)"
climbing("entropy_system", "lambda n: os.urandom(1)[0] % n", check="same seed", message="differs from evaluation")
climbing("fixed_seed", "np.random.default_rng(42).integers", check="other seeds", message=FIXED)
climbing("not_deterministic", check="other seeds", message=DIFFERENT, about="deterministic=True")

# ---- The conformance suite: budgets, and problems of other sizes and kinds.


@cheat(
    check="runs", message="with a budget of 600 it ends after 15 evaluations; allowed: all of them, or .*stops_early"
)
def early(problem, objective, rng, settings):
    objective.evaluate(np.eye(objective.n_terms, dtype=np.uint8))
    return Found(objective.best_position)


SIZE = "IndexError: index 2 is out of bounds"
SHARE = f"{RANDOM} * int(1.0 / problem.output_energy > 0.0)"
climbing("two_terms", start="np.eye(objective.n_terms, dtype=np.uint8)[2]", check="candidates", message=SIZE)
climbing("correlations", start=SHARE, check="corner cases", message="zero output: .*ZeroDivisionError")


# ---- The conformance suite: declarations.

STEP = 'class Settings(Strict):\n    """Settings."""\n\n    step: int = '
NOTHING = STEP + 'Field(default=1, ge=1, description="nothing")'
NO_EFFECT = r"ABOUT\.options: step = 2 changes nothing"
REFUSED = "settings: step: found 0; allowed: a whole number of at least 1; why"
NONE_NEEDED = "it makes 600 evaluations, and declares needs_objective=False"
TWO = 'options={"step": [2]}'
climbing("no_objective", check="runs", message=NONE_NEEDED, about="needs_objective=False")
climbing("settings_without_text", check="settings", message="'step' has no description", preamble=f"{STEP}1")
climbing("option_without_effect", check="options", message=NO_EFFECT, about=TWO, preamble=NOTHING)
climbing("option_refused", check="options", message=REFUSED, about='options={"step": [0]}', preamble=NOTHING)

# ---- Honest ones.


@cheat(about="deterministic=True, needs_objective=False")
def honest_mean(problem, objective, rng, settings):
    """The constant alone, with a weight of its own; asks for no J, draws from a fixed seed, refuses outputs of zero."""
    rows = np.random.default_rng(0).permutation(problem.n_rows)[: problem.n_rows // 2 + 1]
    position, mean = np.zeros(objective.n_terms, np.uint8), float(problem.outputs()[rows].mean())
    position[problem.terms.index("1")] = 1
    if not problem.y.any():
        raise ValueError("no output")
    return Found(position, [mean])


@cheat(about="deterministic=True, needs_objective=False")
def honest_names(problem, objective, rng, settings):
    """Returns names of terms: the constant and the last candidate."""
    return ["1", problem.terms[-1]]


HONEST = ("honest_annealing", "honest_mean", "honest_names")
HARMLESS = [name for name, cheat in CHEATS.items() if not (cheat.failure or cheat.check or cheat.about)]
