"""What :func:`featsieve.evaluation.compare` found out, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.evaluation.stability import Stability
from featsieve.markup import html_table


@dataclass(frozen=True)
class ComparedMethod:
    """One row: what a method did on this table; ``failed`` is why it has no figures, or None."""

    name: str
    error: float
    standard_error: float
    errors: dict[str, list[float]]
    n_selected: float
    seconds: float
    stability: Stability | None
    columns: tuple[str, ...]
    failed: str | None = None

    def figures(self) -> list[str]:
        """Error, count, stability and time as a table shows them."""
        return [
            f"{self.error:.3f} ± {self.standard_error:.3f}",
            f"{self.n_selected:.1f}",
            "–" if self.stability is None else str(self.stability),
            f"{self.seconds:.2f}",
        ]


@dataclass(frozen=True)
class Comparison:
    """The rows of :func:`compare`, in the order in which the methods were given.

    ``errors`` of a row are per judge and fold; its ``columns`` are those selected on all rows;
    ``stability`` comes from bootstrap samples.
    """

    rows: tuple[ComparedMethod, ...]
    metric: str
    judges: tuple[str, ...]
    n_folds: int
    n_bootstraps: int

    def __getitem__(self, name: str) -> ComparedMethod:
        return next(row for row in self.rows if row.name == name)

    def more_stable(self, first: str, second: str) -> float:
        """The p-value of the test that the first method is more stable than the second."""
        a, b = self[first].stability, self[second].stability
        if a is None or b is None:
            raise InputError("one of the two methods failed, or n_bootstraps was 0.")
        return a.more_stable_than(b)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.metric,
            "judges": list(self.judges),
            "n_folds": self.n_folds,
            "n_bootstraps": self.n_bootstraps,
            "rows": [_plain(row) for row in self.rows],
        }

    def _repr_html_(self) -> str:
        title = (
            f"{len(self.rows)} methods, {self.n_folds} folds, judged by {', '.join(self.judges)}"
        )
        notes = ["Every fold selects on its training rows alone."]
        return html_table(title, self._head, [_cells(row) for row in self.rows], notes)

    @property
    def _head(self) -> tuple[str, ...]:
        return ("method", self.metric, "columns", "stability", "seconds", "selected on all rows")

    def __str__(self) -> str:
        head = self._head
        lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        lines += ["| " + " | ".join(map(_in_table, _cells(row))) + " |" for row in self.rows]
        return "\n".join(lines)


def _plain(row: ComparedMethod) -> dict[str, Any]:
    index = row.stability
    plain = None if index is None else {"value": index.value, "low": index.low, "high": index.high}
    numbers = ("error", "standard_error", "n_selected", "seconds")
    known = {n: v if np.isfinite(v := getattr(row, n)) else None for n in numbers}
    return {**vars(row), **known, "stability": plain, "columns": list(row.columns)}


def _in_table(cell: str) -> str:
    """A bar in a name or a reason does not end a cell of Markdown."""
    return cell.replace("|", "\\|")


def _cells(row: ComparedMethod) -> list[str]:
    if row.failed is not None:
        return [row.name, "–", "–", "–", "–", f"failed: {row.failed}"]
    return [row.name, *row.figures(), ", ".join(row.columns)]
