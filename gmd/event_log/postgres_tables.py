"""The tables that exist in PostgreSQL only, beside those of :mod:`gmd.event_log.tables`."""

from __future__ import annotations

from sqlalchemy import Column, Float, LargeBinary, MetaData, Table, Text

metadata = MetaData()

#: Secrets that outlive a takeover. Anybody who reads the database is trusted.
secrets = Table(
    "secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

#: Times in seconds since 1970.
clocks = Table(
    "clocks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("seen", Float(53), nullable=False),
)
