"""The progress bar in notebooks, terminals and logs, and scikit-learn's own callbacks."""

from __future__ import annotations

import io
import sys
import types

import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from featsieve import BAHSIC, MRMR, ProgressBar
from featsieve.datasets import make_and_or
from featsieve.errors import InputError
from featsieve.runtime import bar
from featsieve.runtime.progress import Progress

DATA = make_and_or(80, random_state=0)


class Shown:
    """IPython's handle of a display."""

    def __init__(self):
        self.html = []

    def update(self, html):
        self.html.append(html)


@pytest.fixture
def notebook(monkeypatch):
    shown = Shown()

    def display(html, display_id):
        shown.html.append(html)
        return shown

    shell = type("ZMQInteractiveShell", (), {})()
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: shell
    module.display = types.ModuleType("IPython.display")
    module.display.HTML, module.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", module.display)
    monkeypatch.setattr(bar, "FIRST", 0.0)
    monkeypatch.setattr(bar, "INTERVAL", 0.0)
    return shown


def test_a_notebook_gets_one_bar_that_moves(notebook, capsys):
    BAHSIC(n_features_to_select=2, callback=ProgressBar()).fit(DATA.data, DATA.target)
    assert len(notebook.html) > 2
    assert all(html.startswith("<label><progress max='1'") for html in notebook.html)
    assert capsys.readouterr().err == ""


def test_a_log_gets_plain_lines(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    show = ProgressBar()
    show(Progress("removing <b>", 1, 4, 0.0))
    assert stream.getvalue() == ""  # a short run needs no line
    monkeypatch.setattr(bar, "PLAIN_FIRST", 0.0)
    show = ProgressBar()
    show(Progress("removing", 1, 4, 5.0))
    assert stream.getvalue() == "featsieve: removing: 25%, 5 s, about 15 s left\n"
    assert "\r" not in stream.getvalue()
    assert "&lt;b&gt;" in bar.bar_html(Progress("<b>", 1, 4, 5.0))


def test_a_selector_with_a_bar_can_be_cloned():
    selector = clone(MRMR(n_features_to_select=2, callback=ProgressBar()))
    assert selector.fit(DATA.data, DATA.target).support_.sum() == 2


def test_a_callback_must_be_callable():
    with pytest.raises(InputError, match="callback"):
        MRMR(callback=3).fit(DATA.data, DATA.target)


class Tasks:
    """A callback of scikit-learn 1.9 that remembers names, and may ask for the end."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.alive = [], [], 0
        self.stop_after = stop_after

    def setup(self, estimator, context):
        self.alive += 1

    def teardown(self, estimator, context):
        self.alive -= 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        return self.stop_after is not None and len(self.ended) >= self.stop_after


@pytest.fixture
def tasks():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    return Tasks


def test_scikit_learn_callbacks_hear_of_phases(tasks):
    callback, plain = tasks(), []
    selector = BAHSIC(n_features_to_select=2, callback=plain.append).set_callbacks(callback)
    selector.fit(DATA.data, DATA.target)
    assert callback.begun[0] == callback.ended[-1] == "fit"
    assert sorted(callback.begun) == sorted(callback.ended)
    assert {p.message for p in plain} == set(callback.begun) - {"fit", "step"}
    assert callback.alive == 0
    before = BAHSIC(n_features_to_select=2).fit(DATA.data, DATA.target)
    assert selector.indices_.tolist() == before.indices_.tolist()


def test_a_failed_fit_lets_go_of_callbacks(tasks):
    callback = tasks()
    with pytest.raises(ValueError, match="missing"):
        BAHSIC().set_callbacks(callback).fit(DATA.data * float("nan"), DATA.target)
    assert callback.alive == 0


def test_a_callback_in_a_pipeline(tasks):
    callback = tasks()
    model = make_pipeline(MRMR(n_features_to_select=2), LogisticRegression())
    model[0].set_callbacks(callback)
    model.fit(DATA.data, DATA.target)
    assert "fit" in callback.ended
