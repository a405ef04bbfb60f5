"""Algorithms in separate processes: those of other packages, and those that need other packages.

The objective stays in the calling process, which evaluates, counts and records, and evaluates the returned structure
again. A run has a fresh process, limits of time, memory and size of its messages, and ends with its caller. No more
than that is promised: the process may do what the user may do. ``SECURITY.md`` has the list.

The process is a plain subprocess that imports the algorithm once and forks for each run. ``multiprocessing`` imports
the user's main script again, which fails where it has no ``if __name__ == "__main__"``, and loky ends no single task.
pebble ends a task at a limit of time, but not what the task has forked. All three unpickle what the process sends, do
not bound its memory, and leave a busy process behind when its caller is killed. Begin with
:mod:`narxbench._algorithms.isolation.host`.
"""
