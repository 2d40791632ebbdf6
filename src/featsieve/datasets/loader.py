"""Real data by the papers' names."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from featsieve.arrays import Array
from featsieve.datasets.catalog import Entry, find
from featsieve.datasets.openml import DEFAULT_URL, DownloadError, Remote, default_cache
from featsieve.errors import InputError
from featsieve.io.arff import ArffData, parse_arff


def fetch(
    name: str,
    *,
    data_home: str | Path | None = None,
    base_url: str = DEFAULT_URL,
    timeout: float = 30.0,
) -> Bunch:
    """A real data set by the name a paper gives it.

    Five small sets come with scikit-learn and need no connection (``dataset_names(offline=True)``).
    The others come from OpenML: downloaded once, checked against the announced checksum, kept in
    ``data_home`` and checked again at each use. The download is tested against a local stand-in for
    the server, not against the live one, and so are OpenML's names of the sets.

    Parameters
    ----------
    name
        As in a paper's table, in any case: ``"sonar"``, ``"OptDigits"``.
    data_home
        Folder for downloads; by default ``$FEATSIEVE_DATA``, or ``featsieve`` in the user's cache.
    base_url
        Another server with OpenML's interface.
    timeout
        Seconds to wait for the server.

    Returns
    -------
    Bunch
        ``data`` (floats; states of categorical columns as codes, missing cells as NaN; a CSR array
        for a sparse file), ``target``, ``feature_names``, ``categorical_features`` (indices, to
        pass on to a selector), ``categories`` (column → states), ``task``, ``matches_paper``
        (whether rows and columns are as many as in the paper), ``DESCR``.

    Examples
    --------
    >>> wine = fetch("wine")
    >>> wine.data.shape, wine.task, wine.matches_paper
    ((178, 13), 'classification', True)
    """
    entry = find(name)
    if entry.shipped is not None:
        return _shipped(entry, entry.shipped)
    if entry.openml is None:
        note = f" ({entry.note})" if entry.note else ""
        raise InputError(
            f"{entry.name!r}{note} has no known public address; get the file from its authors and "
            "read it with featsieve.io.read_table."
        )
    home = default_cache() if data_home is None else Path(data_home).expanduser()
    return _from_openml(entry, entry.openml, Remote(home / "openml", base_url, timeout))


def _shipped(entry: Entry, loader: str) -> Bunch:
    import sklearn.datasets

    loaded = getattr(sklearn.datasets, loader)()
    names = [str(name) for name in loaded.feature_names]
    return _answer(entry, loaded.data, loaded.target, names, {}, loaded.DESCR)


def _from_openml(entry: Entry, address: tuple[str, int], remote: Remote) -> Bunch:
    name, version = address
    about = remote.description(name, version)
    body = remote.content(name, version, about)
    source = f"{entry.name} (OpenML {name}, version {version})"
    parsed = parse_arff(StringIO(_text(body, source)), source)
    target = _target_column(parsed, about, source)
    dropped = {target, *_ignored_columns(parsed, about)}
    kept = [j for j in range(len(parsed.names)) if j not in dropped]
    categories = {
        position: parsed.categories[j] for position, j in enumerate(kept) if j in parsed.categories
    }
    names = [parsed.names[j] for j in kept]
    description = str(about.get("description") or source)
    return _answer(
        entry, parsed.matrix[:, kept], _target(parsed, target), names, categories, description
    )


def _text(body: bytes, source: str) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise DownloadError(f"the file of {source} is not UTF-8; fetch it by hand.") from None


def _target_column(parsed: ArffData, about: dict[str, Any], source: str) -> int:
    target = str(about.get("default_target_attribute") or parsed.names[-1])
    if target not in parsed.names:
        raise DownloadError(
            f"the description of {source} names the target {target!r}, which its file does not "
            "have; fetch the file by hand."
        )
    return int(parsed.names.index(target))


def _ignored_columns(parsed: ArffData, about: dict[str, Any]) -> list[int]:
    """Row numbers and whatever else the description tells to leave out."""
    ignored: list[str] = []
    for key in ("row_id_attribute", "ignore_attribute"):
        value = about.get(key) or []
        ignored += value.split(",") if isinstance(value, str) else value
    wanted = {column.strip() for column in ignored}
    return [j for j, name in enumerate(parsed.names) if name in wanted]


def _target(parsed: ArffData, column: int) -> Array:
    """The target as numbers, or as an array of its states' names."""
    values = parsed.matrix[:, [column]]
    codes = (values if isinstance(values, np.ndarray) else values.toarray()).ravel()
    if column not in parsed.categories:
        return np.asarray(codes)
    if np.isnan(codes).any():
        raise DownloadError(
            f"the target {parsed.names[column]!r} has missing cells; fetch the file by hand and "
            "remove these rows."
        )
    return np.array(parsed.categories[column], dtype=object)[codes.astype(np.intp)]


def _answer(
    entry: Entry,
    data: Any,
    target: Array,
    names: list[str],
    categories: dict[int, tuple[str, ...]],
    description: str,
) -> Bunch:
    return Bunch(
        data=data,
        target=target,
        feature_names=names,
        categorical_features=sorted(categories),
        categories=categories,
        task=entry.task,
        matches_paper=data.shape == (entry.n_samples, entry.n_features),
        DESCR=description,
    )
