"""A time limit or Ctrl-C at any look at the clock, and while a file is written, for every method.

The clock is counted, not read: a run is stopped at its n-th look at the clock, so nothing here
depends on the speed of the machine.
"""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted

from featsieve import L1LSMI, GlobalCMI, MaxRel, PearsonRanking, WrapperSelector, open_parquet
from featsieve.cli import main
from featsieve.cli.parser import offered_methods
from featsieve.inference import permutation_test
from featsieve.io import atomic
from featsieve.quadratic import SOLVERS, solve
from featsieve.result import COMPLETED, INTERRUPTED, TIME_LIMIT, SelectionResult
from featsieve.runtime import pool, progress
from tests.estimators import CLASSES_ONLY, METHODS, method_ids, quick_selector, target_for

N_STOPS = 8
LATE = 1e9
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
Y = X[:, 1] + X[:, 4] ** 2 + 0.3 * RNG.normal(size=60)
COMMANDS = list(offered_methods())
CLASSES_ONLY_COMMANDS = {m.command_name for m in METHODS if m.name in CLASSES_ONLY}


@dataclass
class CountedClock:
    """Stands still until the look ``stop_at``; then it is late, or the user presses Ctrl-C."""

    stop_at: int | None = None
    interrupts: bool = False
    looks: int = 0
    answers: list[int] = field(default_factory=list)  # looks so far when each answer came
    end: int = 0  # looks when the driver had its last answer

    def __call__(self) -> float:
        self.looks += 1
        is_due = self.stop_at is not None and self.looks >= self.stop_at
        if self.interrupts and self.looks == self.stop_at:
            raise KeyboardInterrupt
        return LATE if is_due and not self.interrupts else 0.0

    def noted(self, steps):
        for answer in steps:
            if isinstance(answer, SelectionResult):
                self.answers.append(self.looks)
            yield answer
        self.end = self.looks


@pytest.fixture
def run(monkeypatch):
    """Run some work under a counted clock: what it returns or raises, and the clock."""
    last_of = progress.last_of
    # Waiting for a batch of a file looks at the clock as often as the machine is slow.
    monkeypatch.setattr(pool, "LOOK_SECONDS", None)

    def run(work, stop_at=None, *, interrupts=False):
        clock = CountedClock(stop_at, interrupts)
        monkeypatch.setattr(progress, "perf_counter", clock)
        monkeypatch.setattr(progress, "last_of", lambda s, m: last_of(clock.noted(s), m))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return work(), clock
            except (TimeoutError, KeyboardInterrupt) as stop:
                return stop, clock

    return run


def stops(clock):
    """Some looks from the first after the start (which is the first of all) to the last."""
    points = np.linspace(2, clock.looks, min(N_STOPS, clock.looks - 1))
    return sorted({round(point) for point in points} | set(clock.answers[:1]) - {1})


def fitting(make, data):
    def work():
        selector = make()
        try:
            return selector.set_params(max_time=1.0).fit(*data)
        except BaseException:
            assert not hasattr(selector, "support_")  # all or nothing
            raise

    return work


def check_answer(selector, reason):
    check_is_fitted(selector)
    assert selector.result_.stop_reason == reason
    fewest = 0 if getattr(selector, "allow_empty", False) else 1  # where nothing passes
    assert fewest <= len(selector.indices_) <= 6
    assert selector.support_.sum() == len(selector.indices_)


def check_time_limits(run, work):
    """Before the first answer a TimeoutError, or that answer; then the best so far."""
    whole, clock = run(work)
    assert whole.result_.stop_reason != TIME_LIMIT
    for look in stops(clock):
        outcome, _ = run(work, look)
        if isinstance(outcome, TimeoutError):
            assert look <= clock.answers[0], look
            assert "max_time passed before the first answer" in str(outcome)
        elif look <= clock.answers[-1]:
            check_answer(outcome, TIME_LIMIT)
        else:  # after the last answer there was nothing left to cut
            assert outcome.result_.stop_reason in (TIME_LIMIT, whole.result_.stop_reason)


def check_interrupts(run, work):
    """Before the first answer KeyboardInterrupt; then the best so far."""
    _, clock = run(work)
    for look in stops(clock):
        outcome, _ = run(work, look, interrupts=True)
        if look <= clock.answers[0] or look > clock.end:
            assert isinstance(outcome, KeyboardInterrupt), look
        else:
            check_answer(outcome, INTERRUPTED)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path_factory.mktemp("stopping") / "table.parquet"
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    targets = {"y": Y, "classes": (np.median(Y) < Y).astype(int)}
    pq.write_table(pa.table(columns | targets), path, row_group_size=15)
    return path


@pytest.mark.parametrize("source", ["memory", "file"])
@pytest.mark.parametrize("method", METHODS, ids=method_ids)
def test_every_method(method, source, table, run):
    y = target_for(method, Y)
    data = (X, y) if source == "memory" else (open_parquet(table), "y" if y is Y else "classes")
    work = fitting(lambda: quick_selector(method, n_features_to_select=3), data)
    check_time_limits(run, work)
    check_interrupts(run, work)


SPECIAL = {
    "permuted": lambda: PearsonRanking(n_features_to_select=2, n_permutations=60, random_state=0),
    "permuted neighbours": lambda: MaxRel(
        n_features_to_select=2, estimator="ksg", n_permutations=20, random_state=0
    ),
    "count by itself": lambda: L1LSMI(
        n_features_to_select="auto", n_init=2, n_basis=15, max_iter=10, random_state=0
    ),
    "count by folds": lambda: PearsonRanking(n_features_to_select="auto"),
    "count by folds, a run for each": lambda: GlobalCMI(
        n_features_to_select="auto", solver="linear", random_state=0
    ),
    **{
        f"{count} by {search}": lambda count=count, search=search: WrapperSelector(
            Ridge(), n_features_to_select=count, search=search, cv=2
        )
        for count in ("auto", "parsimonious")
        for search in ("forward", "backward", "exhaustive")
    },
    **{
        f"solver {solver}": lambda solver=solver: GlobalCMI(
            n_features_to_select=3, solver=solver, random_state=0
        )
        for solver in SOLVERS
    },
}


@pytest.mark.parametrize("name", SPECIAL)
def test_permuting_counting_and_solving(name, run):
    work = fitting(SPECIAL[name], (X, Y))
    check_time_limits(run, work)
    check_interrupts(run, work)


def test_a_selection_stands_when_its_permutations_are_stopped(run):
    work = fitting(SPECIAL["permuted neighbours"], (X, Y))
    whole, clock = run(work)
    assert len(clock.answers) > 2
    stopped, _ = run(work, clock.answers[1] - 1, interrupts=True)
    assert stopped.indices_.tolist() == whole.indices_.tolist()
    assert not hasattr(stopped, "pvalues_")
    stopped, _ = run(work, clock.answers[1] + 1, interrupts=True)
    assert 0 < stopped.result_.extras["n_permutations"] < 20
    assert stopped.pvalues_.shape == (6,)


def test_permutation_tests_on_their_own(run):
    def work():
        return permutation_test(X, Y, "pearson", n_permutations=40, random_state=0, max_time=1.0)

    whole, clock = run(work)
    assert (whole.stop_reason, whole.n_permutations) == (COMPLETED, 40)
    for look in range(2, clock.looks + 1):
        for interrupts, error, reason in (
            (False, TimeoutError, TIME_LIMIT),
            (True, KeyboardInterrupt, INTERRUPTED),
        ):
            outcome, _ = run(work, look, interrupts=interrupts)
            assert isinstance(outcome, error) or outcome.stop_reason in (reason, COMPLETED)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_stopped_solver_hands_back_a_valid_set_and_bound(solver, run):
    Q = RNG.random((40, 40))

    def work():
        return solve(Q, 7, solver=solver, random_state=0, max_time=1.0)

    whole, clock = run(work)
    for look in stops(clock):
        for interrupts in (False, True):
            outcome, _ = run(work, look, interrupts=interrupts)
            if isinstance(outcome, BaseException):
                assert isinstance(outcome, KeyboardInterrupt if interrupts else TimeoutError)
            else:
                assert len(set(outcome.indices.tolist())) == 7
                assert outcome.value <= outcome.upper_bound
                assert outcome.upper_bound >= whole.value * (1 - 1e-12)


def test_wrapped_estimators_are_stopped_between_their_fits(run):
    work = fitting(lambda: WrapperSelector(Ridge(), n_features_to_select=3, cv=2), (X, Y))
    check_time_limits(run, work)
    check_interrupts(run, work)


# --- writing ------------------------------------------------------------------------------------

WRITING = ("write", "fsync", "chmod", "replace")  # what ``io.atomic`` does, one after the other
OUTPUTS = {"--output": ["kept.csv", "kept.parquet", "answer.json"], "--report": ["page.html"]}


def select(table, folder, method="pc", option="--output", name="answer.json"):
    """The command line on a copy of the table: the exit code, and the files it left."""
    y = "classes" if method in CLASSES_ONLY_COMMANDS else "y"
    words = ["select", str(table), "--target", y, "--drop", "y" if y == "classes" else "classes"]
    words += ["-k", "2", "--method", method, option, str(folder / name), "--quiet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = main(words)
    return code, {path.name: path.read_bytes() for path in folder.iterdir()}


def interrupt_at(monkeypatch, point):
    """Ctrl-C at one of the things that writing a file takes."""

    def press(*_, **__):
        raise KeyboardInterrupt

    if point == "write":
        monkeypatch.setattr(atomic.os, "fdopen", lambda *_: InterruptedFile())
    else:
        monkeypatch.setattr(atomic.os, point, press)


class InterruptedFile(io.BytesIO):
    """A file on which the user presses Ctrl-C after the first bytes."""

    def write(self, data):
        super().write(data[:10])
        raise KeyboardInterrupt


@pytest.mark.parametrize("point", WRITING)
@pytest.mark.parametrize(
    ("option", "name"), [(option, name) for option, names in OUTPUTS.items() for name in names]
)
def test_an_interrupt_while_writing_leaves_the_old_file(
    option, name, point, table, tmp_path, monkeypatch, capsys
):
    (tmp_path / name).write_bytes(b"old")
    interrupt_at(monkeypatch, point)
    code, files = select(table, tmp_path, option=option, name=name)
    assert code == 1
    assert files == {name: b"old"}
    assert "interrupted while writing" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_writing_for_every_method(command, table, tmp_path, monkeypatch, capsys):
    """Stopped, there is no file; in time or late, there is a whole one."""
    with monkeypatch.context() as stopped:
        interrupt_at(stopped, "replace")
        assert select(table, tmp_path, command) == (1, {})
    capsys.readouterr()
    code, files = select(table, tmp_path, command)
    assert code == 0
    assert set(json.loads(files["answer.json"])) >= {"selected", "method", "seed"}


def test_a_time_limit_does_not_cut_what_is_written(table, tmp_path, monkeypatch):
    """The limit is for finding the answer: once there, it is written as a whole."""
    clock = CountedClock()
    monkeypatch.setattr(progress, "perf_counter", clock)
    select(table, tmp_path)
    for look in range(2, clock.looks + 1):
        monkeypatch.setattr(progress, "perf_counter", CountedClock(look))
        (tmp_path / "answer.json").unlink(missing_ok=True)
        code, files = select(table, tmp_path)
        assert (code == 0) == ("answer.json" in files)
        assert code == 1 or json.loads(files["answer.json"])["selected"]
