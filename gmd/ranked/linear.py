"""The linear algebra that ratings need, on lists of floats: sparse systems solved, full matrices factored.

Everything is a generator that yields every millisecond or so, so that whoever runs it can let others run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from math import sqrt
from operator import mul

#: A symmetric positive definite matrix: the diagonal, and for each row the other entries that are not 0.
Sparse = tuple[Sequence[float], Sequence[Mapping[int, float]]]

#: Multiplications between two yields: half a millisecond's, or a single one's more.
WORK_A_STEP = 16_384
#: Entries of a sparse matrix between two: each takes several times as long.
LOOKUPS_A_STEP = 4_096
#: How much of the right side a solution may leave, squared and relative: beyond this floats do not get better.
RESIDUE = 1e-24


def dot(one: Iterable[float], other: Iterable[float]) -> float:
    """The sum of the products, as far as both go."""
    return sum(map(mul, one, other), 0.0)


def solve(matrix: Sparse, right: Sequence[float]) -> Generator[None, None, list[float]]:
    """The x for which ``matrix`` times x is ``right``, by conjugate gradients; each step takes as long as the matrix
    has entries, and there are few steps where everybody has met several others.
    """
    diagonal, _ = matrix
    solution, rest = [0.0] * len(right), list(right)
    scaled = [value / scale for value, scale in zip(rest, diagonal, strict=True)]
    direction, size = scaled, dot(rest, scaled)
    enough = size * RESIDUE
    for _ in range(10 * len(right)):
        if size <= enough:
            break
        image = yield from _multiply(matrix, direction)
        step = size / dot(direction, image)
        solution = [value + step * d for value, d in zip(solution, direction, strict=True)]
        rest = [value - step * i for value, i in zip(rest, image, strict=True)]
        scaled = [value / scale for value, scale in zip(rest, diagonal, strict=True)]
        before, size = size, dot(rest, scaled)
        direction = [value + size / before * d for value, d in zip(scaled, direction, strict=True)]
    return solution


def _multiply(matrix: Sparse, vector: Sequence[float]) -> Generator[None, None, list[float]]:
    image: list[float] = []
    work = 0
    for scale, value, row in zip(matrix[0], vector, matrix[1], strict=True):
        image.append(scale * value + sum([entry * vector[column] for column, entry in row.items()]))
        if (work := work + len(row)) > LOOKUPS_A_STEP:
            work = 0
            yield
    return image


def inverse_factor(matrix: Sparse) -> Generator[None, None, list[list[float]]]:
    """The columns, each from the diagonal down, of the lower triangle whose transpose times itself is the inverse.

    Of Cholesky's factor it is the inverse: n³/3 multiplications for n rows.
    """
    factor = yield from _cholesky(matrix)
    columns: list[list[float]] = []
    work = 0
    for start in range(len(factor)):
        column = [1.0 / factor[start][start]]
        for row in factor[start + 1 :]:
            column.append(-dot(column, row[start:]) / row[-1])
            if (work := work + len(column)) > WORK_A_STEP:
                work = 0
                yield
        columns.append(column)
    return columns


def _cholesky(matrix: Sparse) -> Generator[None, None, list[list[float]]]:
    """The rows of the lower triangle whose product with its transpose is the matrix."""
    factor: list[list[float]] = []
    work = 0
    for number, (scale, entries) in enumerate(zip(*matrix, strict=True)):
        row: list[float] = []
        for column, above in enumerate(factor):
            row.append((entries.get(column, 0.0) - dot(row, above)) / above[-1])
            if (work := work + column + 1) > WORK_A_STEP:
                work = 0
                yield
        assert len(row) == number
        row.append(sqrt(scale - dot(row, row)))
        factor.append(row)
    return factor
