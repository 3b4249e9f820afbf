"""The pages of an SQLite file after its last commit, read without SQLite, which refuses a damaged file.

The format is https://www.sqlite.org/fileformat2.html: a file is a sequence of pages, and its write-ahead log has newer
versions of some pages. Nothing is written.
"""

from __future__ import annotations

import struct
from pathlib import Path

MAGIC = b"SQLite format 3\0"
#: SQLite's own default, for a file whose page size is damaged.
DEFAULT_PAGE_SIZE = 4_096
_SIZES = {1 << power for power in range(9, 17)}

_FILE_PAGE_SIZE = struct.Struct(">16xH")
_FREE_PAGES = struct.Struct(">32xI")
_WAL_HEADER = struct.Struct(">IIIIIIII")
_FRAME_HEADER = struct.Struct(">IIIIII")
#: The two magic numbers of a write-ahead log, and the byte order of its checksums.
_WAL_ORDERS = {0x377F0682: "<", 0x377F0683: ">"}


class Pages:
    """The pages of a file, numbered from 1.

    :ivar size: the size of a page, in bytes.
    :ivar count: the number of pages.
    """

    def __init__(self, file: Path) -> None:
        """Read a file and its write-ahead log.

        :raises OSError: one of them cannot be read.
        """
        self._data = memoryview(file.read_bytes())
        wal = file.with_name(f"{file.name}-wal")
        log = memoryview(wal.read_bytes() if wal.exists() else b"")
        self.size = _page_size(self._data, log)
        self._newer = _committed(log, self.size)
        self.count = max([-(-len(self._data) // self.size), *self._newer])

    def read(self, number: int) -> bytes:
        """Return a page, filled up with zeros if the file is too short."""
        if (newer := self._newer.get(number)) is not None:
            return bytes(newer)
        return bytes(self._data[(number - 1) * self.size : number * self.size]).ljust(self.size, b"\0")

    def free(self) -> set[int]:
        """Return the numbers of the free pages, which are in no table; their content was removed last."""
        found: set[int] = set()
        (trunk,) = _FREE_PAGES.unpack_from(self.read(1)) if self.count else (0,)
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            following, count, *leaves = struct.unpack(f">{self.size // 4}I", self.read(trunk))
            found.update(leaf for leaf in leaves[:count] if 0 < leaf <= self.count)
            trunk = following
        return found


def _page_size(data: memoryview, wal: memoryview) -> int:
    if data[: len(MAGIC)] == MAGIC:
        (stored,) = _FILE_PAGE_SIZE.unpack_from(data)
        size: int = 1 << 16 if stored == 1 else stored
        if size in _SIZES:
            return size
    if len(wal) >= _WAL_HEADER.size and (size := _WAL_HEADER.unpack_from(wal)[2]) in _SIZES:
        return size
    return DEFAULT_PAGE_SIZE


def _committed(wal: memoryview, size: int) -> dict[int, memoryview]:
    """Return the newest committed version of each page in a write-ahead log."""
    if len(wal) < _WAL_HEADER.size:
        return {}
    magic, _, page_size, _, *salts, one, other = _WAL_HEADER.unpack_from(wal)
    order = _WAL_ORDERS.get(magic)
    if order is None or page_size != size:
        return {}
    sums = _checksum(wal[:24], order, (0, 0))
    if sums != (one, other):
        return {}
    committed: dict[int, memoryview] = {}
    begun: dict[int, memoryview] = {}
    for start in range(_WAL_HEADER.size, len(wal) - _FRAME_HEADER.size - size + 1, _FRAME_HEADER.size + size):
        number, pages, *frame_salts, one, other = _FRAME_HEADER.unpack_from(wal, start)
        page = wal[start + _FRAME_HEADER.size : start + _FRAME_HEADER.size + size]
        sums = _checksum(page, order, _checksum(wal[start : start + 8], order, sums))
        if frame_salts != salts or sums != (one, other):
            break  # the following frames were never committed, or belong to an older round of the log
        begun[number] = page
        if pages:  # the last frame of a commit, which holds the number of pages
            committed = {each: kept for each, kept in {**committed, **begun}.items() if each <= pages}
            begun = {}
    return committed


def _checksum(data: memoryview, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, other = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other
