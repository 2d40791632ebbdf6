"""The interfaces of featsieve, and nothing else.

A **measure** says how good a set of units is, a **search** how the sets are explored, an
**engine** where the rows are. They know each other only through what is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.result import SelectionResult
from featsieve.runtime.progress import Monitor
from featsieve.schema import Block, KeptRows, Schema, Target
from featsieve.statistics.moments import ColumnMoments


class Summary(Protocol):
    """A statistic that adds over blocks of rows: a frozen dataclass with ``merge``."""

    def merge(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Summary)


class Engine(Protocol):
    """Where the rows are, and how to pass over them within the memory budget.

    Blocks come from a fixed grid and are merged in a fixed order, so an answer does not depend on
    the number of threads. ``fn`` may run in threads or on other machines: it must not keep state.
    """

    n_samples: int
    n_features: int
    schema: Schema
    target: Target
    monitor: Monitor
    memory_limit: int
    n_jobs: int
    has_weights: bool
    weights_belong_to_target: bool  # being a function of it: they are permuted together
    kept: KeptRows | None  # of the table as the user gave it; None: all of them
    is_local: bool  # blocks are summarised in this process, so ``fn`` may write to its files

    def reduce_rows(
        self,
        fn: Callable[[Block], S],
        *,
        moments: Callable[[S], ColumnMoments] | None = None,
        in_place: bool = False,
    ) -> S:
        """Summarise every block of rows and merge the summaries in row order.

        ``moments`` finds the moments of all columns of a block in its summary: they spare a look
        at the cells. ``in_place``: ``fn`` copies nothing, so that blocks may be large.
        """
        ...

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        """Summarise every pair of row blocks (first at or before second) and merge in order."""
        ...

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        """The k smallest values of ``fn`` (distances) for each row over all other rows."""
        ...

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        """Apply ``fn(values of some columns, their indices)`` to all columns, in tiles."""
        ...

    def take(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> tuple[FloatArray, Array]:
        """Dense X and 2-D y of these rows and columns, if they fit the memory budget."""
        ...

    def targets(self, rows: IntArray | None = None) -> Array:
        """The 2-D target of these rows (all by default), without any column of X."""
        ...

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        """These columns and y in the container the user gave, for a user's own estimator."""
        ...


@runtime_checkable
class CanPermuteTarget(Protocol):
    """An engine that can hand out the same rows with the target in another order."""

    def with_permuted_target(self, order: IntArray) -> Engine: ...


class Bound(Protocol):
    """A measure with its data: everything that touches rows lives here."""

    n_units: int
    monitor: Monitor


class Measure(Protocol):
    """Hyper-parameters only; fit never changes them.

    ``scale_ddof`` is None for a measure that does not depend on the scale of the columns, else
    the ddof with which the selector standardises them. ``takes_missing``: NaN is understood.
    """

    scale_ddof: ClassVar[int | None]
    takes_missing: ClassVar[bool]

    def bind(self, engine: Engine) -> Bound: ...


# --- Capabilities of a bound measure -------------------------------------------------------------


@runtime_checkable
class HasScores(Protocol):
    """One score per unit, each on its own."""

    def scores(self) -> FloatArray: ...


@runtime_checkable
class HasValue(Protocol):
    """The value of a set of units."""

    def value(self, subset: Sequence[int]) -> float: ...


@runtime_checkable
class HasFoldValues(Protocol):
    """The value of a set of units on the held-out rows of each fold."""

    def cross_validated(self, subset: Sequence[int]) -> FloatArray: ...


@runtime_checkable
class HasAdditions(Protocol):
    """The values of ``subset + [c]`` for all candidates c at once (optional, faster)."""

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray: ...


@runtime_checkable
class HasRemovals(Protocol):
    """The values of ``subset − [c]`` for all candidates c at once (optional, faster)."""

    def values_without(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray: ...


@runtime_checkable
class HasWeightGradient(Protocol):
    """Value and gradient for one non-negative weight per unit."""

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]: ...


@runtime_checkable
class HasMatrixGradient(Protocol):
    """Value and gradient for a matrix W that maps columns to components."""

    def value_and_gradient_matrix(self, W: FloatArray) -> tuple[float, FloatArray]: ...


@runtime_checkable
class HasTransform(Protocol):
    """What a search for W should know (optional; without it, a row of W is a unit).

    ``unit_of_row`` says which unit each row of W belongs to: a categorical column has one row per
    state. ``useful_components`` is how many columns of W are worth having.
    """

    @property
    def unit_of_row(self) -> IntArray: ...

    @property
    def useful_components(self) -> int: ...

    def start(self, n_components: int) -> FloatArray | None:
        """A good W to start from; None: a random one is as good."""
        ...


@runtime_checkable
class HasTransformValue(Protocol):
    """The largest value over all W on some units alone (optional).

    The function that comes back takes positions in ``pool``; what they share is computed once.
    """

    def transform_value(
        self, pool: Sequence[int], n_components: int
    ) -> Callable[[Sequence[int]], float]: ...


@runtime_checkable
class HasColumnSets(Protocol):
    """Values of sets of columns as they are, without W, of additions and removals (optional)."""

    def column_sets(self) -> Any: ...


@runtime_checkable
class HasTuning(Protocol):
    """Model selection at given weights; what it chose holds until the next call."""

    def tune(self, weights: FloatArray) -> None: ...


@runtime_checkable
class HasWorkload(Protocol):
    """Multiplications of one evaluation, roughly: few are not spread over threads (optional)."""

    workload: int


@runtime_checkable
class HasRestarts(Protocol):
    """A bound object of its own for one restart of a search.

    It draws its random choices (centres, folds) from the seed and keeps its own tuning, so that
    restarts can run side by side with the same outcome.
    """

    def restart(self, seed: int) -> Any: ...


@runtime_checkable
class HasContextScores(Protocol):
    """How much each unit adds in the presence of all others (larger is better).

    A rough screen that keeps interacting units; a search on many units starts from its best.
    """

    def context_scores(self) -> FloatArray: ...


@dataclass(frozen=True)
class PairTerms:
    """Relevance of each unit, and a term for pairs of units, computed one row at a time.

    ``role`` says whether the pair term is redundancy to lose or complement to gain; ``pair_rows``
    gives several rows at once, where that is faster than one after another.
    """

    relevance: FloatArray
    pair_row: Callable[[int], FloatArray]
    role: Literal["redundancy", "complement"]
    symmetric: bool
    pair_rows: Callable[[Sequence[int]], FloatArray] | None = None


@runtime_checkable
class HasPairs(Protocol):
    """Relevance and pair terms, for pairwise greedy and quadratic searches."""

    def relevance_and_pairs(self) -> PairTerms: ...


@runtime_checkable
class HasPairMatrix(Protocol):
    """All pair terms at once, ``pair_row(i)`` in row i (optional, faster).

    The diagonal of a complement is relevance, that of a redundancy the term of a unit with itself.
    """

    def pair_matrix(self) -> FloatArray: ...


class PairInformation(Protocol):
    """What unit i tells together with each other unit j about the target Y, in nats."""

    @property
    def mutual(self) -> FloatArray:
        """I(X_i; X_j)."""
        ...

    @property
    def joint(self) -> FloatArray:
        """I(X_i, X_j; Y)."""
        ...

    @property
    def conditional(self) -> FloatArray:
        """I(X_j; Y | X_i)."""
        ...

    @property
    def within_classes(self) -> FloatArray:
        """I(X_i; X_j | Y)."""
        ...

    @property
    def symmetric_relevance(self) -> FloatArray:
        """I(X_i, X_j; Y) / H(X_i, X_j, Y)."""
        ...


@runtime_checkable
class HasPairInformation(Protocol):
    """Relevance, and the information of a unit with others, for greedy information criteria.

    ``information_scale`` is the size of the entropies that information is a difference of; its
    rounding is relative to that.
    """

    information_scale: float

    def relevance(self) -> FloatArray: ...

    def information_with(self, unit: int, others: IntArray | None = None) -> PairInformation: ...


@runtime_checkable
class HasConditionalGains(Protocol):
    """I(X_j; Y | X_S) for all units j, given a set S."""

    def conditional_gains(self, subset: Sequence[int]) -> FloatArray: ...


@runtime_checkable
class HasPermutedScores(Protocol):
    """The scores under many permutations of the target at once (optional, faster).

    ``orders`` has one permutation of the rows in each row; the answer has one row per unit and
    one column per permutation. ``numbers_per_order`` is what one permutation needs in
    memory, in numbers; ``score_scale`` the size of a score, to which its rounding is relative.
    """

    numbers_per_order: int
    score_scale: float

    def permuted_scores(self, orders: IntArray) -> FloatArray: ...


@runtime_checkable
class HasReport(Protocol):
    """What only this measure has to tell; goes into ``result_.extras``.

    The key ``"approximation"`` goes into ``result_.approximation``.
    """

    def report(self) -> Mapping[str, Any]: ...


CAPABILITY_WORDS: dict[type, str] = {
    HasScores: "a score for each unit (scores)",
    HasValue: "a value for a set of units (value)",
    HasAdditions: "values of all additions (values_with)",
    HasRemovals: "values of all removals (values_without)",
    HasWeightGradient: "a gradient for weights (value_and_gradient)",
    HasMatrixGradient: "a gradient for a matrix (value_and_gradient_matrix)",
    HasTuning: "model selection at weights (tune)",
    HasRestarts: "a copy of its own for each restart (restart)",
    HasContextScores: "scores in the presence of all others (context_scores)",
    HasPairs: "relevance and pair terms (relevance_and_pairs)",
    HasPairMatrix: "a matrix of all pair terms (pair_matrix)",
    HasConditionalGains: "the gains of all units given a set (conditional_gains)",
    HasPairInformation: "the information of pairs of units (information_with)",
}


# --- Searches and procedures ---------------------------------------------------------------------


class Search(Protocol):
    """Hyper-parameters only; ``requires`` lists the capabilities it needs.

    ``bound`` has them all; its type is open here because every search needs other ones. A search
    that holds a matrix of pair terms says in ``pair_columns`` how many columns of it (None: all).
    """

    requires: ClassVar[tuple[type, ...]]

    def steps(self, bound: Any, k: int) -> Iterator[SelectionResult]:
        """Yield the best complete answer so far, again and again; the last one is final."""
        ...


# How a search or a procedure gives sets of many sizes from one run, in its attribute ``nesting``:
# "growing": the prefixes of the answer for the most units; "shrinking": the prefixes of the order
# of a run down to one unit; "path": the first set of each size on the path for the most units.
# Without the attribute, every size takes a run of its own.
Nesting = Literal["growing", "shrinking", "path"]


class Procedure(Protocol):
    """What the selector really runs: a measure × search pair, or a method of its own.

    ``k`` is None where the procedure finds the number of units itself.
    """

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """Read, bind and search; yield the best complete answer so far, again and again."""
        ...
