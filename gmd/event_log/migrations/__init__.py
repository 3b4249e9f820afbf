"""The schema's history. ``alembic revision`` is of no use here: a step is written by hand, and HEAD moved to it."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, inspect, text

#: The revision this program works with: the last step's.
HEAD = "0006"


class NewerSchema(Exception):
    """The database has been through steps that this program does not know.

    :ivar revision: where it stands.
    """

    def __init__(self, revision: str) -> None:
        super().__init__(f"its schema is at revision {revision}; this program knows {HEAD} and those before")
        self.revision = revision


def migrate(engine: Engine) -> None:
    """Bring a database's schema up to date, a new database's from nothing; all steps in one transaction.

    :raises NewerSchema: a newer program has been at work. The database is left as it is.
    """
    if stored_revision(engine) == HEAD:
        return  # nearly always: and importing alembic takes longer than the rest of the start
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "gmd.event_log:migrations")
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        stored = _revision(connection)  # again, where no other program can come between
        try:
            ScriptDirectory.from_config(config).get_revision(stored or "base")
        except CommandError:
            raise NewerSchema(stored or "") from None
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def stored_revision(engine: Engine) -> str | None:
    """The revision of a database's schema; None where it has no schema yet."""
    with engine.connect() as connection:
        return _revision(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)
