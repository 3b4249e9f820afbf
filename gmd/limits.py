"""Limits whose defaults depend on where the daemon listens."""

from __future__ import annotations

from ipaddress import ip_address

from gmd.config import Config

#: Milliseconds of processor time that an address may take for expensive requests in a minute, where strangers come in.
DEFAULT_MAX_WORK = 15_000


def max_work_of(config: Config, *, local: bool) -> int | None:
    """The budget of an address, in milliseconds of processor time a minute; None for no limit.

    :param local: whether nobody but this machine's own users can reach the game port: they share one address.
    """
    if config.max_work_per_minute is not None or (local and not _serves_strangers(config)):
        return config.max_work_per_minute
    return DEFAULT_MAX_WORK


def _serves_strangers(config: Config) -> bool:
    """Whether HTTP is for others than this machine's own users, who may come through a proxy."""
    try:
        elsewhere = not ip_address(config.http_host).is_loopback
    except ValueError:  # a name
        elsewhere = config.http_host != "localhost"
    return config.http and (elsewhere or config.trusted_proxies is not None)
