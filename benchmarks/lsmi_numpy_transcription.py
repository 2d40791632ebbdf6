"""Plain numpy transcription of Algorithm 1 of P-LSMI (l1-LSMI): the yardstick for our speed.

Written first and left alone. It has what anybody would do who reads the paper and knows numpy:
H as an elementwise product of two Gram matrices (O(n b²)), BLAS products, an n × b × m array of
squared differences, a loop over σ, folds and λ with ``numpy.linalg.solve``, and the authors' step
(1/√t), stopping and model selection rules. Nothing of featsieve is imported.

    python benchmarks/lsmi_numpy_transcription.py TOY.csv K [N_INIT]

TOY.csv: no header, the last column is y.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

SIGMA_FACTORS = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
LAMBDAS = np.logspace(-4, 1, 5)
NONZERO = 1e-8


@dataclass
class Problem:
    """One restart: data, its random centres, folds, and the n × b × m squared differences."""

    X: np.ndarray
    y: np.ndarray
    is_classification: bool
    centers: np.ndarray
    folds: np.ndarray

    def __post_init__(self):
        self.D = (self.X[:, None, :] - self.X[None, self.centers, :]) ** 2
        difference = self.y[:, None] - self.y[None, self.centers]
        self.same = (difference == 0).astype(float)
        self.Dy = difference**2

    def psi(self, sigma):
        return self.same if self.is_classification else np.exp(-self.Dy / (2 * sigma**2))

    def bases(self, w, sigma):
        Phi = np.exp(-(self.D @ w**2) / (2 * sigma**2))
        return Phi, self.psi(sigma)


def gram_and_mean(Phi, Psi):
    n = len(Phi)
    return (Phi.T @ Phi) * (Psi.T @ Psi) / n**2, (Phi * Psi).mean(axis=0)


def fit_alpha(H, h, lam):
    return np.linalg.solve(H + lam * np.eye(len(h)), h)


def value_and_gradient(problem, w, sigma, lam):
    Phi, Psi = problem.bases(w, sigma)
    n = len(Phi)
    H, h = gram_and_mean(Phi, Psi)
    alpha = fit_alpha(H, h, lam)
    M = np.outer(alpha, alpha) * (Psi.T @ Psi) / n**2
    C = alpha * Phi * Psi / n - Phi * (Phi @ M)
    S = np.einsum("il,ilk->k", C, problem.D)
    return h @ alpha / 2 - 0.5, -w / sigma**2 * S


def median_distance(X, w):
    Z = X * w
    squares = (Z**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * Z @ Z.T
    upper = distances[np.triu_indices(len(Z), 1)]
    return float(np.sqrt(max(np.median(upper), 0.0)))


def cv_table(problem, w, sigmas, lambdas=LAMBDAS):
    table = np.zeros((len(sigmas), len(lambdas)))
    n_folds = problem.folds.max() + 1
    for s, sigma in enumerate(sigmas):
        Phi, Psi = problem.bases(w, sigma)
        for fold in range(n_folds):
            test = problem.folds == fold
            H, h = gram_and_mean(Phi[~test], Psi[~test])
            H_test, h_test = gram_and_mean(Phi[test], Psi[test])
            for k, lam in enumerate(lambdas):
                alpha = fit_alpha(H, h, lam)
                table[s, k] += (alpha @ H_test @ alpha / 2 - h_test @ alpha) / n_folds
    return table


def model_selection(problem, w):
    scaled = SIGMA_FACTORS * median_distance(problem.X, w)
    sigmas = np.concatenate([scaled[scaled > 0], SIGMA_FACTORS / np.sqrt(2)])
    table = cv_table(problem, w, sigmas)
    s, k = np.unravel_index(np.argmin(table), table.shape)
    return sigmas[s], LAMBDAS[k]


def project(v, radius):
    v = np.maximum(v, 0)
    if v.sum() <= radius:
        return v
    u = np.sort(v)[::-1]
    excess = np.cumsum(u) - radius
    rho = np.flatnonzero(u * np.arange(1, len(u) + 1) > excess)[-1]
    return np.maximum(v - excess[rho] / (rho + 1), 0)


def selects_now(evaluation):
    return evaluation <= 3 or evaluation % 5 == 0


def mean_change(values):
    """Mean of the last two changes of the objective: the authors' measure of convergence."""
    return np.abs(np.diff(values[-3:])).mean() if len(values) >= 3 else np.inf


def projected_gradient(problem, w, radius, k, *, max_iter=100, tol=1e-5, fixed=None):
    values, path = [], []
    for t in range(1, max_iter + 1):
        if fixed is not None:
            sigma, lam = fixed
        elif selects_now(t):
            sigma, lam = model_selection(problem, w)
        value, gradient = value_and_gradient(problem, w, sigma, lam)
        values.append(value)
        path.append(w)
        w = project(w + gradient / np.sqrt(t), radius)
        few = (w > NONZERO).sum() < k
        if np.linalg.norm(gradient) < tol or mean_change(values) < tol or few:
            break
    return w, values[-1], path


def random_start(rng, m, radius):
    w = 1 + rng.random(m)
    return w / w.sum() * radius


def sort_key(trial, k):
    size = int((trial[0] > NONZERO).sum())
    return abs(size - k), size - k, -trial[1]


def one_restart(problem, k, rng, max_iter):
    def solve(radius):
        start = random_start(rng, problem.X.shape[1], radius)
        trial = projected_gradient(problem, start, radius, k, max_iter=max_iter)[:2]
        tried.append(trial)
        return int((trial[0] > NONZERO).sum())

    tried, radius = [], 0.1
    for _ in range(20):
        radius *= 2
        size = solve(radius)
        if size == k:
            return tried[-1]
        if size > k:
            break
    low, high = radius / 2, radius
    for _ in range(12):
        middle = (low + high) / 2
        size = solve(middle)
        if size == k:
            return tried[-1]
        low, high = (middle, high) if size < k else (low, middle)
    return min(tried, key=lambda trial: sort_key(trial, k))


def stratified_folds(y, is_classification, n_folds, rng):
    folds = np.empty(len(y), dtype=int)
    groups = [y == c for c in np.unique(y)] if is_classification else [np.ones(len(y), bool)]
    for group in groups:
        rows = rng.permutation(np.flatnonzero(group))
        folds[rows] = np.arange(len(rows)) % n_folds
    return folds


def standardized(X):
    X = X - X.mean(axis=0)
    scale = X.std(axis=0, ddof=1)
    return X / np.where(scale > 0, scale, 1)


def l1_lsmi(X, y, k, *, is_classification, n_init=20, n_basis=100, max_iter=100, seed=0):
    """Weights and value of the best of ``n_init`` restarts."""
    rng = np.random.default_rng(seed)
    X = standardized(X)
    if not is_classification:
        y = standardized(y[:, None])[:, 0]
    results = []
    for _ in range(n_init):
        centers = rng.choice(len(X), min(n_basis, len(X)), replace=False)
        folds = stratified_folds(y, is_classification, 5, rng)
        problem = Problem(X, y, is_classification, centers, folds)
        results.append(one_restart(problem, k, rng, max_iter))
    return min(results, key=lambda trial: sort_key(trial, k))


def main():
    path, k = sys.argv[1], int(sys.argv[2])
    n_init = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    table = np.loadtxt(path, delimiter=",")
    X, y = table[:, :-1], table[:, -1]
    is_classification = len(np.unique(y)) <= 20
    started = time.perf_counter()
    w, value = l1_lsmi(X, y, k, is_classification=is_classification, n_init=n_init)
    elapsed = time.perf_counter() - started
    print(f"selected {np.flatnonzero(w > NONZERO).tolist()} value {value:.4f} in {elapsed:.1f} s")


if __name__ == "__main__":
    main()
