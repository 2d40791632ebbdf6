"""From columns to codes: discretised, groups as joint states, one row of codes per unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.discretize.base import MAX_CUTS, Cuts, Discretizer, Sample
from featsieve.discretize.bins import choose_discretizer
from featsieve.discretize.codes import code_cuts
from featsieve.engines.base import require_memory
from featsieve.errors import InputError
from featsieve.measures.information.counts import MAX_STATES, Codes
from featsieve.protocols import Engine
from featsieve.schema import Block, Schema, Target

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Combinations:
    """The combinations seen in each group; adds over row blocks."""

    seen: tuple[Keys, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.seen, other.seen, strict=True)
        return type(self)(tuple(np.union1d(a, b) for a, b in pairs))


@dataclass(frozen=True)
class GroupCodes:
    """Codes of columns to codes of units."""

    schema: Schema
    states: IntArray
    combinations: Combinations | None = None

    def scan(self, codes: Codes) -> Combinations:
        return Combinations(tuple(np.unique(self._keys(codes, g)) for g in self._groups()))

    def with_combinations(self, found: Combinations) -> GroupCodes:
        for unit, keys in enumerate(found.seen):
            if len(keys) > MAX_STATES:
                raise InputError(
                    f"group {self.schema.unit_name(unit)!r} has {len(keys)} combinations of "
                    f"states, at most {MAX_STATES} are allowed; use fewer bins, or smaller groups."
                )
        return GroupCodes(self.schema, self.states, found)

    @property
    def unit_states(self) -> IntArray:
        if self.combinations is None:
            return self.states
        return np.array([len(keys) for keys in self.combinations.seen], dtype=np.int64)

    def of_units(self, codes: Codes) -> Codes:
        if self.combinations is None:
            return codes
        units = [
            np.searchsorted(keys, self._keys(codes, columns))
            for columns, keys in zip(self._groups(), self.combinations.seen, strict=True)
        ]
        return np.stack(units, axis=1).astype(np.uint8)

    def _groups(self) -> tuple[tuple[int, ...], ...]:
        return self.schema.groups or ()

    def _keys(self, codes: Codes, columns: tuple[int, ...]) -> Keys:
        """One number a combination (mixed radix)."""
        size = float(np.prod([float(self.states[j]) for j in columns]))
        if size >= 2.0**62:
            raise InputError(
                f"a group of {len(columns)} columns has too many combinations of states to count; "
                "use fewer bins, or smaller groups."
            )
        key = np.zeros(len(codes), dtype=np.int64)
        for j in columns:
            key = key * self.states[j] + codes[:, j]
        return key


@dataclass(frozen=True)
class CodedRows:
    """Codes (rows × columns), classes (rows × outputs) and weights, if any."""

    codes: Codes = field(repr=False)
    classes: IntArray = field(repr=False)
    weights: FloatArray | None = field(repr=False, default=None)


@dataclass(frozen=True)
class _Blocks:
    """Coded blocks, kept apart until all are there."""

    blocks: tuple[CodedRows, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.blocks + other.blocks)


def gathered_bytes(engine: Engine) -> int:
    """What the codes of all rows take while they are put together."""
    return 2 * engine.n_samples * engine.schema.n_units


def gather_codes(engine: Engine, coder: Coder) -> CodedRows:
    """One pass over the rows; refused where the budget forbids it."""
    what = f"the codes of {engine.n_samples} × {engine.schema.n_units} cells"
    require_memory(gathered_bytes(engine) // 8, engine.memory_limit, what)

    def of_block(block: Block) -> _Blocks:
        return _Blocks((CodedRows(coder.codes(block), coder.classes(block), block.weight),))

    blocks = engine.reduce_rows(of_block).blocks
    weights = [block.weights for block in blocks if block.weights is not None]
    return CodedRows(
        np.concatenate([block.codes for block in blocks]),
        np.concatenate([block.classes for block in blocks]),
        np.concatenate(weights) if weights else None,
    )


# Cuts come from at most this many rows, chosen by the number of rows alone, so every engine finds
# the same ones. With probability 99.9 % no cut is off by more than 0.7 % of the rows (DKW).
SAMPLE_ROWS = 100_000
SAMPLE_SEED = 20_151


@dataclass(frozen=True)
class TargetCoder:
    """Outputs to class codes: as they are, or cut into bins for regression."""

    target: Target
    cuts: Cuts | None

    @property
    def n_classes(self) -> tuple[int, ...]:
        if self.cuts is None:
            return tuple(self.target.n_classes(o) for o in range(self.target.n_outputs))
        return tuple(len(cuts) + 1 for cuts in self.cuts.columns)

    def encode(self, y: Array) -> IntArray:
        """Class codes, one column an output."""
        codes = y if self.cuts is None else self.cuts.encode(y)
        return np.asarray(codes, dtype=np.int64)


@dataclass(frozen=True)
class Coder:
    """How a block becomes codes."""

    cuts: Cuts
    target: TargetCoder
    groups: GroupCodes
    approximation: str | None = None

    def codes(self, block: Block) -> Codes:
        return self.groups.of_units(self.cuts.encode(block.dense()))

    def classes(self, block: Block) -> IntArray:
        return self.target.encode(block.y)

    @property
    def n_states(self) -> IntArray:
        return self.groups.unit_states


def fit_coder(
    engine: Engine, discretizer: Any, n_bins: int, target_discretizer: Any = "quantile"
) -> Coder:
    """Find the cuts of columns and target, in at most a few passes over the rows."""
    chosen = choose_discretizer(discretizer, n_bins)
    target, sample = _fit_target(engine, _choose_for_target(target_discretizer, n_bins))
    if chosen is not None and chosen.needs_target:
        _refuse_many_joint_classes(engine, sample)
    cuts = code_cuts(engine) if chosen is None else chosen.cuts_from(engine, sample)
    sampled = chosen is not None and len(sample.rows) < engine.n_samples
    words = f"cuts from {len(sample.rows)} of {engine.n_samples} rows" if sampled else None
    return Coder(cuts, target, _fit_groups(engine, cuts), words)


def _refuse_many_joint_classes(engine: Engine, sample: Sample) -> None:
    """Several outputs soon make a class of every row: no cuts can tell those apart."""
    n_classes = 0 if sample.classes is None else int(sample.classes.max()) + 1
    if engine.target.n_outputs > 1 and n_classes > MAX_CUTS + 1:
        raise InputError(
            f"the {engine.target.n_outputs} outputs have {n_classes} combinations of classes, and "
            f"discretizer='caim' takes at most {MAX_CUTS + 1}; use discretizer='quantile'."
        )


def sample_rows(n_samples: int, most: int = SAMPLE_ROWS) -> IntArray:
    """All rows, or a sorted sample of them that depends on their number only."""
    if n_samples <= most:
        return np.arange(n_samples)
    rng = np.random.default_rng([SAMPLE_SEED, n_samples])
    return np.sort(rng.choice(n_samples, size=most, replace=False))


def fit_target(engine: Engine, discretizer: Any, n_bins: int) -> TargetCoder:
    """The target's coder alone."""
    return _fit_target(engine, _choose_for_target(discretizer, n_bins))[0]


def _choose_for_target(given: Any, n_bins: int) -> Discretizer | None:
    return choose_discretizer(given, n_bins, "target_discretizer")


def _fit_target(engine: Engine, discretizer: Discretizer | None) -> tuple[TargetCoder, Sample]:
    """The target's coder, and the rows that all cuts come from with their classes."""
    rows = sample_rows(engine.n_samples)
    weights = _weights_of(engine)[rows] if engine.has_weights else None
    sample = Sample(rows, None, weights)
    y = engine.take(sample.taken(engine), np.arange(1))[1]
    coder = TargetCoder(engine.target, _target_cuts(engine.target, y, weights, discretizer))
    return coder, Sample(rows, joint_classes(coder.encode(y)), weights)


def joint_classes(codes: IntArray) -> IntArray:
    """One code a row for all outputs together; only combinations that occur get one.

    >>> joint_classes(np.array([[0, 5], [1, 5], [0, 5]])).tolist()
    [0, 1, 0]
    """
    joint = codes[:, 0]
    for output in codes.T[1:]:
        pairs = joint * (int(output.max()) + 1) + output
        joint = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return joint


@dataclass(frozen=True)
class _Weights:
    """The weights of blocks of rows, in order."""

    parts: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts)


def _weights_of(engine: Engine) -> FloatArray:
    def of_block(block: Block) -> _Weights:
        return _Weights((np.ones(block.n_rows) if block.weight is None else block.weight,))

    return np.concatenate(engine.reduce_rows(of_block).parts)


def _target_cuts(
    target: Target, y: Array, weights: FloatArray | None, discretizer: Discretizer | None
) -> Cuts | None:
    if target.is_classification:
        return None
    if discretizer is None or discretizer.needs_target:
        raise InputError(
            f"target_discretizer={discretizer!r} cannot cut a numeric target; use 'quantile', "
            "'equal_width' or 'sigma', or task='classification' for a target of codes."
        )
    numbers = np.asarray(y, dtype=float)
    return Cuts(tuple(discretizer.cuts_of(column, weights) for column in numbers.T))


def _fit_groups(engine: Engine, cuts: Cuts) -> GroupCodes:
    plain = GroupCodes(engine.schema, cuts.n_states)
    if engine.schema.groups is None:
        return plain
    found = engine.reduce_rows(lambda block: plain.scan(cuts.encode(block.dense())))
    return plain.with_combinations(found)
