"""Auto: cheap starts, swaps on top of each, tabu search on the best, a proof if it is cheap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from featsieve.quadratic import linear, spectral, tpower
from featsieve.quadratic.problem import Answer, Options, Problem
from featsieve.quadratic.tpower import improve

N_RANDOM_STARTS = 4
PROOF_SIZE = 100
PROOF_WORK = 2_000_000  # nodes times n²: below a second


def _starts(problem: Problem, options: Options) -> Iterator[Answer]:
    """Linear, Spectral and TPower (here only starts, so any Q will do), then random sets."""
    yield from linear.steps(problem, options)
    yield from spectral.steps(problem, options)
    yield from tpower.steps(problem, replace(options, shift="schedule", iterates="real"))
    for _ in range(N_RANDOM_STARTS):
        yield problem.answer(options.rng.permutation(problem.n)[: problem.k])


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """The best so far after each start, and after the proof."""
    best: Answer | None = None
    for start in _starts(problem, options):
        found = improve(problem, start.indices, patience=_patience(problem))
        best = found if best is None or found.value > best.value else best
        yield best
    if best is not None and problem.n <= PROOF_SIZE:
        from featsieve.quadratic import exact

        yield from exact.prove(problem, best, node_limit=PROOF_WORK // problem.n**2)


def _patience(problem: Problem) -> int:
    """Moves without progress before tabu search leaves a start."""
    return 50 + 2 * problem.k
