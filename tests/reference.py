"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations

import itertools
import math
from itertools import combinations, permutations

import numpy as np

# --- HSIC family ----------------------------------------------------------------------------------


def rbf_gram(X, sigma):
    """exp(−‖x_i − x_j‖²/2σ²), one pair at a time."""
    n = len(X)
    return np.array(
        [[np.exp(-((X[i] - X[j]) ** 2).sum() / (2 * sigma**2)) for j in range(n)] for i in range(n)]
    )


def four_index_hsic(K, L):
    """The U-statistic of P-HSIC eq. (6) and (7): every ordered quadruple."""
    m = len(K)
    total = 0.0
    for s, t, u, v in permutations(range(m), 4):
        total += K[s, t] * L[s, t] + K[s, t] * L[u, v] - 2 * K[s, t] * L[s, u]
    return total / (m * (m - 1) * (m - 2) * (m - 3))


def four_index_R(K, L):
    """R of P-HSIC eq. (8) by the definition; h is symmetrised over its four arguments."""
    m = len(K)
    parts = np.zeros(m)
    for quadruple in permutations(range(m), 4):
        h = 0.0
        for s, t, u, v in permutations(quadruple):
            h += K[s, t] * L[s, t] + K[s, t] * L[u, v] - 2 * K[s, t] * L[s, u]
        parts[quadruple[0]] += h / 24
    return float(np.mean((parts / ((m - 1) * (m - 2) * (m - 3))) ** 2))


def biased_hsic(K, L):
    """tr(KHLH)/(n − 1)² with H written out (P-LSMI eq. 4)."""
    n = len(K)
    H = np.eye(n) - np.ones((n, n)) / n
    return float(np.trace(K @ H @ L @ H)) / (n - 1) ** 2


def median_pair_distance(X):
    """The median over pairs i < j; of the positive distances when that is zero; 1 without any."""
    n = len(X)
    found = np.array([np.sqrt(((X[i] - X[j]) ** 2).sum()) for i, j in combinations(range(n), 2)])
    if np.median(found) > 0:
        return float(np.median(found))
    return float(np.median(found[found > 0])) if (found > 0).any() else 1.0


# --- LSMI family and the l1 ball -----------------------------------------------------------------


def l1_projection_by_bisection(w, radius, nonnegative):
    """Shrink all sizes by the same amount until their sum is the radius."""
    size = np.maximum(w, 0.0) if nonnegative else np.abs(w)
    low, high = 0.0, size.max()
    if size.sum() > radius:
        for _ in range(200):
            shrink = (low + high) / 2
            inside = np.maximum(size - shrink, 0).sum() <= radius
            low, high = (low, shrink) if inside else (shrink, high)
    size = np.maximum(size - (high if size.sum() > radius else 0.0), 0.0)
    return size if nonnegative else np.sign(w) * size


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


def lsmi_by_definition(X, y, centers, sigma, lam, is_delta):
    """P-LSMI eqs (8) and (9) with H summed over all pairs of rows; y is 2-D."""
    n, b = len(X), len(centers)

    def phi(i):
        return np.exp(-((X[i] - X[centers]) ** 2).sum(axis=1) / (2 * sigma**2))

    def psi(j):
        if is_delta:
            return (y[j] == y[centers]).all(axis=1).astype(float)
        return np.exp(-((y[j] - y[centers]) ** 2).sum(axis=1) / (2 * sigma**2))

    H, h = np.zeros((b, b)), np.zeros(b)
    for i in range(n):
        h += phi(i) * psi(i) / n
        for j in range(n):
            basis = phi(i) * psi(j)
            H += np.outer(basis, basis) / n**2
    alpha = np.linalg.solve(H + lam * np.eye(b), h)
    return h @ alpha / 2 - 0.5, alpha


def cv_error_by_definition(X, y, centers, folds, sigma, lam, is_delta):
    """Mean held-out error, every fold fitted from its own training rows."""

    def moments(rows):
        H, h = np.zeros((len(centers), len(centers))), np.zeros(len(centers))
        for i in rows:
            phi_i = np.exp(-((X[i] - X[centers]) ** 2).sum(axis=1) / (2 * sigma**2))
            h += phi_i * psi(i) / len(rows)
            for j in rows:
                H += np.outer(phi_i * psi(j), phi_i * psi(j)) / len(rows) ** 2
        return H, h

    def psi(j):
        if is_delta:
            return (y[j] == y[centers]).all(axis=1).astype(float)
        return np.exp(-((y[j] - y[centers]) ** 2).sum(axis=1) / (2 * sigma**2))

    errors = []
    for fold in np.unique(folds):
        H, h = moments(np.flatnonzero(folds != fold))
        H_out, h_out = moments(np.flatnonzero(folds == fold))
        alpha = np.linalg.solve(H + lam * np.eye(len(h)), h)
        errors.append(alpha @ H_out @ alpha / 2 - h_out @ alpha)
    return np.mean(errors)


def median_distance_by_sorting(Z):
    distances = [np.linalg.norm(a - b) for i, a in enumerate(Z) for b in Z[i + 1 :]]
    return np.median(distances)


def kliep_by_scipy(A, b):
    """The maximum of the mean log-likelihood over α ≥ 0 with b'α = 1, by a general solver."""
    from scipy.optimize import minimize

    start = np.full(len(b), 1.0 / b.sum())
    found = minimize(
        lambda a: -np.log(A @ a).mean(),
        start,
        jac=lambda a: -(A.T @ (1 / (A @ a))) / len(A),
        bounds=[(0, None)] * len(b),
        constraints={"type": "eq", "fun": lambda a: b @ a - 1, "jac": lambda a: b},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return -found.fun


# --- information --------------------------------------------------------------------------------


def entropy_by_definition(*variables):
    """−Σ p log p over the combinations of states, in nats."""
    rows = list(zip(*variables, strict=True))
    n = len(rows)
    counts = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    return -sum(c / n * np.log(c / n) for c in counts.values())


def information_by_definition(x, y):
    """Σ p(x, y) log [p(x, y) / p(x) p(y)]."""
    n = len(x)
    total = 0.0
    for a in set(x):
        for b in set(y):
            both = sum(1 for u, v in zip(x, y, strict=True) if u == a and v == b) / n
            if both:
                p_a, p_b = sum(u == a for u in x) / n, sum(v == b for v in y) / n
                total += both * np.log(both / (p_a * p_b))
    return total


def conditional_information_by_definition(x, y, z):
    """Σ_z p(z) I(X; Y | Z = z)."""
    total = 0.0
    for c in set(z):
        rows = [r for r, v in enumerate(z) if v == c]
        part = information_by_definition([x[r] for r in rows], [y[r] for r in rows])
        total += len(rows) / len(z) * part
    return total


def caim_by_definition(values, classes):
    """Every boundary tried from scratch at every step (Kurgan and Cios 2004)."""
    from itertools import pairwise

    distinct = sorted(set(values))
    candidates = [(a + b) / 2 for a, b in pairwise(distinct)]
    n_classes = len(set(classes))
    cuts, reached = [], 0.0
    while len(cuts) < len(candidates):
        best, best_value = None, -1.0
        for cut in candidates:
            value = _caim_value(values, classes, sorted([*cuts, cut])) if cut not in cuts else -1.0
            if value > best_value * (1 + 1e-12):
                best, best_value = cut, value
        if best_value <= reached * (1 + 1e-12) and len(cuts) + 1 >= n_classes:
            break
        cuts.append(best)
        reached = best_value
    return sorted(cuts)


def _caim_value(values, classes, cuts):
    from itertools import pairwise

    edges = [-np.inf, *cuts, np.inf]
    total = 0.0
    for low, high in pairwise(edges):
        inside = [c for v, c in zip(values, classes, strict=True) if low < v <= high]
        total += max(inside.count(c) for c in set(inside)) ** 2 / len(inside)
    return total / (len(edges) - 1)


def greedy_by_definition(codes, y, k, score):
    """Add the column with the largest ``score(candidate, selected)``, ties to the lowest index."""
    selected, trace = [], []
    for _ in range(k):
        best, best_score = None, -np.inf
        for candidate in range(codes.shape[1]):
            if candidate in selected:
                continue
            value = score(codes, y, candidate, selected)
            if best is None or value > best_score + 1e-12 * abs(best_score):
                best, best_score = candidate, value
        selected.append(best)
        trace.append(best_score)
    return selected, trace


def simplex_minimum_by_enumeration(Q, b):
    """min ½ w'Qw − b'w on the simplex: the equality problem on every support."""
    from itertools import chain, combinations

    m = len(b)
    best, best_value = None, np.inf
    for support in chain.from_iterable(combinations(range(m), s) for s in range(1, m + 1)):
        s = list(support)
        kkt = np.block([[Q[np.ix_(s, s)], np.ones((len(s), 1))], [np.ones((1, len(s))), 0.0]])
        solved = np.linalg.lstsq(kkt, np.append(b[s], 1.0), rcond=None)[0][: len(s)]
        w = np.zeros(m)
        w[s] = solved
        value = 0.5 * w @ Q @ w - b @ w
        if (solved >= -1e-12).all() and abs(w.sum() - 1) < 1e-9 and value < best_value:
            best, best_value = w, value
    return best, best_value


# --- Relief ---------------------------------------------------------------------------------------


def relief_differences(X, categorical=(), classes=None):
    """d[i, j, c]: |difference| on the range, mismatch of codes, averages for missing cells."""
    n, p = X.shape
    classes = np.zeros(n, int) if classes is None else classes
    d = np.zeros((n, n, p))
    for c in range(p):
        x = X[:, c]
        known = x[~np.isnan(x)]
        if len(known) == 0 or known.min() == known.max():
            continue
        z = x if c in categorical else (x - known.min()) / (known.max() - known.min())
        shares = {g: _relief_shares(z, classes == g, c in categorical) for g in set(classes)}
        for i, j in itertools.product(range(n), repeat=2):
            d[i, j, c] = _relief_difference(
                z[i], z[j], shares[classes[i]], shares[classes[j]], c in categorical
            )
    return d


def _relief_bin(value, is_code):
    return int(value) if is_code else min(int(64 * value), 63)


def _relief_shares(z, own, is_code):
    """How often each bin occurs in a class; in all classes if nothing is known in this one."""
    known = own & ~np.isnan(z)
    values = z[known] if known.any() else z[~np.isnan(z)]
    bins = [_relief_bin(value, is_code) for value in values]
    return {b: bins.count(b) / len(bins) for b in set(bins)}


def _relief_difference(a, b, shares_a, shares_b, is_code):
    if not (np.isnan(a) or np.isnan(b)):
        return float(a != b) if is_code else abs(a - b)
    maybe_a = shares_a if np.isnan(a) else {_relief_bin(a, is_code): 1.0}
    maybe_b = shares_b if np.isnan(b) else {_relief_bin(b, is_code): 1.0}
    return sum(
        p * q * (float(u != v) if is_code else abs(u - v) / 64)
        for u, p in maybe_a.items()
        for v, q in maybe_b.items()
    )


def relief_shares(distances, candidates, rank_weights):
    """Weight of each candidate: ranks are weighted, rows at the same distance share theirs."""
    ordered = sorted(candidates, key=lambda j: distances[j])
    n_ranks = min(len(rank_weights), len(ordered))
    total = sum(rank_weights[:n_ranks])
    shares = {}
    for j in ordered:
        tied = [r for r, other in enumerate(ordered) if distances[other] == distances[j]]
        held = sum(rank_weights[r] for r in tied if r < n_ranks)
        shares[j] = held / (total * len(tied))
    return shares


def relieff(X, y, k, categorical=(), visited=None):
    """ReliefF with class frequencies as priors, one row, class and neighbour at a time."""
    n, p = X.shape
    d = relief_differences(X, categorical, y)
    distances = d.sum(axis=2).round(9)
    weight = np.zeros(p)
    visited = range(n) if visited is None else visited
    for i in visited:
        for c in set(y):
            others = [j for j in range(n) if j != i and y[j] == c]
            prior = np.mean(y == c) / (1 - np.mean(y == y[i]))
            factor = -1.0 if c == y[i] else prior
            for j, share in relief_shares(distances[i], others, [1.0] * k).items():
                weight += factor * share * d[i, j] / len(visited)
    return weight


def rrelieff(X, y, k, categorical=()):
    """RReliefF with ranks weighted by exp(−(rank/50)²)."""
    n, p = X.shape
    d = relief_differences(X, categorical)
    distances = d.sum(axis=2).round(9)
    decay = [np.exp(-((rank / 50) ** 2)) for rank in range(1, k + 1)]
    n_dc, n_da, n_dcda = 0.0, np.zeros(p), np.zeros(p)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j, share in relief_shares(distances[i], others, decay).items():
            dy = abs(y[i] - y[j]) / (max(y) - min(y))
            n_dc += share * dy
            n_da += share * d[i, j]
            n_dcda += share * dy * d[i, j]
    gain = n_dcda / n_dc if n_dc > 0 else np.zeros(p)
    return gain - ((n_da - n_dcda) / (n - n_dc) if n - n_dc > 1e-12 * n else 0.0)


# --- Penalties on blocks of rows (P-L1INF) -------------------------------------------------------


def block_norm(values, p):
    """‖·‖_p of a flat list, p = inf, 2 or 1."""
    sizes = [abs(float(v)) for v in values]
    if p == 1:
        return sum(sizes)
    return max(sizes) if p == np.inf else float(np.sqrt(sum(s * s for s in sizes)))


def block_penalty(W, owner, p, weight):
    """weight · Σ over blocks of ‖W_block‖_p, one block at a time."""
    return weight * sum(block_norm(W[owner == u].ravel(), p) for u in np.unique(owner))


def constrained_l1_linf(smooth, start, owner, weight):
    """P-L1INF eq. (2) by a general solver: variables W and s, |w| ≤ s_u; the objective reached."""
    from scipy.optimize import minimize

    size, n_blocks = start.size, int(owner.max()) + 1
    of_entry = np.repeat(owner, start.shape[1])

    def objective(x):
        value, gradient = smooth(x[:size].reshape(start.shape))
        full = np.concatenate([gradient.ravel(), np.full(n_blocks, weight)])
        return value + weight * x[size:].sum(), full

    pick = np.zeros((size, n_blocks))
    pick[np.arange(size), of_entry] = 1.0
    bounds = np.vstack([np.hstack([np.eye(size), pick]), np.hstack([-np.eye(size), pick])])
    sizes = [np.abs(start.ravel()[of_entry == u]).max() for u in range(n_blocks)]
    outcome = minimize(
        objective,
        np.concatenate([start.ravel(), sizes]),
        jac=True,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: bounds @ x, "jac": lambda x: bounds},
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    W = outcome.x[:size].reshape(start.shape)
    return smooth(W)[0] + block_penalty(W, owner, np.inf, weight)


def plain_proximal_gradient(smooth, start, owner, p, weight, curvature, n_steps):
    """ISTA with the fixed step 1/curvature; the objective reached."""
    W, t = start.copy(), 1.0 / curvature
    for _ in range(n_steps):
        V = W - t * smooth(W)[1]
        for u in np.unique(owner):
            block = V[owner == u]
            if p == 1:
                W[owner == u] = np.sign(block) * np.maximum(np.abs(block) - t * weight, 0.0)
            else:
                length = np.sqrt((block**2).sum())
                W[owner == u] = block * (max(length - t * weight, 0.0) / length if length else 0.0)
    return smooth(W)[0] + block_penalty(W, owner, p, weight)


def quantile_cuts_by_definition(values, n_bins):
    """Where equally frequent states end; at most ``n_bins`` distinct values keep a state each."""
    largest = float(np.finfo(float).max)
    ordered = sorted(min(max(v, -largest), largest) for v in values if v == v)
    distinct = sorted(set(ordered))
    if len(distinct) <= n_bins:
        middles = [(a / 2 + b / 2, a, b) for a, b in itertools.pairwise(distinct)]
        return [middle if middle < b else a for middle, a, b in middles]
    ends = [ordered[-(-b * len(ordered) // n_bins) - 1] for b in range(1, n_bins)]
    return sorted({end for end in ends if end < ordered[-1]})


def delta_gram(X):
    """1 for rows that agree in every column, else 0."""
    n = len(X)
    return np.array([[float(all(X[i] == X[j])) for j in range(n)] for i in range(n)])


def block_hsic_lasso_features(X, y, blocks, sigma):
    """Centred Gram matrices inside blocks, joined: one vector of norm 1 per column, and y's."""

    def vector(values):
        parts = []
        for rows in blocks:
            K = rbf_gram(values[rows][:, None], sigma)
            H = np.eye(len(rows)) - 1.0 / len(rows)
            parts.append((H @ K @ H).ravel())
        return np.concatenate(parts)

    columns = [vector(column) for column in X.T]
    return np.array([v / np.linalg.norm(v) for v in columns]).T, vector(y)


def spread_by_definition(values, others, draws):
    """Equal values anywhere between the midpoints to the next ones, in the order of the pairs.

    Values that come in steps lie anywhere within half a step where they are alone.
    """
    pairs = sorted(zip(values, others, strict=True))
    distinct = sorted(set(values))
    gaps = [(b - a) / 2 for a, b in itertools.pairwise(distinct)]
    in_steps = all(((v - distinct[0]) / (2 * min(gaps))).is_integer() for v in distinct)
    if len(distinct) == len(values) and not in_steps:
        return [(float(v), o) for v, o in pairs]
    uniform = draws.random(len(values))
    spread = []
    for (value, other), share in zip(pairs, uniform, strict=True):
        at = distinct.index(value)
        below, above = gaps[max(at - 1, 0)], gaps[min(at, len(gaps) - 1)]
        if sum(v == value for v in values) == 1:
            below = above = min(gaps) if in_steps else 0.0
        spread.append((value + share * (below + above) - below, other))
    return sorted(spread)


def ksg_by_definition(x, y, k, seed):
    """Kraskov's first estimator, one row after the other, on values that are spread apart."""
    from scipy.special import digamma

    draws = np.random.default_rng(seed)
    by_y = spread_by_definition(y, x, draws)
    by_x = spread_by_definition([v for _, v in by_y], [v for v, _ in by_y], draws)
    a, b = (np.array(side) / np.std(side) for side in zip(*by_x, strict=True))
    n, total = len(a), 0.0
    for i in range(n):
        distances = [max(abs(a[i] - a[j]), abs(b[i] - b[j])) for j in range(n) if j != i]
        radius = sorted(distances)[k - 1]
        total += digamma(max(sum(abs(a[i] - v) < radius for v in a), 1))
        total += digamma(max(sum(abs(b[i] - v) < radius for v in b), 1))
    return max(0.0, float(digamma(n) + digamma(k) - total / n))


def ross_by_definition(values, labels, k, seed):
    """Ross's estimator for numbers and labels, each of which occurs at least twice."""
    from scipy.special import digamma

    pairs = spread_by_definition(values, labels, np.random.default_rng(seed))
    terms = []
    for i, (value, label) in enumerate(pairs):
        alike = sorted(abs(value - v) for j, (v, o) in enumerate(pairs) if o == label and j != i)
        neighbours = min(k, len(alike))
        near = sum(abs(value - v) < alike[neighbours - 1] for v, _ in pairs)
        terms.append(digamma(neighbours) - digamma(len(alike) + 1) - digamma(max(near, 1)))
    return max(0.0, float(digamma(len(pairs)) + np.mean(terms)))


def soft_margin_dual(K, sign, C, linear=None, n_sweeps=20_000):
    """min ½ α'Qα + b'α, 0 ≤ α ≤ C, Σ sign·α fixed at 0, by exact steps on all pairs in turn."""
    n = len(K)
    Q = K * np.outer(sign, sign)
    b = -np.ones(n) if linear is None else linear
    alpha = np.zeros(n)
    for _ in range(n_sweeps):
        before = alpha.copy()
        for i in range(n):
            for j in range(i):
                direction = np.zeros(n)
                direction[i], direction[j] = sign[i], -sign[j]
                curvature = direction @ Q @ direction
                if curvature <= 1e-14:
                    continue
                step = -direction @ (Q @ alpha + b) / curvature
                limits = [
                    sorted(((0 - alpha[r]) * direction[r], (C - alpha[r]) * direction[r]))
                    for r in (i, j)
                ]
                step = min(max(step, limits[0][0], limits[1][0]), limits[0][1], limits[1][1])
                alpha += step * direction
        if np.abs(alpha - before).max() < 1e-13:
            break
    return alpha


def l2_arom(X, y, C, k, n_loops=20):
    """Weston et al. 2003: z = 1; train on x∘z, z ← z∘|w|; factors relative to the largest."""
    from sklearn.svm import SVC

    classes = np.unique(y)
    targets = [np.where(y == c, 1, -1) for c in (classes[1:] if len(classes) == 2 else classes)]
    z, alive, scores = np.ones(X.shape[1]), np.ones(X.shape[1], dtype=bool), np.zeros(X.shape[1])
    for _ in range(n_loops):
        # Rows keep the mean squared length that their columns had.
        z = z * np.sqrt(alive.sum() / ((X**2).mean(axis=0) @ z**2))
        models = [SVC(kernel="linear", C=C, tol=1e-9).fit(X * z, t) for t in targets]
        w = np.sqrt(sum(model.coef_[0] ** 2 for model in models))
        before, z = z / z.max(), z * w
        z = z / z.max()
        scores[alive] = z[alive]
        large = z > 1e-3
        if large.sum() <= k or np.abs(z - before)[alive].max() <= 1e-4:
            break
        alive, z = alive & large, z * large
    return scores


def radius_and_margin(K, sign):
    """R² of the smallest ball and W² = 1/margin² in the space of K, by a general solver."""
    from scipy.optimize import minimize

    n, Q = len(K), K * np.outer(sign, sign)
    start = np.full(n, 1.0 / n)
    ball = minimize(
        lambda b: b @ K @ b - b @ np.diag(K),
        start,
        jac=lambda b: 2 * K @ b - np.diag(K),
        bounds=[(0, None)] * n,
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1, "jac": lambda b: np.ones(n)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    margin = minimize(
        lambda a: a @ Q @ a - 2 * a.sum(),
        start,
        jac=lambda a: 2 * Q @ a - 2,
        bounds=[(0, None)] * n,
        constraints={"type": "eq", "fun": lambda a: a @ sign, "jac": lambda a: sign},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -ball.fun, -margin.fun


def penalised_hinge(X, sign, groups, weights, penalty, n_iter=200_000):
    """½ Σ max(0, 1 − y f)² + penalty Σ_g w_g ‖B_g‖ with a free intercept, by accelerated steps."""
    n, n_problems = len(X), len(sign)
    A = np.column_stack([X, np.ones(n)])
    step = 1.0 / np.linalg.norm(A, 2) ** 2
    B = np.zeros((A.shape[1], n_problems))
    Z, t = B.copy(), 1.0
    for _ in range(n_iter):
        slack = np.maximum(1.0 - sign.T * (A @ Z), 0.0)
        new = Z + step * A.T @ (sign.T * slack)
        for g, weight in enumerate(weights):
            rows = np.flatnonzero(np.asarray(groups) == g)
            norm = np.linalg.norm(new[rows])
            new[rows] *= max(0.0, 1.0 - step * penalty * weight / norm) if norm else 0.0
        momentum = (1 + np.sqrt(1 + 4 * t**2)) / 2
        if ((Z - new) * (new - B)).sum() > 0:  # restart where momentum points uphill
            momentum = t = 1.0
        Z = new + (t - 1) / momentum * (new - B)
        if np.abs(new - B).max() < 1e-14 and momentum > 1:
            B = new
            break
        B, t = new, momentum
    return B[:-1], B[-1]


def spectrum_product(s, t, length):
    """Pairs of equal substrings, one from each sequence."""
    first = [s[i : i + length] for i in range(len(s) - length + 1)]
    second = [t[i : i + length] for i in range(len(t) - length + 1)]
    return sum(a == b for a in first for b in second)


def mismatch_product(s, t, length, n_mismatches, alphabet):
    """Over all words of the alphabet: how many substrings of each sequence are near it."""

    def near(text, word):
        parts = [text[i : i + length] for i in range(len(text) - length + 1)]
        return sum(
            sum(a != b for a, b in zip(part, word, strict=True)) <= n_mismatches for part in parts
        )

    words = itertools.product(alphabet, repeat=length)
    return sum(near(s, word) * near(t, word) for word in words)


def weisfeiler_lehman_product(first, second, n_iterations):
    """Pairs of nodes with equal unfolded neighbourhoods, over all depths."""

    def neighbourhoods(graph, depth):
        edges, labels = graph
        if depth == 0:
            return {node: ("label", label) for node, label in labels.items()}
        before = neighbourhoods(graph, depth - 1)
        around = {node: [] for node in labels}
        for a, b in {tuple(sorted(edge)) for edge in edges}:
            around[a].append(before[b])
            if a != b:
                around[b].append(before[a])
        return {node: (before[node], tuple(sorted(around[node], key=repr))) for node in labels}

    return sum(
        a == b
        for depth in range(n_iterations + 1)
        for a in neighbourhoods(first, depth).values()
        for b in neighbourhoods(second, depth).values()
    )


# --- Spectral scores ------------------------------------------------------------------------------


def fisher_score(x, y, weight=None):
    """Σ_c n_c (μ_c − μ)² / Σ_c n_c σ_c²; weights count rows."""
    weight = np.ones(len(x)) if weight is None else weight
    mean = np.average(x, weights=weight)
    between = within = 0.0
    for c in set(y):
        own, w = x[y == c], weight[y == c]
        if w.sum() == 0:
            continue
        centre = np.average(own, weights=w)
        between += w.sum() * (centre - mean) ** 2
        within += (w * (own - centre) ** 2).sum()
    return between / max(within, np.finfo(float).eps * (within + between))


def class_graph(y):
    """Edges of weight 1/n_c between all rows of a class, a row and itself included."""
    return np.array([[float(a == b) / np.sum(y == a) for b in y] for a in y])


def neighbour_graph(squares, k):
    """exp(−d²/t) where one row is among the k nearest of the other; t = mean over the nearest."""
    n = len(squares)
    k = min(k, n - 1)
    near = np.zeros((n, n), bool)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (squares[i, j].round(9), j))
        near[i, others[:k]] = True
    mean = squares[near].mean()
    strength = np.exp(-squares / mean) if mean > 0 else np.ones((n, n))
    return np.where(near | near.T, strength, 0.0)


def laplacian_score(F, S):
    """He et al. 2006 for one column, or for the indicator columns of one: sums of both terms."""
    D = np.diag(S.sum(axis=1))
    ones = np.ones(len(S))
    numerator = denominator = 0.0
    for f in F.T:
        f = f - (f @ D @ ones) / (ones @ D @ ones)
        numerator += f @ (D - S) @ f
        denominator += f @ D @ f
    return numerator / denominator


def spec_score(f, S, function, power, q):
    """Zhao and Liu 2007, by all eigenpairs of the normalised Laplacian."""
    root = np.sqrt(S.sum(axis=1))
    weighted = root * f / np.linalg.norm(root * f)
    trivial = root / np.linalg.norm(root)
    L = np.eye(len(S)) - S / np.outer(root, root)
    # The trivial eigenvector is moved out of the way, so that it is the last one.
    values, vectors = np.linalg.eigh(L + 5.0 * np.outer(trivial, trivial))
    values, vectors = values[:-1].clip(0), vectors[:, :-1]
    alpha = vectors.T @ weighted
    rough = (values**power * alpha**2).sum()
    if function == "phi1":
        return rough
    if function == "phi2":
        return rough / (alpha**2).sum()
    return ((2.0**power - values[: q - 1] ** power) * alpha[: q - 1] ** 2).sum()


# --- moments --------------------------------------------------------------------------------------


def moments(X, Y, weight):
    """Means and sums of squared deviations of the columns of X, and their co-deviations with Y."""

    def mean(column):
        return math.fsum(w * x for w, x in zip(weight, column, strict=True)) / math.fsum(weight)

    def product(a, b):
        mean_a, mean_b = mean(a), mean(b)
        rows = zip(weight, a, b, strict=True)
        return math.fsum(w * (x - mean_a) * (y - mean_b) for w, x, y in rows)

    means = [mean(column) for column in X.T]
    squares = [product(column, column) for column in X.T]
    return np.array(means), np.array(squares), np.array([[product(a, b) for b in Y.T] for a in X.T])


# --- Chatterjee's coefficients --------------------------------------------------------------------


def xi_coefficient(x, y):
    """Chatterjee (2021), without ties in x."""
    n = len(x)
    targets = [y[i] for i in sorted(range(n), key=lambda i: x[i])]
    r = [sum(b <= a for b in targets) for a in targets]
    upper = [sum(b >= a for b in targets) for a in targets]
    jumps = sum(abs(r[i + 1] - r[i]) for i in range(n - 1))
    return 1 - n * jumps / (2 * sum(v * (n - v) for v in upper))


def xi_over_orders(x, y):
    """The mean of ξ over all orders of rows that are tied in x."""
    import itertools

    values = []
    for order in itertools.permutations(range(len(x))):
        if all(x[a] <= x[b] for a, b in itertools.pairwise(order)):
            values.append(xi_coefficient(np.arange(len(x)), np.asarray(y)[list(order)]))
    return np.mean(values)


def codec(X, y):
    """Azadkia and Chatterjee (2021), eq. (11); ties between nearest rows are averaged."""
    n = len(X)
    r = [sum(b <= a for b in y) for a in y]
    upper = [sum(b >= a for b in y) for a in y]
    total = 0.0
    for i in range(n):
        distances = [np.sum((X[i] - X[j]) ** 2) if j != i else np.inf for j in range(n)]
        nearest = [j for j in range(n) if distances[j] <= min(distances) * (1 + 1e-12)]
        total += n * np.mean([min(r[i], r[j]) for j in nearest]) - upper[i] ** 2
    return total / sum(v * (n - v) for v in upper)


def kernel_codec(X, gram, k):
    """Huang et al. (2022): mean kernel of neighbours against that of all pairs."""
    n = len(X)
    near = 0.0
    for i in range(n):
        distances = [np.sum((X[i] - X[j]) ** 2) if j != i else np.inf for j in range(n)]
        near += np.mean([gram[i, j] for j in np.argsort(distances, kind="stable")[:k]]) / n
    apart = (gram.sum() - np.trace(gram)) / (n * (n - 1))
    return (near - apart) / (np.trace(gram) / n - apart)


def tied_kernel_codec(X, gram):
    """The same with one neighbour, averaged over all rows that are equally near."""
    n = len(X)
    near = 0.0
    for i in range(n):
        distances = [np.sum((X[i] - X[j]) ** 2) if j != i else np.inf for j in range(n)]
        nearest = [j for j in range(n) if distances[j] <= min(distances) * (1 + 1e-12)]
        near += np.mean(gram[i, nearest]) / n
    apart = (gram.sum() - np.trace(gram)) / (n * (n - 1))
    return (near - apart) / (np.trace(gram) / n - apart)


# --- Stability selection --------------------------------------------------------------------------


def largest_r_concave_tail(mean, size, r, t, n_starts=8):
    """The largest P(X ≥ t) that an optimiser finds among all r-concave laws on 0 … size.

    The law f is r-concave for r < 0 if f**r is convex. Nothing is assumed of the extreme law.
    """
    from scipy.optimize import minimize

    places = np.arange(size + 1)

    def law(x):
        bends = np.exp(np.clip(x[1:size], -30, 30))
        slopes = x[0] + np.concatenate([[0.0], np.cumsum(bends)])
        convex = np.concatenate([[0.0], np.cumsum(slopes)])
        f = (convex - convex.min() + np.exp(np.clip(x[size], -20, 20))) ** (1 / r)
        return f / f.sum()

    room = {"type": "ineq", "fun": lambda x: mean * size - law(x) @ places}
    rng = np.random.default_rng(0)
    best = 0.0
    for _ in range(n_starts):
        start = np.concatenate(
            [rng.normal(size=1), rng.normal(-3, 2, size - 1), rng.normal(size=1)]
        )
        found = minimize(lambda x: -law(x)[t:].sum(), start, method="SLSQP", constraints=room)
        f = law(found.x)
        if f @ places <= mean * size * (1 + 1e-7):
            best = max(best, f[t:].sum())
    return best


# --- Knockoffs ------------------------------------------------------------------------------------


def knockoff_threshold(W, fdr):
    """min{t > 0: (1 + #{W ≤ −t}) / max(1, #{W ≥ t}) ≤ fdr} over the sizes of W."""
    for t in sorted({abs(w) for w in W if w != 0}):
        if (1 + sum(w <= -t for w in W)) / max(1, sum(w >= t for w in W)) <= fdr:
            return t
    return float("inf")


def stepwise_neighbours(correlation, column, n_samples, cost):
    """Forward selection for one column; each step solves all its regressions from the start."""

    def unexplained(chosen):
        if not chosen:
            return 1.0
        cross = correlation[chosen, column]
        return 1.0 - cross @ np.linalg.solve(correlation[np.ix_(chosen, chosen)], cross)

    chosen = []
    while True:
        left = {
            other: unexplained([*chosen, other])
            for other in range(len(correlation))
            if other != column and other not in chosen
        }
        best = min(left, key=left.get)
        if n_samples * np.log(unexplained(chosen) / left[best]) <= cost:
            return chosen
        chosen.append(best)


# --- Leave-one-out --------------------------------------------------------------------------------


def leave_one_out_losses(X, targets, penalty, n_neighbors):
    """Mean squared error of kernel ridge regression and of nearest neighbours, one model per row.

    ``targets`` are centred before rows are left out.
    """
    n, d = X.shape
    targets = targets - targets.mean(axis=0)
    losses = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        near = np.array([[np.sum((X[a] - X[b]) ** 2) for b in others] for a in others])
        K = np.exp(-near / (2 * d)) + penalty * np.eye(n - 1)
        to_row = np.array([np.sum((X[i] - X[b]) ** 2) for b in others])
        ridge = np.exp(-to_row / (2 * d)) @ np.linalg.solve(K, targets[others])
        nearest = [others[p] for p in np.argsort(to_row)[:n_neighbors]]
        mean = targets[nearest].mean(axis=0)
        pairs = [np.sum((targets[i] - guess) ** 2) for guess in (ridge, mean)]
        losses.append(pairs)
    return np.array(losses)
