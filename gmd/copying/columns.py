"""The values that a row may have, whichever database keeps it: both copies of a row are compared in this form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, String, Table

#: A row's values in the order of its table's columns.
Values = tuple[Any, ...]


class DamagedRow(Exception):
    """A row with a value that was never written to its column; the message names the column and the value."""


def reader_of(table: Table) -> Callable[[Sequence[Any]], Values]:
    """Return a function that gives a stored row's values: the same ones for SQLite and for PostgreSQL.

    The function raises :class:`DamagedRow`.
    """
    columns = [(column.name, bool(column.nullable), _rule(column)) for column in table.columns]

    def read(row: Sequence[Any]) -> Values:
        return tuple(_read(value, *column) for value, column in zip(row, columns, strict=True))

    return read


def _read(value: Any, name: str, nullable: bool, rule: Callable[[Any], Any]) -> Any:
    if value is None:
        if nullable:
            return None
        raise DamagedRow(f"{name} has no value")
    try:
        return rule(value)
    except ValueError as error:
        raise DamagedRow(f"{name} is {value!r:.80}, which is {error}") from None


def _rule(column: Column[Any]) -> Callable[[Any], Any]:
    """Return the function that checks a column's values, and gives them one form; it raises ValueError."""
    kind = column.type
    if isinstance(kind, Boolean):
        return _boolean
    if isinstance(kind, Float):
        return _number
    if isinstance(kind, Integer):
        return _integer_of(64 if isinstance(kind, BigInteger) else 32)
    if isinstance(kind, LargeBinary):
        return _bytes
    assert isinstance(kind, String)
    return _text_of(kind.length)


def _boolean(value: Any) -> bool:
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    raise ValueError("neither true nor false")


def _number(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value):
        return float(value) + 0.0  # SQLite has no negative zero
    raise ValueError("not a finite number")


def _integer_of(bits: int) -> Callable[[Any], int]:
    limit = 1 << (bits - 1)

    def integer(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit:
            return value
        raise ValueError(f"not an integer of {bits} bits")

    return integer


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    raise ValueError("not bytes")


def _text_of(length: int | None) -> Callable[[Any], str]:
    def text(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("not text")
        if "\0" in value:
            raise ValueError("text with a NUL character, which PostgreSQL does not keep")
        if length is not None and len(value) > length:
            raise ValueError(f"longer than {length} characters")
        return value

    return text
