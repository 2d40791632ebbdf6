"""The wrapper method (Sugiyama, lecture notes): a model's own cross-validated score × a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, get_args

import sklearn
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from featsieve.input.parameters import check_choice, is_integer
from featsieve.measures.cross_val_score import CrossValScore
from featsieve.procedures.judging.splitting import splitter_within
from featsieve.procedures.pairing import Pairing
from featsieve.procedures.score_curve import CountRule, ScoreCurve
from featsieve.protocols import Procedure
from featsieve.schema import Dependence
from featsieve.searches.exhaustive import Exhaustive
from featsieve.searches.stepwise import Backward, Forward
from featsieve.selector import PairingSelector

SEARCHES: dict[str, type] = {"forward": Forward, "backward": Backward, "exhaustive": Exhaustive}


@dataclass(kw_only=True, eq=False, repr=False)
class WrapperSelector(PairingSelector):
    """Keep the columns with which your own model scores best in cross-validation.

    Parameters
    ----------
    n_features_to_select : int, float, "auto", "parsimonious" or None, default=None
        ``"auto"``: the set with the best mean score among the sets of all sizes that the search
        meets (with ``search="exhaustive"`` all sets there are); ``"parsimonious"``: the smallest
        of the best sets of each size within one standard error of that score. The curve is in
        ``result_.extras["score_curve"]`` as (size, score, standard error).
    estimator : scikit-learn estimator
    search : {"forward", "backward", "exhaustive"}, default="forward"
    cv : int, splitter or iterable, default=5
        The folds are the same for every set of columns.
    scoring : str or callable, default: the estimator's own score

    Examples
    --------
    >>> from featsieve import WrapperSelector
    >>> from featsieve.datasets import make_quad
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> data = make_quad(300, random_state=0)
    >>> model = DecisionTreeRegressor(max_depth=5, random_state=0)
    >>> selector = WrapperSelector(model, n_features_to_select=2).fit(data.data, data.target)
    >>> sorted(selector.indices_.tolist())
    [0, 1]
    """

    estimator: Any = field(default=None, kw_only=False)
    search: str = "forward"
    cv: Any = 5
    scoring: Any = None

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Select columns of X for the target y.

        Parameters
        ----------
        groups : for the splitter; with metadata routing also any other metadata
        """
        if groups is not None:
            params["groups"] = groups
        self._split_params, self._score_params = self._routed(params)
        try:
            return self._fit(X, y)
        finally:
            del self._split_params, self._score_params

    def _routed(self, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What goes to the splitter, and what to the estimator and the scorer."""
        if not sklearn.get_config()["enable_metadata_routing"]:
            split = {"groups": params.pop("groups")} if "groups" in params else {}
            self._refuse_params(params)
            return split, {}
        routed = process_routing(self, "fit", **params)
        names = {*routed.estimator.fit, *routed.scorer.score}
        return dict(routed.splitter.split), {k: v for k, v in params.items() if k in names}

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata goes to the estimator's fit, the splitter's split and the scorer's score."""
        mapping = MethodMapping
        return (
            MetadataRouter(owner=self)
            .add(
                estimator=self.estimator,
                method_mapping=mapping().add(caller="fit", callee="fit"),
            )
            .add(
                splitter=check_cv(self.cv, classifier=is_classifier(self.estimator)),
                method_mapping=mapping().add(caller="fit", callee="split"),
            )
            .add(
                scorer=check_scoring(self.estimator, scoring=self.scoring),
                method_mapping=mapping().add(caller="fit", callee="score"),
            )
        )

    _measure_type = CrossValScore
    _offers_auto_count = True

    def _wanted_count(self) -> int | float | str | None:
        return "auto" if self._counts_itself else self.n_features_to_select

    @property
    def _counts_itself(self) -> bool:
        count = self.n_features_to_select
        return isinstance(count, str) and count in get_args(CountRule)

    def _procedure(self) -> Procedure:
        pairing = self._pairing()
        if not self._counts_itself:
            return pairing
        return ScoreCurve(self._measure(), self.search, self.n_features_to_select)  # type: ignore[arg-type]

    def _pairing(self) -> Pairing:
        search = SEARCHES[check_choice("search", self.search, SEARCHES)]
        return Pairing(self._measure(), search())

    def _measure(self) -> CrossValScore:
        cv, split_params = self._split()
        return CrossValScore(
            self.estimator,
            cv=cv,
            scoring=self.scoring,
            split_params=split_params,
            score_params=getattr(self, "_score_params", None),
        )

    def _split(self) -> tuple[Any, dict[str, Any]]:
        """The splitter and what it is told; inside folds of another it keeps what those keep."""
        told = getattr(self, "_split_params", {})
        outside: Dependence = getattr(self, "_dependence", Dependence())
        cv = splitter_within(outside, self.cv) if is_integer(self.cv) else self.cv
        return cv, told if outside.groups is None else {"groups": outside.groups, **told}

    @property
    def _takes_missing(self) -> bool:
        return _is_estimator(self.estimator) and bool(get_tags(self.estimator).input_tags.allow_nan)

    @property
    def _takes_sparse(self) -> bool:
        return not _is_estimator(self.estimator) or bool(get_tags(self.estimator).input_tags.sparse)


def _is_estimator(given: Any) -> bool:
    return hasattr(given, "fit") and not isinstance(given, type)
