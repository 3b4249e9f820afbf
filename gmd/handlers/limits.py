"""The limits that ``hello`` shows to clients, and those whose defaults depend on where the daemon listens."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from gm_protocol.messages import Limits
from gmd.config import Config
from gmd.net.listening import will_be_local
from gmd.play.quotas import QuotaLimits

#: Milliseconds of processor time that an address may use for expensive requests in a minute, if other machines can
#: reach the daemon.
DEFAULT_MAX_WORK = 15_000


def limits_of(config: Config, quotas: QuotaLimits, max_work: int | None) -> Limits:
    """Return the limits that ``hello`` shows to clients.

    :param quotas: the limits by address.
    :param max_work: see :func:`max_work_of`.
    """
    return Limits(
        max_message=config.max_message,
        max_connections=config.max_connections,
        max_wait_seconds=config.max_wait,
        max_wait_games=100,
        max_games_page=100,
        max_plies=config.max_plies,
        max_pgn=config.max_pgn,
        max_work_per_minute=max_work,
        idle_seconds=config.idle_timeout,
        frame_seconds=config.frame_timeout,
        start_seconds=config.start_timeout,
        max_failures_per_minute=config.max_failures_per_minute,
        max_registrations_per_hour=config.max_registrations_per_hour,
        max_players=config.max_players,
        invitation_seconds=config.invitation_timeout,
        max_invitations=config.max_invitations,
        max_invitations_per_minute=quotas.max_invitations_per_minute,
        kept_seat_seconds=config.kept_seat_timeout,
        max_invitations_received=config.max_invitations_received,
        max_invitations_from_address=quotas.max_invitations_from_address,
        max_games_per_hour=quotas.max_games_per_hour,
        max_unfinished_games=quotas.max_unfinished_games,
        max_registrations_per_day=quotas.max_registrations_per_day,
        max_rekeys_per_hour=quotas.max_rekeys_per_hour,
    )


def is_private(config: Config, sockets: Sequence[socket.socket], http_sockets: Sequence[socket.socket]) -> bool:
    """Return whether only this machine's users can reach the daemon, on any port: they all share one address.

    :param sockets: the game port's listening sockets, if it was given any; ``http_sockets`` are those of HTTP.
    """
    if not will_be_local(config.host, sockets):
        return False
    return not config.http or (config.trusted_proxies is None and will_be_local(config.http_host, http_sockets))


def max_work_of(config: Config, *, local: bool) -> int | None:
    """Return the budget of an address, in milliseconds of processor time a minute; None for no limit.

    :param local: see :func:`is_private`.
    """
    if local or config.max_work_per_minute is not None:
        return config.max_work_per_minute
    return DEFAULT_MAX_WORK
