"""What all measures share."""

from __future__ import annotations

from typing import ClassVar

from sklearn.base import BaseEstimator


class BaseMeasure(BaseEstimator):
    """Hyper-parameters only; ``bind`` makes the object that touches data.

    Class attributes tell the selector what the measure needs: the ddof with which columns are
    standardised (None: it does not depend on their scale), and whether it understands NaN.
    """

    scale_ddof: ClassVar[int | None] = None
    takes_missing: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False

    @property
    def compares_text(self) -> bool:
        """Values of a target that is text are compared with each other, so they need not repeat."""
        return False
