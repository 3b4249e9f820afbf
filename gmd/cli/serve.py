"""``gmd serve``: run the daemon."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
import structlog
import trio

from gm_protocol.framing import DEFAULT_PORT
from gmd import __version__
from gmd.config import Config, ConfigError, load_config
from gmd.daemon import Daemon, open_daemon, prepare_process
from gmd.log.directory import DataError
from gmd.log.opening import IN_MEMORY

logger = structlog.get_logger(__name__)

#: What tells the daemon to stop.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_FIRST_REQUEST = '{"kind": "new_game", "player_white": 1, "player_black": 2}'


_DEFAULTS = Config()


def _setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for every field of the configuration."""
    hints = get_type_hints(Config, include_extras=True)
    for name in reversed(Config.__struct_fields__):
        kind, meta = hints[name].__origin__, hints[name].__metadata__[0]
        default = getattr(_DEFAULTS, name)
        if get_origin(kind) is Literal:
            kind = click.Choice(get_args(kind))
        help_text = f"{meta.description}  [default: {default}; or GMD_{name.upper()}]"
        if default == "":
            help_text = f"{meta.description}  [or GMD_{name.upper()}]"
        command = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=help_text)(command)
    return command


@click.command()
@_setting_options
@click.option("--config", "file", type=click.Path(path_type=Path), help="A TOML file of settings.  [or GMD_CONFIG]")
def serve(file: Path | None, **settings: Any) -> None:
    """Serve games until told to stop (SIGINT or SIGTERM).

    A flag wins over its GMD_ variable, that over the file, that over the default.
    """
    if file is None and os.environ.get("GMD_CONFIG"):
        file = Path(os.environ["GMD_CONFIG"])
    flags = {name: value for name, value in settings.items() if value is not None}
    try:
        config = load_config(flags, os.environ, file)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    try:
        trio.run(_serve, config)
    except DataError as error:
        raise click.ClickException(str(error)) from None
    except (OSError, UnicodeError) as error:  # UnicodeError: no host could have such a name
        reason = error.strerror if isinstance(error, OSError) else error
        raise click.ClickException(f"cannot listen on {config.host}:{config.port}: {reason}") from None


async def _serve(config: Config) -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # what the receiver restores at its end: told once is enough
    with trio.open_signal_receiver(*STOP_SIGNALS) as signals:
        async with open_daemon(config) as daemon:
            prepare_process()
            _announce(daemon, config)
            async for received in signals:
                click.echo(f"gmd: {signal.Signals(received).name}: finishing the requests in hand", err=True)
                break


def _announce(daemon: Daemon, config: Config) -> None:
    for host, port in daemon.addresses:
        click.echo(f"gmd {__version__} listening on {f'[{host}]' if ':' in host else host}:{port}")
    if config.data == IN_MEMORY:
        click.echo("Games are kept in memory: they end with the daemon.")
    else:
        click.echo(f"Games are kept in {config.data}")
    if config.spectate == "live":
        click.echo(f"Live games are shown in full to {daemon.spectators}")
    at = "" if daemon.port == DEFAULT_PORT else f" --port {daemon.port}"
    click.echo(f"Try: {_gmcat()}{at} '{_FIRST_REQUEST}'")


def _gmcat() -> str:
    """How gmcat is called in another shell: by its path, unless the shell finds it."""
    beside_us = Path(sys.executable).parent / "gmcat"
    return "gmcat" if shutil.which("gmcat") or not beside_us.exists() else shlex.quote(os.path.relpath(beside_us))
