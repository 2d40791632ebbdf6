"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations

import itertools

import numpy as np

# --- evaluation ----------------------------------------------------------------------------------


def f_measure_by_definition(selected: set[int], relevant: set[int]) -> float:
    """2pr/(p + r), 0 where precision and recall are both 0 (P-LSMI, section 6.2)."""
    hits = sum(1 for one in selected if one in relevant)
    if hits == 0:
        return 0.0
    precision, recall = hits / len(selected), hits / len(relevant)
    return 2 * precision * recall / (precision + recall)


# --- Pearson and Hall ---------------------------------------------------------------------------


def weighted_correlation(x, y, weight):
    """Pearson's r by its definition; 0 for a constant column."""
    total = sum(weight)
    mean_x = sum(w * a for w, a in zip(weight, x, strict=True)) / total
    mean_y = sum(w * b for w, b in zip(weight, y, strict=True)) / total
    rows = list(zip(weight, x, y, strict=True))
    sxy = sum(w * (a - mean_x) * (b - mean_y) for w, a, b in rows)
    sxx = sum(w * (a - mean_x) ** 2 for w, a, _ in rows)
    syy = sum(w * (b - mean_y) ** 2 for w, _, b in rows)
    return 0.0 if sxx == 0 or syy == 0 else sxy / (sxx * syy) ** 0.5


def pearson_scores(X, y, task, weight=None):
    """Each column on its own: |r|, or Hall's Σ_c p(c) |r with 1[y = c]|; outputs are averaged."""
    weight = np.ones(len(X)) if weight is None else weight
    outputs = np.asarray(y).reshape(len(X), -1).T
    return np.array(
        [np.mean([_column_score(x, t, task, weight) for t in outputs]) for x in np.asarray(X).T]
    )


def _column_score(x, y, task, weight):
    if task == "regression":
        return abs(weighted_correlation(x, y, weight))
    share = {c: sum(weight[y == c]) / sum(weight) for c in set(y.tolist())}
    return sum(p * abs(weighted_correlation(x, 1.0 * (y == c), weight)) for c, p in share.items())


def hall_categorical(states, y, task):
    """Hall's correlation of a nominal column: indicator correlations weighted by frequencies."""
    ones = np.ones(len(y))
    total = 0.0
    for state in set(states.tolist()):
        here = states == state
        if task == "regression":
            total += here.mean() * abs(weighted_correlation(1.0 * here, y, ones))
            continue
        for label in set(y.tolist()):
            both = (here & (y == label)).mean()
            total += both * abs(weighted_correlation(1.0 * here, 1.0 * (y == label), ones))
    return total


# --- ties ---------------------------------------------------------------------------------------


def best_first(values):
    """Take the largest again and again; all within 1e-12 of it go before the rest, by index."""
    left = [i for i, v in enumerate(values) if v == v]
    order = []
    while left:
        top = max(values[i] for i in left)
        tied = [i for i in left if values[i] == top or top - values[i] <= 1e-12 * abs(top) < np.inf]
        order += tied
        left = [i for i in left if i not in tied]
    return order + [i for i, v in enumerate(values) if v != v]


# --- permutation tests ---------------------------------------------------------------------------


def permutation_pvalues(scores, permuted):
    """p and Westfall–Young step-down max-T, by the definitions; ``permuted`` is R × units."""
    n_units, n_permutations = len(scores), len(permuted)
    order = sorted(range(n_units), key=lambda j: (-scores[j], j))
    pvalues, adjusted = [0.0] * n_units, [0.0] * n_units
    least = 0.0
    for rank, unit in enumerate(order):
        below = order[rank:]
        alone = sum(row[unit] >= scores[unit] - 1e-12 for row in permuted)
        among = sum(max(row[j] for j in below) >= scores[unit] - 1e-12 for row in permuted)
        pvalues[unit] = (1 + alone) / (1 + n_permutations)
        least = max(least, (1 + among) / (1 + n_permutations))
        adjusted[unit] = least
    return pvalues, adjusted


# --- quadratic: the binary quadratic problem -----------------------------------------------------


def bqp_optimum(Q: np.ndarray, k: int) -> float:
    """max x'Qx over all sets of k indices, by trying them all."""
    sets = np.array(list(itertools.combinations(range(len(Q)), k)))
    return float(Q[sets[:, :, None], sets[:, None, :]].sum(axis=(1, 2)).max())


def bilinear_optimum(Q: np.ndarray, k: int) -> float:
    """max x'Qy over all pairs of sets of k indices (P-CMI eq. 6), by trying them all."""
    sets = list(itertools.combinations(range(len(Q)), k))
    return max(float(Q[np.ix_(x, y)].sum()) for x in sets for y in sets)


def best_swap_gain(Q: np.ndarray, members: list[int]) -> float:
    """The largest change of x'Qx by one swap."""
    others = [j for j in range(len(Q)) if j not in members]
    value = Q[np.ix_(members, members)].sum()
    gains = []
    for i, j in itertools.product(members, others):
        swapped = [m for m in members if m != i] + [j]
        gains.append(Q[np.ix_(swapped, swapped)].sum() - value)
    return float(max(gains))


def table_entropy(joint: np.ndarray, axes: tuple[int, ...]) -> float:
    """Entropy in nats of the variables ``axes`` of a joint probability table."""
    dropped = tuple(a for a in range(joint.ndim) if a not in axes)
    p = joint.sum(axis=dropped).ravel()
    return float(-(p[p > 0] * np.log(p[p > 0])).sum())


def table_information(
    joint: np.ndarray, a: tuple[int, ...], b: tuple[int, ...], given: tuple[int, ...] = ()
) -> float:
    """I(A; B | C) in nats from a joint probability table: H(AC) + H(BC) − H(ABC) − H(C)."""
    return (
        table_entropy(joint, a + given)
        + table_entropy(joint, b + given)
        - table_entropy(joint, a + b + given)
        - (table_entropy(joint, given) if given else 0.0)
    )


# --- lasso and least angle regression ------------------------------------------------------------


def group_lasso(X, Y, alpha, blocks, n_steps=20_000):
    """½ mean (Y − XB)² + α Σ √|g| ‖B_g‖ by plain proximal gradient steps; X and Y centred."""
    step = len(X) / np.linalg.norm(X, 2) ** 2
    B = np.zeros((X.shape[1], Y.shape[1]))
    for _ in range(n_steps):
        moved = B - step * X.T @ (X @ B - Y) / len(X)
        for block in blocks:
            norm = np.linalg.norm(moved[block])
            threshold = step * alpha * np.sqrt(len(block))
            moved[block] *= max(0.0, 1 - threshold / norm) if norm > 0 else 0.0
        B = moved
    return B


def least_angle_regression(X, y):
    """P-LECTURE, algorithms 1 and 2, line by line: columns as they enter, penalties and weights.

    The printed X_A'X is X_A'X_A, and 1/n is 1/N, as the sums run over the rows.
    """
    N, n = X.shape
    X = X - X.mean(axis=0)
    X = X / np.sqrt((X**2).sum(axis=0))
    r, w = y - y.mean(), np.zeros(n)
    active = [int(np.argmax(np.abs(X.T @ r)))]
    lam = np.abs(X.T @ r).max() / N
    lams, weights = [lam], [w]
    for _ in range(min(N - 1, n)):
        XA = X[:, active]
        delta = np.linalg.solve(XA.T @ XA, XA.T @ r) / (lam)
        change = X.T @ (XA @ delta)  # how fast <x_j, r> falls as lambda falls by 1
        candidates = []
        for j in set(range(n)) - set(active):
            for sign in (1, -1):
                # sign <x_j, r(l)> = N l, with r(l) = r − (lam − l) XA delta
                slope = N - sign * change[j]
                if slope != 0:
                    at = (sign * (X[:, j] @ r) - sign * lam * change[j]) / slope
                    if 0 < at < lam * (1 - 1e-12):
                        candidates.append((at, j))
        at, entering = max(candidates) if candidates else (0.0, None)
        step = np.zeros(n)
        step[active] = (lam - at) * delta
        w = w + step
        r = r - X @ step
        lam = at
        lams.append(lam)
        weights.append(w)
        if entering is None:
            break
        active.append(entering)
    return active, np.array(lams), np.array(weights)
