"""Spectral (P-CMI, section II-B4): rank by the leading eigenvector of a non-negative matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.quadratic.problem import Answer, Options, Problem


def feature_weights(problem: Problem) -> FloatArray:
    """|x| of the leading eigenvector; a non-negative matrix has one without sign changes."""
    _, vectors = problem.eigenpairs(1)
    return np.abs(vectors[:, 0])


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """One answer: the k largest weights."""
    yield problem.answer(problem.top(feature_weights(problem)))
