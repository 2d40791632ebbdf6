"""Selection frequencies over halves of the rows, for any method, with a bound on errors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from featsieve.errors import InputError, percent, rounded_up
from featsieve.inference.exchange import group_codes
from featsieve.inference.stability import (
    ASSUMPTIONS,
    Assumption,
    false_selections,
    most_selected,
)
from featsieve.input.parameters import (
    check_choice,
    check_integer,
    check_real,
    is_integer,
    not_allowed,
)
from featsieve.methods.around import READING, AroundSelector, inner_selector
from featsieve.methods.perhaps_empty import listed, nearest_misses, told, unit_names
from featsieve.methods.ranking import PearsonRanking
from featsieve.procedures.deferred import Deferred
from featsieve.procedures.stability import (
    Checkpoint,
    Halves,
    StabilitySelection,
    members_of,
    varying_units,
)
from featsieve.protocols import Engine, Procedure
from featsieve.result import SelectionResult
from featsieve.runtime.journal import settings_of
from featsieve.runtime.seeds import root_seed
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Dependence
from featsieve.selector import BaseSelector

USUAL_THRESHOLD = 0.75


@dataclass(kw_only=True, eq=False, repr=False)
class StabilitySelector(AroundSelector):
    """Keep what a selector chooses again and again from halves of the rows.

    These are the complementary pairs of Shah and Samworth (2013).

    The rows are cut into two halves at random, ``n_pairs`` times, and the selector runs on each
    half. ``frequencies_`` is the share of halves that select a column; columns at ``threshold_``
    or above are kept. Then at most ``pfer`` false columns are expected, where a column is false
    that a half selects no more often than a column picked at random.

    Parameters
    ----------
    selector : a selector, default PearsonRanking
        Its ``n_features_to_select`` is how many columns each half selects; None: as many as
        the bound allows at a threshold of 75 %.
    n_features_to_select : None, or at most how many to keep of those that pass
    n_pairs : int, default=50
    threshold : float in (0.5, 1], default: the least that keeps ``pfer``
    pfer : float, default=1.0
        How many false columns may be expected (per-family error rate), of those that vary: a column
        that is the same in all rows of a half is never selected from it. A threshold and a count of
        the selector that do not keep it are refused, or a warning if it was left at its default.
    assumption : {"unimodal", "r-concave", "none"}, default="unimodal"
        What is assumed of the frequencies of false columns: that their law has one mode, or the
        stronger r-concavity (a sharper bound), or nothing.
    block_size : int, default=None
        Consecutive rows stay together in blocks of this size, for rows in time order.
    checkpoint : path, default=None
        A file to write the counts to after each pair; a run that was cut off goes on from there.
    allow_empty : bool, default=False
        Whether ``transform`` lets an empty selection pass; otherwise it is an error that explains.
    random_state : int, generator or None
        Seed of the halves. An inner ``random_state`` of None gets a seed from an integer.

    Examples
    --------
    >>> from featsieve import StabilitySelector, MaxRel
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> selector = StabilitySelector(MaxRel(n_features_to_select=2), n_pairs=10, random_state=0)
    >>> sorted(selector.fit(data.data, data.target).indices_.tolist())
    [0, 1]
    >>> selector.frequencies_.argmax().item(), selector.frequencies_.max().item()
    (1, 1.0)
    """

    selector: Any = field(default=None, kw_only=False)
    n_pairs: int = 50
    threshold: float | None = None
    pfer: float = 1.0
    assumption: Assumption = "unimodal"
    block_size: int | None = None
    checkpoint: Any = None
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Select columns of X for the target y.

        Parameters
        ----------
        groups : one label per row; rows of a group stay in the same half
        """
        self._refuse_params(params)
        self._groups = groups
        try:
            return self._fit(X, y)
        finally:
            self.__dict__.pop("_groups", None)

    def _inner(self) -> BaseSelector:
        return inner_selector(self.selector, PearsonRanking())

    def _procedure(self) -> Procedure:
        self._inner()._procedure()
        return Deferred(self._halved)

    def _halved(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        self._checked()
        n_candidates = max(1, int(varying_units(engine).sum()))
        n_units = engine.schema.n_units
        return self._selection(engine.n_samples, n_units, n_candidates).steps(engine, k)

    def _run_half(self, n_candidates: int, engine: Engine) -> Iterable[SelectionResult]:
        if self._inner().n_features_to_select is not None:
            return super()._run(engine)
        return self._seeded_inner()._steps(engine, self._affordable(n_candidates))

    def _affordable(self, n_candidates: int) -> int:
        """The most columns that a half may select for the promised number of false ones."""
        threshold = USUAL_THRESHOLD if self.threshold is None else self.threshold
        most = most_selected(n_candidates, self.pfer, threshold, self.n_pairs, self.assumption)
        return max(1, min(most, n_candidates // 2))

    def _checked(self) -> None:
        check_integer("n_pairs", self.n_pairs, 1)
        check_choice("assumption", self.assumption, ASSUMPTIONS)
        check_real("pfer", self.pfer, 0, inclusive="neither")
        if self.threshold is not None:
            check_real("threshold", self.threshold, 0.5, 1, inclusive="high", also="None")
        if self.block_size is not None:
            check_integer("block_size", self.block_size, 1)

    def _selection(self, n_rows: int, n_units: int, n_candidates: int) -> StabilitySelection:
        per_half = self._per_half(n_units, n_candidates)
        groups = getattr(self, "_groups", None)
        if groups is None:
            groups = getattr(self, "_dependence", Dependence()).groups
        if groups is not None and self.block_size is not None:
            raise InputError("groups and block_size both say which rows stay together; give one.")
        members = members_of(group_codes(groups, n_rows), self.block_size, n_rows)
        if n_rows < 4 or (members is not None and members.max() < 3):
            raise InputError(
                f"{n_rows} rows cannot be cut into two halves of at least two rows or groups; give "
                "more rows, or smaller groups or blocks."
            )
        return StabilitySelection(
            run=partial(self._run_half, n_candidates),
            n_pairs=self.n_pairs,
            threshold=self.threshold,
            pfer=self.pfer,
            assumption=self.assumption,
            seed=root_seed(self.random_state),
            halves=Halves(n_rows, members),
            n_candidates=n_candidates,
            checkpoint=self._checkpoint(per_half, members),
        )

    def _per_half(self, n_units: int, n_candidates: int) -> int | None:
        """How many units a half selects, where that is known; refuses what contradicts it."""
        inner = self._inner()
        if inner.n_features_to_select is None:
            return self._affordable(n_candidates)
        q = inner._count_for_statistics(n_units)
        if q is None or self.threshold is None or self.pfer == StabilitySelector.pfer:
            return q
        q = min(q, n_candidates)
        bound = false_selections(q, n_candidates, self.threshold, self.n_pairs, self.assumption)
        if bound > self.pfer:
            raise InputError(
                f"{q} of {n_candidates} columns per half and threshold={self.threshold:g} bound "
                f"the number of false columns by {bound:.2g}, not by pfer={self.pfer:g}; leave one "
                "of the three open."
            )
        return q

    def _checkpoint(self, per_half: int | None, members: Any) -> Checkpoint:
        if self.checkpoint is None:
            return Checkpoint(None, "")
        if not isinstance(self.checkpoint, str | Path):
            raise not_allowed("checkpoint", self.checkpoint, "a path or None")
        if not is_integer(self.random_state):
            raise InputError(
                "a run that is to go on later needs the same halves; give an integer as "
                "random_state."
            )
        kept = None if members is None else hashlib.sha256(members.tobytes()).hexdigest()
        reading = [getattr(self, name) for name in READING]
        settings = (settings_of(self._inner()), reading, int(self.random_state), per_half, kept)
        return Checkpoint(Path(self.checkpoint), repr(settings))

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        owner = engine.schema.unit_of_column
        extras = result.extras
        self.frequencies_ = extras["frequencies"][owner]
        self.intervals_ = extras["intervals"][owner]
        self.threshold_ = extras["threshold"]
        self.guarantee_ = self._guarantee(extras)
        bound, q = extras["bound"], extras["mean_selected"]
        if self.threshold is not None and bound > self.pfer * (1 + 1e-9):
            warn_user(
                f"{q:.3g} columns per half and threshold={self.threshold:g} bound the number of "
                f"false columns by {bound:.2g}, not by pfer={self.pfer:g}; let the selector choose "
                "fewer columns, raise the threshold, or leave it open."
            )
        super()._store(engine, result, k)

    def _guarantee(self, extras: Any) -> str:
        assumed = {
            "none": "without further assumptions",
            "unimodal": "if the frequencies of false columns have a unimodal law",
            "r-concave": "if the frequencies of false columns have an r-concave law",
        }[self.assumption]
        pairs, q = extras["n_pairs"], extras["mean_selected"]
        drawn = f"{pairs} complementary pair{'s' * (pairs != 1)}, {_columns(q)} per half"
        if not np.isfinite(extras["threshold"]):
            return f"Nothing is selected: no threshold keeps the bound {self.pfer:g} ({drawn})."
        return (
            f"On average at most {_false_columns(extras['bound'])} selected "
            f"({drawn}, threshold {percent(extras['threshold'])}), {assumed}; a column is false "
            "that a half selects no more often than one picked at random."
        )

    def _explain_nothing(self, schema: Any, result: SelectionResult) -> str:
        frequencies, threshold = result.extras["frequencies"], result.extras["threshold"]
        units = nearest_misses(result)
        nearest = [
            f"{name} ({frequencies[unit]:.0%})"
            for name, unit in zip(unit_names(schema, units), units, strict=True)
        ]
        if np.isfinite(threshold):
            reason = f"no column was selected by {percent(threshold)} of the halves"
        else:
            reason = (
                f"with {_columns(result.extras['mean_selected'])} per half no threshold keeps "
                f"the expected number of false columns below {self.pfer:g}; let the selector "
                "choose fewer columns, or raise pfer"
            )
        return f"Nothing passes: {reason}{self._later(schema, result)}. {told(nearest)}"

    def _later(self, schema: Any, result: SelectionResult) -> str:
        """At which ``pfer`` something would pass; empty where no half of the rows says enough."""
        passing = [(count, bound) for count, bound, _ in result.extras["count_curve"] if count]
        if self.threshold is not None or not passing:
            return ""
        count, bound = passing[0]
        names = unit_names(schema, result.order[:count]) if result.order is not None else []
        return (
            f"; with pfer={rounded_up(bound, 3)} {'this one' if count == 1 else f'these {count}'} "
            f"would: {listed(names)} (not a bound any more when it is chosen afterwards)"
        )


def _false_columns(bound: float) -> str:
    number = rounded_up(bound)
    return f"{number} false column is" if number == "1" else f"{number} false columns are"


def _columns(number: float) -> str:
    return f"{number:.3g} column{'s' * (number != 1)}"
