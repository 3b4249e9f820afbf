"""The folder in which numba keeps the machine code of the kernels: one for each version of them and of numba.

It is in ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder. numba itself does not read a cache that it
cannot write, and fails where none can be written. Then the kernels use a temporary copy of what is there.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
from platformdirs import user_cache_path

_settings: Any = numba.config

#: The folder of these kernels.
FOLDER = Path(__file__).parent

#: It is removed when the process ends.
_copies: list[tempfile.TemporaryDirectory[str]] = []


def digest_of(*folders: Path) -> str:
    """Return a digest of the sources of all kernels in some folders, which belongs in the names of those that use them.

    numba compares only the age of a kernel's own module with its cache, and would keep a kernel whose helpers in
    another module have changed.
    """
    digest = blake2b(digest_size=6)
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def kept() -> Iterator[bool]:
    """Let numba use the right folder for the functions that are decorated meanwhile; say whether it may cache them."""
    place, named = folder(), _settings.CACHE_DIR
    _settings.CACHE_DIR = place
    try:
        yield place != ""
    finally:
        _settings.CACHE_DIR = named


@cache
def folder() -> str:
    """Return the folder to use; an empty text where nothing can be written."""
    base = Path(_settings.CACHE_DIR or user_cache_path("gm_env"))
    place = base / f"gm_env-{digest_of(FOLDER)}-numba-{numba.__version__}"
    if _is_writable(place):
        return str(place)
    try:
        _copies.append(tempfile.TemporaryDirectory(prefix="gm_env-"))
    except OSError:
        return ""
    copy = Path(_copies[-1].name)
    for path in place.glob("*/*.nb[ic]"):
        (copy / path.parent.name).mkdir(exist_ok=True)
        shutil.copyfile(path, copy / path.parent.name / path.name)
    return str(copy)


def _is_writable(place: Path) -> bool:
    """Return whether files can be made in a folder, and in those that numba has made in it."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        for folder in (place, *(path for path in place.iterdir() if path.is_dir())):
            tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
