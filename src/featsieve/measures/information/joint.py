"""Entropies from the table of joint states, with corrections for few rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from scipy.special import xlogy

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.input.parameters import check_choice

Correction = Literal["miller_madow", "shrink"] | None
CORRECTIONS: tuple[Correction, ...] = (None, "miller_madow", "shrink")
MOST_SHRUNK_CELLS = 1 << 22


@dataclass(frozen=True)
class JointCounts:
    """The combinations of states that occur (one per row of ``states``), and how often."""

    states: IntArray
    counts: FloatArray
    sizes: tuple[int, ...]
    correction: Correction = None

    @classmethod
    def of(cls, variables: list[IntArray], correction: Correction = None) -> Self:
        """From codes 0, 1, … of each variable, one number per row."""
        check_choice("correction", correction, CORRECTIONS)
        states, counts = np.unique(np.stack(variables, axis=1), axis=0, return_counts=True)
        sizes = tuple(int(v.max()) + 1 for v in variables)
        return cls(states, counts.astype(float), sizes, correction)._smoothed()

    @classmethod
    def of_table(cls, table: FloatArray, correction: Correction = None) -> Self:
        """From a table of counts, one axis per variable."""
        check_choice("correction", correction, CORRECTIONS)
        states = np.argwhere(table > 0)
        counts = np.asarray(table[tuple(states.T)], dtype=float)
        return cls(states, counts, table.shape, correction)._smoothed()

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    def entropy(self, *axes: int) -> float:
        """Of the variables on these axes together; of all of them when none is named."""
        counts = self._margin(axes) if axes else self.counts
        n = self.total
        plug_in = np.log(n) - xlogy(counts, counts).sum() / n
        # Miller (1955): the plug-in entropy is too small by (states − 1) / 2n.
        bias = (len(counts) - 1) / (2 * n) if self.correction == "miller_madow" else 0.0
        return max(0.0, float(plug_in)) + bias

    def _margin(self, axes: tuple[int, ...]) -> FloatArray:
        chosen = self.states[:, list(axes)]
        radix = np.cumprod([1, *[self.sizes[a] for a in axes[:-1]]])
        cell = np.unique(chosen @ radix, return_inverse=True)[1]
        margin: FloatArray = np.bincount(cell, weights=self.counts).astype(float)
        return margin

    def _smoothed(self) -> Self:
        return self._shrunk() if self.correction == "shrink" else self

    def _shrunk(self) -> Self:
        """Towards the uniform table by the James–Stein rule (Hausser and Strimmer 2009, eq. 4)."""
        n_cells = int(np.prod(self.sizes))
        if n_cells > MOST_SHRUNK_CELLS:
            raise InputError(
                f"shrinkage fills a table of {n_cells} cells, at most {MOST_SHRUNK_CELLS} are "
                "allowed; use fewer states or correction='miller_madow'."
            )
        n = self.total
        p = np.zeros(self.sizes)
        p[tuple(self.states.T)] = self.counts / n
        spread = (n - 1) * np.square(1 / n_cells - p).sum()
        intensity = 1.0 if spread == 0 else min(1.0, (1 - np.square(p).sum()) / spread)
        shrunk = intensity / n_cells + (1 - intensity) * p
        states = np.argwhere(shrunk > 0)
        return replace(self, states=states, counts=n * shrunk[tuple(states.T)])


def information(joint: JointCounts) -> float:
    """I of the variables on axes 0 and 1, never below 0."""
    return max(0.0, joint.entropy(0) + joint.entropy(1) - joint.entropy(0, 1))


def conditional_information(joint: JointCounts) -> float:
    """I of the variables on axes 0 and 1 given those on all further axes, never below 0."""
    given = tuple(range(2, len(joint.sizes)))
    gain = joint.entropy(0, *given) + joint.entropy(1, *given)
    return max(0.0, gain - joint.entropy(*given) - joint.entropy())
