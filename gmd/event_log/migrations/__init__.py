"""The schema's migrations. Do not use ``alembic revision``: a step is written by hand, and HEAD set to it.

A new database gets the tables of :mod:`gmd.event_log.tables` at once. A test compares them with what the steps lead to.
"""

from __future__ import annotations

from sqlalchemy import Column, Connection, Engine, MetaData, PrimaryKeyConstraint, String, Table, inspect, text

from gmd.event_log.tables import metadata

#: The revision that this program works with: that of the last step.
HEAD = "0006"

#: alembic's own table, as alembic creates it.
_VERSION = Table(
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


def migrate(engine: Engine) -> None:
    """Bring a database's schema up to date, or create it in a new database, in one transaction.

    :raises NewerSchema: a newer program has changed the schema. The database is not changed.
    """
    if stored_revision(engine) == HEAD:
        return
    with engine.begin() as connection:
        stored = _revision(connection)  # read again within the transaction, so that no other program can interfere
        if stored is None:
            _create(connection)
        elif stored != HEAD:
            _upgrade(connection, stored)


def _create(connection: Connection) -> None:
    """Create the schema in a new database."""
    _VERSION.create(connection, checkfirst=False)
    metadata.create_all(connection, checkfirst=False)
    connection.execute(_VERSION.insert().values(version_num=HEAD))


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


def stored_revision(engine: Engine) -> str | None:
    """Return the revision of a database's schema; None if it has no schema yet."""
    with engine.connect() as connection:
        return _revision(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)
