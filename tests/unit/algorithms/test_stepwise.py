import numpy as np

from narxbench.algorithms.stepwise import neighbours


def test_neighbours_are_all_structures_one_step_away():
    position = np.array([1, 0, 1, 0, 0], np.uint8)
    flips, swaps = neighbours(position)
    assert (len(flips), len(swaps)) == (5, 6)
    for rows, distance in ((flips, 1), (swaps, 2)):
        assert ((rows ^ position).sum(axis=1) == distance).all()
        assert len({row.tobytes() for row in rows}) == len(rows)
    assert (swaps.sum(axis=1) == 2).all()
