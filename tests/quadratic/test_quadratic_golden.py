"""The solvers on CMI matrices whose answers are known from outside (golden/bqp_cmi.json)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from featsieve.quadratic import solve
from featsieve.quadratic.heuristics import feature_weights, start_vector, truncated_power
from featsieve.quadratic.problem import make_problem

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "bqp_cmi.json").read_text())
MATRICES = {name: np.array(entry["Q"]) for name, entry in GOLDEN["matrices"].items()}
OPTIMA = [
    (name, int(k), indices, value)
    for name, entry in GOLDEN["matrices"].items()
    for k, (indices, value) in entry["optimum"].items()
]


@pytest.mark.parametrize(("name", "k", "indices", "value"), OPTIMA)
@pytest.mark.parametrize("solver", ["exact", "auto"])
def test_enumerated_optimum_is_found_and_proven(solver, name, k, indices, value):
    answer = solve(MATRICES[name], k, solver=solver, random_state=0)
    assert sorted(answer.indices) == indices
    assert answer.value == pytest.approx(value, rel=1e-12)
    assert answer.upper_bound == pytest.approx(value, rel=1e-9)
    assert answer.proven_optimal


@pytest.mark.parametrize("name", MATRICES)
def test_spectral_order_and_vector(name):
    Q, expected = MATRICES[name], GOLDEN["matrices"][name]
    problem = make_problem(Q, len(Q) - 1)
    np.testing.assert_allclose(feature_weights(problem), expected["spectral_vector"], atol=1e-12)
    answer = solve(Q, len(Q) - 1, solver="spectral")
    assert answer.indices.tolist() == expected["spectral_order"][:-1]


@pytest.mark.parametrize("name", MATRICES)
def test_eigenpairs_largest_first(name):
    values, vectors = make_problem(MATRICES[name], 2).eigenpairs(3)
    expected = GOLDEN["matrices"][name]["eigenvalues"][:-4:-1]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_allclose(MATRICES[name] @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize("name", MATRICES)
def test_low_rank_reaches_the_golden_value(name):
    for k, (_, value) in GOLDEN["matrices"][name]["lowrank"].items():
        answer = solve(MATRICES[name], int(k), solver="lowrank", n_samples=60_000, random_state=0)
        assert answer.value >= value * (1 - 1e-12)


@pytest.mark.parametrize(
    "row", GOLDEN["tpower"], ids=lambda r: f"{r['matrix']}-{r['k']}-{r['start']}"
)
def test_original_truncated_power_method(row):
    problem = make_problem(MATRICES[row["matrix"]], row["k"])
    x = start_vector(problem, row["start"])
    run = truncated_power(problem, x, iterates="real", shift=0.0, max_iter=50, tol=1e-6)
    assert np.flatnonzero(run.last).tolist() == row["support"]
    np.testing.assert_allclose(run.last, row["x"], atol=1e-9)
    assert run.objective == pytest.approx(row["f"], rel=1e-12)
    assert run.best_value >= problem.value(np.array(row["support"])) - 1e-12
