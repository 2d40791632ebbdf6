"""What L1LSMI's own choices cost and bring: early end of restarts, noise columns, centre rules.

    python -m benchmarks.lsmi_studies STUDY [--trials N] [--records FILE] [--jobs 2]

STUDY: ``agreement`` (how many restarts must agree), ``hsic-agreement`` (the same for L1HSIC),
``interaction`` (xor among noise columns), ``centers`` (random, stratified, k-means++), ``radii``
(the answers of restarts compared by weights or by columns).
``--records`` keeps finished trials of an agreement study in a file, so that a long run can go on
where it ended.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from benchmarks.frame import write_report
from featsieve import L1HSIC, L1LSMI
from featsieve.datasets import make_and_or, make_quad, make_xor
from featsieve.measures import lsmi

TOYS = {"and-or": (make_and_or, 4), "quad": (make_quad, 2), "xor": (make_xor, 2)}
N_SAMPLES = 400
PACKAGES = ("scipy", "scikit-learn", "numba")


# --- agreement -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """All 20 restarts of one trial: the set and the value each ended in."""

    toy: str
    seed: int
    restarts: tuple[tuple[tuple[int, ...], float], ...]

    def stopped(self, n_agree: int | None) -> tuple[int, tuple[int, ...]]:
        """Restarts used under the rule, and the set they give."""
        k = TOYS[self.toy][1]
        for used in range(1, len(self.restarts) + 1):
            done = self.restarts[:used]
            best = min(done, key=lambda r: (abs(len(r[0]) - k), len(r[0]) - k, -r[1]))[0]
            same = sum(support == best for support, _ in done)
            if n_agree is not None and len(best) == k and same >= n_agree:
                break
        return used, best


@dataclass(frozen=True)
class Trials:
    """Where the trials of one method come from: a file of finished ones, or new fits."""

    method: type[L1LSMI] | type[L1HSIC]
    n_trials: int
    records: Path | None
    n_jobs: int

    def __iter__(self) -> Iterator[Trial]:
        known = {(trial.toy, trial.seed): trial for trial in self._finished()}
        for toy in TOYS:
            for seed in range(self.n_trials):
                yield known.get((toy, seed)) or self._recorded(self._run(toy, seed))

    def _run(self, toy: str, seed: int) -> Trial:
        make, k = TOYS[toy]
        data = make(N_SAMPLES, random_state=seed)
        selector = self.method(
            n_features_to_select=k, n_agree=None, n_jobs=self.n_jobs, random_state=seed
        )
        restarts = selector.fit(data.data, data.target).result_.extras["restarts"]
        return Trial(toy, seed, tuple((step.support, step.value) for step in restarts))

    def _recorded(self, trial: Trial) -> Trial:
        if self.records is not None:
            with self.records.open("a") as file:
                file.write(json.dumps([trial.toy, trial.seed, trial.restarts]) + "\n")
        return trial

    def _finished(self) -> Iterator[Trial]:
        if self.records is None or not self.records.exists():
            return
        for line in self.records.read_text().splitlines():
            toy, seed, restarts = json.loads(line)
            yield Trial(toy, seed, tuple((tuple(support), value) for support, value in restarts))


def agreement(arguments: argparse.Namespace) -> None:
    trials = Trials(L1LSMI, arguments.trials, arguments.records, arguments.jobs)
    _finish("agreement", "When may L1LSMI end its restarts?", agreement_table(list(trials)))


def hsic_agreement(arguments: argparse.Namespace) -> None:
    trials = Trials(L1HSIC, arguments.trials, arguments.records, arguments.jobs)
    _finish("hsic-agreement", "When may L1HSIC end its restarts?", agreement_table(list(trials)))


def agreement_table(trials: list[Trial]) -> str:
    lines = [
        "| set | n_agree | true set found | same set as all 20 | restarts, mean (most) |",
        "|---|---|---|---|---|",
    ]
    for toy, (_, k) in TOYS.items():
        fits = [trial for trial in trials if trial.toy == toy]
        final = [trial.stopped(None)[1] for trial in fits]
        for n_agree in (2, 3, 4, 5, None):
            used, sets = zip(*(trial.stopped(n_agree) for trial in fits), strict=True)
            right = sum(set_ == tuple(range(k)) for set_ in sets)
            same = sum(set_ == other for set_, other in zip(sets, final, strict=True))
            lines.append(
                f"| {toy} | {n_agree or 'all 20'} | {right} of {len(fits)} | {same} of {len(fits)} "
                f"| {fmean(used):.1f} ({max(used)}) |"
            )
    return "\n".join(lines)


# --- interaction ---------------------------------------------------------------------------------


def interaction(arguments: argparse.Namespace) -> None:
    lines = ["| noise columns | {1, 2} found | seconds, mean |", "|---|---|---|"]
    for n_noise in (0, 50, 200):
        outcomes = [_among_noise(n_noise, seed) for seed in range(arguments.trials)]
        hits, seconds = sum(ok for ok, _ in outcomes), fmean(s for _, s in outcomes)
        lines.append(f"| {n_noise} | {hits} of {arguments.trials} | {seconds:.1f} |")
    note = "xor, n = 400; the noise columns are Bernoulli(1/2), beside the eight of the toy set."
    _finish("interaction", "xor among noise columns", note, "\n".join(lines))


def _among_noise(n_noise: int, seed: int) -> tuple[bool, float]:
    data = make_xor(N_SAMPLES, random_state=seed)
    noise = np.random.default_rng([seed, n_noise]).random((N_SAMPLES, n_noise)) < 0.5
    selector = L1LSMI(n_features_to_select=2, n_jobs=-1, random_state=seed)
    start = time.perf_counter()
    selector.fit(np.c_[data.data, noise], data.target)
    return sorted(selector.indices_) == [0, 1], time.perf_counter() - start


# --- centres -------------------------------------------------------------------------------------


def centers(arguments: argparse.Namespace) -> None:
    lines = ["| set | centres | single restarts right | LSMI of the true set, deviation |"]
    lines.append("|---|---|---|---|")
    for toy in TOYS:
        for rule in ("random", "stratified", "kmeans++"):
            hits = [_single_restart(toy, rule, seed) for seed in range(arguments.trials)]
            mean, deviation = _spread(toy, rule, arguments.trials)
            lines.append(f"| {toy} | {rule} | {fmean(hits):.0%} | {mean:.3f}, {deviation:.3f} |")
    note = f"{arguments.trials} draws of centres each, n = 400, on one table per set (seed 0)."
    _finish("centers", "How should centres be drawn?", note, "\n".join(lines))


def _single_restart(toy: str, rule: str, seed: int) -> bool:
    make, k = TOYS[toy]
    data = make(N_SAMPLES, random_state=0)
    selector = L1LSMI(n_features_to_select=k, n_init=1, centers=rule, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a single restart may miss k
        selector.fit(data.data, data.target)
    return sorted(selector.indices_) == list(range(k))


def _spread(toy: str, rule: str, n_trials: int) -> tuple[float, float]:
    make, k = TOYS[toy]
    data = make(N_SAMPLES, random_state=0)
    X = np.asarray(data.data, dtype=float)[:, :k]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    y = np.asarray(data.target, dtype=float)
    y = (y - y.mean()) / y.std(ddof=1) if toy == "quad" else y
    values = [
        lsmi(X, y, sigma=1.0, lam=0.01, centers=_rows(X, y, rule, seed, toy)).value
        for seed in range(n_trials)
    ]
    return fmean(values), pstdev(values)


def _rows(X: Any, y: Any, rule: str, seed: int, toy: str) -> Any:
    from featsieve.measures.lsmi.sampled import random_rows, spread_rows, stratified_rows

    rng = np.random.default_rng(seed)
    if rule == "kmeans++":
        return spread_rows(X, 100, rng)
    if rule == "stratified" and toy != "quad":
        return stratified_rows(y, 100, rng)
    return random_rows(len(X), 100, rng)


# --- radii ---------------------------------------------------------------------------------------

REAL = {
    "iris": (load_iris, 2),
    "wine": (load_wine, 4),
    "breast cancer": (load_breast_cancer, 4),
    "diabetes": (load_diabetes, 4),
}


def radii(arguments: argparse.Namespace) -> None:
    """Algorithm 1, line 24: which rule finds the better sets?"""
    rules = ("weights", "columns")
    lines = ["| set | k | by weights | by columns |", "|---|---|---|---|"]
    for toy, (make, k) in TOYS.items():
        hits = [sum(_is_true_set(make, k, r, s) for s in range(arguments.trials)) for r in rules]
        cells = (f"{hit} of {arguments.trials} true sets" for hit in hits)
        lines.append(f"| {toy} | {k} | {' | '.join(cells)} |")
    for name, (load, k) in REAL.items():
        X, y = load(return_X_y=True)
        errors = [[_svm_error(X, y, k, r, s) for s in range(arguments.trials)] for r in rules]
        cells = (f"error {fmean(e):.4f} ({pstdev(e):.4f})" for e in errors)
        lines.append(f"| {name} | {k} | {' | '.join(cells)} |")
    text = (
        f"{arguments.trials} seeds each; toy sets with n = {N_SAMPLES}. Real sets: error of a "
        "support vector machine (regression: 1 − R²) by five folds on the selected columns, mean "
        "and deviation over the seeds of the selection."
    )
    _finish("radii", "Which rule compares the answers of restarts?", text, "\n".join(lines))


def _is_true_set(make: Any, k: int, rule: str, seed: int) -> bool:
    data = make(N_SAMPLES, random_state=seed)
    selector = L1LSMI(n_features_to_select=k, rank_radii_by=rule, random_state=seed)
    return set(selector.fit(data.data, data.target).indices_.tolist()) == set(range(k))


def _svm_error(X: Any, y: Any, k: int, rule: str, seed: int) -> float:
    selector = L1LSMI(n_features_to_select=k, rank_radii_by=rule, random_state=seed).fit(X, y)
    machine = SVC() if selector.task_ == "classification" else SVR(C=100)
    model = make_pipeline(StandardScaler(), machine)
    return 1 - float(cross_val_score(model, selector.transform(X), y, cv=5).mean())


def _finish(name: str, title: str, *sections: str) -> None:
    print(write_report(f"lsmi-{name}", title, *sections, packages=PACKAGES).read_text())


STUDIES = {
    "agreement": agreement,
    "hsic-agreement": hsic_agreement,
    "interaction": interaction,
    "centers": centers,
    "radii": radii,
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--records", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args(argv)
    STUDIES[arguments.study](arguments)


if __name__ == "__main__":
    main()
