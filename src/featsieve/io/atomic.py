"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from featsieve.errors import InputError

_ADVICE = {
    errno.ENOSPC: "the disk is full; make room or choose another place",
    errno.EDQUOT: "the disk quota is used up; make room or choose another place",
    errno.EFBIG: "the file would be larger than is allowed here; choose another place",
    errno.EACCES: "permission is denied; choose a place you may write to",
    errno.EPERM: "permission is denied; choose a place you may write to",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.ENOENT: "its folder does not exist; create the folder first",
    errno.ENOTDIR: "a part of the path is a file, not a folder; choose another place",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


def write_failure(path: str | Path, error: OSError) -> InputError:
    """One sentence for a file that could not be written."""
    advice = _ADVICE.get(error.errno or 0, f"{error.strerror or error}; choose another place")
    return InputError(f"cannot write {os.fspath(path)!r}: {advice} (nothing was written).")


def check_writable(path: str | Path) -> None:
    """Refuse at once a place where :func:`atomic_write` would fail later."""
    target = Path(os.path.realpath(path))
    try:
        if not _is_special(target):
            handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
            os.close(handle)
            os.unlink(name)
    except OSError as error:
        raise write_failure(path, error) from None


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that takes its place only when the block ends without an error.

    The bytes go to a temporary file in the same folder, reach the disk, and replace ``path`` in one
    step; whatever fails on the way (also a full disk) leaves the old file, or none.
    """
    target = Path(os.path.realpath(path))
    try:
        if _is_special(target):
            with target.open("wb") as stream:
                yield stream
            return
        yield from _replacing(target)
    except OSError as error:
        raise write_failure(path, error) from error


def _is_special(target: Path) -> bool:
    """A device or a pipe, which has no place to be put into; a folder is refused."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return not stat.S_ISREG(mode)


def _replacing(target: Path) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, _mode_for(target))
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _mode_for(target: Path) -> int:
    """The old file's permissions, or what the umask gives a new one (mkstemp gives 0600)."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
