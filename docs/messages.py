"""Every error message of the library, collected from the source and sorted by the FAQ's topics.

``python -m docs.messages`` prints them. A message belongs to the first topic below whose words it
contains, else to the topic of its package; so a new message always has its place in the FAQ.
"""

from __future__ import annotations

import ast
import functools
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "featsieve"

# Not for users: what a developer of a new class forgot, and Python's own lookups.
INTERNAL = {"NotImplementedError", "RuntimeError", "AttributeError", "KeyError", "LookupError"}

# Topic → words of its messages (regular expressions).
BY_WORDS = {
    "extras": ["pip install"],
    "permutation": ["^groups ", "block_size"],
    "states": ["states, at most", "combinations", "a state that was not", "shrinkage fills"],
    "missing": [r"missing \(NaN\)", "missing cell", "missing values", "infinite cells"],
    "types": ["dates or times", "has dtype", "values of type", "nested values", "Complex", "Lazy"],
    "one-class": ["constant, so", "has only one … in", "only one class", "has no value at all"],
    "large-numbers": ["overflow", "range of floating point"],
    "memory": ["memory.limit", "1 GiB", "too large for"],
    "time": ["max_time", "seconds"],
    "weights": ["sample_weight", "Sample weights"],
    "task": ["needs classes", "by classes", "two classes;", "distinct", "task=", "numeric target;"],
    "groups": ["feature_groups", "is a mask of"],
    "parquet": ["Parquet table", "straight from a file"],
    "names": ["no column …", "two columns", "no such column", "besides the target", "besides y"],
    "codes": ["codes", "continuous numbers"],
    "shape": [
        *("rows and y has", "dimensions", "features, but", "requires y", "must be a column"),
        *("rows; at least", "at least 4 samples", "inverse_transform", "numbers of rows"),
    ],
    "gram": ["precomputed"],
    "pairs": ["cannot be searched by", "pair term", "this measure lacks", "has no score for"],
    "too-many-sets": ["sets of"],
    "penalty": ["coefficient", "alpha and radius", "method='lar'"],
    "folds": [r"\bcv\b", r"\bfolds?\b"],
    "kernels": ["kernel", "bandwidth", "approximation=", "criterion"],
}
# Package or module → topic of the messages that no words above claim.
BY_PLACE = {
    "cli.bench": "benches",
    "evaluation": "benches",
    "cli": "command-line",
    "io": "files",
    "engines.files": "files",
    "datasets": "datasets",
    "quadratic": "quadratic",
    "plots": "plots",
    "inference": "permutation",
    "measures.hsic": "kernels",
    "": "parameters",
}


@dataclass(frozen=True)
class Message:
    """What is raised where; what the program fills in is shown as …"""

    text: str
    error: str
    module: str

    @property
    def topic(self) -> str:
        for topic, words in BY_WORDS.items():
            if any(re.search(word, self.text) for word in words):
                return topic
        return next(t for p, t in BY_PLACE.items() if self._is_in(p))

    def _is_in(self, place: str) -> bool:
        return not place or self.module == place or self.module.startswith(place + ".")


@functools.cache
def collected() -> list[Message]:
    """All messages of the source, in the order of its files."""
    return [message for path in sorted(SOURCE.rglob("*.py")) for message in _of_file(path)]


def _of_file(path: Path) -> Iterator[Message]:
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            error = ast.unparse(node.func).rpartition(".")[2]
            text = _template(node.args[0]) if node.args else ""
            if _is_for_users(error, module) and " " in text:
                yield Message(text, error, module)


def _is_for_users(error: str, module: str) -> bool:
    if module == "errors":  # an error that makes its own message
        return error == "__init__"
    return error.endswith("Error") and error not in INTERNAL


def _template(node: ast.expr) -> str:
    """The text of a message with … for what is filled in; empty if it is not a text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = [_template(v) if isinstance(v, ast.Constant) else "…" for v in node.values]
        return "".join(parts)
    return ""


TOPICS = list(dict.fromkeys([*BY_WORDS, *BY_PLACE.values()]))


def listing(topic: str) -> str:
    """The messages of a topic, folded away under its answer."""
    texts = list(dict.fromkeys(m.text for m in collected() if m.topic == topic))
    lines = "".join(f"<li><code>{html.escape(text)}</code></li>" for text in texts)
    count = f"{len(texts)} message" + ("s" if len(texts) != 1 else "")
    return f'<details class="messages"><summary>{count}</summary><ul>{lines}</ul></details>'


if __name__ == "__main__":
    for message in sorted(collected(), key=lambda m: m.topic):
        print(f"{message.topic:14} {message.module}: {message.text}")
