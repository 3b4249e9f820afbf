"""Rows with any values that a log may have are the same after a copy to the other kind of database, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, String, Table, insert, text

from gmd.copying.copying import Source, compare, write_rows
from gmd.copying.places import finish, opened_source, opened_target
from gmd.copying.rows import TABLES
from gmd.event_log.opening import open_store
from gmd.event_log.postgres_engine import open_engine
from gmd.event_log.tables import metadata
from tests.helpers_proof import proof_size
from tests.postgres import new_database, require_postgres


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    require_postgres()
    with new_database() as url:
        yield url


def values_of(column: Column[Any]) -> st.SearchStrategy[Any]:
    found = _values(column)
    return st.none() | found if column.nullable else found


def _values(column: Column[Any]) -> st.SearchStrategy[Any]:
    kind = column.type
    if isinstance(kind, Boolean):
        return st.booleans()
    if isinstance(kind, Float):
        return st.floats(allow_nan=False, allow_infinity=False)
    if isinstance(kind, Integer):
        bits = 63 if isinstance(kind, BigInteger) else 31
        return st.integers(-(1 << bits), (1 << bits) - 1) | st.integers(0, 3)
    if isinstance(kind, LargeBinary):
        return st.binary(max_size=40)
    assert isinstance(kind, String)
    letters = st.characters(codec="utf-8", exclude_characters="\0")
    return st.text(letters, max_size=min(kind.length or 300, 40)) | st.just("\\N\t\r\n\\u0000\\"[: kind.length])


def rows_of(table: Table) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({column.name: values_of(column) for column in table.columns})
    keys = table.primary_key.columns.keys()
    unique: list[Any] = [lambda row: tuple(row[key] for key in keys)]
    unique += [
        lambda row, name=column.name: row[name] for column in table.columns if column.unique and not column.primary_key
    ]
    return st.lists(row, max_size=6, unique_by=tuple(unique))


LOGS = st.fixed_dictionaries({table.name: rows_of(table) for table in TABLES})


def copy(source: str, target: str) -> str:
    with opened_source(source) as place, opened_target(target, again=False) as opened:
        origin = Source(place)
        origin.check(lambda count: None)
        assert origin.damage.said == []
        write_rows(origin, opened.place, lambda count: None)
        digest = compare(origin, opened.place, lambda count: None)
        finish(opened.place)
    return digest


def test_every_table_is_copied() -> None:
    assert {table.name for table in TABLES} == metadata.tables.keys()


@pytest.mark.proof
@settings(max_examples=proof_size(6, 500))
@given(log=LOGS)
def test_rows_are_the_same_there_and_back(log: dict[str, list[dict[str, Any]]], database: str) -> None:
    engine = open_engine(database)
    with engine.begin() as connection:
        if connection.execute(text("SELECT to_regclass('games')")).scalar() is not None:
            for table in TABLES:
                connection.execute(table.delete())
    engine.dispose()
    with TemporaryDirectory() as folder:
        first, last = str(Path(folder) / "first"), str(Path(folder) / "last")
        with open_store(first) as store, store._transaction() as connection:
            for table in TABLES:
                if log[table.name]:
                    connection.execute(insert(table), log[table.name])
        assert copy(first, database) == copy(database, last) == copy(last, str(Path(folder) / "again"))
