"""Progress, time limits and Ctrl-C."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from featsieve import FeatureSelector, PearsonRanking, WrapperSelector
from featsieve.measures import CrossValScore
from featsieve.searches import Backward, Exhaustive, Forward

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 8))
Y = X @ [5, 4, 3, 2, 1, 0.5, 0, 0] + 0.01 * RNG.normal(size=40)


class CountedRidge(Ridge):
    """Counts its fits, and can be interrupted after some of them."""

    fits = 0
    interrupt_at = None

    def fit(self, X, y):
        type(self).fits += 1
        if self.interrupt_at is not None and self.fits >= self.interrupt_at:
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _fresh_counter():
    CountedRidge.fits, CountedRidge.interrupt_at = 0, None


def selector(search, **parameters):
    measure = CrossValScore(CountedRidge(), cv=2)
    return FeatureSelector(measure, search, n_features_to_select=4, **parameters)


def test_the_callback_sees_rounds_and_may_not_change_the_answer():
    seen = []
    told = selector(Forward(), callback=seen.append).fit(X, Y)
    quiet = selector(Forward()).fit(X, Y)
    assert [(p.done, p.total) for p in seen if p.message == "adding"] == [
        (i, 4) for i in (1, 2, 3, 4)
    ]
    assert told.indices_.tolist() == quiet.indices_.tolist()


def test_the_time_limit_hands_back_the_best_so_far(monkeypatch):
    monkeypatch.setattr("featsieve.runtime.progress.perf_counter", lambda: float(CountedRidge.fits))
    with pytest.warns(UserWarning, match="found 2 features where 4 were asked for .*max_time"):
        cut = selector(Forward(), max_time=35).fit(X, Y)  # rounds of 16, 14, 12 and 10 fits
    assert cut.indices_.tolist() == [0, 1]
    assert cut.result_.stop_reason == "max_time"


@pytest.mark.parametrize("search", [Backward(), Exhaustive()])
def test_searches_with_full_sets_keep_the_number_asked_for(search):
    CountedRidge.interrupt_at = 30 if isinstance(search, Backward) else 135
    cut = selector(search).fit(X, Y)
    assert cut.result_.stop_reason == "interrupted"
    assert len(cut.indices_) == 4


def test_ctrl_c_hands_back_the_best_so_far():
    CountedRidge.interrupt_at = 20
    with pytest.warns(UserWarning, match="found 1 features where 4 were asked for .*interrupted"):
        cut = selector(Forward()).fit(X, Y)
    assert cut.indices_.tolist() == [0]


def test_ctrl_c_before_any_answer_goes_through():
    CountedRidge.interrupt_at = 1
    with pytest.raises(KeyboardInterrupt):
        selector(Forward()).fit(X, Y)


class PressesCtrlC:
    """Does so in its destructor, where Python drops whatever is raised."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


class CompilingRidge(CountedRidge):
    """Ctrl-C comes while a module of numba has called for something."""

    def fit(self, X, y):
        answer = super().fit(X, y)
        if self.fits == 20:
            press = "import signal; signal.raise_signal(signal.SIGINT)"
            exec(compile(press, "compiler", "exec"), {"__name__": "numba.core.compiler"})
        return answer


def pressing_after(n_rounds, press):
    def callback(progress):
        if progress.message == "adding" and progress.done == n_rounds:
            press()

    return selector(Forward(), callback=callback)


@pytest.fixture
def _ctrl_c_is_heard():
    """Where a shell started the tests in the background, SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_is_heard")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("press", [PressesCtrlC, lambda: signal.raise_signal(signal.SIGINT)])
def test_a_pressed_ctrl_c_is_never_lost(press):
    with pytest.warns(UserWarning, match="found . features where 4 were asked for .*interrupted"):
        cut = pressing_after(2, press).fit(X, Y)
    assert cut.indices_.tolist() in ([0], [0, 1])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("_ctrl_c_is_heard")
def test_ctrl_c_waits_until_a_compiler_has_ended():
    measure = CrossValScore(CompilingRidge(), cv=2)
    with pytest.warns(UserWarning, match="found 1 features? where 4 were asked for .*interrupted"):
        cut = FeatureSelector(measure, Forward(), n_features_to_select=4).fit(X, Y)
    assert cut.indices_.tolist() == [0]
    assert CompilingRidge.fits >= 20


def test_another_handler_of_ctrl_c_is_left_in_place():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        whole = pressing_after(2, lambda: signal.raise_signal(signal.SIGINT)).fit(X, Y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [True]
    assert whole.indices_.tolist() == [0, 1, 2, 3]


def test_fits_in_other_threads_leave_signals_alone():
    fitted = selector(Forward())
    thread = threading.Thread(target=fitted.fit, args=(X, Y))
    thread.start()
    thread.join()
    assert fitted.indices_.tolist() == [0, 1, 2, 3]


def test_no_answer_within_the_time_limit_is_an_error_that_says_so():
    many = np.random.default_rng(0).normal(size=(5000, 3))
    from featsieve.input.boundary import Settings, open_engine
    from featsieve.measures import Pearson
    from featsieve.procedures.pairing import Pairing
    from featsieve.runtime.progress import drive
    from featsieve.searches import Ranking

    engine = open_engine(many, many[:, 0], Settings(max_time=1e-9, rows_per_block=100))
    with pytest.raises(TimeoutError, match="max_time passed before the first answer"):
        drive(Pairing(Pearson(), Ranking()).steps(engine, 1), engine.monitor)


def test_reading_rows_is_reported():
    seen = []
    PearsonRanking(callback=seen.append).fit(X, Y)
    assert seen[-1].message == "reading rows"
    assert seen[-1].done == seen[-1].total == 1


def test_the_library_prints_nothing(capfd):
    WrapperSelector(Ridge(), n_features_to_select=2).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == err == ""


def test_numpys_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    PearsonRanking(n_permutations=10).fit(X, Y)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
