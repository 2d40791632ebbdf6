"""Kernels on sequences and graphs: spectrum, mismatch and Weisfeiler–Lehman.

Each counts features of an object (substrings, subtree patterns), and the kernel of two objects is
the inner product of their counts, divided by their lengths unless ``normalize=False``. They are
functions of two lists of objects, and so fit wherever a kernel function does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.input.parameters import check_flag, check_integer

Counts = Mapping[Hashable, int]


class ObjectKernel(BaseEstimator, ABC):
    """A kernel of objects that are not rows of numbers: inner products of counted features."""

    normalize: bool

    @abstractmethod
    def counts(self, objects: Sequence[Any]) -> list[Counts]:
        """How often each feature occurs in each object."""

    def __call__(self, A: Any, B: Any) -> FloatArray:
        """The kernel between two lists (or columns) of objects."""
        first, second = _as_list(A), _as_list(B)
        return self._products(self.counts([*first, *second]), len(first))

    def gram(self, objects: Any) -> FloatArray:
        """The Gram matrix of one list of objects."""
        return self(objects, objects)

    def _products(self, counts: list[Counts], n_first: int) -> FloatArray:
        features = _sparse_counts(counts)
        values = np.asarray((features[:n_first] @ features[n_first:].T).todense(), dtype=np.float64)
        if not check_flag("normalize", self.normalize):
            return values
        norms = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
        norms[norms == 0.0] = 1.0  # an object without any feature is orthogonal to all
        return np.asarray(values / norms[:n_first, None] / norms[n_first:])


def _as_list(objects: Any) -> list[Any]:
    """A list of objects; a column of a 2-D array, as target kernels are called with, is one too."""
    if isinstance(objects, np.ndarray):
        if objects.ndim == 2 and objects.shape[1] != 1:
            raise InputError(
                f"a string or graph kernel takes one object per row, got {objects.shape[1]} "
                "columns."
            )
        return list(objects.ravel().tolist())
    return list(objects)


def _sparse_counts(counts: list[Counts]) -> Any:
    """One row per object, one column per feature."""
    from scipy.sparse import csr_array

    column: dict[Hashable, int] = {}
    indices = [column.setdefault(f, len(column)) for count in counts for f in count]
    data = np.array([n for count in counts for n in count.values()], dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum([len(count) for count in counts])])
    return csr_array((data, indices, starts), shape=(len(counts), max(len(column), 1)))


def _check_sequences(objects: Iterable[Any]) -> None:
    for item in objects:
        if not isinstance(item, str | bytes | tuple | list):
            raise InputError(
                f"a string kernel takes strings or lists of symbols, got {item!r}; give one "
                "sequence per row."
            )


@dataclass(kw_only=True, eq=False, repr=False)
class SpectrumKernel(ObjectKernel):
    """Sequences by their substrings of one length (Leslie et al. 2002).

    Parameters
    ----------
    length : int, default=3
        Length of the substrings that are counted.
    normalize : bool, default=True
        Divide by √(k(s, s) k(t, t)), so that k(s, s) is 1.

    Examples
    --------
    >>> SpectrumKernel(length=2, normalize=False)(["abab"], ["abba", "bb"])
    array([[3., 0.]])
    """

    length: int = 3
    normalize: bool = True

    def counts(self, objects: Sequence[Any]) -> list[Counts]:
        check_integer("length", self.length, 1)
        _check_sequences(objects)
        return [Counter(_substrings(item, self.length)) for item in objects]


def _substrings(sequence: Any, length: int) -> Iterator[tuple[Any, ...]]:
    symbols = tuple(sequence)
    return (symbols[i : i + length] for i in range(len(symbols) - length + 1))


@dataclass(kw_only=True, eq=False, repr=False)
class MismatchKernel(ObjectKernel):
    """Sequences by their substrings with a few wrong symbols (Leslie et al. 2004).

    A substring counts for every string of the same length that differs from it in at most
    ``n_mismatches`` places, over the symbols that occur in the sequences (or in ``alphabet``).

    Parameters
    ----------
    length : int, default=3
    n_mismatches : int, default=1
    alphabet : str or list of symbols, default=None
        All symbols; None: those that occur. Name them where kernels of parts of the data have to
        agree with each other, as in a target kernel.
    normalize : bool, default=True

    Examples
    --------
    >>> MismatchKernel(length=2, n_mismatches=1, alphabet="ab", normalize=False)(["aa"], ["ab"])
    array([[2.]])
    """

    length: int = 3
    n_mismatches: int = 1
    alphabet: Any = None
    normalize: bool = True

    def counts(self, objects: Sequence[Any]) -> list[Counts]:
        check_integer("length", self.length, 1)
        check_integer("n_mismatches", self.n_mismatches, 0)
        _check_sequences(objects)
        symbols = self._symbols(objects)
        neighbours: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        counts: list[Counts] = []
        for item in objects:
            total: Counter[Hashable] = Counter()
            for word, times in Counter(_substrings(item, self.length)).items():
                if word not in neighbours:
                    neighbours[word] = list(_near(word, self.n_mismatches, symbols))
                for near in neighbours[word]:
                    total[near] += times
            counts.append(total)
        return counts

    def _symbols(self, objects: Sequence[Any]) -> list[Any]:
        present = {symbol for item in objects for symbol in item}
        if self.alphabet is None:
            return sorted(present, key=repr)
        missing = present - set(self.alphabet)
        if missing:
            raise InputError(
                f"the sequences hold the symbol {min(missing, key=repr)!r}, which is not in the "
                "alphabet; add it."
            )
        return list(dict.fromkeys(self.alphabet))


def _near(word: tuple[Any, ...], most: int, symbols: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Every word that differs in at most ``most`` places, each once."""
    for n_changed in range(min(most, len(word)) + 1):
        for places in combinations(range(len(word)), n_changed):
            others = [[s for s in symbols if s != word[p]] for p in places]
            for replacement in product(*others):
                changed = list(word)
                for position, symbol in zip(places, replacement, strict=True):
                    changed[position] = symbol
                yield tuple(changed)


@dataclass(kw_only=True, eq=False, repr=False)
class WeisfeilerLehmanKernel(ObjectKernel):
    """Graphs by rounds of Weisfeiler–Lehman relabelling (Shervashidze et al. 2011).

    A graph is a list of edges ``[(a, b), …]``, or a pair ``(edges, labels)`` with a mapping from
    node to label; nodes that only ``labels`` names have no edge. Without labels all nodes start
    alike. In each round a node's new label is its label and the sorted labels of its neighbours;
    the features are all labels of all rounds.

    Parameters
    ----------
    n_iterations : int, default=3
    normalize : bool, default=True

    Examples
    --------
    >>> triangle, path = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]
    >>> WeisfeilerLehmanKernel(n_iterations=1, normalize=False)([triangle], [triangle, path])
    array([[18., 12.]])
    """

    n_iterations: int = 3
    normalize: bool = True

    def counts(self, objects: Sequence[Any]) -> list[Counts]:
        check_integer("n_iterations", self.n_iterations, 0)
        short: dict[Hashable, int] = {}  # one number for each pattern, the same in all graphs
        return [self._graph_counts(*_read_graph(graph), short) for graph in objects]

    def _graph_counts(
        self, neighbours: dict[Any, list[Any]], labels: dict[Any, Any], short: dict[Hashable, int]
    ) -> Counts:
        current: dict[Any, Hashable] = {node: ("start", label) for node, label in labels.items()}
        total = Counter(current.values())
        for _ in range(self.n_iterations):
            names = {node: short.setdefault(label, len(short)) for node, label in current.items()}
            current = {
                node: (names[node], tuple(sorted(names[other] for other in neighbours[node])))
                for node in labels
            }
            total.update(current.values())
        return total


def _read_graph(graph: Any) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """The neighbours of each node, and its label; an edge counts once, in both directions."""
    try:
        edges, labels = graph if _has_labels(graph) else (graph, None)
        pairs = {frozenset((a, b)) for a, b in edges}
    except (TypeError, ValueError):
        raise InputError(
            f"a graph is a list of edges (pairs of nodes), or (edges, labels) with a mapping from "
            f"node to label; got {graph!r}."
        ) from None
    nodes = dict.fromkeys(node for edge in edges for node in edge) | dict.fromkeys(labels or {})
    unlabelled = [node for node in nodes if labels is not None and node not in labels]
    if unlabelled:
        raise InputError(
            f"node {unlabelled[0]!r} of a graph has no label; label all nodes or none."
        )
    neighbours: dict[Any, list[Any]] = {node: [] for node in nodes}
    for pair in pairs:
        ends = tuple(pair) * (2 // len(pair))  # a loop has one end twice
        neighbours[ends[0]].append(ends[1])
        if ends[0] != ends[1]:
            neighbours[ends[1]].append(ends[0])
    return neighbours, dict(labels) if labels is not None else dict.fromkeys(nodes, 0)


def _has_labels(graph: Any) -> bool:
    return isinstance(graph, tuple) and len(graph) == 2 and isinstance(graph[1], Mapping)
