"""What all measures share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sklearn.base import BaseEstimator

from featsieve.input.parameters import Check


class BaseMeasure(BaseEstimator):
    """Hyper-parameters only; ``bind`` makes the object that touches data.

    Class attributes tell the selector what the measure needs: the ddof with which columns are
    standardised (None: it does not depend on their scale), whether it understands NaN, whether its
    scores are correlations, whose squares are shares of a variance, and the checks of its
    parameters, which ``bind`` and the named methods do.
    """

    scale_ddof: ClassVar[int | None] = None
    takes_missing: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False
    scores_are_correlations: ClassVar[bool] = False
    checks: ClassVar[Mapping[str, Check]] = {}

    @property
    def compares_text(self) -> bool:
        """Values of a target that is text are compared with each other, so they need not repeat."""
        return False
