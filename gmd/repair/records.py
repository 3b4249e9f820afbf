"""The rows on the pages of an SQLite file, found without its trees: each leaf page describes its own rows."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from .pages import Pages

#: A value stored by SQLite; text that is not UTF-8 is bytes here.
Value = int | float | str | bytes | None

_TREE_PAGES = {2, 5, 10, 13}
_LEAF_OF_TABLE = 13
_PAGE_HEADER = struct.Struct(">BHHHB")
#: The offset of the page header on the first page, after the file's header.
_FILE_HEADER_SIZE = 100
#: The size in bytes of each serial type of integers, and the serial type of floats.
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_FLOAT = 7
_CONSTANTS = {8: 0, 9: 1}
_FIRST_BLOB = 12


class Source(IntEnum):
    """The kind of place where a row was found; a lower value is more trustworthy."""

    TABLE = 0
    #: On a page whose directory of rows is damaged: it may be an older version of a row.
    DAMAGED_PAGE = 1
    #: On a free page, in no table: it was removed, unless the list of free pages is damaged.
    FREE_PAGE = 2


class Record(NamedTuple):
    """A row: its page, its number in its table, and its columns, fewer than the table has if the row is older."""

    page: int
    rowid: int
    values: tuple[Value, ...]
    source: Source


class Lost(NamedTuple):
    """A place on a page where a row should be but cannot be read."""

    page: int
    why: str


class _Unreadable(Exception):
    """The lack of a readable row at a place."""


def records_of(pages: Pages) -> Iterator[Record | Lost]:
    """Yield every row of every table, in the order of the pages, and the places of lost rows."""
    free = pages.free()
    for number in range(1, pages.count + 1):
        page = pages.read(number)
        start = _FILE_HEADER_SIZE if number == 1 else 0
        if page[start] == _LEAF_OF_TABLE:
            yield from _on_leaf(pages, number, page, start, Source.FREE_PAGE if number in free else Source.TABLE)
        elif page[start] not in _TREE_PAGES and number not in free:
            yield from _carved(pages, number, page)


def _on_leaf(pages: Pages, number: int, page: bytes, start: int, source: Source) -> Iterator[Record | Lost]:
    _, _, count, _, _ = _PAGE_HEADER.unpack_from(page, start)
    first = start + _PAGE_HEADER.size
    if first + 2 * count > len(page):
        yield Lost(number, f"its directory would have {count} rows")
        yield from _carved(pages, number, page)
        return
    damaged = False
    for place in struct.unpack_from(f">{count}H", page, first):
        try:
            yield _record_at(pages, number, page, place, source)[0]
        except _Unreadable as error:
            damaged = True
            yield Lost(number, f"the row at byte {place}: {error}")
    if damaged and source is Source.TABLE:
        yield from _carved(pages, number, page)


def _carved(pages: Pages, number: int, page: bytes) -> Iterator[Record]:
    """Yield everything on a page that reads as a row, without using the page's damaged directory."""
    place = 0
    while place < len(page) - 2:
        try:
            record, size = _record_at(pages, number, page, place, Source.DAMAGED_PAGE)
        except _Unreadable:
            place += 1
            continue
        yield record
        place += size


def _record_at(pages: Pages, number: int, page: bytes, place: int, source: Source) -> tuple[Record, int]:
    """Return the row that begins at a byte of a page, and the bytes of the page that it takes."""
    size, behind_size = _varint(page, place)
    rowid, begin = _varint(page, behind_size)
    if size < 2:
        raise _Unreadable("it is empty")
    local = _local(size, pages.size)
    if begin + local > len(page):
        raise _Unreadable(f"it has {size} bytes and would end after its page")
    payload, end = page[begin : begin + local], begin + local
    if local < size:
        if end + 4 > len(page):
            raise _Unreadable("the number of its next page is cut off")
        payload += _overflow(pages, int.from_bytes(page[end : end + 4], "big"), size - local)
        end += 4
    return Record(number, _signed(rowid), _values(payload), source), end - place


def _local(size: int, page_size: int) -> int:
    """Return the bytes on the leaf page for a row of a given size; the rest is on overflow pages."""
    if size <= page_size - 35:
        return size
    least = (page_size - 12) * 32 // 255 - 23
    fitting = least + (size - least) % (page_size - 4)
    return fitting if fitting <= page_size - 35 else least


def _overflow(pages: Pages, number: int, size: int) -> bytes:
    found = bytearray()
    if size > pages.count * pages.size:
        raise _Unreadable(f"{size} bytes of it would be on other pages, and there are fewer bytes")
    while len(found) < size:
        if not 0 < number <= pages.count:
            raise _Unreadable(f"it goes on at page {number}, and there are {pages.count}")
        page = pages.read(number)
        number = int.from_bytes(page[:4], "big")
        found += page[4:]
    return bytes(found[:size])


def _values(payload: bytes) -> tuple[Value, ...]:
    """Return the columns of a row.

    :raises _Unreadable: its header does not describe exactly its number of bytes.
    """
    header_size, place = _varint(payload, 0)
    if not place < header_size <= len(payload):
        raise _Unreadable(f"the header of its columns would have {header_size} bytes, and it has {len(payload)}")
    kinds: list[int] = []
    room = len(payload) - header_size
    while place < header_size and room >= 0:  # what is no row has soon more columns than room
        kind, place = (payload[place], place + 1) if payload[place] < 0x80 else _varint(payload, place)
        kinds.append(kind)
        room -= _size(kind)
    if place != header_size or room != 0:
        raise _Unreadable(f"its columns do not fit its {len(payload)} bytes")
    values: list[Value] = []
    for kind in kinds:
        values.append(_value(kind, payload[place : place + _size(kind)]))
        place += _size(kind)
    return tuple(values)


def _size(kind: int) -> int:
    if kind >= _FIRST_BLOB:
        return (kind - _FIRST_BLOB) // 2
    if kind == _FLOAT:
        return 8
    if kind in (10, 11):
        raise _Unreadable(f"there is no kind {kind} of column")
    return _INTEGERS.get(kind, 0)


def _value(kind: int, data: bytes) -> Value:
    if kind in _INTEGERS:
        return int.from_bytes(data, "big", signed=True)
    if kind == _FLOAT:
        (number,) = struct.unpack(">d", data)
        return float(number)
    if kind < _FIRST_BLOB:
        return _CONSTANTS.get(kind)
    return data if kind % 2 == 0 else _text(data)


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return the integer of one to nine bytes at a place, and the place after it."""
    number = 0
    for count in range(9):
        if place + count >= len(data):
            raise _Unreadable("it is cut off")
        byte = data[place + count]
        if count == 8:
            return number << 8 | byte, place + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + count + 1
    raise AssertionError  # the ninth byte is the last


def _signed(number: int) -> int:
    """Return an unsigned 64-bit integer as a signed one."""
    return number - (1 << 64) if number >= 1 << 63 else number
