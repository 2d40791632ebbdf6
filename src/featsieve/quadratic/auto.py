"""Auto: cheap starts, swaps on top of each, tabu search on the best, a proof if it is cheap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from featsieve.quadratic import linear, lowrank, spectral, tpower
from featsieve.quadratic.answer import Answer
from featsieve.quadratic.problem import Problem
from featsieve.quadratic.registry import Options
from featsieve.quadratic.swaps import improve

START_SAMPLES = 2000
PROOF_SIZE = 60
PROOF_NODES = 2000


def _starts(problem: Problem, options: Options) -> Iterator[Answer]:
    """Answers of the fast solvers. Linear and Spectral are only starts here: any Q will do."""
    few = replace(options, n_samples=START_SAMPLES, shift="schedule", iterates="real")
    yield from linear.steps(problem, options)
    yield from spectral.steps(problem, options)
    yield from tpower.steps(problem, few)
    yield from lowrank.steps(problem, few)


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """The best so far after each start, after tabu search, and after the proof."""
    best: Answer | None = None
    for start in _starts(problem, options):
        found = improve(problem, start.indices)
        best = found if best is None or found.value > best.value else best
        yield best
    assert best is not None
    best = improve(problem, best.indices, patience=_patience(problem))
    yield best
    if problem.n <= PROOF_SIZE:
        from featsieve.quadratic import exact

        yield from exact.prove(problem, best, node_limit=PROOF_NODES)


def _patience(problem: Problem) -> int:
    """Moves without progress before tabu search ends."""
    return 200 + 10 * problem.k
