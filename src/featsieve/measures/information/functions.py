"""Entropies and information of plain columns of states."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.discretize.base import MAX_STATES
from featsieve.errors import InputError
from featsieve.input.targets import is_missing
from featsieve.measures.information.counts import Codes, Layout
from featsieve.measures.information.joint import (
    Correction,
    JointCounts,
    conditional_information,
    information,
)
from featsieve.measures.information.matrix import conditional_matrix
from featsieve.measures.information.pair_sums import PackedPairs
from featsieve.runtime.pool import effective_n_jobs

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
    values = np.asarray(x)
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
    """I(X; Y) / √(H(X) H(Y)) (Sugiyama, lecture notes), 0 if either has one state only.

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
        given = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise InputError(f"the numbers of rows differ: {given}; give one state per row in each.")
    return JointCounts.of(list(codes.values()), correction)
