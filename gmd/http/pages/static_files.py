"""Static files: read once, when the first daemon starts, and served from memory.

Their addresses contain a digest of all of them, so that a browser may keep them for ever, and modules that import each
other by relative addresses stay together.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

#: The media types of the files that are served. Others, such as a licence's README, are not.
TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".txt": "text/plain",
    "": "text/plain",  # LICENSE
}
#: The module of the board; where the build could not bring it, pages show the server's own boards.
BOARD = "chessground/dist/chessground.min.js"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file's content and media type."""

    content: bytes
    media_type: str


class StaticFiles:
    """The files of the package's folder ``static``, by their paths in it."""

    def __init__(self, folder: Traversable | None = None) -> None:
        """:param folder: read in place of the package's own."""
        self._files = dict(_files_in(folder or files("gmd.http.pages") / "static"))
        digest = hashlib.sha256()
        for path, file in sorted(self._files.items()):
            digest.update(f"{path}\0{len(file.content)}\0".encode() + file.content)
        #: A part of their addresses, which changes with any of them.
        self.version = digest.hexdigest()[:16]

    @property
    def has_board(self) -> bool:
        """Whether the moving board is there."""
        return BOARD in self._files

    def find(self, path: str) -> StaticFile | None:
        """Return the file of a path; None for none."""
        return self._files.get(path)

    def url(self, path: str) -> str:
        """Return the address of a file.

        :raises KeyError: there is no such file; a template has misspelt it.
        """
        if path not in self._files:
            raise KeyError(f"static: {path!r} is no file of gmd/http/pages/static")
        return f"/static/{self.version}/{path}"


@cache
def package_files() -> StaticFiles:
    """Return the package's own files, read once."""
    return StaticFiles()


def _files_in(folder: Traversable, prefix: str = "") -> list[tuple[str, StaticFile]]:
    found = []
    for each in folder.iterdir():
        path = prefix + each.name
        if each.is_dir():
            found += _files_in(each, f"{path}/")
        elif (kind := TYPES.get(path[path.rfind(".") :] if "." in each.name else "")) is not None:
            found.append((path, StaticFile(each.read_bytes(), kind)))
    return found
