"""Rankings whose statistics add over rows, so that rows may come in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from featsieve.errors import InputError
from featsieve.ordering import best_first
from featsieve.result import SelectionResult
from featsieve.schema import Target
from featsieve.selector import PairingSelector
from featsieve.validation import open_engine, resolve_count


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalRanking(PairingSelector):
    """Adds ``partial_fit`` to a ranking whose measure offers ``summary(schema, target)``."""

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Take more rows; the selection is that of all rows seen so far.

        Parameters
        ----------
        classes : all classes that may come, at the first call with class labels
        """
        first = not hasattr(self, "_seen")
        X = self._checked_input(X, y, reset=first)
        engine = open_engine(
            X, y, self._settings(), sample_weight=sample_weight, **self._known(classes, first)
        )
        if first:
            self._seen = None
            self._frame = (engine.schema, engine.target)
            self._summary = self._summary_for(engine)
        more = engine.reduce_rows(self._summary.of_block)
        self._seen = more if self._seen is None else self._seen.merge(more)
        self._select_from(engine, self._summary.output_scores(self._seen))
        return self

    def _summary_for(self, engine: Any) -> Any:
        """How to summarise blocks like those of the first call, and how to finish."""
        return self._pairing().measure.summary(engine.schema, engine.target)  # type: ignore[attr-defined]

    def _known(self, classes: Any, first: bool) -> dict[str, Any]:
        """Schema and target of the first rows hold for all later ones."""
        if not first:
            schema, target = self._frame
            return {"schema": schema, "target": target}
        if classes is None:
            return {}
        found = np.unique(np.asarray(classes))
        if len(found) < 2:
            raise InputError("classes holds one class only; give all classes that may come.")
        return {"target": Target("classification", 1, (found,))}

    def _select_from(self, engine: Any, output_scores: Any) -> None:
        k = resolve_count(self.n_features_to_select, engine.schema.n_units)
        scores = output_scores.mean(axis=0)
        order = best_first(scores)
        result = SelectionResult(
            order[:k], scores, order=order, extras={"output_scores": output_scores}
        )
        self._store(engine, result, k)

    def _fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        for name in ("_seen", "_frame", "_summary"):
            self.__dict__.pop(name, None)
        return super()._fit(X, y, sample_weight=sample_weight)


__all__ = ["IncrementalRanking"]
