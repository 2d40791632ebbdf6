"""What a user may give, what is refused in one sentence, and how a run is ended."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from featsieve.errors import InputError
from featsieve.quadratic import solve
from featsieve.quadratic.problem import Answer
from featsieve.runtime.progress import Monitor, last_of

GOOD = np.array([[0.1, 0.9, 0.2], [0.9, 0.1, 0.2], [0.2, 0.2, 0.8]])
SRC = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize(
    ("Q", "k", "match"),
    [
        (np.ones((2, 3)), 1, r"shape \(2, 3\); give a square"),
        (np.ones(4), 1, "give a square"),
        (np.array([[1.0, np.nan], [0, 1]]), 1, "NaN or infinite"),
        (np.array([[1.0, np.inf], [0, 1]]), 1, "NaN or infinite"),
        (GOOD * 1e300, 1, r"Q has entries beyond 1e.100, .* divide Q by its largest entry"),
        (GOOD * 1j, 1, "Q holds values of type complex128; give a matrix of real numbers"),
        (np.array([["a", "b"], ["c", "d"]]), 1, "Q holds values of type <U1"),
        (sparse.csr_array(GOOD), 1, r"Q is sparse, .* give Q.toarray\(\)"),
        (np.empty((0, 0)), 1, "Q is 0 × 0, so there is nothing to choose; give at least one"),
        (GOOD, 0, "k = 0 of 3 features cannot be chosen; give 1 <= k <= 3"),
        (GOOD, 4, "k = 4 of 3 features"),
        (GOOD, -1, "k = -1 of 3 features"),
    ],
)
def test_bad_problem(Q, k, match):
    with pytest.raises(InputError, match=match):
        solve(Q, k)


@pytest.mark.parametrize("factor", [1e99, 1e-290])
@pytest.mark.parametrize("solver", ["auto", "linear", "spectral", "sdp", "tpower", "exact"])
def test_large_and_small_entries_give_the_same_set(solver, factor):
    wanted = solve(GOOD, 2, solver=solver, random_state=0)
    found = solve(GOOD * factor, 2, solver=solver, random_state=0)
    assert sorted(found.indices) == sorted(wanted.indices)
    assert found.value == pytest.approx(wanted.value * factor, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_time": -1}, "max_time=-1 is not allowed; give a number of seconds > 0"),
        ({"max_time": "a"}, "max_time='a' is not allowed"),
        ({"bound": "x"}, "bound='x' is not allowed"),
        ({"epsilon": "a"}, "epsilon='a' is not allowed"),
        ({"rank": True}, "rank=True is not allowed; give an integer >= 1"),
        ({"random_state": "a"}, "random_state='a' is not allowed"),
    ],
)
def test_bad_options(options, match):
    with pytest.raises(InputError, match=match):
        solve(GOOD, 2, **options)


@pytest.mark.parametrize("k", [1.5, "2", True, None])
def test_k_must_be_an_integer(k):
    with pytest.raises(InputError, match="k must be an integer"):
        solve(GOOD, k)


@pytest.mark.parametrize("solver", ["linear", "spectral"])
def test_negative_entries_are_refused_where_the_relaxation_needs_none(solver):
    with pytest.raises(InputError, match=f'solver="{solver}" needs Q without negative entries'):
        solve(GOOD - 0.5, 2, solver=solver)
    rounding = GOOD - 0.1 - 1e-16
    assert len(solve(rounding, 2, solver=solver).indices) == 2


@pytest.mark.parametrize("solver", ["auto", "tpower", "lowrank", "sdp", "exact"])
def test_negative_entries_are_fine_elsewhere(solver):
    Q = np.array([[0.0, -5, 1], [-5, 0, 1], [1, 1, 0]])
    answer = solve(Q, 2, solver=solver, n_samples=100, random_state=0)
    assert answer.value == 2.0
    assert 2 in answer.indices


@pytest.mark.parametrize(
    "bad",
    [
        {"solver": "simplex"},
        {"iterates": "complex"},
        {"shift": "some"},
        {"start": "random"},
        {"bound": "tight"},
        {"rank": 0},
        {"epsilon": 0.0},
        {"delta": 1.0},
        {"n_samples": 0},
        {"max_iter": 0},
        {"n_projections": -1},
    ],
)
def test_bad_option_names_itself(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        solve(GOOD, 2, **bad)


@pytest.mark.parametrize("seed", [3, np.random.default_rng(3), np.random.RandomState(3), None])
def test_random_states(seed):
    assert sorted(solve(GOOD, 2, solver="sdp", random_state=seed).indices.tolist()) == [0, 1]


def test_lists_and_integers_are_taken():
    assert solve([[0, 3], [3, 1]], np.int64(1)).indices.tolist() == [1]


def _interrupted() -> Iterator[Answer]:
    yield Answer(np.array([0]), 1.0)
    raise KeyboardInterrupt


def test_interrupt_hands_back_the_best_so_far():
    assert last_of(_interrupted(), Monitor())[0].value == 1.0
    late = _interrupted()
    next(late)
    with pytest.raises(KeyboardInterrupt):
        last_of(late, Monitor())


def test_time_limit_ends_after_the_first_answer():
    answers = (Answer(np.array([i]), float(i)) for i in range(3))
    assert last_of(answers, Monitor(max_time=0.0))[0].value == 0.0


def test_import_is_light():
    code = (
        "import sys, featsieve.quadratic;"
        "print([m for m in ('scipy', 'numba', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_masked_entries_are_missing_and_long_integers_are_named():
    with pytest.raises(InputError, match="NaN or infinite"):
        solve(np.ma.array(GOOD, mask=GOOD > 0.5), 1)
    with pytest.warns(UserWarning, match=r"Q holds integers beyond 2\^53"):
        solve(np.eye(3, dtype=np.int64) + 2**60, 1)
