"""The tables of the docs and the README, made from the registry and from the code itself.

``python -m docs.tables`` writes the table of the README again.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from featsieve.datasets.catalog import ENTRIES, Entry
from featsieve.errors import IncompatibleError
from featsieve.measures import MEASURES
from featsieve.protocols import CAPABILITY_WORDS, Bound, HasPairs, Measure, Search
from featsieve.registry import ENGINE_WORDS, METHODS, Method
from featsieve.searches import SEARCHES

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- methods: begin -->\n", "<!-- methods: end -->"


def method_table(link: Callable[[Method], str]) -> str:
    """One row per method; ``link`` writes its name."""
    rows = [(link(m), m.summary, m.measure, m.search, m.paper) for m in METHODS]
    head = ("method", "what it looks at", "measure", "search", "from")
    return markdown_table(head, rows)


def score_table(link: Callable[[Method], str]) -> str:
    """What the scores of each method mean."""
    rows = [
        (link(m), m.score.meaning, m.score.unit, m.score.range, _yes(m.score.by_step))
        for m in METHODS
    ]
    return markdown_table(("method", "`scores_`", "unit", "range", "in step order"), rows)


def use_table(link: Callable[[Method], str]) -> str:
    """What each method sees, what it costs and when to use it."""
    rows = [(link(m), ", ".join(m.sees) or "–", m.cost, m.use) for m in METHODS]
    return markdown_table(("method", "sees", "cost", "use it"), rows)


def family_table(link: Callable[[Method], str], names: Sequence[str]) -> str:
    """The methods of a guide: what each sees and costs, and what its score means."""
    methods = [next(m for m in METHODS if m.name == name) for name in names]
    rows = [
        (
            link(m),
            ", ".join(m.sees) or "–",
            m.cost,
            f"{m.score.meaning} ({m.score.unit}, {m.score.range}{_step_words(m)})",
        )
        for m in methods
    ]
    head = ("method", "sees", "cost", "`scores_`, larger is better")
    return markdown_table(head, rows)


def _step_words(method: Method) -> str:
    return "; in step order" if method.score.by_step else ""


def engine_table(link: Callable[[Method], str]) -> str:
    """Method × engine: streams, or gathers within the budget, and why; memory always works."""
    rows = [(link(m), "yes", m.engines, m.engines, ENGINE_WORDS[m.engines]) for m in METHODS]
    return markdown_table(("method", "in memory", "Parquet file", "Dask", "why"), rows)


def input_table(link: Callable[[Method], str]) -> str:
    """What each method takes besides a plain table, as its class says."""
    rows = []
    for m in METHODS:
        cells = [_yes(takes) for takes in accepted_input(example_method(m))]
        rows.append((link(m), *cells))
    head = ("method", "missing values", "sparse X", "`sample_weight`", "`partial_fit`")
    return markdown_table(head, rows)


def accepted_input(selector: Any) -> tuple[bool, bool, bool, bool]:
    """Missing values, sparse X, sample_weight, partial_fit."""
    tags = selector.__sklearn_tags__().input_tags
    weights = "sample_weight" in inspect.signature(selector.fit).parameters
    return tags.allow_nan, tags.sparse, weights, hasattr(selector, "partial_fit")


def _yes(takes: bool) -> str:
    return "yes" if takes else "–"


def pair_table() -> str:
    """Measure × search, as the capabilities of the bound measures decide it."""
    searches = [(name, example_search(name)) for name in SEARCHES]
    rows = []
    for name in MEASURES:
        bound = bind_to_example(example_measure(name))
        cells = ["–" if refusal(bound, search) else "**yes**" for _, search in searches]
        rows.append((f"`{name}`", *cells))
    return markdown_table(("", *(f"`{name}`" for name, _ in searches)), rows)


def capability_table() -> str:
    """Search → what it needs of a measure."""
    rows = [
        (f"`{name}`", ", ".join(CAPABILITY_WORDS[c] for c in example_search(name).requires))
        for name in SEARCHES
    ]
    return markdown_table(("search", "needs"), rows)


def dataset_table() -> str:
    """The papers' real data sets, and where ``fetch`` gets each."""
    rows = [
        (
            f"`{entry.name}`",
            ", ".join(entry.papers),
            f"{entry.n_samples:,} × {entry.n_features:,}",
            entry.task,
            _origin(entry),
            entry.note,
        )
        for entry in ENTRIES
    ]
    return markdown_table(("name", "in", "rows × columns", "task", "from", "note"), rows)


def _origin(entry: Entry) -> str:
    if entry.shipped:
        return "scikit-learn"
    return "–" if entry.openml is None else f"OpenML `{entry.openml[0]}`, version {entry.openml[1]}"


def refusal(bound: Bound, search: Search) -> str | None:
    """Why a search cannot use a bound measure: words that its refusal contains; None if it can."""
    for capability in search.requires:
        if not isinstance(bound, capability):
            return CAPABILITY_WORDS[capability]
    return _wrong_role(bound, search) if HasPairs in search.requires else None


def _wrong_role(bound: Bound, search: Search) -> str | None:
    """A pair term can be redundancy to lose or complement to gain; a search may want one only."""
    try:
        next(search.steps(bound, 1))
    except IncompatibleError:
        role: str = cast(HasPairs, bound).relevance_and_pairs().role
        return role
    return None


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """
    >>> print(markdown_table(("a", "b"), [("1", "x | y")]))
    | a | b |
    |---|---|
    | 1 | x \\| y |
    """
    lines = [head, ["---"] * len(head), *rows]
    written = ["| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |" for cells in lines]
    written[1] = "|" + "---|" * len(head)
    return "\n".join(written)


# --- Examples of every measure and search --------------------------------------------------------


# A smaller grid, basis and number of restarts, for every measure and method that has them.
QUICK = {"n_basis": 10, "cv": 2, "n_init": 1, "sigmas": [1.0], "lambdas": [0.1], "n_trees": 10}
# With few columns nothing can pass at the usual levels.
QUICK |= {"n_pairs": 3, "threshold": 0.6, "fdr": 1.0, "allow_empty": True}


def example_measure(name: str) -> Measure:
    """The measure with its defaults, made quick; a model's score needs a model."""
    found: Measure = _quick(_load(MEASURES, name)())
    return found


def example_method(method: Method) -> Any:
    """The selector with its defaults, made quick; a wrapper needs a model."""
    return _quick(method.load()())


def _quick(estimator: Any) -> Any:
    from sklearn.linear_model import RidgeClassifier

    known = estimator.get_params(deep=False)
    wanted = {**QUICK, "estimator": RidgeClassifier()}
    if known.get("estimator", "") is not None:
        del wanted["estimator"]
    return estimator.set_params(**{k: v for k, v in wanted.items() if k in known})


def example_search(name: str) -> Search:
    """The search with its defaults."""
    return _load(SEARCHES, name)()


def _load(exports: dict[str, str], name: str) -> Any:
    return getattr(importlib.import_module(exports[name]), name)


def example_table() -> tuple[Any, Any]:
    """A small table for two classes, on which every measure is defined."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, (X[:, 1] - X[:, 3] + 0.5 * rng.normal(size=40) > 0).astype(int)


def bind_to_example(measure: Measure) -> Bound:
    from featsieve.input.boundary import Settings, open_engine

    return measure.bind(open_engine(*example_table(), Settings()))


# --- The README's copy ---------------------------------------------------------------------------


def readme_with_table(text: str) -> str:
    """The README with its method table made again."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{method_table(lambda m: f'`{m.name}`')}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(readme_with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
