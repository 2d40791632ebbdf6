"""A table next to a fitted estimator: its columns are kept, or brought back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from featsieve.arrays import BoolArray
from featsieve.engines.files import ParquetTable
from featsieve.errors import InputError
from featsieve.input.columns import check_names
from featsieve.input.containers import restore_columns, restore_sparse, select_columns
from featsieve.input.opening import opened
from featsieve.input.tables import (
    column_names,
    is_batch,
    is_dask,
    is_frame,
    is_sparse,
    refuse_other_than_tables,
    require_matrix,
    x_names,
)


class ColumnSelection(SelectorMixin, BaseEstimator):
    """The half of a selector that knows containers: what ``fit`` saw, and what ``transform`` gives.

    It works from ``support_`` and the names and number of columns; how they came about is the
    other half (:mod:`featsieve.selector`).
    """

    support_: BoolArray
    n_features_in_: int

    @property
    def _takes_missing(self) -> bool:
        raise NotImplementedError("the other half says what it takes")

    @property
    def _takes_sparse(self) -> bool:
        raise NotImplementedError("the other half says what it takes")

    def _like_fitted(self, X: Any, y: Any = None) -> Any:
        """X in a container that can be read, with the columns that ``fit`` saw."""
        X = opened(X)
        if isinstance(X, ParquetTable) or is_dask(X):
            self._check_lazy_columns(X, y)
            return X
        refuse_other_than_tables(X, y)
        names = None if is_sparse(X) else column_names(X)
        if names is not None:
            check_names(names)
            if is_frame(X):
                validate_data(self, X, skip_check_array=True, reset=False)
                return X
        checked = validate_data(
            self,
            require_matrix(X),
            accept_sparse=["csr", "csc"] if self._takes_sparse else False,
            dtype=None,
            ensure_all_finite=not self._takes_missing,
            reset=False,
        )
        return X if isinstance(X, np.ma.MaskedArray) else checked

    def _check_lazy_columns(self, X: Any, y: Any) -> None:
        target = y if isinstance(y, str) else getattr(X, "target", None)
        names = column_names(X)
        known = [name for name in names or () if name != target]
        n_columns = X.shape[1] if names is None else len(known)
        if n_columns != self.n_features_in_:
            raise InputError(
                f"X has {n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        fitted = list(getattr(self, "feature_names_in_", known))
        if names is not None and known != fitted:
            at = next(j for j, name in enumerate(known) if name != fitted[j])
            raise InputError(
                f"column {at} of X is {known[at]!r}, but fit saw {fitted[at]!r} there; give the "
                "same columns in the same order."
            )

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    # --- what a notebook shows ------------------------------------------------------------------

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """scikit-learn's diagram, and below it what was selected."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._selection_html()
        return bundle

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._selection_html()

    def _selection_html(self) -> str:
        return str(self.result_._repr_html_()) if hasattr(self, "result_") else ""

    # --- transform ------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """The selected columns, in the container and with the dtypes that X came in."""
        check_is_fitted(self)
        checked = self._like_fitted(X)
        chosen = np.flatnonzero(self.support_)
        if isinstance(X, ParquetTable):
            raise InputError(
                "transform does not take a Parquet table; read the columns of "
                "get_feature_names_out() from the file instead."
            )
        selected = select_columns(checked, chosen)
        if is_sparse(X):  # scikit-learn's checks have turned other formats into CSR
            return selected.asformat(X.format)
        container = self._wanted_container()
        if container != "default":
            return _in_container(selected, container)
        return X.select(selected.column_names) if is_batch(X) else selected

    def inverse_transform(self, X: Any) -> Any:
        """The selected columns back where they were; dropped columns come back as zeros."""
        check_is_fitted(self)
        chosen = np.flatnonzero(self.support_)
        if is_sparse(X):
            self._check_selected_width(X)
            return restore_sparse(X, chosen, self.n_features_in_)
        if is_batch(X):
            table = restore_columns(opened(X), chosen, self._all_names())
            columns = [column.combine_chunks() for column in table.columns]
            return type(X).from_arrays(columns, names=table.column_names)
        if not is_dask(X) and not is_frame(X):
            X = np.atleast_2d(X if isinstance(X, np.ma.MaskedArray) else np.asarray(X))
        self._check_selected_width(X)
        return restore_columns(X, chosen, self._all_names())

    def _check_selected_width(self, X: Any) -> None:
        width = int(self.support_.sum())
        if X.shape[1] != width:
            raise InputError(
                f"X has {X.shape[1]} features, but inverse_transform takes the {width} selected; "
                "X has a different shape than during fitting."
            )

    def _all_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return list(map(str, x_names(self.n_features_in_) if names is None else names))

    def _wanted_container(self) -> str:
        """What set_output or scikit-learn's configuration asks for."""
        import sklearn

        config = getattr(self, "_sklearn_output_config", {})
        return str(config.get("transform", sklearn.get_config()["transform_output"]))


def _in_container(selected: Any, container: str) -> Any:
    """A foreign dataframe in the library asked for; arrays are left to scikit-learn."""
    if is_dask(selected):
        selected = selected.compute()
    if not is_frame(selected):
        return selected
    import narwhals.stable.v2 as nw

    frame = nw.from_native(selected, eager_only=True)
    return frame.to_pandas() if container == "pandas" else frame.to_polars()
