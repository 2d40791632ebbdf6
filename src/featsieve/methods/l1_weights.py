"""What l1-LSMI and l1-HSIC share: weights on an l1 ball, with restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.protocols import Search
from featsieve.searches.ascent import StepRule
from featsieve.searches.l1_ball import L1Ball, RadiusRule
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class L1Weights(PairingSelector):
    """The parameters of :class:`featsieve.searches.L1Ball`, and the weights it finds."""

    n_init: int = 20
    n_agree: int | None = 3
    max_iter: int = 100
    tol: float = 1e-5
    step: StepRule = "adaptive"
    rank_radii_by: RadiusRule = "weights"
    random_state: Any = None

    _checks = L1Ball.checks

    def _search(self) -> Search:
        return L1Ball(
            n_init=self.n_init,
            n_agree=self.n_agree,
            max_iter=self.max_iter,
            tol=self.tol,
            step=self.step,
            rank_radii_by=self.rank_radii_by,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    _result_attributes = {"radius_": "radius"}  # noqa: RUF012
    _column_attributes = {"weights_": "weights"}  # noqa: RUF012
