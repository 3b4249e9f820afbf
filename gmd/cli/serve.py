"""``gmd serve``: run the daemon."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import click
import structlog
import trio

from gm_protocol.framing import DEFAULT_PORT
from gmd import __version__
from gmd.config import Config, ConfigError, load_config
from gmd.daemon import Daemon, open_daemon, prepare_process
from gmd.log.directory import DataError
from gmd.log.opening import IN_MEMORY

from .systemd import Inherited, InheritedSocketError, inherited_sockets, notify

logger = structlog.get_logger(__name__)

#: What the daemon is told things by. SIGHUP stops it where it was started from a terminal, for that is gone then;
#: elsewhere it is the usual word for reading again what may have been renewed.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_FIRST_REQUEST = '{"kind": "new_game", "player_white": 1, "player_black": 2}'


_DEFAULTS = Config()


def _setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for every field of the configuration."""
    hints = get_type_hints(Config, include_extras=True)
    for name in reversed(Config.__struct_fields__):
        kind, meta = hints[name].__origin__, hints[name].__metadata__[0]
        default = getattr(_DEFAULTS, name)
        help_text = f"{meta.description}  [default: {default if default != '' else 'none'}; or GMD_{name.upper()}]"
        flag = f"--{name.replace('_', '-')}"
        if kind is bool:
            command = click.option(flag, name, is_flag=True, default=None, help=help_text)(command)
        else:
            command = click.option(flag, name, type=kind, help=help_text)(command)
    return command


@click.command()
@_setting_options
@click.option("--config", "file", type=click.Path(path_type=Path), help="A TOML file of settings.  [or GMD_CONFIG]")
def serve(file: Path | None, **settings: Any) -> None:
    """Serve games until told to stop (SIGINT or SIGTERM). SIGHUP reads the certificate again.

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
        trio.run(_serve, config, inherited_sockets(os.environ))
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    except (DataError, InheritedSocketError) as error:
        raise click.ClickException(str(error)) from None
    except (OSError, UnicodeError) as error:  # UnicodeError: no host could have such a name
        reason = error.strerror if isinstance(error, OSError) else error
        raise click.ClickException(f"cannot listen on {config.host}:{config.port}: {reason}") from None


async def _serve(config: Config, inherited: Inherited) -> None:
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # what the receiver restores at its end: told once is enough
    with trio.open_signal_receiver(*SIGNALS) as signals:
        async with open_daemon(config, inherited.game) as daemon:
            prepare_process()
            _announce(daemon, config)
            notify("READY=1", os.environ)
            async for received in signals:
                if received == signal.SIGHUP and not has_terminal:
                    _reload(daemon)
                    continue
                notify("STOPPING=1", os.environ)
                _say(f"{signal.Signals(received).name}: finishing the requests in hand")
                break


def _reload(daemon: Daemon) -> None:
    """Read again what may have been renewed."""
    if daemon.certificate is None:
        _say("SIGHUP: there is no certificate to read again")
        return
    try:
        daemon.certificate.reload()
    except ConfigError as error:
        _say(f"SIGHUP: the certificate stays as it was: {error}")
    else:
        _say("SIGHUP: certificate and key are read again, for connections from now on")


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may be gone
        click.echo(f"gmd: {text}", err=True)


def _announce(daemon: Daemon, config: Config) -> None:
    for host, port in daemon.addresses:
        click.echo(f"gmd {__version__} listening on {f'[{host}]' if ':' in host else host}:{port}")
    if config.data == IN_MEMORY:
        click.echo("Games are kept in memory: they end with the daemon.")
    else:
        click.echo(f"Games are kept in {config.data}")
    at = "" if daemon.port == DEFAULT_PORT else f" --port {daemon.port}"
    tls = "" if daemon.certificate is None else " --tls --host NAME"
    click.echo(f"Try: {_gmcat()}{tls}{at} '{_FIRST_REQUEST}'")


def _gmcat() -> str:
    """How gmcat is called in another shell: by its path, unless the shell finds it."""
    beside_us = Path(sys.executable).parent / "gmcat"
    return "gmcat" if shutil.which("gmcat") or not beside_us.exists() else shlex.quote(os.path.relpath(beside_us))
