import numpy as np

from narxbench._algorithms.stepwise import best_of, flips, swaps

POSITION = np.array([1, 0, 1, 0, 0], np.uint8)


def test_neighbours_are_all_structures_one_step_away():
    for neighbours, count, distance in ((flips, 5, 1), (swaps, 6, 2)):
        rows = np.concatenate(list(neighbours(POSITION)))
        assert len(rows) == len({row.tobytes() for row in rows}) == count
        assert ((rows ^ POSITION).sum(axis=1) == distance).all()
        assert neighbours is flips or (rows.sum(axis=1) == 2).all()


def test_the_best_of_several_batches_is_the_first_of_equal_ones():
    values = iter([np.array([3.0, 2.0]), np.array([]), np.array([np.inf, 2.0]), np.array([5.0])])
    batches = [np.eye(5, dtype=np.uint8)[rows] for rows in ([0, 1], [], [2, 3], [4])]
    position, fitness = best_of(batches, lambda _: next(values))
    assert (position.tolist(), fitness) == ([0, 1, 0, 0, 0], 2.0)
    assert best_of(batches[:1], lambda _: np.full(2, np.inf)) == (None, np.inf)
