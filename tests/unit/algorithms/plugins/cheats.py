"""Algorithms that do what they must not, and how each is caught.

Each function becomes ``run`` of a module of its own, which begins with what `climbing.py` has, so that a default of a
parameter is made when the module is imported.
"""

import inspect
from collections.abc import Callable
from typing import NamedTuple

from tests.unit.algorithms.plugins.climbing import (
    BudgetSpentError,
    Found,
    Path,
    climb,
    np,
    os,
    random_start,
)


class Cheat(NamedTuple):
    """An algorithm, how its run fails, which check finds it and what that says, and more of its module."""

    run: Callable[..., object]
    fails: str
    check: str
    words: str
    about: str
    more: str

    @property
    def module(self) -> str:
        """The text of the module."""
        name, source = self.run.__name__, inspect.getsource(self.run)
        source = source[source.index(f"def {name}(") :].replace(f"def {name}(", "def run(", 1)
        about = f'ABOUT = About(reference="None, it is here to be caught", {self.about})'
        return f'"""It cheats: {name}."""\n\nfrom climbing import *\n\n{about}\n{self.more}\n\n\n{source}'


CHEATS: dict[str, Cheat] = {}
# The kernel lets root start processes in spite of a limit.
ROOT = os.getuid() == 0
LIMIT = "not done after the time limit of 2 s"


def cheat(*, fails="", check="", words="", about="", more=""):
    """Enter a function into the table; one without an expectation is harmless."""

    def enter(run):
        CHEATS[run.__name__] = Cheat(run, fails, check, words, about, more)
        return run

    return enter


def setting(*, description):
    """Return the text of settings with a setting ``step``."""
    value = f'Field(default=1, ge=1, description="{description}")' if description else "1"
    return f'class Settings(Strict):\n    """Settings."""\n\n    step: int = {value}'


# ---- Draws.


@cheat(fails=r"it draws from the global generator of numpy\.random; allowed: the generator that run\(\)")
def global_numpy(problem, objective, rng, settings):
    return climb(objective, np.random.randint)


@cheat(fails="it draws from the global generator of random; allowed")
def global_random(problem, objective, rng, settings):
    import random

    return climb(objective, random.randrange)


@cheat(
    check="global generators",
    words=r"draws from the global generator of numpy\.random; allowed: the generator",
)
def global_late(problem, objective, rng, settings):
    def draw(below):
        late = objective.budget - objective.remaining > 750
        return (np.random.randint if late else rng.integers)(below)

    return climb(objective, draw)


@cheat(check="same seed", words="a run made again after other runs differs from evaluation 1 on")
def entropy_generator(problem, objective, rng, settings):
    return climb(objective, np.random.default_rng().integers)


@cheat(check="same seed", words="differs from evaluation")
def entropy_system(problem, objective, rng, settings):
    return climb(objective, lambda below: int.from_bytes(os.urandom(4), "little") % below)


@cheat(check="generators", words=r"it makes RandomState\(\), which draws from the system")
def entropy_unused(problem, objective, rng, settings):
    np.random.RandomState().randint(5)
    return climb(objective, rng.integers)


@cheat(check="same seed", words="a run made with seed 1 in another process differs from evaluation")
def entropy_imported(problem, objective, rng, settings, salt=int.from_bytes(os.urandom(4), "little")):  # noqa: B008
    return climb(objective, lambda below: (int(rng.integers(1 << 31)) ^ salt) % below)


@cheat(
    check="other seeds",
    words="seeds 1 and 2 give the same run of 1500 evaluations; allowed: deterministic=True",
)
def fixed_seed(problem, objective, rng, settings):
    return climb(objective, np.random.default_rng(42).integers)


@cheat(check="generators", words=r"it makes default_rng\(42\) whatever the seed")
def fixed_seed_imported(problem, objective, rng, settings, own=np.random.default_rng(42)):  # noqa: B008
    return climb(objective, own.integers, random_start(objective, rng))


@cheat(check="fixed stream", words=r"the same structures at the same time \([0-9]+% more often than by chance\)")
def fixed_stream_own(problem, objective, rng, settings):
    state = 1

    def draw(below):
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return (state >> 8) % below

    return climb(objective, draw, random_start(objective, rng))


@cheat(
    check="other seeds",
    words="seeds 1 and 2 give different runs, and it declares deterministic=True",
    about="deterministic=True",
)
def not_deterministic(problem, objective, rng, settings):
    return climb(objective, rng.integers)


@cheat(check="clocks", words=r"with other clocks its run differs from evaluation \d+ on")
def clock(problem, objective, rng, settings):
    import time

    end = time.monotonic() + 60.0
    return climb(objective, lambda below: int(rng.integers(below)) if time.monotonic() < end else 0)


# ---- What it remembers of earlier runs.


@cheat()
def memory(problem, objective, rng, settings, known=[]):  # noqa: B006
    found = climb(objective, rng.integers, known[-1].copy() if known else random_start(objective, rng))
    known.append(found.position)
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


@cheat(
    check="same seed",
    words="differs from evaluation",
    more="import mmap\n\nKNOWN = mmap.mmap(-1, 4096)  # processes share it",
)
def memory_shared(problem, objective, rng, settings):
    known = np.frombuffer(KNOWN[: objective.n_terms], np.uint8)  # noqa: F821
    found = climb(objective, rng.integers, known.copy() if known.any() else random_start(objective, rng))
    KNOWN[: objective.n_terms] = found.position.tobytes()  # noqa: F821
    return found


# ---- The objective and its record.


@cheat(fails="it evaluates more than the budget allows")
def copied_objective(problem, objective, rng, settings):
    import copy

    found = climb(copy.copy(objective), rng.integers)
    return climb(objective, rng.integers, found.position)


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


@cheat(fails="it returns a structure that it did not evaluate, and nothing is left of the budget")
def returns_the_unknown(problem, objective, rng, settings):
    while objective.remaining:
        objective.evaluate(np.eye(objective.n_terms)[:1])
    return Found(np.ones(objective.n_terms))


@cheat()
def ignores_remaining(problem, objective, rng, settings):
    while True:
        objective.evaluate(random_start(objective, rng)[None])


@cheat(about="stops_early=True")
def free_kernel(problem, objective, rng, settings):
    """Climbs for nothing through the kernel of the package, with what data it has."""
    from narxbench.fitness.problem import StructureProblem

    size = min(problem.n_validation, problem.n_rows // 2)
    orders = {"n_u": problem.n_u, "n_y": problem.n_y, "degree": problem.degree}
    own = StructureProblem(problem.u, problem.y, **orders, n_validation=size, criterion=problem.criterion)
    structures = rng.integers(0, 2, (5000, objective.n_terms))
    fitness = own.evaluate_positions(structures)[0]
    objective.evaluate(structures[fitness.argmin()][None])
    return Found(objective.best_position)


@cheat(
    check="a run",
    words="with a budget of 600 it ends after 15 evaluations; allowed: all of them, or .*stops_early",
)
def early(problem, objective, rng, settings):
    objective.evaluate(np.eye(objective.n_terms, dtype=np.uint8))
    return Found(objective.best_position)


@cheat(
    check="a run",
    words="it makes 600 evaluations, and declares needs_objective=False",
    about="needs_objective=False",
)
def no_objective(problem, objective, rng, settings):
    return climb(objective, rng.integers)


@cheat(check="budgets", words=r"AssertionError: .*\(small_budget\.py, line \d+\)")
def small_budget(problem, objective, rng, settings):
    population = objective.evaluate(rng.integers(0, 2, (30, objective.n_terms)))
    assert np.isfinite(population).sum() >= 5
    return climb(objective, rng.integers)


# ---- The data, and what lies elsewhere.


@cheat(fails=r"ValueError: assignment destination is read-only \(read_only_data\.py, line \d+\)")
def read_only_data(problem, objective, rng, settings):
    problem.gram[0] = 0.0
    return climb(objective, rng.integers)


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


# ---- Limits of the operating system.


@cheat(fails=r"it needs more than its memory limit of 4\.0 GiB: .*Unable to allocate 24\.0 GiB .*much_memory\.py")
def much_memory(problem, objective, rng, settings):
    return climb(objective, rng.integers, np.ones(24 << 30, np.uint8)[: objective.n_terms])


@cheat(fails=r"it needs more than its memory limit of .*MemoryError")
def fills_memory_to_the_last_byte(problem, objective, rng, settings):
    from narxbench.algorithms.isolation.worker import limit

    limit(1 << 24)  # the own one would take a minute to fill
    last = ()
    while True:
        last = (last,)


@cheat(fails=r"it needs more than its memory limit of 4\.0 GiB: OSError: .*Cannot allocate memory")
def much_memory_shared(problem, objective, rng, settings):
    import mmap

    return climb(objective, rng.integers, mmap.mmap(-1, 24 << 30))


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


@cheat(fails="its process has ended before it has returned a structure")
def ends_its_parent(problem, objective, rng, settings):
    os.kill(os.getppid(), 9)
    return climb(objective, rng.integers)


# ---- Structures and results of another shape.


@cheat(fails=r"positions: found shape \(5, 18\); allowed: \(structures, 15\)")
def three_columns_too_many(problem, objective, rng, settings):
    objective.evaluate(np.ones((5, objective.n_terms + 3), np.uint8))


@cheat(fails=r"positions: found shape \(15,\); allowed: \(structures, 15\)")
def one_dimension(problem, objective, rng, settings):
    objective.evaluate(np.zeros(objective.n_terms, np.uint8))


@cheat(fails="positions: found another entry than 0 and 1; allowed: 1 where a structure has the term")
def probabilities(problem, objective, rng, settings):
    objective.evaluate(rng.random((5, objective.n_terms)))


@cheat(fails=r"result: found list; allowed: narxbench\.algorithms\.contract\.Found")
def returns_a_list(problem, objective, rng, settings):
    return climb(objective, rng.integers).position.tolist()


@cheat(fails="result: coefficients: allowed: 15 finite numbers, one for each term")
def returns_too_few_weights(problem, objective, rng, settings):
    climb(objective, rng.integers)
    return Found(np.ones(objective.n_terms), [1.0])


# ---- Messages that no objective sends.


@cheat(fails=r"it sends no structures \(positions: found shape \(5, 18\)")
def sent_columns(problem, objective, rng, settings):
    from narxbench.algorithms.isolation.wire import receive, send

    send(objective._to, {"kind": "evaluate"}, {"positions": np.ones((5, objective.n_terms + 3), np.uint8)})
    receive(objective._to, 1 << 20)


@cheat(fails="it sends no message")
def sent_bytes(problem, objective, rng, settings):
    objective._to.sendall(rng.bytes(100_000))


@cheat(fails=LIMIT)
def sent_slowly(problem, objective, rng, settings):
    import struct
    import time

    objective._to.sendall(struct.pack("!I", 1000))
    while True:
        objective._to.sendall(b" ")
        time.sleep(0.2)


@cheat(more='import atexit\n\natexit.register(print, "{}")\nprint("{")')
def prints(problem, objective, rng, settings):
    import sys

    print("{}" * 1000)
    os.write(1, b"\xff\0" * 1000)
    os.write(2, b"\xff\0" * 1000)
    sys.stdout.close()
    return climb(objective, rng.integers)


# ---- Ends.


@cheat(fails=LIMIT)
def swallows_the_end(problem, objective, rng, settings):
    while True:
        try:
            objective.evaluate(random_start(objective, rng)[None])
        except BudgetSpentError:
            continue


@cheat(fails=LIMIT)
def hangs(problem, objective, rng, settings):
    while True:
        pass


@cheat(fails="its process has ended before it has returned a structure")
def crashes(problem, objective, rng, settings):
    import ctypes

    ctypes.string_at(0)


@cheat(fails="SystemExit: 0")
def sys_exits(problem, objective, rng, settings):
    raise SystemExit(0)


@cheat(fails=r"ValueError: cannot reshape .* \(raises\.py, line \d+\)")
def raises(problem, objective, rng, settings):
    np.zeros(3).reshape(2, 2)


# ---- Problems of other sizes and kinds.


@cheat(check="two candidate terms", words="IndexError: index 2 is out of bounds")
def two_terms(problem, objective, rng, settings):
    start = np.zeros(objective.n_terms, np.uint8)
    start[2] = 1
    return climb(objective, rng.integers, start)


@cheat(check="many candidate terms", words="IndexError: .* for axis 0 with size 100")
def many_terms(problem, objective, rng, settings):
    order = np.arange(100)
    return climb(objective, lambda below: order[rng.integers(below)])


@cheat(check="corner cases", words="zero output: .*ZeroDivisionError")
def correlations(problem, objective, rng, settings):
    share = float(problem.moments @ problem.moments) / problem.output_energy
    return climb(objective, rng.integers, random_start(objective, rng) * int(1 / share > 0))


@cheat(check="corner cases", words="huge numbers: .*result: coefficients: allowed: 1 finite numbers")
def infinite_at_huge_numbers(problem, objective, rng, settings):
    objective.evaluate(np.eye(objective.n_terms)[:1])
    climb(objective, rng.integers)
    return Found(np.eye(objective.n_terms)[0], [float(problem.output_energy)])


@cheat(check="corner cases", words="huge numbers: .*its process has ended before it has returned a structure")
def ends_at_huge_numbers(problem, objective, rng, settings):
    if abs(problem.y).max() > 1e154:
        os._exit(1)
    return climb(objective, rng.integers)


# ---- Settings.


@cheat(check="settings", words="setting 'step' has no description", more=setting(description=""))
def settings_without_text(problem, objective, rng, settings):
    return climb(objective, rng.integers)


@cheat(
    check="settings",
    words="an unknown setting is accepted",
    more='class Settings(Strict, extra="allow"):\n    """Settings."""',
)
def settings_of_any_name(problem, objective, rng, settings):
    return climb(objective, rng.integers)


@cheat(
    check="options",
    words=r"ABOUT\.options: step = 2 changes nothing",
    about='options={"step": [2]}',
    more=setting(description="nothing"),
)
def option_without_effect(problem, objective, rng, settings):
    return climb(objective, rng.integers)


@cheat(
    check="options",
    words="settings: step: found 0; allowed: a whole number of at least 1$",
    about='options={"step": [0]}',
    more=setting(description="nothing"),
)
def option_refused(problem, objective, rng, settings):
    return climb(objective, rng.integers)


@cheat(
    check="options",
    words=r"ABOUT\.options: step = 2 is no other value of a setting",
    about='options={"step": [2]}',
)
def option_of_no_setting(problem, objective, rng, settings):
    return climb(objective, rng.integers)


HARMLESS = [name for name, cheat in CHEATS.items() if not cheat.fails and not cheat.check and not cheat.about]
