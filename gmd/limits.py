"""The limits that clients are told of."""

from __future__ import annotations

from gm_protocol.messages import Limits
from gmd.config import Config
from gmd.games.chess import MAX_PLIES
from gmd.quotas import QuotaLimits, quota_limits


def limits_of(config: Config, quotas: QuotaLimits | None = None) -> Limits:
    """The limits clients are told.

    :param quotas: those by address; without them, what they are where the daemon listens on loopback alone.
    """
    quotas = quotas or quota_limits(config, local=True)
    return Limits(
        max_message=config.max_message,
        max_connections=config.max_connections,
        max_wait_seconds=config.max_wait,
        max_wait_games=100,
        max_games_page=100,
        max_plies=MAX_PLIES,
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
