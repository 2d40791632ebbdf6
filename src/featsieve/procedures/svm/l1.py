"""Exactly k units by the path of C of the l1-norm machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.svm.rows import one_vs_rest, problems_of, read_rows
from featsieve.procedures.svm.sparse import Model, PenalisedHinge
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.user_warnings import warn_user

FALL = 0.8  # of the penalty from one point of the path to the next
TALL_RATIO, WIDE_RATIO = 1e-5, 1e-3  # smallest penalty over the largest
HALVINGS = 60
SAME_PENALTY = 1e-9


@dataclass(frozen=True)
class SparseMachine:
    """A procedure; see :class:`featsieve.L1SVM` for the parameters."""

    C: float | None = None
    tol: float = 1e-4
    standardize: bool = True

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        rows, y = read_rows(engine, gram_matrices=0, standardize=self.standardize)
        problems = problems_of(y, one_vs_rest)
        path = Path(PenalisedHinge(rows, problems, engine.monitor, self.tol, self.standardize), k)
        if self.C is not None:
            path.to_cost(self.C)
            yield path.answer()
        else:
            for _ in path.to_count():
                yield path.answer_of_k()
        path.warn(self.tol, given=self.C is not None)


@dataclass
class Path:
    """The models visited by their penalty, and which one is the answer."""

    hinge: PenalisedHinge
    k: int | None
    chosen: float = np.inf
    models: dict[float, Model] = field(default_factory=dict)

    def grid(self) -> Iterator[float]:
        X = self.hinge.rows.X
        ratio = TALL_RATIO if len(X) > X.shape[1] else WIDE_RATIO
        n_points = int(np.ceil(np.log(ratio) / np.log(FALL)))
        for power in range(1, n_points + 1):
            yield self.hinge.largest_penalty * FALL**power

    def cost(self, penalty: float) -> float:
        """C, in the units of the columns as they were given."""
        return 0.5 / (penalty * self.hinge.rows.unit)

    def visit(self, penalty: float) -> float:
        if penalty not in self.models:
            self.models[penalty] = self.hinge.solve(penalty, self._nearest(penalty))
        return penalty

    def _nearest(self, penalty: float) -> Model:
        if not self.models:
            return self.hinge.empty()
        return self.models[min(self.models, key=lambda known: abs(np.log(known / penalty)))]

    def count(self, penalty: float) -> int:
        return int(np.count_nonzero(self.hinge.norms(self.models[penalty].coef)))

    def to_cost(self, C: float) -> None:
        """From the first column down to the penalty of C, each a short way from the last."""
        last = 0.5 / (C * self.hinge.rows.unit)
        for penalty in self.grid():
            if penalty <= last:
                break
            self.visit(penalty)
        self.chosen = self.visit(last)

    def to_count(self) -> Iterator[None]:
        """Down to k units or more; then halve until exactly k, if there is such a penalty."""
        assert self.k is not None
        above = self.hinge.largest_penalty
        if not above > 0:  # no column has a slope, so there is no path
            self.models[1.0], self.chosen = self.hinge.empty(), 1.0
            yield
            return
        for penalty in self.grid():
            self.chosen = self.visit(penalty)
            yield
            if self.count(penalty) >= self.k:
                yield from self._halve(above, penalty)
                return
            above = penalty

    def _halve(self, above: float, below: float) -> Iterator[None]:
        for _ in range(HALVINGS):
            if self.count(below) == self.k or above - below <= SAME_PENALTY * above:
                break
            middle = self.visit(float(np.sqrt(above * below)))
            if self.count(middle) >= self.k:  # type: ignore[operator]
                self.chosen = below = middle
                yield
            else:
                above = middle

    # --- what is read from it -------------------------------------------------------------------

    def answer(self) -> SelectionResult:
        """What has a coefficient, the k largest at most."""
        model = self.models[self.chosen]
        scores = self.hinge.norms(model.coef)
        order = best_first(scores)[: self.k]
        selected = order[scores[order] > 0]
        C = self.cost(self.chosen)
        return SelectionResult(
            selected,
            scores,
            objective=self.hinge.objective(model, C),
            order=self._order(selected),
            trace=tuple(map(self.cost, self.models)),
            extras={
                "C": C,
                "coef": model.coef.T / self.hinge.rows.unit,
                "intercept": model.intercept,
                "violation": model.violation,
                "counts": tuple(map(self.count, self.models)),
                "n_iter": len(self.models),
            },
        )

    def answer_of_k(self) -> SelectionResult:
        """Filled up with those that are next to enter."""
        answer = self.answer()
        assert answer.order is not None
        return replace(answer, indices=answer.order[: self.k])

    def _order(self, selected: IntArray) -> IntArray:
        """The selected, then the others as they enter the path, then as they are next to enter."""
        ranked = best_first(self._entry())
        return np.concatenate([selected, ranked[~np.isin(ranked, selected)]])

    def _entry(self) -> FloatArray:
        """The largest penalty with a coefficient; where there is none, the pull at the last."""
        entry = np.minimum(self.hinge.pull(self.models[min(self.models)]), min(self.models))
        for penalty in sorted(self.models):
            entry[self.hinge.norms(self.models[penalty].coef) > 0] = penalty
        return entry

    def warn(self, tol: float, *, given: bool) -> None:
        model, count = self.models[self.chosen], self.count(self.chosen)
        if given and not count:
            smallest = self.cost(max(self.hinge.largest_penalty, 1e-300))
            warn_user(
                f"L1SVM: C={self.cost(self.chosen):.3g} leaves every coefficient at 0, so no "
                f"feature is selected; give a C above {smallest:.3g}, or None to search for it."
            )
        if not given and self.k is not None and count < self.k:
            warn_user(
                f"L1SVM: {count} features have a coefficient at the largest C tried "
                f"({self.cost(self.chosen):.3g}), {self.k} were asked for; the others are those "
                "that are next to enter."
            )
        if model.violation > tol:
            warn_user(
                f"L1SVM: the machine at C={self.cost(self.chosen):.3g} did not converge (violation "
                f"{model.violation:.1e} of the penalty, wanted {tol:.1e}); give a smaller C, fewer "
                "features or a larger tol."
            )
