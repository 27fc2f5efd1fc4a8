"""Measures the observations that git_bayesect takes on a flaky history, and if its answer is right.

Usage: bayesect.py CHANGES P1 P0 FIRST_SEED SEEDS STOP...

The history is that of `git bayesect start` with CHANGES commits after the one that is marked as good. One of them is the
culprit: from it on tests fail with probability P1, before it with P0. The search is the loop of `git bayesect run`, with the
package's own code for choosing commits, learning, and its confidence. For each seed, prints a line with `runs right` for
each STOP, in ascending order. A STOP is the probability at which the search ends (0.95 is the default of the package).

Every observation counts. There are none before the search, because the user states which end is good. There is no
confirmation after it.
"""

import random
import sys

import numpy as np
from git_bayesect import Bisector

MOST_RUNS = 5_000


def search(seed: int, changes: int, with_it: float, without: float, stops: list[float]) -> list[tuple[int, bool]]:
    gen = random.Random(seed)
    # Index 0 is the newest commit, the last one is the good one.
    culprit = gen.randrange(changes)
    bisector = Bisector(np.ones(changes + 1))
    ends = []
    for run in range(1, MOST_RUNS + 1):
        index = bisector.select()
        bisector.record(index, gen.random() < (with_it if index <= culprit else without))
        likelihood = bisector.distribution
        while len(ends) < len(stops) and likelihood.max() >= stops[len(ends)]:
            ends.append((run, int(likelihood.argmax()) == culprit))
        if len(ends) == len(stops):
            return ends
    return ends + [(MOST_RUNS, False)] * (len(stops) - len(ends))


def main() -> None:
    changes, with_it, without, first, seeds, *stops = sys.argv[1:]
    for seed in range(int(first), int(first) + int(seeds)):
        ends = search(seed, int(changes), float(with_it), float(without), [float(stop) for stop in stops])
        print(*(f"{runs} {int(right)}" for runs, right in ends))


if __name__ == "__main__":
    main()
