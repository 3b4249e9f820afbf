"""``gmd serve``: run the daemon."""

from __future__ import annotations

import gc
import itertools
import os
import shlex
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import quote

import click
import trio

from gm_protocol.framing import DEFAULT_PORT
from gmd.cli.logs import configure_logs
from gmd.cli.process import prepare_process
from gmd.cli.settings import config_option, read_settings
from gmd.cli.standard_streams import discard_output, no_garbage_collection
from gmd.cli.systemd import InheritedSocketError, inherited_sockets, notify
from gmd.config import SERVED, Config, ConfigError, unknown_variables
from gmd.daemon import Daemon, HttpAddressError, check_settings, open_daemon
from gmd.event_log.directory import DatabaseLost, DataError
from gmd.event_log.opening import IN_MEMORY
from gmd.http.web import bound_health
from gmd.logger import get_logger
from gmd.net.descriptors import LEAST, RESERVED, most_descriptors, raise_limit, room
from gmd.net.listening import SOCKET_NAME, CannotListen, Sockets, reachable
from gmd.net.tls import Certificate
from gmd.standby import CannotServe, elected
from gmd.version import VERSION

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

logger = get_logger(__name__)

#: Signals that the daemon handles. SIGHUP stops a daemon started from a terminal, since the terminal has closed;
#: elsewhere it has the usual meaning, to reload files that may have been renewed.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: Seconds between two attempts to start again without a database.
AGAIN_SECONDS = 1.0

_NEW_GAME = '{"kind": "new_game", "player_white": 1, "player_black": 2}'


def _setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for every field of the configuration."""
    hints = get_type_hints(Config, include_extras=True)
    for name in reversed(Config.__struct_fields__):
        # An optional setting's hint is a union, and its description belongs to one part of that.
        hint = next((part for part in get_args(hints[name]) if get_origin(part) is Annotated), hints[name])
        kind, meta = hint.__origin__, hint.__metadata__[0]
        default, flag = getattr(SERVED, name), name.replace("_", "-")
        if kind is bool:
            kind, flag, default = None, f"{flag}/--no-{flag}", flag if default else f"no-{flag}"
        elif get_origin(kind) is Literal:
            kind = click.Choice(get_args(kind))
        elif name == "data":
            default = _from_home(default)
        said = "" if default is None else f"default: {default}; "
        help_text = f"{meta.description}  [{said}or GMD_{name.upper()}]"
        command = click.option(f"--{flag}", name, type=kind, default=None, help=help_text)(command)
    return command


def _from_home(path: str) -> str:
    """Return a path with ``~`` in place of the home directory: the manual shows this help, too."""
    home = os.path.expanduser("~/")
    return f"~/{path.removeprefix(home)}" if path.startswith(home) else path


@click.command()
@_setting_options
@config_option
def serve(file: Path | None, **settings: Any) -> None:
    """\b
    Example: gmd serve --data games --port 7100

    Serve games until SIGINT or SIGTERM. SIGHUP reloads the certificates.

    A flag overrides its GMD_ variable, a variable overrides the config file, and the file overrides the default.
    """
    config = read_settings(settings, file)
    _check(config)
    raise_limit()
    configure_logs(config.log_format, config.log_level)
    _warn_of_variables(os.environ)
    try:
        with no_garbage_collection():  # until prepare_process, when the daemon has started
            trio.run(_serve, config, inherited_sockets(os.environ))
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    except (DataError, HttpAddressError, InheritedSocketError) as error:
        raise click.ClickException(str(error)) from None
    except CannotListen as error:
        raise click.ClickException(
            f"cannot listen on {config.host}:{config.port}: {error.strerror}. "
            "Name another port with --port (0 takes a free one), or an address of this machine with --host"
        ) from None


def _check(config: Config) -> None:
    """Check the settings and this process's limits.

    :raises click.UsageError: nobody could ever play with these settings.
    :raises click.ClickException: this process may have too few descriptors.
    """
    limit = most_descriptors()
    if limit is not None and limit < LEAST:
        raise click.ClickException(
            f"too few file descriptors: this process may open {limit}, and the daemon needs at least {LEAST}. "
            "Raise ulimit -n (LimitNOFILE of a service)"
        )
    if config.invite is not None and config.max_registrations_per_hour == 0:
        raise click.UsageError(
            "invite: the code lets players register, and with max_registrations_per_hour 0 only the operator does: "
            "leave one of them out"
        )
    if config.require_registration and config.max_registrations_per_hour == 0 and config.data == IN_MEMORY:
        raise click.UsageError(
            "max_registrations_per_hour: with 0 only the operator can register players, by a socket in the data "
            "directory; data is :memory:, which has no socket, and require_registration lets nobody else play: name a "
            "directory with --data"
        )


def _warn_of_variables(environment: Mapping[str, str]) -> None:
    """Warn of GMD_ variables that match no setting. They are not an error: another version may have that setting."""
    for name, meant in unknown_variables(environment).items():
        known = f"did you mean {meant}?" if meant is not None else "see gmd serve --help for the settings"
        logger.warning("an environment variable is not a setting and is ignored", variable=name, advice=known)


def _warn_of_descriptors(config: Config) -> None:
    """Warn where the settings allow more connections than the process has descriptors for."""
    wanted = config.max_connections + (config.http_max_connections if config.http else 0)
    possible = room()
    if possible is not None and possible < wanted:
        logger.warning(
            "there are fewer descriptors than connections that the settings let in",
            descriptors=possible + RESERVED,
            connections=wanted,
            advice="raise ulimit -n (LimitNOFILE of a service), or set max_connections and http_max_connections lower",
        )


async def _serve(config: Config, inherited: Sockets) -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the receiver restores this when it ends: a second signal is ignored
    with trio.open_signal_receiver(*SIGNALS) as signals:
        if config.database is None:
            await _serve_once(config, inherited, signals)
        else:
            await _serve_in_turn(config, inherited, signals)
        logger.info("stopped")


async def _serve_in_turn(config: Config, inherited: Sockets, signals: AsyncIterator[int]) -> None:
    """Serve a database until a signal, whenever it is this daemon's turn; as a standby between.

    An error ends a daemon that has just been started, unless the database has gone since it was reached. One that has
    waited, or served, tries again.
    """
    check_settings(config)  # before it waits, perhaps for long
    notify(f"EXTEND_TIMEOUT_USEC={(config.database_timeout + 60) * 1e6:.0f}", os.environ)
    ours = inherited._replace(health=await bound_health(config))
    waited, is_first = trio.Event(), True
    while True:
        try:
            if (lease := await _elected(config, ours, signals, waited)) is None:
                return
            sockets = ours.duplicates()
            try:
                if await _serve_once(config, sockets, signals, lease, is_first=is_first):
                    return
            finally:
                sockets.close()
                await lease.stop()
            logger.warning("another daemon has taken over: waiting as its standby")
            is_first = False
        except CannotServe:
            raise
        except (DataError, CannotListen, HttpAddressError) as error:
            if is_first and not waited.is_set() and not isinstance(error, DatabaseLost):
                raise
            logger.error("cannot serve yet", reason=str(error))
            if await _stopped_within(AGAIN_SECONDS, signals):
                return
        gc.collect()  # the former daemon is a heap of cycles, and nobody is served now


def _note_standby(waited: trio.Event) -> None:
    """Note that this daemon waits as a standby."""
    notify("READY=1", os.environ)
    if not waited.is_set():
        gc.enable()  # it may wait for long
        waited.set()


async def _elected(config: Config, sockets: Sockets, signals: AsyncIterator[int], waited: trio.Event) -> Lease | None:
    """Return the right to serve the database once it is this daemon's; None if a signal to stop comes before.

    :raises DataError: the database cannot be used, or another daemon serves it and this one is not to wait.
    """
    results: list[Lease | DataError] = []
    is_stopped = False
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            try:
                results.append(await elected(config, sockets, partial(_note_standby, waited)))
            except DataError as error:
                results.append(error)
            nursery.cancel_scope.cancel()

        nursery.start_soon(wait)
        await _until_stop(signals)
        is_stopped = True
        nursery.cancel_scope.cancel()
    if not results:
        return None
    if isinstance(result := results[0], DataError):
        raise result
    if is_stopped:  # both came in the same turn of the loop
        await result.stop()
        return None
    return result


async def _stopped_within(seconds: float, signals: AsyncIterator[int]) -> bool:
    """Return whether a signal to stop comes within some seconds."""
    with trio.move_on_after(seconds) as scope:
        await _until_stop(signals)
    return not scope.cancelled_caught


async def _until_stop(signals: AsyncIterator[int]) -> None:
    """Return at the next signal to stop."""
    async for received in signals:
        if received != signal.SIGHUP:
            return


async def _serve_once(
    config: Config,
    sockets: Sockets,
    signals: AsyncIterator[int],
    lease: Lease | None = None,
    *,
    is_first: bool = True,
) -> bool:
    """Serve until a signal, or until another daemon has taken over; return whether it was a signal.

    :param is_first: whether to print where the daemon listens.
    """
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    async with open_daemon(config, *sockets, lease=lease) as daemon:
        daemon.scheduler.collects_garbage = True
        if is_first:
            prepare_process()
            _warn_of_descriptors(config)
            _announce(daemon, config)
        logger.info(
            "started",
            version=VERSION,
            data=_place(config),
            addresses=[_text(*address) for address in daemon.addresses],
            tls=daemon.certificate is not None,
            http=[_text(*address) for address in daemon.http_addresses],
        )
        notify("READY=1", os.environ)
        was_signal = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_when_superseded, daemon, nursery.cancel_scope)
            await _until_stopped(daemon, signals, has_terminal=has_terminal)
            was_signal = True
            nursery.cancel_scope.cancel()
    return was_signal


async def _until_stopped(daemon: Daemon, signals: AsyncIterator[int], *, has_terminal: bool) -> None:
    """Handle signals until one stops the daemon.

    :param has_terminal: whether it was started from a terminal, whose end stops it.
    """
    async for received in signals:
        if received == signal.SIGHUP and not has_terminal:
            _reload(daemon)
            continue
        notify("STOPPING=1", os.environ)
        logger.info("stopping: finishing the requests in hand", signal=signal.Signals(received).name)
        return


async def _cancel_when_superseded(daemon: Daemon, scope: trio.CancelScope) -> None:
    await daemon.superseded()
    scope.cancel()


def _reload(daemon: Daemon) -> None:
    """Reload the certificates, which may have been renewed."""
    if not daemon.certificates:
        logger.warning("SIGHUP: there is no certificate to read again")
    for certificate in daemon.certificates:
        try:
            certificate.reload()
        except ConfigError as error:
            logger.error("SIGHUP: the certificate stays as it was", reason=str(error))
        else:
            logger.info("SIGHUP: certificate and key are read again, for connections from now on")


def _announce(daemon: Daemon, config: Config) -> None:
    """Print where the daemon listens. If standard output cannot be written, the daemon serves all the same."""
    try:
        for line in _announcement(daemon, config):
            click.echo(line)
    except OSError as error:
        reason = error.strerror
        logger.warning("standard output cannot be written: the daemon serves, and prints nothing", reason=reason)
        discard_output()


def _announcement(daemon: Daemon, config: Config) -> Iterator[str]:
    if config.pages and daemon.http_addresses:
        yield f"Play and watch in a browser: {_page_address(daemon)}"
        if config.invite is not None:
            yield f"Players register here: {_page_address(daemon)}register?invite={quote(config.invite, safe='')}"
    for host, port in daemon.addresses:
        yield f"gmd {VERSION} listening on {_text(reachable(host), port)}"
    for host, port in daemon.http_addresses:
        scheme = "http" if _http_certificate(daemon) is None else "https"
        yield f"HTTP on {scheme}://{_text(reachable(host), port)}: reconchess's API, /metrics, /healthz"
    for host, port in daemon.health_addresses:
        yield f"Health on http://{_text(reachable(host), port)}: /healthz, /metrics"
    if config.data == IN_MEMORY and config.database is None:
        yield "Games are kept in memory only: they are lost when the daemon stops."
    else:
        yield f"Games are kept in {_place(config)}"
    if len(daemon.roster):
        names = ", ".join(kind.name for _, kind in daemon.roster.bots())
        games = "1 game" if daemon.roster.at_once == 1 else f"{daemon.roster.at_once} games"
        yield f"Bots that play whoever invites them, {games} at a time: {names}"
    if config.spectate == "live":
        where = f", on {_page_address(daemon)}sign-in" if daemon.spectators.takes_key and daemon.http_addresses else ""
        yield f"Live games are shown in full to {daemon.spectators}{where}"
    yield f"Try: {_first_command(daemon, config)}"


def _place(config: Config) -> str:
    """Return where games are kept."""
    if config.database is None:
        return config.data
    from gmd.event_log.postgres_engine import shown_url

    return shown_url(config.database)


def _page_address(daemon: Daemon) -> str:
    """Return the address of the pages, which other machines can open if they reach the daemon at all."""
    host, port = daemon.http_addresses[0]
    return f"{'http' if _http_certificate(daemon) is None else 'https'}://{_text(reachable(host), port)}/"


def _http_certificate(daemon: Daemon) -> Certificate | None:
    return None if daemon.http is None else daemon.http.certificate


def _first_command(daemon: Daemon, config: Config) -> str:
    """Return a command to try first, which works from any folder: a game, or what must be done before the first game.

    With TLS it uses the operator's socket, where there is one: only clients know by which name they reach the server.
    """
    request, data = _NEW_GAME, str(Path(config.data).expanduser().absolute())
    if config.require_registration:
        taken = daemon.authenticator.registry.named
        names = (f"my-bot-{number}" if number else "my-bot" for number in itertools.count())
        name = next(name for name in names if taken(name) is None)
        if config.max_registrations_per_hour == 0 or config.invite is not None:
            return f"{_command('gmd')} register {name} --data {shlex.quote(data)}"
        request = f'{{"kind": "register", "name": "{name}"}}'
    host, port = daemon.addresses[0]
    if daemon.certificate is None:
        here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        where = "" if (here, port) == ("127.0.0.1", DEFAULT_PORT) else f" --server {_text(here, port)}"
    elif (Path(data) / SOCKET_NAME).exists():
        where = f" --socket {shlex.quote(data)}"
    else:
        where = f" --tls --server NAME:{port}"
    return f"{_command('gmcat')}{where} '{request}'"


def _text(host: str, port: int) -> str:
    """Return an address in its usual notation."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _command(name: str) -> str:
    """Return how to call one of our commands in another shell: by its full path, unless the shell finds it."""
    beside_us = Path(sys.executable).parent.absolute() / name
    return name if shutil.which(name) or not beside_us.exists() else shlex.quote(str(beside_us))
