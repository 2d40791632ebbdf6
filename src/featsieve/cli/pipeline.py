"""``--pipeline``: Python code that does what the command did, and goes on to a model."""

from __future__ import annotations

import argparse
from typing import Any

from featsieve import __version__
from featsieve.cli.outcome import Outcome, plain
from featsieve.io.model import ReadOptions

_CODE = '''\
"""What `featsieve select` did, in Python, and a model on top (featsieve {version})."""

from sklearn.ensemble import {model}
from sklearn.pipeline import make_pipeline

from featsieve import {methods}
from featsieve.evaluation import TableEncoder
from featsieve.io import load_table

X, y = load_table({load})
selector = {selector}
# The encoder turns text into indicators and fills gaps, for whatever model comes next.
model = make_pipeline(selector, TableEncoder(), {model}(random_state={seed}))

if __name__ == "__main__":
    model.fit(X, y)
    print({names})
'''
# A table that does not fit in memory has to be narrowed before a model can take it.
_CODE_ON_DISK = '''\
"""What `featsieve select` did, in Python, and a model on top (featsieve {version})."""

from sklearn.ensemble import {model}
from sklearn.pipeline import make_pipeline

from featsieve import {methods}
from featsieve.evaluation import TableEncoder
from featsieve.io import load_table

X, y = load_table({load})  # stays on the disk
selector = {selector}
model = make_pipeline(TableEncoder(), {model}(random_state={seed}))

if __name__ == "__main__":
    selector.fit(X, y)
    names = list(selector.get_feature_names_out())
    # The selected columns alone, in memory: raise memory_limit if they do not fit.
    model.fit(*load_table({load}, only=names))
    print(names)
'''
_NAMED = "list(model[0].get_feature_names_out())"
_NUMBERED = '[f"X{j + 1}" for j in model[0].get_support(indices=True)]'  # as the command line does
_MODELS = {
    "classification": "HistGradientBoostingClassifier",
    "regression": "HistGradientBoostingRegressor",
}


def pipeline_code(arguments: argparse.Namespace, outcome: Outcome, X: Any) -> str:
    """Code that runs as it stands where the file is; X is what the selector was fitted on."""
    layers = _layers(outcome.selector)
    from scipy.sparse import issparse

    code = _CODE_ON_DISK if hasattr(X, "batches") else _CODE
    return code.format(
        version=__version__,
        model=_MODELS[outcome.task],
        methods=", ".join(sorted(type(layer).__name__ for layer in layers)),
        load=_load_words(arguments, outcome),
        selector=_selector_code(layers, outcome),
        seed=outcome.seed,
        names=_NUMBERED if issparse(X) else _NAMED,
    )


def _load_words(arguments: argparse.Namespace, outcome: Outcome) -> str:
    imputes = any("filled in for the scores" in note for note in outcome.notes)
    usual = ReadOptions()
    limit, encoding = arguments.memory_limit, arguments.encoding
    drops = any("were left out (--missing drop)" in note for note in outcome.notes)
    given: dict[str, Any] = {
        "drop": arguments.drop,
        "no_fix": arguments.no_fix,
        "missing": "impute" if imputes else "drop" if drops else None,
        "task": None if arguments.task == "auto" else arguments.task,
        "delimiter": arguments.delimiter,
        "decimal": arguments.decimal,
        "encoding": None if encoding == usual.encoding else encoding,
        "memory_limit": None if limit == usual.memory_limit else limit,
    }
    words = [f"{arguments.file!r}", f"{outcome.target!r}"]
    words += ["header=False"] if arguments.no_header else []
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
        given["random_state"] = params["random_state"]
    return given
