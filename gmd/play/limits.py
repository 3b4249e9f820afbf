"""The limits in effect: those of the settings, and defaults that depend on where the daemon listens.

``hello`` shows them to clients. Those by address are applied by :mod:`gmd.play.quotas` and :mod:`gmd.play.budget`.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import Any

from gm_protocol.messages import Limits
from gmd.config import Config
from gmd.net.listening import will_be_local

#: Defaults of the limits by address where the daemon listens only on loopback: no program on this machine comes near
#: them unless it runs wild. A benchmark starts some thousand games a second.
ON_LOOPBACK: Mapping[str, int | None] = {
    "max_games_per_hour": 10_000_000,
    "max_unfinished_games": 1_000_000,
    "max_invitations_per_minute": 60_000,
    "max_invitations_from_address": 20_000,
    "max_registrations_per_day": 100_000,
    "max_rekeys_per_hour": 100_000,
    "max_work_per_minute": None,
}
#: Defaults elsewhere, for a class of 50 bots behind one address. Their double round robin has 2,450 games; they may
#: play it twice in an hour, and as many other games. They play 25 games at a time, which leaves room for 400 times as
#: many abandoned games. With games of five seconds, 50 bots seek 1,200 times a minute. Each bot may send the 20
#: invitations that ``max_invitations`` allows, may be registered six times a day, and may lose its key twelve times an
#: hour. Expensive requests may take a quarter of a processor.
ELSEWHERE: Mapping[str, int | None] = {
    "max_games_per_hour": 10_000,
    "max_unfinished_games": 10_000,
    "max_invitations_per_minute": 1_500,
    "max_invitations_from_address": 1_000,
    "max_registrations_per_day": 300,
    "max_rekeys_per_hour": 600,
    "max_work_per_minute": 15_000,
}


def limits_of(config: Config, *, local: bool) -> Limits:
    """Return the limits in effect; a setting by address that is None has the default for where the daemon listens.

    :param local: see :func:`is_private`.
    """
    by_address: dict[str, Any] = {**(ON_LOOPBACK if local else ELSEWHERE)}
    given = {name: getattr(config, name) for name in by_address}
    by_address |= {name: limit for name, limit in given.items() if limit is not None}
    return Limits(
        max_message=config.max_message,
        max_connections=config.max_connections,
        max_wait_seconds=config.max_wait,
        max_wait_games=100,
        max_games_page=100,
        max_plies=config.max_plies,
        max_pgn=config.max_pgn,
        idle_seconds=config.idle_timeout,
        frame_seconds=config.frame_timeout,
        start_seconds=config.start_timeout,
        max_failures_per_minute=config.max_failures_per_minute,
        max_registrations_per_hour=config.max_registrations_per_hour,
        max_players=config.max_players,
        invitation_seconds=config.invitation_timeout,
        max_invitations=config.max_invitations,
        kept_seat_seconds=config.kept_seat_timeout,
        max_invitations_received=config.max_invitations_received,
        **by_address,
    )


def is_private(config: Config, sockets: Sequence[socket.socket], http_sockets: Sequence[socket.socket]) -> bool:
    """Return whether only this machine's users can reach the daemon, on any port: they all share one address.

    :param sockets: the game port's listening sockets, if it was given any; ``http_sockets`` are those of HTTP.
    """
    if not will_be_local(config.host, sockets):
        return False
    return not config.http or (
        config.trusted_proxies is None and will_be_local(config.http_host or config.host, http_sockets)
    )
