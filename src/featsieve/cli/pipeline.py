"""``--pipeline``: Python code that does what the command did, and goes on to a model."""

from __future__ import annotations

import argparse
from typing import Any

from featsieve import __version__
from featsieve.cli.outcome import Outcome, plain

_CODE = '''\
"""What `featsieve select` did, in Python, and a model on top (featsieve {version})."""

from sklearn.ensemble import {model}
from sklearn.pipeline import make_pipeline

from featsieve import {methods}
from featsieve.io import load_table

X, y = load_table({load})
X = X.to_pandas()
selector = {selector}
model = make_pipeline(selector, {model}(random_state={seed}, categorical_features="from_dtype"))

if __name__ == "__main__":
    model.fit(X, y)
    print(list(model[0].get_feature_names_out()))
'''
_MODELS = {
    "classification": "HistGradientBoostingClassifier",
    "regression": "HistGradientBoostingRegressor",
}


def pipeline_code(arguments: argparse.Namespace, outcome: Outcome) -> str:
    """Code that runs as it stands where the file is."""
    layers = _layers(outcome.selector)
    return _CODE.format(
        version=__version__,
        model=_MODELS[outcome.task],
        methods=", ".join(sorted(type(layer).__name__ for layer in layers)),
        load=_load_words(arguments, outcome),
        selector=_selector_code(layers, outcome),
        seed=outcome.seed,
    )


def _load_words(arguments: argparse.Namespace, outcome: Outcome) -> str:
    imputes = any("filled in for the scores" in note for note in outcome.notes)
    drops = any("were left out (--missing drop)" in note for note in outcome.notes)
    given: dict[str, Any] = {
        "drop": arguments.drop,
        "no_fix": arguments.no_fix,
        "missing": "impute" if imputes else "drop" if drops else None,
        "task": None if arguments.task == "auto" else arguments.task,
    }
    words = [f"{arguments.file!r}", f"{outcome.target!r}"]
    return ", ".join(words + [f"{name}={value!r}" for name, value in given.items() if value])


def _layers(selector: Any) -> list[Any]:
    """The selector, and the one that it runs, if any."""
    inner = selector.get_params(deep=False).get("selector")
    return [selector] if inner is None else [selector, *_layers(inner)]


def _selector_code(layers: list[Any], outcome: Outcome, indent: str = "") -> str:
    """A call with the parameters that are not at their defaults; the task as it was decided."""
    selector, *inner = layers
    given = _given_parameters(selector, outcome)
    lines = [f"{indent}    {name}={value!r}," for name, value in given.items()]
    if inner:
        lines.insert(0, f"{indent}    selector={_selector_code(inner, outcome, indent + '    ')},")
    return "\n".join([f"{type(selector).__name__}(", *lines, f"{indent})"])


def _given_parameters(selector: Any, outcome: Outcome) -> dict[str, Any]:
    defaults = type(selector)().get_params(deep=False)
    params = {name: plain(value) for name, value in selector.get_params(deep=False).items()}
    left_out = ("callback", "categorical_features", "selector")
    given = {n: v for n, v in params.items() if n not in left_out and v != plain(defaults[n])}
    given["task"] = outcome.task
    if "random_state" in defaults:
        given["random_state"] = outcome.seed
    return given
