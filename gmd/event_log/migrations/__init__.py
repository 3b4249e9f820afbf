"""The schema's migrations. Do not use ``alembic revision``: a step is written by hand, and HEAD set to it."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, inspect, text

#: The revision that this program works with: that of the last step.
HEAD = "0006"


class NewerSchema(Exception):
    """A database with a newer schema than this program knows.

    :ivar revision: the database's revision.
    """

    def __init__(self, revision: str) -> None:
        super().__init__(f"its schema is at revision {revision}; this program knows {HEAD} and those before")
        self.revision = revision


def migrate(engine: Engine) -> None:
    """Bring a database's schema up to date, or create it in a new database; all steps in one transaction.

    :raises NewerSchema: a newer program has changed the schema. The database is not changed.
    """
    if stored_revision(engine) == HEAD:
        return  # nearly always; importing alembic takes longer than the rest of the start
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "gmd.event_log:migrations")
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        stored = _revision(connection)  # read again within the transaction, so that no other program can interfere
        try:
            ScriptDirectory.from_config(config).get_revision(stored or "base")
        except CommandError:
            raise NewerSchema(stored or "") from None
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
