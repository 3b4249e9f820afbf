"""The subcommands' access to the daemon's configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from gmd.config import Config, ConfigError, load_config
from gmd.event_log.opening import IN_MEMORY

config_option = click.option(
    "--config", "file", type=click.Path(path_type=Path), help="TOML file with settings.  [or GMD_CONFIG]"
)


class Unusable(click.ClickException):
    """Raised when the log, or a file, cannot be read at all."""

    exit_code = 2


def read_settings(flags: Mapping[str, object], file: Path | None) -> Config:
    """Return the configuration: flags override GMD_ variables, these override the file, and that the defaults."""
    if file is None and os.environ.get("GMD_CONFIG"):
        file = Path(os.environ["GMD_CONFIG"])
    try:
        return load_config({name: value for name, value in flags.items() if value is not None}, os.environ, file)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select where the games are; see :func:`storage`."""
    help_text = (
        "PostgreSQL database with the games: postgresql://USER@HOST/NAME.  [default: the daemon's; or GMD_DATABASE]"
    )
    command = click.option("--database", metavar="URL", help=help_text)(config_option(command))
    help_text = "Data directory with the games.  [default: the daemon's; or GMD_DATA]"
    return click.option("--data", help=help_text)(command)


class Storage(NamedTuple):
    """Where games are: in a database, or if that is None in a data directory."""

    data: str
    database: str | None


def storage(data: str | None, database: str | None, file: Path | None) -> Storage:
    """Return where a daemon with the same settings keeps its games. A directory named on the command line wins."""
    if data is not None and database is not None:
        raise click.UsageError("--data and --database name two places; leave one of them out")
    config = read_settings({"data": data, "database": database}, file)
    if config.database is not None and data is None:
        return Storage(config.data, config.database)
    return Storage(data_directory(data, file), None)


def data_directory(data: str | None, file: Path | None) -> str:
    """Return the directory in which a daemon with the same settings keeps its games."""
    found = read_settings({"data": data}, file).data
    if found == IN_MEMORY:
        raise click.UsageError(f"data: {IN_MEMORY} has no files; name a directory with --data")
    return found
