"""The linear algebra behind ratings, on lists of floats: sparse systems are solved, full matrices factored.

All functions here are generators that yield every millisecond or so, so that the caller can run other tasks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from math import sqrt
from operator import mul

#: A symmetric positive definite matrix: its diagonal, and for each row the other entries that are not 0.
Sparse = tuple[Sequence[float], Sequence[Mapping[int, float]]]

#: Multiplications between two yields: half a millisecond, or longer for a single long row.
WORK_A_STEP = 16_384
#: Entries of a sparse matrix between two yields: each takes several times as long as a multiplication.
LOOKUPS_A_STEP = 4_096
#: The residual at which a solution is accepted, squared and relative: floats allow no smaller one.
RESIDUE = 1e-24


def dot(one: Iterable[float], other: Iterable[float]) -> float:
    """Return the sum of the products, up to the length of the shorter."""
    return sum(map(mul, one, other), 0.0)


def solve(matrix: Sparse, right: Sequence[float]) -> Generator[None, None, list[float]]:
    """Solve ``matrix`` times x = ``right`` by conjugate gradients.

    Each step takes time in proportion to the matrix's entries; few steps are needed where everybody has several
    opponents.
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
    """Return the inverse of the Cholesky factor, as columns from the diagonal down.

    It is the lower triangle whose transpose times itself is the matrix's inverse: n³/3 multiplications for n rows.
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
    """Return the rows of the lower triangle whose product with its transpose is the matrix."""
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
