"""The folder in which numba keeps the machine code of the kernels.

numba takes ``NUMBA_CACHE_DIR``, ``__pycache__`` beside these modules, or the user's cache folder, and only if it can
write there: it does not read a cache that is read-only, and fails where none can be written. Then the kernels use a
temporary copy of the cache that there is, so that a filled one may be read-only, and an unwritable place costs the
compilation at each import.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba

_settings: Any = numba.config

#: It is removed when the process ends.
_copies: list[tempfile.TemporaryDirectory[str]] = []


@contextmanager
def kept() -> Iterator[bool]:
    """Let numba use the right folder for the functions that are decorated meanwhile; say whether it may cache them."""
    folder, named = _folder(), _settings.CACHE_DIR
    if folder:
        _settings.CACHE_DIR = folder
    try:
        yield folder != ""
    finally:
        _settings.CACHE_DIR = named


@cache
def _folder() -> str | None:
    """Return the folder of a copy; None where numba's own will do, an empty text where nothing can be written."""
    named = _settings.CACHE_DIR
    places = [Path(__file__).parent / "__pycache__"]
    if (not named or _is_writable(Path(named))) and cached_at() is not None:
        return None
    try:
        _copies.append(tempfile.TemporaryDirectory(prefix="gm_env-"))
    except OSError:
        return ""
    folder = _settings.CACHE_DIR = _copies[-1].name
    try:
        copy = cached_at() or Path(folder)
    finally:
        _settings.CACHE_DIR = named
    if named:
        places.insert(0, Path(named) / copy.name)
    filled = next((place for place in places if any(place.glob("*.nbi"))), None)
    for path in () if filled is None else filled.glob("*.nb[ic]"):
        shutil.copyfile(path, copy / path.name)
    return folder


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def cached_at() -> Path | None:
    """Return where numba would cache functions of this folder; None if nowhere."""
    try:
        probe: Any = numba.njit(cache=True)(_probe)
    except RuntimeError:  # "cannot cache function: no locator available"
        return None
    return Path(probe.stats.cache_path)


def _probe() -> None:
    """Do nothing."""
