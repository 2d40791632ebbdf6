"""A small OpenML client: find a set by name and version, download it once, trust checksums.

Tested against a local stand-in for the server; not tested against the live one.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featsieve.io.atomic import atomic_write

DEFAULT_URL = "https://www.openml.org"


class DownloadError(ConnectionError):
    """A data set could not be had from the network."""


@dataclass(frozen=True)
class Remote:
    """A server and a local cache of what it sent; every file lies beside its SHA-256."""

    cache: Path
    base_url: str = DEFAULT_URL
    timeout: float = 30.0

    def description(self, name: str, version: int) -> dict[str, Any]:
        """OpenML's description of a set, from the cache when it is there."""
        kept = self.cache / f"{_safe(name)}-v{version}.json"
        body = _intact(kept)
        if body is None:
            body = self._download_description(name, version)
            _keep(kept, body)
        return dict(json.loads(body))

    def content(self, name: str, version: int, about: dict[str, Any]) -> bytes:
        """The ARFF file of a set, from the cache when it is there and unharmed."""
        kept = self.cache / f"{_safe(name)}-v{version}.arff"
        body = _intact(kept)
        if body is None:
            body = self._get(_download_path(about))
            _check_md5(name, body, about.get("md5_checksum"))
            _keep(kept, body)
        return body

    def _download_description(self, name: str, version: int) -> bytes:
        quoted = urllib.parse.quote(name, safe="")
        listing = f"/api/v1/json/data/list/data_name/{quoted}/limit/2/data_version/{version}"
        try:
            number = int(json.loads(self._get(listing))["data"]["dataset"][0]["did"])
            about = json.loads(self._get(f"/api/v1/json/data/{number}"))["data_set_description"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise DownloadError(
                f"{self.base_url} sent no description of {name!r}, version {version}, that can be "
                f"read ({type(error).__name__}); the service may have changed: fetch the file by "
                "hand."
            ) from error
        return json.dumps(about).encode()

    def _get(self, path: str) -> bytes:
        url = self.base_url.rstrip("/") + path
        request = urllib.request.Request(url, headers={"User-Agent": "featsieve"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            error.close()
            # 412 is OpenML's "there is no such set"
            missing = error.code in (404, 412)
            reason = "has no such data set" if missing else f"answered with error {error.code}"
            raise DownloadError(f"{url} {reason}; try later, or fetch the file by hand.") from None
        except (OSError, http.client.HTTPException) as error:
            cause = getattr(error, "reason", None) or error
            raise DownloadError(
                f"{self.base_url} cannot be reached ({cause}); go online and try again, or use one "
                "of the sets that need no connection: dataset_names(offline=True)."
            ) from None


def default_cache() -> Path:
    """``$FEATSIEVE_DATA``, or a folder in the user's cache."""
    chosen = os.environ.get("FEATSIEVE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "featsieve"


def _safe(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _download_path(about: dict[str, Any]) -> str:
    return f"/data/v1/download/{int(about['file_id'])}"


def _check_md5(name: str, body: bytes, expected: Any) -> None:
    """OpenML publishes MD5: good against damage on the way, which is what it is used for here."""
    actual = hashlib.md5(body, usedforsecurity=False).hexdigest()
    if expected and actual != expected:
        raise DownloadError(
            f"the download of {name!r} has MD5 {actual} where {expected} was announced; it was "
            "damaged on the way: try again."
        )


def _sum_file(kept: Path) -> Path:
    return kept.with_name(kept.name + ".sha256")


def _intact(kept: Path) -> bytes | None:
    """The cached bytes if they are there and still have the checksum they were stored with."""
    try:
        body, expected = kept.read_bytes(), _sum_file(kept).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return body if hashlib.sha256(body).hexdigest() == expected else None


def _keep(kept: Path, body: bytes) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(kept) as stream:
        stream.write(body)
    with atomic_write(_sum_file(kept)) as stream:
        stream.write(hashlib.sha256(body).hexdigest().encode())
