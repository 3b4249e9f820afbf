"""The ratings of 10 to 5,000 versions of bots by gmd's own linear algebra, and by numpy's on full matrices.

``python -m bench.linear_algebra`` measures each in its own process: processor time, and peak memory beyond that at the
start. Both compute the same: Newton's method, and the diagonal of the inverse Hessian.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Mapping
from random import Random
from time import process_time

from bench.ladders import rate
from gmd.event_log.interface import RankedResult
from gmd.lobby.results import Entrant, Record, Score
from gmd.lobby.strengths import LAST_STEP, LONGEST_STEP, MEAN, SCALE, SPREAD

SIZES = (10, 100, 1_000, 5_000)
#: The number of opponents of each version: as a matchmaker pairs them, and as in a round robin of a hundred.
MET = (20, 100)


def played(size: int, met: int) -> Record:
    """Return games between ``size`` versions: each has met about ``met`` others at random, twice."""
    random, record = Random(size), Record()
    strengths = [random.gauss(MEAN, SPREAD) for _ in range(size)]
    for one in range(size):
        for other in random.sample(range(size), min(met // 2, size - 1)):
            for white, black in ((one, other), (other, one)) if one != other else ():
                white_won = random.random() < 1 / (1 + 10 ** ((strengths[black] - strengths[white]) / 400))
                record.add(RankedResult(white, 1, black, 1, white_won))
    return record


def by_numpy(opponents: Mapping[Entrant, Mapping[Entrant, Score]]) -> dict[Entrant, tuple[float, float]]:
    """Return ratings and deviations, computed with full matrices."""
    import numpy as np

    entrants = sorted(opponents)
    number = {entrant: place for place, entrant in enumerate(entrants)}
    games, points = np.zeros((len(entrants), len(entrants))), np.zeros(len(entrants))
    for entrant, scores in opponents.items():
        for other, score in scores.items():
            games[number[entrant], number[other]] = score.games
            points[number[entrant]] += score.points
    strengths, precision = np.zeros(len(entrants)), (SCALE / SPREAD) ** 2
    while True:
        expected = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        weights = games * expected * (1 - expected)
        slope = points - (games * expected).sum(axis=1) - precision * strengths
        hessian = np.diag(weights.sum(axis=1) + precision) - weights
        steps = np.linalg.solve(hessian, slope)
        longest = float(np.abs(steps).max())
        strengths = strengths + min(1.0, LONGEST_STEP / longest) * steps
        if longest <= LAST_STEP:
            break
    deviations = np.sqrt(np.diag(np.linalg.inv(hessian)))
    return {
        entrant: (MEAN + SCALE * float(strengths[place]), SCALE * float(deviations[place]))
        for entrant, place in number.items()
    }


def _measure(way: str, size: int, met: int) -> str:
    record = played(size, met)
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    if way == "numpy":
        found = by_numpy(record.opponents())
    else:
        found = {entrant: (each.rating, each.deviation) for entrant, each in rate(record).items()}
    seconds = process_time() - begun
    most = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    rating, deviation = found[min(found)]
    return f"{seconds:10.3f} s {most:8.1f} MiB   the first version: {rating:7.1f} +- {deviation:5.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.linear_algebra", description=__doc__)
    parser.add_argument("--one", nargs=3, metavar=("WAY", "SIZE", "MET"), help="one measurement, in this process")
    one = parser.parse_args().one
    if one:
        print(_measure(one[0], int(one[1]), int(one[2])))
        return
    for met in MET:
        for size in SIZES:
            for way in ("gmd", "numpy"):
                command = [sys.executable, "-m", "bench.linear_algebra", "--one", way, str(size), str(met)]
                line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip()
                print(f"{size:6,} versions, {met:4} met: {way:6} {line}", flush=True)


if __name__ == "__main__":
    main()
