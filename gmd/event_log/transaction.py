"""One transaction in an SQLite file, as data: what a thread or another process is given to write.

Imports the standard library alone, for the process that writes is to start at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

#: A statement, and the rows of parameters that it is executed with, one after the other.
Statement = tuple[str, Sequence[Sequence[Any]]]
Transaction = Sequence[Statement]


def execute(connection: Connection, transaction: Transaction) -> None:
    """Write all of it durably, or nothing.

    A single statement is a transaction of its own.

    :param connection: one that begins no transaction by itself.
    :raises sqlite3.Error: nothing was written.
    """
    if len(transaction) == 1 and len(transaction[0][1]) == 1:
        ((sql, (row,)),) = transaction
        connection.execute(sql, row).close()
        return
    connection.execute("BEGIN IMMEDIATE").close()
    try:
        for sql, rows in transaction:
            connection.executemany(sql, rows).close()
        connection.execute("COMMIT").close()
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK").close()
