"""Resamples of the rows that estimate: what the search would find on other data of the same kind."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from narxbench._numerics.random_streams import generator

Rows = NDArray[np.int64]

# Fewer records than these say too little when whole ones are drawn.
MANY_RECORDS = 8
# Records are of similar length if the longest is at most this many times the shortest.
SIMILAR = 1.5


def block_length(n_rows: int, longest_lag: int) -> int:
    """Return the length of the blocks of a moving-block bootstrap, in samples; the lag is times the decimation.

    The largest of n^(1/3), the order that is known to be right (P. Hall, J. L. Horowitz and B.-Y. Jing, Biometrika 82,
    1995, pages 561-574), and of twice the longest lag, so that most rows share a block with those of their lags.
    """
    return max(math.ceil(round(math.cbrt(n_rows), 9)), 2 * longest_lag, 1)


def resample(rows_by_record: Sequence[Rows], block: int, *, number: int, **axes: object) -> Rows:
    """Return a resample of the estimation rows: whole records where there are many alike, else :func:`moving_blocks`.

    >>> resample([np.array([i, i + 1]) for i in range(0, 160, 20)], block=1, number=1).tolist()
    [20, 21, 40, 41, 40, 41, 80, 81, 120, 121, 0, 1, 80, 81, 140, 141]
    """
    sizes = [len(rows) for rows in rows_by_record]
    if len(sizes) < MANY_RECORDS or max(sizes) > SIMILAR * min(sizes):
        return moving_blocks(rows_by_record, block, number=number, **axes)
    drawn = generator(purpose="resample", number=number, **axes).integers(len(sizes), size=len(sizes))
    return np.concatenate([rows_by_record[i] for i in drawn])


def moving_blocks(rows_by_record: Sequence[Rows], block: int, *, number: int, **axes: object) -> Rows:
    """Return blocks of neighbours, drawn with replacement (H. R. Künsch, Annals of Statistics 17, 1989, pages
    1217-1241).

    No block spans two records, whose rows ascend without gaps; a record shorter than a block is a block. As many
    rows are returned as there are. ``axes`` are further ones of the random draws, such as the digest of the data.
    """
    rng = generator(purpose="resample", number=number, **axes)
    records = [rows for rows in rows_by_record if len(rows)]
    sizes = np.array([len(rows) for rows in records])
    lengths = np.minimum(block, sizes)
    drawn: list[Rows] = []
    missing = int(sizes.sum())
    # Then each row of a short record is drawn about as often as one of a long record.
    shares = np.cumsum(sizes / lengths)
    while missing > 0:
        record = min(int(np.searchsorted(shares, rng.random() * shares[-1], side="right")), len(records) - 1)
        start = int(rng.integers(sizes[record] - lengths[record] + 1))
        drawn.append(records[record][start : start + min(int(lengths[record]), missing)])
        missing -= len(drawn[-1])
    return np.concatenate(drawn) if drawn else np.empty(0, np.int64)
