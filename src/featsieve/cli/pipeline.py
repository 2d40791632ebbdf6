"""``--pipeline``: Python code that does what the command did, and goes on to a model."""

from __future__ import annotations

import argparse
from typing import Any

from featsieve import __version__
from featsieve.cli.outcome import Outcome
from featsieve.registry import find_method

_CODE = '''\
"""What `featsieve select` did, in Python, and a model on top (featsieve {version})."""

from sklearn.ensemble import {model}
from sklearn.pipeline import make_pipeline

from featsieve import {method}
from featsieve.io import load_table

X, y = load_table({load})
X = X.to_pandas()
selector = {method}(
{parameters}
)
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
    return _CODE.format(
        version=__version__,
        model=_MODELS[outcome.task],
        method=outcome.method,
        load=_load_words(arguments, outcome),
        parameters=_parameters(outcome),
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


def _parameters(outcome: Outcome) -> str:
    """Those that are not at their defaults; the task as it was decided."""
    build: Any = find_method(outcome.method).load()
    defaults = build().get_params(deep=False)
    given = {n: v for n, v in outcome.params.items() if v != defaults.get(n)}
    given["task"] = outcome.task
    given.pop("categorical_features", None)
    if "random_state" in defaults:
        given["random_state"] = outcome.seed
    return "\n".join(f"    {name}={value!r}," for name, value in given.items())
