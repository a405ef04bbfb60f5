"""What is noted of an algorithm's random numbers, and clocks that run wrong: they find mistakes, and stop nobody."""

import pickle
import random
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np


def global_states() -> dict[str, bytes]:
    """Return the states of the global generators of random numbers, by name."""
    states = {"numpy.random": np.random.get_state(legacy=False), "random": random.getstate()}
    return {name: pickle.dumps(state) for name, state in states.items()}


class Draws:
    """Notes what generators of random numbers an algorithm makes, and from what.

    ``own`` is its package or module. What others make when they are imported is not noted.
    """

    def __init__(self, own: str) -> None:
        self.made: list[str] = []
        self._own = own
        for name in ("RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
            setattr(np.random, name, self._noting(getattr(np.random, name)))
        setattr(np.random, "default_rng", self._noted_call(np.random.default_rng))  # noqa: B010
        for name in ("Random", "SystemRandom"):
            setattr(random, name, self._noting(getattr(random, name)))

    def seed_global(self, seed: int) -> None:
        """Seed the global generators, so that even an algorithm that draws from them gives the same run again."""
        np.random.seed(seed)
        random.seed(seed)
        self._states = global_states()

    def used_global(self) -> list[str]:
        """Return the global generators that were drawn from."""
        return [name for name, state in global_states().items() if state != self._states[name]]

    def _note(self, kind: str, seed: Any) -> None:
        if isinstance(seed, (np.random.Generator, np.random.BitGenerator)) or hasattr(seed, "spawn_key"):
            return  # made from another generator
        if not self._imported_by_others():
            self.made.append(f"{kind}({'' if seed is None else repr(seed)[:200]})")

    def _imported_by_others(self) -> bool:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if f"{frame.f_globals.get('__name__')}.".startswith(f"{self._own}."):
                return False
            if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
                return True
            frame = frame.f_back
        return False

    def _noting(self, kind: Any) -> Any:
        note = self._note

        class Instances(type):
            def __instancecheck__(cls, instance: Any) -> bool:
                return isinstance(instance, kind)

        class Noting(kind, metaclass=Instances):
            def __new__(cls, *args: Any, **settings: Any) -> Any:
                note(kind.__name__, next(iter((*args, *settings.values())), None))
                return super().__new__(cls, *args, **settings)

        Noting.__name__ = kind.__name__
        return Noting

    def _noted_call(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def default_rng(seed: Any = None) -> Any:
            self._note("default_rng", seed)
            return make(seed)

        return default_rng


def wrong_clocks() -> None:
    """Let the clocks of :mod:`time` run fast and unevenly: what depends on them gives another result.

    The class ``datetime`` stays as it is, for compiled packages rely on it.
    """
    ticks = iter(range(1, 1 << 62))
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        began = getattr(time, name)()
        setattr(time, name, lambda began=began: began + 7.31 * next(ticks))
        setattr(time, f"{name}_ns", lambda began=began: int(1e9 * began) + 7_310_000_001 * next(ticks))
