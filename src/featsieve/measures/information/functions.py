"""Entropies and information of plain columns of states, and its distribution given the counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, digamma, xlogy

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.discretize.base import MAX_STATES
from featsieve.errors import InputError
from featsieve.input.parameters import check_choice, check_real, effective_n_jobs
from featsieve.input.tables import array_of, is_missing, is_sparse, unmasked
from featsieve.measures.information.counts import Codes, Layout
from featsieve.measures.information.joint import (
    Correction,
    JointCounts,
    conditional_information,
    information,
)
from featsieve.measures.information.pair_sums import PackedPairs
from featsieve.measures.information.pairs import conditional_matrix

_MISSING = object()


def state_codes(x: Any, name: str) -> IntArray:
    """Codes 0, 1, … of one variable's states; continuous numbers are refused.

    Missing cells of any kind are one state, and text is never equal to a number.

    >>> state_codes(["1", None, 1, float("nan")], "x").tolist()
    [0, 1, 2, 1]
    """
    values = as_states(x)
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name} has shape {values.shape}; give one state per row, at least one.")
    if values.dtype == object:
        return _codes_of_objects(values.tolist(), name)
    _refuse_fractions(values, name)
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def as_states(x: Any) -> Array:
    """An array; a list with text keeps each value as given, where NumPy would make all text."""
    if is_sparse(x):
        raise InputError("the states are sparse, and counts need all of them; give X.toarray().")
    values = array_of(unmasked(x))
    if values is None:
        raise InputError("the states differ in length from row to row; give one state per cell.")
    if values.dtype.kind in "US" and not isinstance(x, np.ndarray):
        return np.array(x, dtype=object)
    return values


def _codes_of_objects(values: list[Any], name: str) -> IntArray:
    keys = [_MISSING if is_missing(value) else value for value in values]
    _refuse_fractions(np.array([key for key in keys if isinstance(key, float)], float), name)
    try:
        code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError:
        raise InputError(
            f"{name} holds values that cannot be compared; give numbers, text or booleans."
        ) from None
    return np.array([code_of[key] for key in keys], dtype=np.intp)


def _refuse_fractions(values: npt.NDArray[Any], name: str) -> None:
    if values.dtype.kind != "f":
        return
    known = values[~np.isnan(values)]
    if (known != np.rint(known)).any():
        raise InputError(
            f"{name} holds continuous numbers where codes are expected; discretise it first, see "
            "featsieve.discretize."
        )


def entropy(x: Any, *, correction: Correction = None) -> float:
    """H(X) of states: integers, text or booleans; missing cells are one state.

    Parameters
    ----------
    x : one state per row
    correction : None, "miller_madow" or "shrink"
        Against the bias of the plug-in estimate for few rows.

    >>> round(entropy([0, 0, 1, 1]), 12) == round(float(np.log(2)), 12)
    True
    """
    return JointCounts.of([state_codes(x, "x")], correction).entropy()


def joint_entropy(x: Any, y: Any, *, correction: Correction = None) -> float:
    """H(X, Y); see :func:`entropy`.

    Examples
    --------
    >>> round(joint_entropy(["a", "a", "b", "b"], [0, 1, 0, 1]), 6)
    1.386294
    """
    return _joint(correction, x=x, y=y).entropy()


def mutual_information(x: Any, y: Any, *, correction: Correction = None) -> float:
    """I(X; Y) = H(X) + H(Y) − H(X, Y); see :func:`entropy`.

    >>> mutual_information(["a", "a", "b", "b"], [0, 1, 0, 1])
    0.0
    """
    return information(_joint(correction, x=x, y=y))


def normalized_mutual_information(x: Any, y: Any, *, correction: Correction = None) -> float:
    """I(X; Y) / √(H(X) H(Y)) (Sugiyama, lecture notes), 0 if either has only one state.

    The data are those of :func:`entropy`.

    >>> round(normalized_mutual_information([0, 1, 2], [5, 3, 4]), 12)
    1.0
    """
    joint = _joint(correction, x=x, y=y)
    scale = np.sqrt(joint.entropy(0) * joint.entropy(1))
    return information(joint) / float(scale) if scale > 0 else 0.0


def conditional_mutual_information(
    x: Any, y: Any, z: Any, *, correction: Correction = None
) -> float:
    """I(X; Y | Z) = H(X, Z) + H(Y, Z) − H(Z) − H(X, Y, Z); see :func:`entropy`.

    >>> x, y = [0, 0, 1, 1], [0, 1, 0, 1]
    >>> round(conditional_mutual_information(x, y, np.bitwise_xor(x, y)), 4)
    0.6931
    """
    return conditional_information(_joint(correction, x=x, y=y, z=z))


def cmi_matrix(codes: Any, y: Any, *, n_jobs: int | None = None) -> FloatArray:
    """Q[i, j] = I(X_j; Y | X_i), on the diagonal I(X_i; Y); not symmetric.

    Equation (4) of Venkateswara et al. (2015).

    Parameters
    ----------
    codes : array of shape (n_samples, n_features)
        Integers, at most 255 states per column; see :mod:`featsieve.discretize`.
    y : one class per row
    n_jobs : int, optional
        Threads; None means one, −1 all processors.

    >>> x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> cmi_matrix(x, x[:, 0] ^ x[:, 1]).round(4).tolist()
    [[0.0, 0.6931], [0.6931, 0.0]]
    """
    table, layout = coded_columns(codes)
    classes = state_codes(y, "y")
    if len(classes) != len(table):
        raise InputError(f"codes has {len(table)} rows and y has {len(classes)}; give one per row.")
    layout = Layout(layout.states, int(classes.max()) + 1)
    return conditional_matrix(
        PackedPairs.of_codes(table, classes, layout, effective_n_jobs(n_jobs))
    )


def coded_columns(codes: Any) -> tuple[Codes, Layout]:
    """Compact codes of all columns; too many states and continuous numbers are refused."""
    table = as_states(codes)
    if table.ndim != 2 or not table.size:
        raise InputError(
            f"codes has shape {table.shape}; give rows × columns with at least one of each."
        )
    if table.dtype.kind == "b":
        table = table.view(np.uint8)  # booleans cannot be subtracted
    if table.dtype.kind in "iu":
        low, high = table.min(axis=0), table.max(axis=0)
        width = high.astype(float) - low.astype(float)
        if width.max() < MAX_STATES:
            return _shifted(table, low), Layout(width.astype(np.int64) + 1, 1)
    columns = [state_codes(column, f"column {j} of codes") for j, column in enumerate(table.T)]
    return _stacked(columns)


def _shifted(table: Array, low: Array) -> Codes:
    if not low.any():
        return np.ascontiguousarray(table, dtype=np.uint8)
    return np.ascontiguousarray((table - low).astype(np.uint8))


def _stacked(columns: list[IntArray]) -> tuple[Codes, Layout]:
    states = np.array([int(column.max()) + 1 for column in columns], dtype=np.int64)
    if states.max() > MAX_STATES:
        raise InputError(
            f"column {int(states.argmax())} of codes has {int(states.max())} states, at most "
            f"{MAX_STATES} are allowed; discretise it, see featsieve.discretize."
        )
    return np.stack(columns, axis=1).astype(np.uint8), Layout(states, 1)


def _joint(correction: Correction, **variables: Any) -> JointCounts:
    codes = {name: state_codes(values, name) for name, values in variables.items()}
    lengths = {name: len(values) for name, values in codes.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise InputError(f"the numbers of rows differ: {counts}; give one state per row in each.")
    return JointCounts.of(list(codes.values()), correction)


Prior = Literal["perks", "jeffreys", "uniform"]

# The series for the variance grows as 1 / count: below so many rows in a cell it need not hold.
FEWEST_IN_A_CELL = 5.0
DRAW_SEED = 2005
MOST_DRAWS, FEWEST_DRAWS = 20_000, 1_000
CELLS_DRAWN = 4_000_000  # fewer draws of large tables: their information varies less
CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class InformationPosterior:
    """Mean, variance and credible interval of I(X; Y) in nats."""

    mean: float
    variance: float
    low: float
    high: float


def information_posterior(
    x: Any, y: Any, *, prior: Prior = "perks", level: float = 0.95
) -> InformationPosterior:
    """What the rows say about I(X; Y), under a Dirichlet prior on the joint table.

    The mean is exact. The variance is Hutter and Zaffalon's series where every cell holds at least
    5 rows (the prior's share included); else it comes from draws of the Dirichlet law, the same at
    every call (Hutter and Zaffalon 2005).

    Parameters
    ----------
    x, y : one state per row
    prior : "perks" (1 row shared by all cells), "jeffreys" (½ per cell) or "uniform" (1 per cell)
    level : float, default=0.95
        Probability of the interval, from a Beta law on [0, log of the fewer states] with this mean
        and variance.

    >>> posterior = information_posterior([0, 1] * 50, [0, 1] * 50)
    >>> 0.55 < posterior.low < posterior.mean < posterior.high < 0.6932
    True
    """
    a, b = state_codes(x, "x"), state_codes(y, "y")
    if len(a) != len(b):
        raise InputError(f"x has {len(a)} rows and y has {len(b)}; give one state per row in each.")
    level = check_real("level", level, 0, 1, inclusive="neither")
    table = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(table, (a, b), 1.0)
    return posterior_of_table(table + _prior_count(prior, table.size), level)


def posterior_of_table(table: FloatArray, level: float = 0.95) -> InformationPosterior:
    """The same from counts that hold the prior already; all must be positive."""
    if 1 in table.shape:
        return InformationPosterior(0.0, 0.0, 0.0, 0.0)
    mean, variance = _mean(table), _variance(table)
    low, high = _interval(mean, variance, float(np.log(min(table.shape))), level)
    return InformationPosterior(mean, variance, low, high)


def _prior_count(prior: Prior, n_cells: int) -> float:
    counts = {"perks": 1.0 / n_cells, "jeffreys": 0.5, "uniform": 1.0}
    return counts[check_choice("prior", prior, counts)]


def _mean(table: FloatArray) -> float:
    """Exact: Σ n_ij/n [ψ(n_ij + 1) − ψ(n_i + 1) − ψ(n_j + 1) + ψ(n + 1)]."""
    n, rows, columns = table.sum(), table.sum(axis=1, keepdims=True), table.sum(axis=0)
    terms = digamma(table + 1) - digamma(rows + 1) - digamma(columns + 1) + digamma(n + 1)
    return float((table * terms).sum() / n)


def _variance(table: FloatArray) -> float:
    return _series_variance(table) if table.min() >= FEWEST_IN_A_CELL else _drawn_variance(table)


def _drawn_variance(table: FloatArray) -> float:
    """Variance of the information of tables drawn from the posterior, always the same draws."""
    n_draws = min(MOST_DRAWS, max(FEWEST_DRAWS, CELLS_DRAWN // table.size))
    at_once = max(1, CELLS_AT_ONCE // table.size)
    rng = np.random.default_rng(DRAW_SEED)
    sizes = [min(at_once, n_draws - start) for start in range(0, n_draws, at_once)]
    drawn = [_information(rng.standard_gamma(table, (size, *table.shape))) for size in sizes]
    return float(np.concatenate(drawn).var(ddof=1))


def _information(weights: FloatArray) -> FloatArray:
    """I(X; Y) of many tables, each proportional to its weights."""
    tables = weights / weights.sum(axis=(1, 2), keepdims=True)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    joint = xlogy(tables, tables).sum(axis=(1, 2))
    return np.asarray(joint - xlogy(rows, rows).sum(axis=1) - xlogy(columns, columns).sum(axis=1))


def _series_variance(table: FloatArray) -> float:
    """(K − J²)/(n + 1) + [M + (r − 1)(s − 1)(½ − J) − Q]/((n + 1)(n + 2)), to O(n⁻³)."""
    n, rows, columns = table.sum(), table.sum(axis=1, keepdims=True), table.sum(axis=0)
    log_ratio = np.log(table * n / (rows * columns))
    J = (table * log_ratio).sum() / n
    K = (table * log_ratio**2).sum() / n
    M = ((1 / table - 1 / rows - 1 / columns + 1 / n) * table * log_ratio).sum()
    Q = 1 - (table**2 / (rows * columns)).sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    second = (M + freedom * (0.5 - J) - Q) / ((n + 1) * (n + 2))
    return max(0.0, float((K - J**2) / (n + 1) + second))


def _interval(mean: float, variance: float, top: float, level: float) -> tuple[float, float]:
    share, spread = mean / top, variance / top**2
    if spread <= 0 or share <= 0 or share >= 1:
        return mean, mean
    size = max(share * (1 - share) / spread - 1, np.finfo(float).tiny)
    tail = (1 - level) / 2
    low, high = betaincinv(share * size, (1 - share) * size, [tail, 1 - tail])
    return float(low * top), float(high * top)
