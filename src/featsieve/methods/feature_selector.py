"""Any measure with any search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from featsieve.input.boundary import Settings
from featsieve.input.parameters import check_parameters, refuse_no_object
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Procedure
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureSelector(PairingSelector):
    """Any measure × any search.

    The other parameters are shared by all selectors (see the user guide).

    Parameters
    ----------
    measure : a measure from :mod:`featsieve.measures`, default Pearson
    search : a search from :mod:`featsieve.searches`, default Ranking
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 first, where the measure depends on scale.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Pearson
    >>> from featsieve.searches import Ranking
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> selector = FeatureSelector(Pearson(), Ranking(), n_features_to_select=2)
    >>> selector.fit(data.data, data.target).transform(data.data).shape
    (200, 2)
    """

    measure: Any = field(default=None, kw_only=False)
    search: Any = field(default=None, kw_only=False)
    standardize: bool = True

    def _settings(self) -> Settings:
        settings = super()._settings()
        for part in (self.measure, self.search):
            check_parameters(part, getattr(part, "checks", {}))
        return settings

    def _procedure(self) -> Procedure:
        pairing = self._pairing()
        refuse_no_object("measure", pairing.measure, "bind", "featsieve.measures.Pearson()")
        refuse_no_object("search", pairing.search, "steps", "featsieve.searches.Ranking()")
        return super()._procedure()

    @property
    def _measure_type(self) -> type:
        from featsieve.measures.pearson.pearson import Pearson

        return Pearson if self.measure is None else type(self.measure)

    @property
    def _task(self) -> str:
        """Sequences arrive as classes, one for each distinct sequence."""
        is_auto = isinstance(self.task, str) and self.task == "auto"
        compares = getattr(self.measure, "compares_text", False)
        return "classification" if is_auto and compares else self.task

    @property
    def _scores_by_step(self) -> bool:
        from featsieve.searches.ranking import Ranking

        return self.search is not None and not isinstance(self.search, Ranking)

    def _pairing(self) -> Pairing:
        from featsieve.measures.pearson.pearson import Pearson
        from featsieve.searches.ranking import Ranking

        return Pairing(
            Pearson() if self.measure is None else self.measure,
            Ranking() if self.search is None else self.search,
        )
