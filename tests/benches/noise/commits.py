"""Measures the observations that git_bayesect takes on a flaky history in which some commits cannot be tested.

Usage: commits.py skip|run STOP... < problems

Each line of the input is a problem: `changes culprit p1 p0 seed broken,broken,...`. Commits are numbered from 1, after the
one that is marked as good; the culprit and all later ones fail with probability p1, those before with p0. The k-th
observation uses the k-th number of the generator with this seed, which our search uses too. With `skip`, a commit that
cannot be tested is skipped like with `git bayesect skip`, and this counts as an observation. With `run`, it has failed,
as for `git bayesect run`. For each problem, prints a line with `runs right` for each STOP, in ascending order. The runs
are 0 if the search does not end, because it selects again what was just skipped.
"""

import sys

import numpy as np
from git_bayesect import Bisector

MOST_RUNS = 5_000
MASK = (1 << 64) - 1


class Random:
    """SplitMix64, as in tests/src/flaky.rs."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def unit(self) -> float:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 32) / (1 << 32)


def search(line: str, skips: bool, stops: list[float]) -> list[tuple[int, bool]]:
    changes, culprit, with_it, without, seed, broken = line.split()
    changes, culprit, with_it, without = int(changes), int(culprit), float(with_it), float(without)
    skipped = {int(commit) for commit in broken.split(",")}
    random = Random(int(seed))
    # Index 0 is the newest commit, the last one is the good one.
    bisector = Bisector(np.ones(changes + 1))
    ends = []
    last = None
    for run in range(1, MOST_RUNS + 1):
        index = bisector.select()
        commit = changes - index
        if commit in skipped and skips:
            if commit == last:
                return ends + [(0, False)] * (len(stops) - len(ends))
            bisector.record(index, None)
        elif commit in skipped:
            bisector.record(index, True)
        else:
            bisector.record(index, random.unit() < (with_it if commit >= culprit else without))
        last = commit
        likelihood = bisector.distribution
        while len(ends) < len(stops) and likelihood.max() >= stops[len(ends)]:
            ends.append((run, changes - int(likelihood.argmax()) == culprit))
        if len(ends) == len(stops):
            return ends
    return ends + [(MOST_RUNS, False)] * (len(stops) - len(ends))


def main() -> None:
    np.seterr(all="ignore")
    skips, stops = sys.argv[1] == "skip", [float(stop) for stop in sys.argv[2:]]
    for line in sys.stdin:
        print(*(f"{runs} {int(right)}" for runs, right in search(line, skips, stops)))


if __name__ == "__main__":
    main()
