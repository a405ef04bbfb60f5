"""Changes what it is given, as far as it can."""

import gc

from dishonest._climb import ABOUT, Settings, climb, np, random_start

__all__ = ["ABOUT", "Settings", "run"]


def run(problem, objective, rng, settings):
    found = climb(objective, rng.integers, random_start(objective, rng))
    for array in [problem.gram, problem.moments, problem.u, problem.y, *problem._arrays.values(), *gc.get_objects()]:
        if isinstance(array, np.ndarray) and array.dtype == float:
            try:
                array.flags.writeable = True
                array[...] = 0.0
            except ValueError:
                pass
    return found
