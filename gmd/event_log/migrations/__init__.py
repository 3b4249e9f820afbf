"""The schema's migrations. Do not use ``alembic revision``: a step is written by hand, and HEAD set to it.

A new database gets the tables of :mod:`gmd.event_log.tables` at once, in PostgreSQL those of its ``postgres_metadata``,
too. A test compares them with what the steps lead to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import Column, Connection, Engine, MetaData, PrimaryKeyConstraint, String, Table, inspect, text

from gmd.event_log.store import FENCE_OF_SQLALCHEMY, Fenced
from gmd.event_log.tables import metadata, postgres_metadata

#: The revision that this program works with: that of the last step.
HEAD = "0012"
_REVISION = re.compile(r"\d{4}")

#: alembic's own table, as alembic creates it. Its one row has the revision.
VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


class NewerSchema(Exception):
    """A database with a newer schema than this program knows.

    :ivar revision: the database's revision.
    """

    def __init__(self, revision: str) -> None:
        super().__init__(f"its schema is at revision {revision}; this program knows {HEAD} and those before")
        self.revision = revision


class OlderDaemons(Exception):
    """A database whose schema has to change while daemons serve it that know the older one only."""

    def __init__(self, daemons: Sequence[str]) -> None:
        """:param daemons: each with its address and version."""
        super().__init__(
            f"has an older schema, and daemons that know no newer one serve it: {', '.join(daemons)}. Stop all of "
            "them, then start this version; a daemon that was killed counts for two seconds"
        )


def is_revision(text: str) -> bool:
    """Return whether a text may be a revision; one that may not was damaged."""
    return bool(_REVISION.fullmatch(text))


def problem_of_revision(revision: str | None) -> str | None:
    """Return why this program cannot read a database without changing it, as the end of a sentence; None if it can."""
    if revision is None:
        return "has no games in it, nor tables for them"
    if revision != HEAD:
        return (
            f"is at revision {revision} of its schema, and this program reads {HEAD}. "
            "Start gmd serve with it once, if it is older, or read it with the gmd that wrote it"
        )
    return None


def migrate(engine: Engine, term: int | None = None) -> None:
    """Bring a database's schema up to date, or create it in a new database, in one transaction.

    Nobody else does so at the same time: the daemon that serves has locked its file, or has the term.

    :param term: that under which this program serves a PostgreSQL database.
    :raises Fenced: another daemon serves the database by now. The database is not changed.

    :raises NewerSchema: a newer program has changed the schema. The database is not changed.
    :raises OlderDaemons: daemons that know the older schema only have leases. The database is not changed.
    """
    if stored_revision(engine) == HEAD:
        return
    with engine.begin() as connection:
        if term is not None and connection.execute(text(FENCE_OF_SQLALCHEMY), {"term": term}).first() is None:
            raise Fenced
        stored = _revision(connection)
        if stored is None:
            _create(connection)
        elif stored != HEAD:
            _check_for_daemons(connection)
            _upgrade(connection, stored)


def _create(connection: Connection) -> None:
    """Create the schema in a new database."""
    VERSION.create(connection, checkfirst=False)
    metadata.create_all(connection, checkfirst=False)
    if _is_postgres(connection):
        postgres_metadata.create_all(connection, checkfirst=False)
    connection.execute(VERSION.insert().values(version_num=HEAD))


def _check_for_daemons(connection: Connection) -> None:
    """Check that no daemon of a version with leases serves the database; none can renew one until this is committed.

    :raises OlderDaemons: one does.
    """
    if not _is_postgres(connection) or not inspect(connection).has_table("daemons"):
        return
    # Leases wait; the columns are those that the table has had from the beginning.
    connection.execute(text("LOCK TABLE daemons IN SHARE ROW EXCLUSIVE MODE"))
    query = "SELECT game || ' (gmd ' || version || ')' FROM daemons WHERE until > clock_timestamp() ORDER BY began"
    if serving := connection.execute(text(query)).scalars().all():
        raise OlderDaemons(serving)


def _upgrade(connection: Connection, stored: str) -> None:
    """Apply the steps that follow a revision. Importing alembic takes longer than the rest of the start."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "gmd.event_log:migrations")
    config.set_main_option("path_separator", "os")
    try:
        ScriptDirectory.from_config(config).get_revision(stored)
    except CommandError:
        raise NewerSchema(stored) from None
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _is_postgres(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def stored_revision(engine: Engine) -> str | None:
    """Return the revision of a database's schema; None if it has no schema yet."""
    with engine.connect() as connection:
        return _revision(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)
