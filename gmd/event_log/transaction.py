"""One transaction in an SQLite file as data, for a thread or another process to execute.

It imports only the standard library, so that the process that commits starts quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

#: A statement, and the rows of parameters with which it is executed, one after the other.
Statement = tuple[str, Sequence[Sequence[Any]]]
Transaction = Sequence[Statement]


def execute(connection: Connection, transaction: Transaction) -> None:
    """Execute a transaction durably, all or nothing.

    A single statement is its own transaction.

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
