"""Counts of rows that come in parts: what the first part fixed holds for all later ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.discretize.base import MAX_CUTS, Cuts, category_cuts
from featsieve.discretize.codes import CodeRange
from featsieve.errors import InputError
from featsieve.measures.information.binned import MutualInformation
from featsieve.measures.information.coding import Coder, fit_target
from featsieve.measures.information.counts import OutputCounts
from featsieve.protocols import Engine
from featsieve.schema import Block, Schema


@dataclass(frozen=True)
class CodedSummary:
    """How to count a block, and how to finish."""

    measure: MutualInformation
    coder: Coder
    schema: Schema
    given_codes: bool

    def of_block(self, block: Block) -> OutputCounts:
        if self.given_codes:
            _refuse_other_than_codes(block, self.schema)
        return self.coder.count_block(block)

    def output_scores(self, counts: OutputCounts) -> FloatArray:
        return self.measure.scores_of(counts)


def summary_of_first(measure: MutualInformation, engine: Engine) -> CodedSummary:
    """With ``discretizer=None`` any code up to 253 may come later; else these rows fix the cuts."""
    if measure.discretizer is None:
        return CodedSummary(measure, _open_coder(measure, engine), engine.schema, given_codes=True)
    return CodedSummary(measure, measure.coder(engine), engine.schema, given_codes=False)


def _open_coder(measure: MutualInformation, engine: Engine) -> Coder:
    schema = engine.schema
    if schema.groups is not None:
        raise InputError(
            "partial_fit cannot know all combinations of a group's states in advance; fit all rows "
            "at once, or leave feature_groups out."
        )
    every_code = np.arange(MAX_CUTS) + 0.5
    columns = [
        category_cuts(schema, j) if j in schema.categories else every_code
        for j in range(schema.n_columns)
    ]
    cuts = Cuts(tuple(columns))
    return Coder(cuts, fit_target(engine, measure.target_discretizer, measure.n_bins))


def _refuse_other_than_codes(block: Block, schema: Schema) -> None:
    code_range = CodeRange.of_block(block)
    with np.errstate(invalid="ignore"):
        bad = (code_range.fractions > 0) | (code_range.low < 0) | (code_range.high > MAX_CUTS)
    if bad.any():
        name: Any = schema.names[int(np.flatnonzero(bad)[0])]
        raise InputError(
            f"column {name!r} holds other cells than the codes 0 … {MAX_CUTS}; give codes, or a "
            "discretizer, whose cuts come from the first rows."
        )
