"""Algorithms that do what they must not, and how each is caught.

Each becomes ``run`` of a module of its own, which begins with what `climbing.py` has: a function, or one line.
"""

import inspect
from typing import NamedTuple

from tests.unit.algorithms.plugins.climbing import Found, Path, climb, np, os, random_start


class Cheat(NamedTuple):
    """What an algorithm does, how its run fails, which check finds it and what that says, and more of its module.

    One without an expectation is harmless.
    """

    body: str
    fails: str = ""
    check: str = ""
    words: str = ""
    about: str = ""
    more: str = ""

    @property
    def module(self) -> str:
        """The text of the module."""
        about = f'ABOUT = About(reference="None, it is here to be caught", {self.about})'
        run = f"def run(problem, objective, rng, settings):\n{self.body}"
        return f'"""It cheats."""\n\nfrom climbing import *\n\n{about}\n{self.more}\n\n\n{run}'


CHEATS: dict[str, Cheat] = {}
# The kernel lets root start processes in spite of a limit.
ROOT = os.getuid() == 0
LIMIT = "not done after the time limit of 2 s"
ENDED = "its process has ended before it has returned a structure"


def cheat(**expected):
    """Enter a function into the table."""

    def enter(run):
        CHEATS[run.__name__] = Cheat(inspect.getsource(run).partition("settings):\n")[2], **expected)
        return run

    return enter


def line(name, code, **expected):
    """Enter an algorithm of one line into the table."""
    CHEATS[name] = Cheat(f"    {code}\n", **expected)


def climbing(name, draw="rng.integers", start="None", **expected):
    """Enter one that climbs by these draws from this start."""
    line(name, f"return climb(objective, {draw}, {start})", **expected)


# ---- Draws.

SALT = "SALT = int.from_bytes(os.urandom(4), 'little')"
GLOBAL = r"it draws from the global generator of numpy\.random; allowed: the generator that run\(\)"
UNUSED = r"it makes RandomState\(\), which draws from the system"
THERE = "a run made with seed 1 in another process differs from evaluation"
FIXED = "seeds 1 and 2 give the same run of 1500 evaluations; allowed: deterministic=True"
DIFFERENT = "seeds 1 and 2 give different runs, and it declares deterministic=True"
OWN, RANDOM = "OWN = np.random.default_rng(42)", "random_start(objective, rng)"
CONSTANT = r"it makes default_rng\(42\) whatever the seed"
climbing("global_numpy", "np.random.randint", fails=GLOBAL)
climbing("entropy_system", "lambda n: os.urandom(1)[0] % n", check="same seed", words="differs from evaluation")
climbing("entropy_unused", "np.random.RandomState() and rng.integers", check="generators", words=UNUSED)
climbing("entropy_imported", "lambda n: (rng.integers(1 << 31) ^ SALT) % n", check="same seed", words=THERE, more=SALT)
climbing("fixed_seed", "np.random.default_rng(42).integers", check="other seeds", words=FIXED)
climbing("fixed_seed_imported", "OWN.integers", RANDOM, check="generators", words=CONSTANT, more=OWN)
climbing("not_deterministic", check="other seeds", words=DIFFERENT, about="deterministic=True")


@cheat(check="fixed stream", words=r"the same structures at the same time \([0-9]+% more often than by chance\)")
def fixed_stream_own(problem, objective, rng, settings):
    state = 1

    def draw(below):
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return (state >> 8) % below

    return climb(objective, draw, random_start(objective, rng))


@cheat(check="clocks", words=r"with other clocks its run differs from evaluation \d+ on")
def clock(problem, objective, rng, settings):
    import time

    end = time.monotonic() + 60.0
    return climb(objective, lambda below: int(rng.integers(below)) if time.monotonic() < end else 0)


# ---- What it remembers of earlier runs.


@cheat(more="KNOWN = []")
def memory(problem, objective, rng, settings):
    found = climb(objective, rng.integers, KNOWN[-1].copy() if KNOWN else random_start(objective, rng))  # noqa: F821
    KNOWN.append(found.position)  # noqa: F821
    return found


@cheat(check="same seed", words="differs from evaluation")
def memory_file(problem, objective, rng, settings):
    file = Path("remembered.npy")
    start = random_start(objective, rng)
    if file.exists() and file.stat().st_size == 128 + objective.n_terms:
        start = np.load(file)
    found = climb(objective, rng.integers, start)
    np.save(file, found.position)
    return found


@cheat(check="same seed", words="differs from evaluation", more="import mmap\n\nKNOWN = mmap.mmap(-1, 4096)")
def memory_shared(problem, objective, rng, settings):
    known = np.frombuffer(KNOWN[: objective.n_terms], np.uint8)  # noqa: F821
    found = climb(objective, rng.integers, known.copy() if known.any() else random_start(objective, rng))
    KNOWN[: objective.n_terms] = found.position.tobytes()  # noqa: F821
    return found


# ---- The objective and its record.


@cheat(fails="it evaluates more than the budget allows")
def reset_count(problem, objective, rng, settings):
    for _ in range(10):
        found = climb(objective, rng.integers)
        objective._remaining = objective.budget
    return found


@cheat(fails="it returns a structure that it did not evaluate, and nothing is left of the budget")
def forged_record(problem, objective, rng, settings):
    climb(objective, rng.integers)
    objective._fitness, objective._position = -1e9, np.ones(objective.n_terms, np.uint8)
    objective._evaluated = lambda positions: np.full(len(positions), -1e9)
    objective._remaining = 5
    objective.evaluate(objective._position[None])
    return Found(objective.best_position)


@cheat()
def forged_answer(problem, objective, rng, settings):
    """Answers itself, in place of the process that it runs in, and leaves out what was noted of it."""
    from narxbench.algorithms.isolation.wire import send

    best = climb(objective, lambda below: np.random.randint(below)).position
    send(objective._to, {"kind": "found", "fitness": -1e9, "evaluations": 1}, {"position": best})
    os._exit(0)


@cheat(check="a run", words="with a budget of 600 it ends after 15 evaluations; allowed: all of them, or .*stops_early")
def early(problem, objective, rng, settings):
    objective.evaluate(np.eye(objective.n_terms, dtype=np.uint8))
    return Found(objective.best_position)


@cheat(check="budgets", words=r"AssertionError: .*\(small_budget\.py, line \d+\)")
def small_budget(problem, objective, rng, settings):
    population = objective.evaluate(rng.integers(0, 2, (30, objective.n_terms)))
    assert np.isfinite(population).sum() >= 5
    return climb(objective, rng.integers)


# ---- The data, and what lies elsewhere.


@cheat()
def mutated_data(problem, objective, rng, settings):
    """Changes what it is given, as far as it can."""
    import gc

    found = climb(objective, rng.integers, random_start(objective, rng))
    for array in [problem.gram, problem.moments, problem.u, problem.y, *problem._arrays.values(), *gc.get_objects()]:
        if isinstance(array, np.ndarray) and array.dtype == float:
            try:
                array.flags.writeable = True
                array[...] = 0.0
            except ValueError:
                pass
    return found


@cheat()
def searched_memory(problem, objective, rng, settings):
    """Looks for the problem in its memory, and fails if it finds it."""
    import gc

    from narxbench.algorithms.objective import CountedObjective
    from narxbench.fitness.problem import StructureProblem

    for found in gc.get_objects():
        if isinstance(found, (StructureProblem, CountedObjective)) or type(found).__name__ == "ProblemData":
            raise RuntimeError(f"found {type(found).__name__}")
        if isinstance(found, np.ndarray) and found.shape == (problem.n_validation,):
            raise RuntimeError("found the validation part")
    return climb(objective, rng.integers)


@cheat(about="deterministic=True, needs_objective=False")
def sees_all(problem, objective, rng, settings):
    """Tells what it sees by the weights of all terms."""
    arrays = [getattr(problem, name) for name in ("gram", "moments", "u", "y", "rows", "training_u", "training_y")]
    arrays += [problem.stretches, problem.segments, problem.penalties[:7], problem.regressors(), problem.outputs()]
    weights = np.zeros(objective.n_terms)
    weights[: len(arrays)] = [np.ravel(array) @ np.arange(1.0, 1.0 + np.size(array)) for array in arrays]
    return Found(np.ones(objective.n_terms, np.uint8), weights)


# ---- Limits of the operating system.

MEMORY = r"it needs more than its memory limit of 4\.0 GiB: "
LARGE = MEMORY + r".*Unable to allocate 24\.0 GiB .*much_memory\.py"
SHARED = MEMORY + "OSError: .*Cannot allocate memory"
climbing("much_memory", start="np.ones(24 << 30, np.uint8)[: objective.n_terms]", fails=LARGE)
climbing("much_memory_shared", start="mmap.mmap(-1, 24 << 30)", fails=SHARED, more="import mmap")


@cheat(fails="" if ROOT else "it starts a process, and ABOUT does not say starts_programs=True: BlockingIOError")
def leaves_children(problem, objective, rng, settings):
    """Leaves a process in its own group, and one that has left group and parent."""
    import time

    reported = Path(__file__).with_name("left.txt")
    for leave in (False, True):
        if not os.fork():
            if leave:
                os.setsid()
            if not leave or not os.fork():
                with reported.open("a") as stream:
                    stream.write(f"{os.getpid()} ")
                time.sleep(600)
            os._exit(0)
    while not reported.exists() or len(reported.read_text().split()) < 2:
        time.sleep(0.01)
    return climb(objective, rng.integers)


# ---- Messages that no objective sends, and structures of another shape.

COLUMNS = r"positions: found shape \(5, 18\); allowed: \(structures, 15\)"
line("three_columns_too_many", "objective.evaluate(np.ones((5, objective.n_terms + 3), np.uint8))", fails=COLUMNS)
line("sent_bytes", "objective._to.sendall(rng.bytes(100_000))", fails="it sends no message")


@cheat(more='import atexit\n\natexit.register(print, "{}")\nprint("{")')
def prints(problem, objective, rng, settings):
    import sys

    print("{}" * 1000)
    os.write(1, b"\xff\0" * 1000)
    os.write(2, b"\xff\0" * 1000)
    sys.stdout.close()
    return climb(objective, rng.integers)


# ---- Ends.

line("hangs", "while True: pass", fails=LIMIT)
line("crashes", "ctypes.string_at(0)", fails=ENDED, more="import ctypes")
line("ends_its_parent", "os.kill(os.getppid(), 9)", fails=ENDED)
line("raises", "np.zeros(3).reshape(2, 2)", fails=r"ValueError: cannot reshape .* \(raises\.py, line \d+\)")

# ---- Problems of other sizes and kinds.

HUNDRED, SIZE = "IndexError: .* for axis 0 with size 100", "IndexError: index 2 is out of bounds"
SHARE = f"{RANDOM} * int(1.0 / problem.output_energy > 0.0)"
climbing("two_terms", start="np.eye(objective.n_terms, dtype=np.uint8)[2]", check="two candidate terms", words=SIZE)
climbing("many_terms", "lambda n: np.arange(100)[rng.integers(n)]", check="many candidate terms", words=HUNDRED)
climbing("correlations", start=SHARE, check="corner cases", words="zero output: .*ZeroDivisionError")


# ---- What the module says of itself.

STEP = 'class Settings(Strict):\n    """Settings."""\n\n    step: int = '
NOTHING = STEP + 'Field(default=1, ge=1, description="nothing")'
ANY_NAME = 'class Settings(Strict, extra="allow"):\n    """Settings."""'
NO_EFFECT, NO_SETTING = (rf"ABOUT\.options: step = 2 {what}" for what in ("changes nothing", "is no other value of a"))
REFUSED = "settings: step: found 0; allowed: a whole number of at least 1$"
NONE_NEEDED = "it makes 600 evaluations, and declares needs_objective=False"
TWO = 'options={"step": [2]}'
climbing("no_objective", check="a run", words=NONE_NEEDED, about="needs_objective=False")
climbing("settings_without_text", check="settings", words="'step' has no description", more=f"{STEP}1")
climbing("settings_of_any_name", check="settings", words="an unknown setting is accepted", more=ANY_NAME)
climbing("option_without_effect", check="options", words=NO_EFFECT, about=TWO, more=NOTHING)
climbing("option_refused", check="options", words=REFUSED, about='options={"step": [0]}', more=NOTHING)
climbing("option_of_no_setting", check="options", words=NO_SETTING, about=TWO)

# ---- Honest ones.


@cheat()
def honest_tabu(problem, objective, rng, settings):
    """Tabu search, deterministic after a random start (Glover, Computers and Operations Research 13, 1986)."""
    position, allowed_from, step = random_start(objective, rng), np.zeros(objective.n_terms), 0
    while True:
        flips = position ^ np.eye(objective.n_terms, dtype=np.uint8)
        chosen = np.where(allowed_from > step, np.inf, objective.evaluate(flips)).argmin()
        position, allowed_from[chosen], step = flips[chosen], step + 4, step + 1


@cheat(about="deterministic=True, needs_objective=False")
def honest_mean(problem, objective, rng, settings):
    """The constant alone, with a weight of its own; asks for no J, draws from a fixed seed, refuses huge numbers."""
    rows = np.random.default_rng(0).permutation(problem.n_rows)[: problem.n_rows // 2 + 1]
    position, mean = np.zeros(objective.n_terms, np.uint8), float(problem.outputs()[rows].mean())
    position[problem.terms.index("1")] = 1
    if abs(mean) > 1e9:
        raise ValueError("too large")
    return Found(position, [mean])


HONEST = ("honest_annealing", "honest_mean", "honest_tabu")
HARMLESS = [name for name, cheat in CHEATS.items() if not cheat.fails and not cheat.check and not cheat.about]
