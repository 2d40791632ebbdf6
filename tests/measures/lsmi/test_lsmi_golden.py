"""LSMI against the P-LSMI authors' own program: values, gradients, CV tables, ascent paths."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest

from featsieve.engines.standardized import StandardizedEngine
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import LSMI, lsmi, mlmi
from featsieve.measures.lsmi.lsmi import cv_table
from featsieve.runtime.progress import SILENT
from featsieve.searches.ascent import Ascent
from tests.golden_data import golden, toy


def standardized(values):
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)


@cache
def bound(name):
    engine = StandardizedEngine(open_engine(*toy(f"{name}_t1"), Settings()), 1)
    return LSMI(centers=np.arange(100)).bind(engine)


def cases():
    for name in ("andor", "quad"):
        for number, case in enumerate(golden(f"lsmi_hsic_{name}_t1")["cases"]):
            yield pytest.param(name, case, id=f"{name}-{number}")


@pytest.mark.parametrize(("name", "case"), list(cases()))
def test_value_and_gradient(name, case):
    value, gradient = bound(name).value_and_gradient_at(
        np.array(case["w"]), case["sigma"], case["lambda"]
    )
    assert value == pytest.approx(case["lsmi"], rel=1e-9)
    # By norm: the recorded smallest components carry rounding of 1e-9 of their own size.
    expected = np.array(case["grad_lsmi"])
    assert np.linalg.norm(gradient - expected) <= 1e-9 * np.linalg.norm(expected)


@pytest.mark.parametrize(("name", "case"), list(cases()))
def test_public_function(name, case):
    X, y = toy(f"{name}_t1")
    y = standardized(y) if name == "quad" else y
    found = lsmi(
        standardized(X) * case["w"],
        y,
        centers=np.arange(100),
        sigma=case["sigma"],
        lam=case["lambda"],
    )
    assert found.value == pytest.approx(case["lsmi"], rel=1e-9)
    assert found.alpha.sum() == pytest.approx(case["alpha_sum"], rel=1e-9)
    np.testing.assert_allclose(found.alpha[:5], case["alpha_first5"], rtol=1e-8)
    assert (found.sigma, found.lam) == (case["sigma"], case["lambda"])


@pytest.mark.parametrize("name", ["andor", "quad"])
def test_cross_validation_table(name, monkeypatch):
    recorded = golden(f"lsmi_hsic_{name}_t1")["cv"]
    weights = np.array(recorded["w"])
    own = bound(name).restart(0)
    monkeypatch.setattr(
        sys.modules["featsieve.measures.lsmi.sampled"],
        "stratified_folds",
        lambda labels, n, n_folds, rng: np.arange(n) % n_folds,
    )
    monkeypatch.setattr(own.basis, "_center_rows", lambda: np.arange(100))
    sigmas = own.basis.candidate_sigmas(weights)
    np.testing.assert_allclose(sigmas, recorded["sigmas"], rtol=1e-12)
    table = cv_table(own.sums(weights, sigmas), np.array(recorded["lambdas"]))
    np.testing.assert_allclose(table, recorded["cv_error"], rtol=1e-9)
    own.tune(weights)
    assert own.chosen == pytest.approx((recorded["best_sigma"], recorded["best_lambda"]), rel=1e-12)


@pytest.mark.parametrize(
    "case",
    golden("lsmi_mlmi_full_basis"),
    ids=lambda c: f"{c['estimator']}-{c['dataset'][:4]}-{c['sigma']}-{c.get('lambda')}",
)
def test_full_basis(case):
    name = case["dataset"].split("_")[0]
    X, y = (values[:150] for values in toy(f"{name}_t1"))
    y = standardized(y) if name == "quad" else y
    kwargs = {"centers": np.arange(150), "sigma": case["sigma"]}
    if case["estimator"] == "LSMI":
        found = lsmi(standardized(X[:, :3]), y, lam=case["lambda"], **kwargs)
    else:
        found = mlmi(standardized(X[:, :3]), y, solver="authors", **kwargs)
    assert found.value == pytest.approx(case["value"], rel=1e-9)


class Recorder:
    """LSMI with fixed (σ, λ) that remembers where it was asked."""

    n_units = 10
    monitor = SILENT

    def __init__(self, own, sigma, lam):
        self.own, self.sigma, self.lam = own, sigma, lam
        self.path, self.values = [], []

    def value_and_gradient(self, weights):
        value, gradient = self.own.value_and_gradient_at(weights, self.sigma, self.lam)
        self.path.append(weights)
        self.values.append(value)
        return value, gradient


@pytest.mark.parametrize(
    "case", golden("pg_path_fixed"), ids=lambda c: f"{c['dataset'][:4]}-{c['z']}"
)
def test_the_authors_ascent_path(case):
    recorder = Recorder(bound(case["dataset"].split("_")[0]), case["sigma"], case["lambda"])
    climb = Ascent(step="authors", max_iter=30)
    point, n_iter = climb.run(recorder, np.array(case["W0"]), case["z"], k=1)
    assert n_iter == len(case["W_path"])
    expected = np.array([*case["W_path"], case["W_final"]])
    np.testing.assert_allclose(recorder.path, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(-np.array(recorder.values[:-1]), case["F_neg_lsmi"], rtol=1e-9)
    # Where we differ: the best point is handed back, with its own value.
    assert point.value == max(recorder.values)
