"""What draws a copy of every column: exchangeable with its column, and blind to the target.

Numeric columns are taken as jointly Gaussian given the categories, with one covariance for all of
them (Candès et al. 2018). Categorical columns follow one after the other, each drawn from a
multinomial regression on all other columns and on the copies drawn before it (sequential
conditional copies).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import require_memory
from featsieve.engines.standardized import Scaling, scaling_of
from featsieve.inference.knockoffs.covariance import (
    Spread,
    TableMoments,
    correlations,
    spread_steps,
    table_moments,
)
from featsieve.inference.knockoffs.regression import Regression, fit_regression
from featsieve.inference.knockoffs.structure import Structure, structured
from featsieve.linalg.lapack import multiply_in_place
from featsieve.protocols import Engine
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import Monitor
from featsieve.runtime.seeds import derived_seed, fill_row_normals, row_uniforms
from featsieve.schema import Block, Schema
from featsieve.statistics.moments import ColumnMoments, Dummies

SAMPLE_ROWS = 2000
MATRICES = 6  # the covariance, its inverse, a factor and their copies
CONSTANT = 1e-10  # variance of a standardised column that says the same as the categories


@dataclass(frozen=True)
class GaussianPart:
    """x̃ = x − R Σ⁻¹S + U Lᵀ on the columns ``active``, LLᵀ = 2S − SΣ⁻¹S, in the columns' own units.

    R is what the categories leave of x: the expanded row times ``residual``, plus ``offset``;
    without categories x less its mean, and ``residual`` is None.
    """

    active: IntArray  # columns with a copy of their own; a constant is its own copy
    residual: FloatArray | None
    offset: FloatArray
    noise: FloatArray  # Lᵀ, in the columns' units
    pull: FloatArray  # −Σ⁻¹S, likewise


@dataclass(frozen=True)
class CategoryPart:
    """A multinomial regression for one categorical column."""

    column: int
    states: IntArray
    regression: Regression

    def draw(self, features: FloatArray, uniforms: FloatArray) -> FloatArray:
        if len(self.states) == 1:
            return np.full(len(features), float(self.states[0]))
        logits = self.regression.logits(features)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        bounds = np.cumsum(odds, axis=1)
        drawn = (uniforms[:, None] * bounds[:, -1:] > bounds).sum(axis=1)
        return self.states[np.minimum(drawn, len(self.states) - 1)].astype(np.float64)


@dataclass(frozen=True)
class Sample:
    """Some rows of the table with their indices, the same on every engine."""

    rows: IntArray
    X: FloatArray


@dataclass(frozen=True)
class CopyModel:
    """Draws copies of any rows; the same for a row in whichever block it comes."""

    schema: Schema
    scaling: Scaling
    gaussian: GaussianPart
    sample: Sample
    structure: Structure
    categories: tuple[CategoryPart, ...] = ()

    def copies(self, X: FloatArray, rows: IntArray, seed: int) -> FloatArray:
        """Copies of rows with these indices."""
        drawn = self._numeric_copies(X, rows, seed)
        for number, part in enumerate(self.categories):
            features = self._features(X, drawn, number)
            drawn[:, part.column] = part.draw(features, category_uniforms(seed, number, rows))
        return drawn

    def _numeric_copies(self, X: FloatArray, rows: IntArray, seed: int) -> FloatArray:
        active = self.gaussian.active
        if not len(active):
            return np.array(X, dtype=np.float64, order="C")
        change = self._change(X, rows, seed)
        if len(active) == X.shape[1]:
            return np.add(X, change, out=change)
        drawn = np.array(X, dtype=np.float64, order="C")
        drawn[:, active] += change
        return drawn

    def _change(self, X: FloatArray, rows: IntArray, seed: int) -> FloatArray:
        """From rows to their copies."""
        part = self.gaussian
        change = np.empty((len(X), len(part.active)))
        fill_row_normals(seed, rows, len(part.active), change)
        multiply_in_place(change, part.noise)
        if part.residual is not None:
            rest = self._expanded(X) @ part.residual + part.offset
        else:
            rest = (X if len(part.active) == X.shape[1] else X[:, part.active]) - part.offset
        change += rest @ part.pull
        return change

    def _expanded(self, X: FloatArray) -> FloatArray:
        return _expand(self.schema, self.scaling.apply(X))

    def _features(self, X: FloatArray, drawn: FloatArray, number: int) -> FloatArray:
        """All other columns, and the copies that were drawn before number ``number``."""
        column = self.categories[number].column
        before = [part.column for part in self.categories[:number]]
        return category_features(self.schema, self.scaling, X, drawn, column, before)


def category_uniforms(seed: int, number: int, rows: IntArray) -> FloatArray:
    """For the copy of categorical column number ``number``, independent of all other draws."""
    return row_uniforms(derived_seed(seed, number), rows, 1)[:, 0]


def category_features(
    schema: Schema,
    scaling: Scaling,
    X: FloatArray,
    drawn: FloatArray,
    column: int,
    before: list[int],
) -> FloatArray:
    """What the copy of a categorical column is drawn from."""
    numeric = schema.numeric_columns
    owner = Dummies(schema).owner
    originals = _expand(schema, scaling.apply(X))[:, owner != column]
    copies = scaling.apply(drawn)
    parts = [originals, copies[:, numeric]]
    if before:
        parts.append(_expand(schema, copies)[:, np.isin(owner, before)])
    return np.concatenate(parts, axis=1)


def _expand(schema: Schema, X: FloatArray) -> FloatArray:
    block = Block(0, X, np.empty((len(X), 0)))
    return np.asarray(Dummies(schema).expand(block), dtype=np.float64)


CorrelationModel = Callable[[FloatArray, int, Monitor], tuple[FloatArray, Structure]]


def fit_copy_model(
    engine: Engine, spread: Spread, seed: int, correlation_model: CorrelationModel = structured
) -> CopyModel:
    """Means, covariance and regressions from the rows; the target is never looked at."""
    schema = engine.schema
    dummies = Dummies(schema)
    width = len(dummies.owner)
    require_memory(MATRICES * width**2, engine.memory_limit, "the covariance of all columns")
    rows = _sample_rows(engine.n_samples, seed)
    moments = engine.reduce_rows(
        dummies.in_slices(partial(table_moments, dummies, rows), engine),
        moments=None if schema.categories else TableMoments.of_columns,
    )
    scaling = _scaling(moments, dummies)
    gaussian, structure = _gaussian_part(
        moments, dummies, scaling, spread, engine, correlation_model
    )
    sample = Sample(rows, np.concatenate(moments.sample))
    model = CopyModel(schema, scaling, gaussian, sample, structure)
    return _with_categories(model, engine, seed) if schema.categories else model


def _scaling(moments: TableMoments, dummies: Dummies) -> Scaling:
    """Numeric columns by their moments; codes are left alone."""
    of_columns = moments.of_columns()
    first = np.searchsorted(dummies.owner, np.arange(dummies.schema.n_columns))
    mean, deviation = of_columns.mean[first], of_columns.deviation[first]
    return scaling_of(ColumnMoments(of_columns.weight, mean, deviation), dummies.schema, 0)


def _sample_rows(n_samples: int, seed: int) -> IntArray:
    if n_samples <= SAMPLE_ROWS:
        return np.arange(n_samples)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    return np.sort(rng.choice(n_samples, SAMPLE_ROWS, replace=False))


def _gaussian_part(
    moments: TableMoments,
    dummies: Dummies,
    scaling: Scaling,
    spread: Spread,
    engine: Engine,
    correlation_model: CorrelationModel,
) -> tuple[GaussianPart, Structure]:
    n = moments.gram.weight
    factor = scaling.factor[dummies.owner]
    covariance = moments.gram.product / n * np.outer(factor, factor)
    is_indicator = dummies.is_indicator
    numeric, indicators = np.flatnonzero(~is_indicator), np.flatnonzero(is_indicator)
    of_numeric = covariance[np.ix_(numeric, numeric)]
    slopes = _slopes(covariance, numeric, indicators)
    residual_covariance = of_numeric - covariance[np.ix_(numeric, indicators)] @ slopes
    kept = np.flatnonzero(np.diag(residual_covariance) > CONSTANT)
    if not len(kept):
        nothing = np.empty((0, 0))
        return GaussianPart(kept, None, nothing, nothing, nothing), Structure()
    covariance = residual_covariance[np.ix_(kept, kept)]
    with single_threaded_blas():  # many small products: threads would wait for each other
        correlation, structure = correlation_model(correlations(covariance), int(n), engine.monitor)
    active = dummies.owner[numeric[kept]]
    unit = 1.0 / scaling.factor[active]
    scale = np.sqrt(np.diag(covariance)) * unit
    noise_and_pull = _noise_and_pull(correlation, scale, spread, engine.monitor)
    if not len(indicators):
        return GaussianPart(active, None, scaling.centre[active], *noise_and_pull), structure
    residual = np.zeros((len(is_indicator), len(kept)))
    residual[numeric[kept], np.arange(len(kept))] = unit
    residual[indicators] = -slopes[:, kept] * unit
    offset = moments.gram.mean[indicators] @ slopes[:, kept] * unit  # indicators about their means
    return GaussianPart(active, residual, offset, *noise_and_pull), structure


def _slopes(covariance: FloatArray, numeric: IntArray, indicators: IntArray) -> FloatArray:
    """Least squares of the numeric columns on the indicators of the categories."""
    if not len(indicators):
        return np.zeros((0, len(numeric)))
    of_indicators = covariance[np.ix_(indicators, indicators)]
    cross = covariance[np.ix_(indicators, numeric)]
    # The indicators of a column add up to 1: rounding must not be inverted where that leaves 0.
    return np.asarray(np.linalg.pinv(of_indicators, rcond=CONSTANT, hermitian=True) @ cross)


def _noise_and_pull(
    correlation: FloatArray, scale: FloatArray, spread: Spread, monitor: Monitor
) -> tuple[FloatArray, FloatArray]:
    """Lᵀ and −Σ⁻¹S on the scale of the columns."""
    with single_threaded_blas():
        *_, s = spread_steps(correlation, spread, monitor)
    pull = watched_call(np.linalg.inv, correlation, monitor) * s
    square = np.diag(2.0 * s) - s[:, None] * pull
    noise = watched_call(np.linalg.cholesky, square + 1e-12 * np.eye(len(s)), monitor).T
    return np.multiply(noise, scale, order="C"), -pull / scale[:, None] * scale


def _with_categories(model: CopyModel, engine: Engine, seed: int) -> CopyModel:
    """One regression per categorical column, on the sample of the rows."""
    X, rows = model.sample.X, model.sample.rows
    drawn = model._numeric_copies(X, rows, seed)
    columns = sorted(model.schema.categories)
    for number, column in enumerate(columns):
        features = category_features(
            model.schema, model.scaling, X, drawn, column, columns[:number]
        )
        part = _category_part(column, features, X[:, column].astype(np.intp), engine.monitor)
        drawn[:, column] = part.draw(features, category_uniforms(seed, number, rows))
        model = replace(model, categories=(*model.categories, part))
        engine.monitor.tick("modelling categories", number + 1, len(columns))
    return model


def _category_part(
    column: int, features: FloatArray, codes: IntArray, monitor: Monitor
) -> CategoryPart:
    states, codes = np.unique(codes, return_inverse=True)
    if len(states) == 1 or not features.shape[1]:
        coefficients = np.zeros((len(states), features.shape[1]))
        return CategoryPart(column, states, Regression(coefficients, np.log(np.bincount(codes))))
    # Near its optimum is enough: the copies are drawn from the model that it has become.
    return CategoryPart(column, states, fit_regression(features, codes, tol=1e-3, monitor=monitor))
