"""The same table in every container, so that one test runs on all of them."""

from __future__ import annotations

import numpy as np


def mixed_columns(n_rows: int = 60, seed: int = 0) -> dict[str, list]:
    """Numbers, booleans and text; the target depends on ``size`` and ``colour``."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], n_rows)
    size = rng.normal(size=n_rows)
    target = size + 2.0 * (colour == "red") + 0.1 * rng.normal(size=n_rows)
    return {
        "noise": rng.normal(size=n_rows).tolist(),
        "size": size.tolist(),
        "colour": colour.tolist(),
        "flag": (rng.random(n_rows) < 0.5).tolist(),
        "target": target.tolist(),
    }


def as_pandas(columns: dict[str, list]):
    import pandas as pd

    return pd.DataFrame(columns).astype({"colour": "category"})


def as_polars(columns: dict[str, list]):
    import polars as pl

    return pl.DataFrame(columns)


def as_pyarrow(columns: dict[str, list]):
    import pyarrow as pa

    return pa.table(columns)


FRAMES = {"pandas": as_pandas, "polars": as_polars, "pyarrow": as_pyarrow}
