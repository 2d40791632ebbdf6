"""Which method to use when none is named: one table, first fitting row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from featsieve import registry


@dataclass(frozen=True)
class Shape:
    """What the choice looks at."""

    n_rows: int
    n_columns: int
    on_disk: bool = False
    has_missing: bool = False

    @property
    def n_cells(self) -> int:
        return self.n_rows * self.n_columns


@dataclass(frozen=True)
class Rule:
    """``methods`` are tried in this order; those that do not exist are passed over."""

    applies: Callable[[Shape], bool]
    methods: tuple[str, ...]
    reason: str


RULES: tuple[Rule, ...] = (
    Rule(
        lambda shape: shape.on_disk,
        ("PearsonRanking",),
        "the table is larger than the memory limit allows, and this method reads it in parts",
    ),
    Rule(
        lambda shape: shape.has_missing,
        ("JMI", "MRMR", "ReliefF"),
        "the table has missing cells, and this method takes them as they are",
    ),
    Rule(
        lambda shape: shape.n_rows <= 500 and shape.n_columns <= 40,
        ("L1LSMI",),
        "the table is small enough for the method that sees non-linear dependence, interaction and "
        "redundancy at once",
    ),
    Rule(
        lambda shape: shape.n_rows <= 2000 and shape.n_columns <= 200,
        ("BAHSIC",),
        "the table is small enough for a method that sees non-linear dependence and interaction",
    ),
    Rule(
        lambda shape: shape.n_columns <= 20_000,
        ("MRMR", "JMI"),
        "the table is large, and this method weighs relevance against redundancy at little cost",
    ),
    Rule(
        lambda shape: True,
        ("PearsonRanking",),
        "it is quick at any size and gives p-values, but sees only linear dependence, one column "
        "at a time",
    ),
)


def choose_method(shape: Shape, available: frozenset[str] | None = None) -> tuple[str, str]:
    """The class name of the method for data of this shape, and why.

    >>> choose_method(Shape(10**7, 50, on_disk=True))[0]
    'PearsonRanking'
    """
    names = frozenset(m.name for m in registry.METHODS) if available is None else available
    for rule in RULES:
        method = next((name for name in rule.methods if name in names), None)
        if method is not None and rule.applies(shape):
            return method, rule.reason
    raise LookupError("no rule applies: the last one must, for a method that always exists")
