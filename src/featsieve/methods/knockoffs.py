"""A bounded false discovery rate for any method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from featsieve.errors import InputError, percent, rounded_up
from featsieve.inference.knockoffs.covariance import SPREADS
from featsieve.inference.knockoffs.diagnostic import MISFIT
from featsieve.inference.knockoffs.filter import level_per_copy
from featsieve.input.parameters import check_choice, check_integer, check_real
from featsieve.methods.around import AroundSelector, inner_selector
from featsieve.methods.feature_selector import FeatureSelector
from featsieve.methods.perhaps_empty import listed, nearest_misses, told, unit_names
from featsieve.procedures.knockoffs import Knockoffs, level_after
from featsieve.result import SelectionResult
from featsieve.runtime.seeds import root_seed
from featsieve.runtime.user_warnings import warn_user
from featsieve.selector import BaseSelector, PairingSelector

NAMED = 3  # columns, in a warning


@dataclass(kw_only=True, eq=False, repr=False)
class KnockoffSelector(AroundSelector):
    """Keep columns with a bounded false discovery rate, by any method (Candès et al. 2018).

    Every column gets a copy that looks like it but knows nothing of the target. The method scores
    columns and copies together; W is how far a column is ahead of its copy. As many columns with a
    large W (the difference of scores, for correlations of their squares, for an order of places)
    are kept as the copies that are ahead allow. On average at most ``fdr`` of the selected
    columns are false, for any method and any dependence on the target, if the model of the columns
    is right: numeric columns jointly Gaussian given the categories, with one covariance; each
    categorical column a multinomial regression on the others. ``guarantee_`` says so, and a
    warning says when the copies can be told from the columns.

    The covariance is estimated. Its correlations are shrunk toward those of a few factors and a
    sparse graph, or blocks of columns, where these explain them (shrunk toward zero, copies would
    lose against their columns too often); else they are taken as they are, from two rows per
    column on. With fewer rows and neither, the bound cannot be promised, and a warning says so.

    With level q, fewer than 1/q true columns cannot be found; 2/q with several copies.

    Parameters
    ----------
    measure : a measure from :mod:`featsieve.measures`, or a selector; default Pearson
    search : a search from :mod:`featsieve.searches`, default Ranking
    selector : a selector such as ``MRMR()``, instead of measure and search
    n_features_to_select : None, or at most how many to keep of those that pass
    fdr : float, default=0.1
        The false discovery rate q.
    n_copies : int, default=1
        With several copies the answer depends less on chance (e-values; Ren and Barber 2024).
    spread : {"mvr", "sdp", "equicorrelated"}, default="mvr"
        How far copies are from their columns: such that no column can be put together from its
        copy and the others (minimal variance-based reconstructability, Spector and Janson 2022);
        as far as possible on average (Candès et al. 2018), which finds more where the method looks
        at columns one by one, as rankings do; or all equally far.
    allow_empty : bool, default=False
        Whether ``transform`` lets an empty selection pass; otherwise it is an error that explains.
    random_state : int, generator or None
        Seed of the copies; the same rows get the same copies on every engine. An inner
        ``random_state`` of None gets a seed from an integer.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import KnockoffSelector, LassoSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 60))
    >>> y = X[:, :12].sum(axis=1) + rng.normal(size=400)
    >>> selector = KnockoffSelector(fdr=0.2, random_state=0).fit(X, y)
    >>> len(set(selector.indices_.tolist()) & set(range(12)))
    12
    >>> KnockoffSelector(LassoSelector(), fdr=0.2, random_state=0).fit(X, y).statistics_.shape
    (60,)
    """

    measure: Any = field(default=None, kw_only=False)
    search: Any = field(default=None, kw_only=False)
    selector: Any = None
    fdr: float = 0.1
    n_copies: int = 1
    spread: Literal["mvr", "sdp", "equicorrelated"] = "mvr"
    random_state: Any = None

    def _inner(self) -> BaseSelector:
        given = self.measure if self.selector is None else self.selector
        if self.selector is not None and not (self.measure is None and self.search is None):
            raise InputError("give either measure and search, or a selector, not both.")
        if isinstance(given, BaseSelector) or self.selector is not None:
            if self.search is not None:
                raise InputError("a selector has a search of its own; leave search out.")
            return inner_selector(given, FeatureSelector())
        return FeatureSelector(self.measure, self.search)

    def _inner_count(self, n_units: int) -> int | None:
        """Half of the columns, not of columns and copies: few more can be ahead of their copies."""
        return super()._inner_count(n_units // 2)

    def _procedure(self) -> Knockoffs:
        inner = self._inner()
        inner._procedure()  # refuses what cannot run before any copy is drawn
        return Knockoffs(
            run=self._run,
            by_step=inner._scores_by_step,
            of_correlations=_scores_are_correlations(inner),
            fdr=check_real("fdr", self.fdr, 0, 1, inclusive="high"),
            n_copies=check_integer("n_copies", self.n_copies, 1),
            spread=check_choice("spread", self.spread, SPREADS),
            seed=root_seed(self.random_state),
        )

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        owner = engine.schema.unit_of_column
        self.statistics_ = result.extras["statistics"][owner]
        self.threshold_ = result.extras["threshold"]
        self.guarantee_ = self._guarantee(result)
        pvalue = result.extras["exchangeability_pvalue"]
        if pvalue < MISFIT:
            units = owner[result.extras["unlike_copies"]]
            names = listed(unit_names(engine.schema, units), NAMED)
            warn_user(
                f"the copies can be told from the columns (p = {pvalue:.2g}"
                f"{f'; most of all: {names}' if names else ''}): the columns are not jointly "
                "Gaussian, so the false discovery rate may be higher than asked for; transform "
                "skewed or heavy-tailed columns, and declare discrete ones as categories."
            )
        if result.extras["structure"].too_few_rows:
            warn_user(
                f"{engine.n_samples} rows are too few for the correlations of "
                f"{engine.n_features} columns, which neither factors, blocks nor a sparse graph "
                "explain: copies are less correlated than columns, so the false discovery rate "
                "may be higher than asked for; give two rows per column or more, or fewer columns."
            )
        super()._store(engine, result, k)

    def _guarantee(self, result: SelectionResult) -> str:
        copies = result.extras["n_copies"]
        drawn = "one copy" if copies == 1 else f"e-values of {copies} copies"
        return (
            f"On average at most {percent(self.fdr)} of the selected columns are false (model-X "
            f"knockoffs, {drawn}), if numeric columns are jointly Gaussian given the categories "
            "and the rows are independent."
        )

    def _explain_nothing(self, schema: Any, result: SelectionResult) -> str:
        level, units = result.extras["later"]
        names = unit_names(schema, units)
        tried = level_after(self.fdr)
        later = (
            f"; at {rounded_up(100 * level, 3)}% "
            f"{'this one' if len(names) == 1 else f'these {len(names)}'} would: "
            f"{listed(names)} (valid although the level is chosen afterwards)"
            if names
            else ("" if tried is None else f", nor at {percent(tried)}")
        )
        copies = result.extras["n_copies"]
        needed = int(np.ceil(1 / level_per_copy(self.fdr, copies) - 1e-9))
        few = f" fewer than {needed} true columns cannot be found" + (
            f" with {copies} copies." if copies > 1 else "."
        )
        return (
            f"Nothing passes at a false discovery rate of {percent(self.fdr)}{later}. At this level"
            f"{few} {told(unit_names(schema, nearest_misses(result)))}"
        )


def _scores_are_correlations(inner: BaseSelector) -> bool:
    if inner._scores_by_step or not isinstance(inner, PairingSelector):
        return False
    return bool(getattr(inner._measure_type, "scores_are_correlations", False))
